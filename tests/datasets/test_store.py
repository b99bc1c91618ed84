"""Where files are looked for, how they are checked, and the error if they are missing."""

import gzip
import hashlib
import io
import zipfile
from dataclasses import replace

import pandas as pd
import pytest

from nashgraph.datasets import DatasetError, store
from nashgraph.datasets.store import Source, Table, fetch, find_home, gunzip, load_tables, read_member

from ..servers import serving

EDGES = b"i,j\n0,1\n1,2\n"
SHA256 = hashlib.sha256(EDGES).hexdigest()
PATH = "networks/path_edges.csv"


def source(address="http://127.0.0.1:9/never"):
    """Return a data set whose archive is the table itself, in capitals."""
    return Source(
        name="path",
        title="the path",
        size="3 nodes, 2 edges",
        page="https://example.org/path",
        archive="path.txt",
        address=lambda: address,
        convert=lambda archive: [archive.read_bytes().lower()],
        tables=(Table(PATH, lambda content: pd.read_csv(io.BytesIO(content)), SHA256),),
        citation="Euler, 1736",
    )


def put(home, content=EDGES):
    (home / PATH).parent.mkdir(parents=True)
    (home / PATH).write_bytes(content)
    return home


def files_below(folder):
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_a_file_is_looked_for_in_the_order_given(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("NASHGRAPH_DATA", str(tmp_path / "named"))
    given = tmp_path / "given"
    assert find_home(source(), given) is None
    for home in (cache, tmp_path / "named", given):
        assert find_home(source(), given) != home
        put(home)
        assert find_home(source(), given) == home
    assert find_home(source()) == tmp_path / "named"
    [edges] = load_tables(source(), given, download=False)
    assert edges.to_numpy().tolist() == [[0, 1], [1, 2]]


def test_a_file_with_other_content_is_named_with_both_hashes(tmp_path):
    put(tmp_path, EDGES + b"2,3\n")
    with pytest.raises(DatasetError) as error:
        load_tables(source(), tmp_path)
    for part in (str(tmp_path / PATH), SHA256, hashlib.sha256(EDGES + b"2,3\n").hexdigest()):
        assert part in str(error.value)
    assert "remove the file" in str(error.value)


def test_a_file_that_is_no_table_is_named(tmp_path):
    put(tmp_path, b"")
    with pytest.raises(DatasetError, match=r"path_edges\.csv cannot be read"):
        load_tables(source(), tmp_path)


def test_only_the_pinned_columns_count():
    frame = pd.DataFrame({"i": [0], "note": ["first"]})
    assert store.digest(frame, ("i",)) == hashlib.sha256(b"i\n0\n").hexdigest()
    assert store.digest(frame, ("i",)) == store.digest(frame.assign(note="other"), ("i",)) != store.digest(frame)


@pytest.mark.parametrize("given", [True, False])
def test_what_is_nowhere_is_fetched_checked_and_kept(tmp_path, cache, given):
    home = tmp_path / "given" if given else cache
    with serving({"/path.txt": EDGES.upper()}) as server:
        for _ in range(2):
            [edges] = load_tables(source(f"{server.address}/path.txt"), home if given else None)
            assert edges.to_numpy().tolist() == [[0, 1], [1, 2]]
    assert len(server.requests) == 1
    assert files_below(tmp_path) == [str((home / PATH).relative_to(tmp_path))]


def test_a_fetched_file_with_other_content_is_removed(cache):
    with serving({"/path.txt": EDGES.upper() + b"2,3\n"}) as server, pytest.raises(DatasetError) as error:
        load_tables(source(f"{server.address}/path.txt"))
    assert "could not be fetched" in str(error.value)
    assert SHA256 in str(error.value)
    assert hashlib.sha256(EDGES + b"2,3\n").hexdigest() in str(error.value)
    assert files_below(cache) == []


def test_nothing_is_written_unless_every_table_is_right(cache):
    first = source().tables[0]
    tables = (first, replace(first, path="other.csv", sha256="0" * 64))
    both = replace(source(), tables=tables, convert=lambda archive: [EDGES, EDGES])
    with pytest.raises(DatasetError, match=r"other\.csv that was pinned"):
        store.store(both, cache / "path.txt", cache)
    assert not cache.exists()


def test_a_failed_fetch_says_what_to_do_by_hand(cache, monkeypatch):
    monkeypatch.setenv("NASHGRAPH_DATA", "elsewhere")
    with serving({}) as server, pytest.raises(DatasetError) as error:
        load_tables(source(f"{server.address}/path.txt"))
    message = str(error.value)
    for part in (
        f"the path could not be fetched: {server.address}/path.txt: the server answers 404",
        "get path.txt from https://example.org/path",
        str(cache / "downloads" / "path.txt"),
        f"set NASHGRAPH_DATA to a folder that has {PATH}",
        f"looked in: elsewhere, {cache}",
    ):
        assert part in message
    assert "\n" not in message


def test_the_net_can_be_forbidden(cache):
    not_here = pytest.raises(DatasetError, match=r"the path is not here, and download=False; to fetch it by hand, get")
    with serving({"/path.txt": EDGES.upper()}) as server, not_here:
        load_tables(source(f"{server.address}/path.txt"), download=False)
    assert server.requests == []
    assert not cache.exists()


def test_an_archive_put_in_place_by_hand_is_used_and_left(cache):
    archive = cache / "downloads" / "path.txt"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(EDGES.upper())
    load_tables(source(), download=False)
    assert files_below(cache) == ["downloads/path.txt", PATH]
    archive.write_bytes(b"i,j\n")
    with pytest.raises(DatasetError, match="does not hold"):
        fetch(source())
    assert archive.exists()
    assert (cache / PATH).read_bytes() == EDGES


def test_the_cache_is_our_own_folder_where_the_system_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.undo()  # the fixture replaces the function tested here
    monkeypatch.setattr(store, "user_cache_path", lambda name: tmp_path / name)
    assert store.user_cache() == tmp_path / "nashgraph"


# ------------------------------------------------------------------------------------------ archives


def make(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["edges.csv", "a/b/edges.csv", "../../edges.csv", "/etc/edges.csv", "a\\edges.csv"])
def test_a_member_is_found_by_its_base_name(tmp_path, name):
    assert read_member(make(tmp_path / "a.zip", [("edges.csv/", ""), (name, "0,1")]), "edges.csv") == b"0,1"
    assert [file.name for file in tmp_path.iterdir()] == ["a.zip"]


def test_a_member_must_be_there_once(tmp_path):
    archive = make(tmp_path / "a.zip", [("a/x", ""), ("b/x", "")])
    with pytest.raises(DatasetError, match="has 2 files named x"):
        read_member(archive, "x")
    with pytest.raises(DatasetError, match="has no files named y"):
        read_member(archive, "y")


def test_a_member_that_swells_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LARGEST_MEMBER", 1000)
    content = b"0" * 1001
    archive = make(tmp_path / "a.zip", [("bomb", content), ("fits", content[1:])])
    assert len(read_member(archive, "fits")) == 1000
    with pytest.raises(DatasetError, match="more than 1,000 bytes"):
        read_member(archive, "bomb")
    with pytest.raises(DatasetError, match="more than 1,000 bytes"):
        gunzip(gzip.compress(content), "bomb.gz")
