"""Shared by all tests: Hypothesis runs the same examples every time, and small problems are generated in one place."""

import shutil

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=150)
settings.register_profile("fuzz", deadline=None, max_examples=500, print_blob=True)  # a round of make fuzz: a minute
settings.load_profile("repeatable")


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.fixture
def signals(random):
    """Twenty signals on thirty nodes, no ties."""
    return random.normal(size=(20, 30))


@pytest.fixture
def read_here(monkeypatch):
    """Binary files are read in this process, a third of a second faster than in a process of their own."""
    from nashgraph.io import binary, read

    for ending in binary.READERS:
        monkeypatch.setitem(read.READERS, ending, binary.read_checked)


FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def driver():
    playwright = pytest.importorskip("playwright.sync_api", reason="it is not installed: pip install playwright")
    with playwright.sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(driver):
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("Chromium is not installed: apt install chromium, and the report is tested in it")
    opened = driver.chromium.launch(executable_path=chromium, args=FLAGS)
    yield opened
    opened.close()


# Files and folders whose tests start browsers, clusters and processes, or try many examples.
SLOW = (
    "tests/cli/test_faults.py",
    "tests/cli/test_ui_browser.py",
    "tests/reproduce/",
    "tests/cluster/",
    "tests/fuzz/",
    "tests/report/test_browser",
    "tests/test_beyond_the_paper.py",
    "tests/test_examples.py",
    "tests/test_recovery.py",
)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")
