"""Files arrive whole, or not at all with the reason in one line."""

import socket

import pytest

from nashgraph.datasets import DatasetError, store
from nashgraph.datasets.store import download_file

from ..servers import serving

CONTENT = bytes(range(256)) * 1000


@pytest.fixture(autouse=True)
def slept(monkeypatch):
    """Skip the waits between tries, and return them."""
    waits = []
    monkeypatch.setattr("nashgraph.datasets.store.time.sleep", waits.append)
    return waits


def files_in(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.exists() else {}


def test_a_file_arrives_and_leaves_nothing_beside_it(tmp_path):
    with serving({"/there.zip": CONTENT}, [("move", "/there.zip")]) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "new" / "a.zip")
    assert files_in(tmp_path / "new") == {"a.zip": CONTENT}
    assert server.requests == ["/a.zip", "/there.zip"]


def test_progress_is_told(tmp_path):
    told = []
    with serving({"/a.zip": CONTENT}) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip", lambda *counts: told.append(counts))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert len(told) > 2
    assert told == sorted(told)


def test_nothing_but_our_own_log_is_written(tmp_path, caplog):
    with caplog.at_level("INFO", "nashgraph"), serving({"/a.zip": CONTENT}, [503]) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert caplog.messages == [f"downloading {server.address}/a.zip"]


def test_a_broken_download_and_a_busy_server_are_tried_again(tmp_path, slept):
    with serving({"/a.zip": CONTENT}, [("cut", 1000), 503, 429]) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert files_in(tmp_path) == {"a.zip": CONTENT}
    assert len(server.requests) == 4
    assert len(slept) == 3


def test_a_server_that_stays_busy_is_given_up(tmp_path):
    busy = pytest.raises(DatasetError, match=r"^http.*a\.zip: the server answers 503 Service Unavailable$")
    with serving({"/a.zip": CONTENT}, [503] * 9) as server, busy:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert len(server.requests) == 4
    assert files_in(tmp_path) == {}


def test_a_download_that_breaks_every_time_leaves_nothing(tmp_path):
    broken = pytest.raises(DatasetError, match=r"a\.zip: .*1000 bytes read, 255000 more expected")
    with serving({"/a.zip": CONTENT}, [("cut", 1000)] * 9) as server, broken:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert files_in(tmp_path) == {}


def test_a_file_that_is_not_there_is_asked_for_once(tmp_path, slept):
    with serving({}) as server, pytest.raises(DatasetError, match=r"^http.*a\.zip: the server answers 404 Not Found$"):
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert len(server.requests) == 1
    assert slept == []
    assert files_in(tmp_path) == {}


def test_where_nobody_listens_it_is_said_in_one_line(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: nobody else gets the port, and nobody answers
        with pytest.raises(DatasetError, match=r"(?i)refused") as error:
            download_file(f"http://127.0.0.1:{unused.getsockname()[1]}/a.zip", tmp_path / "a.zip")
    assert "\n" not in str(error.value)
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("elsewhere", ["file:///etc/hosts", "ftp://127.0.0.1/a.zip"])
def test_only_the_web_is_followed(tmp_path, elsewhere):
    with pytest.raises(DatasetError, match=r"No connection adapters .*(file|ftp)"):
        download_file(elsewhere, tmp_path / "a.zip")
    with serving({}, [("move", elsewhere)] * 9) as server, pytest.raises(DatasetError, match=r"file|ftp"):
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert files_in(tmp_path) == {}


def test_an_endless_file_is_given_up_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LARGEST_DOWNLOAD", 100_000)
    with serving({"/a.zip": CONTENT}) as server, pytest.raises(DatasetError, match="more than 100,000 bytes"):
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert len(server.requests) == 1
    assert files_in(tmp_path) == {}
