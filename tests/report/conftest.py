"""What the tests in a browser share: the browser, and a page with intervals."""

import shutil

import pytest

from nashgraph.report import summarize, write_report

from .models import karate_consensus

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


@pytest.fixture(scope="module")
def consensus(tmp_path_factory):
    model, out = karate_consensus(), tmp_path_factory.mktemp("consensus") / "report.html"
    write_report(summarize(model, title="The karate club", interventions=True), out)
    return model, out
