"""Files arrive whole or not at all, from a server that misbehaves in every way servers do."""

import io
import socket

import pytest
from rich.console import Console

from nashgraph.datasets import DatasetError, download
from nashgraph.datasets.download import download_file, read_address

from ..servers import serving

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def slept(monkeypatch):
    """Have no time pass while waiting; return the waits."""
    waits = []
    monkeypatch.setattr(download.time, "sleep", waits.append)
    return waits


def files_in(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.exists() else {}


def test_a_file_arrives_and_leaves_nothing_beside_it(tmp_path, capsys):
    with serving({"/a.zip": CONTENT}) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "new" / "a.zip")
    assert files_in(tmp_path / "new") == {"a.zip": CONTENT}
    assert server.requests == [("/a.zip", None)]
    assert capsys.readouterr().err == ""  # no bar where nobody watches


def test_a_bar_is_drawn_where_somebody_watches(tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(download, "Console", lambda stderr: Console(file=screen, force_terminal=True, width=100))
    with serving({"/a.zip": CONTENT}) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert "a.zip" in screen.getvalue()
    assert "256.0/256.0 kB" in screen.getvalue()


def test_a_broken_download_is_carried_on_from_where_it_broke(tmp_path, slept):
    with serving({"/a.zip": CONTENT}, [("cut", 1000), ("cut", 500)]) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip", waits=(1, 2))
    assert files_in(tmp_path) == {"a.zip": CONTENT}
    assert [asked for _, asked in server.requests] == [None, "bytes=1000-", "bytes=1500-"]
    assert slept == [1, 2]


def test_the_part_is_kept_and_a_later_call_carries_on(tmp_path):
    with serving({"/a.zip": CONTENT}, [("cut", 1000)]) as server:
        with pytest.raises(DatasetError, match=r"broken off after 1,000 of 256,000 bytes"):
            download_file(f"{server.address}/a.zip", tmp_path / "a.zip", waits=())
        assert files_in(tmp_path) == {"a.zip.part": CONTENT[:1000]}
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip", waits=())
    assert files_in(tmp_path) == {"a.zip": CONTENT}
    assert server.requests[1] == ("/a.zip", "bytes=1000-")


def test_a_server_that_knows_no_ranges_sends_everything_anew(tmp_path):
    (tmp_path / "a.zip.part").write_bytes(b"other bytes")
    with serving({"/a.zip": CONTENT}, [("whole",)]) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip", waits=())
    assert files_in(tmp_path) == {"a.zip": CONTENT}


def test_a_part_longer_than_the_file_is_thrown_away(tmp_path, slept):
    (tmp_path / "a.zip.part").write_bytes(CONTENT + b"more")
    with serving({"/a.zip": CONTENT}) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip", waits=(1,))
    assert files_in(tmp_path) == {"a.zip": CONTENT}
    assert [asked for _, asked in server.requests] == ["bytes=256004-", None]


def test_a_busy_server_is_asked_again_with_growing_waits(tmp_path, slept):
    with serving({"/a.zip": CONTENT}, [503, 500, 429]) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert files_in(tmp_path) == {"a.zip": CONTENT}
    assert len(server.requests) == 4
    assert slept == list(download.WAITS[:3]) == sorted(slept)


def test_a_server_that_stays_busy_is_given_up(tmp_path, slept):
    busy = pytest.raises(DatasetError, match=r"a\.zip: the server answers 503")
    with serving({"/a.zip": CONTENT}, [503] * 9) as server, busy:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert len(server.requests) == 1 + len(download.WAITS)
    assert files_in(tmp_path) == {}


def test_a_file_that_is_not_there_is_asked_for_once(tmp_path, slept):
    with serving({}) as server, pytest.raises(DatasetError, match=r"a\.zip: the server answers 404 Not Found"):
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert len(server.requests) == 1
    assert slept == []
    assert files_in(tmp_path) == {}


def test_a_silent_server_is_given_up(tmp_path):
    with serving({"/a.zip": CONTENT}, [("hang",)]) as server, pytest.raises(DatasetError, match="timed out"):
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip", timeout=0.2, waits=())
    assert files_in(tmp_path) == {}


def test_where_nobody_listens_it_is_tried_again_and_said(tmp_path, slept):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: nobody else gets the port, and nobody answers
        with pytest.raises(DatasetError, match=r"(?i)refused"):
            download_file(f"http://127.0.0.1:{unused.getsockname()[1]}/a.zip", tmp_path / "a.zip", waits=(3, 4))
    assert slept == [3, 4]
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("elsewhere", ["file:///etc/hosts", "ftp://127.0.0.1/a.zip"])
def test_only_the_web_is_followed(tmp_path, elsewhere):
    with pytest.raises(DatasetError, match="only http and https"):
        download_file(elsewhere, tmp_path / "a.zip")
    with serving({}, [("move", elsewhere)]) as server, pytest.raises(DatasetError, match=r"file|ftp"):
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert files_in(tmp_path) == {}


def test_a_redirection_is_followed_with_the_range(tmp_path):
    (tmp_path / "a.zip.part").write_bytes(CONTENT[:100])
    with serving({"/there.zip": CONTENT}, [("move", "/there.zip")]) as server:
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip", waits=())
    assert files_in(tmp_path) == {"a.zip": CONTENT}
    assert server.requests[1] == ("/there.zip", "bytes=100-")


def test_an_endless_file_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "LARGEST_DOWNLOAD", 100_000)
    with serving({"/a.zip": CONTENT}) as server, pytest.raises(DatasetError, match="more than 100,000 bytes"):
        download_file(f"{server.address}/a.zip", tmp_path / "a.zip")
    assert "a.zip" not in files_in(tmp_path)


def test_a_short_answer_is_read_and_asked_for_again(slept):
    with serving({"/list": b"{}"}, [503]) as server:
        assert read_address(f"{server.address}/list") == b"{}"
    assert len(server.requests) == 2
