"""``nashgraph datasets`` as a new user runs it."""

import pytest

from nashgraph.cli import data
from nashgraph.datasets import villages
from nashgraph.datasets.villages import VILLAGES

from .. import commands
from ..village_archive import pinned_to, village_archive


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Return the user's cache, empty; no data home is named, and nothing can be fetched."""
    monkeypatch.delenv("NASHGRAPH_DATA", raising=False)
    folder = tmp_path / "cache"
    monkeypatch.setattr("nashgraph.datasets.store.user_cache", lambda: folder)

    def refuse(address, *_):
        raise OSError(f"{address}: no way there")

    monkeypatch.setattr("nashgraph.datasets.store.download_file", refuse)
    return folder


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Return a small archive of villages, to which the villages are pinned."""
    path = village_archive(tmp_path / "datav4.0.zip")
    pinned = pinned_to(VILLAGES, path)
    monkeypatch.setattr(villages, "VILLAGES", pinned)
    monkeypatch.setitem(data.SOURCES, "villages", pinned)
    return path


def run(*arguments):
    return commands.run("datasets", *arguments)


def test_without_arguments_the_data_sets_are_listed():
    result = run()
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line for line in result.output.splitlines() if line}
    assert "34 nodes, 78 edges" in lines["karate"]
    assert "networkx" in lines["karate"]
    for name in ("dolphins", "wiki-vote-889", "wiki-vote-snap", "villages"):
        assert lines[name].endswith("not here")
    assert lines["dolphins:"].startswith("dolphins: D. Lusseau")


def test_an_archive_is_imported_and_then_listed_and_checked(archive, tmp_path, monkeypatch):
    home = tmp_path / "home"
    result = run("import-villages", archive, "--data-home", home)
    assert (result.exit_code, result.stdout) == (0, f"villages: in {home}\n")
    monkeypatch.setenv("NASHGRAPH_DATA", str(home))
    assert f"{home}" in run().output
    result = run("fetch", "villages", "--data-home", home)
    assert (result.exit_code, result.stdout) == (0, f"villages: in {home}\n")
    (home / "villages" / "households.csv.gz").write_bytes(b"damaged")
    assert_fails(run("fetch", "villages", "--data-home", home), "households.csv.gz cannot be read: Not a gzipped file")


def test_an_archive_goes_to_the_cache_by_default(archive, cache):
    assert run("import-villages", archive).stdout == f"villages: in {cache}\n"


def test_an_archive_that_is_none_is_said_in_one_line(tmp_path):
    (tmp_path / "datav4.0.zip").write_text("<html>")
    assert_fails(
        run("import-villages", tmp_path / "datav4.0.zip"), "datav4.0.zip cannot be read: File is not a zip file"
    )
    assert_fails(run("import-villages", tmp_path / "none.zip"), "none.zip cannot be read: [Errno 2] No such file")


def test_a_failed_fetch_is_said_in_one_line(cache):
    result = run("fetch", "dolphins")
    assert_fails(result, "could not be fetched: https://websites.umich.edu/~mejn/netdata/dolphins.zip: no way there")
    assert str(cache / "downloads" / "dolphins.zip") in result.stderr


def test_an_unknown_name_is_said_before_anything_is_fetched(cache):
    assert_fails(run("fetch", "dolphins", "whales"), "NAME='whales' is not known: choose one of 'dolphins'")
    assert not cache.exists()


def assert_fails(result, message):
    assert result.exit_code == 1
    assert result.stderr.startswith("nashgraph datasets: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
