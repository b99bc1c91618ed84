"""Every test here runs as on a machine without data; those on the real data ask for ``real_home``."""

import os
from pathlib import Path

import pytest

REAL = os.environ.get("NASHGRAPH_DATA")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Return the user's cache, empty; no data home is named, and the local server is reached directly."""
    monkeypatch.delenv("NASHGRAPH_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    folder = tmp_path / "cache" / "nashgraph"
    monkeypatch.setattr("nashgraph.datasets.store.user_cache", lambda: folder)
    return folder


@pytest.fixture(scope="session")
def real_home():
    if not REAL:
        pytest.skip("the real data are not here: set NASHGRAPH_DATA to a folder that has networks/ and villages/")
    return Path(REAL)
