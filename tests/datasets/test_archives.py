"""Archives are read without believing their paths or their sizes."""

import zipfile

import pytest

from nashgraph.datasets import DatasetError, archives
from nashgraph.datasets.archives import gunzip, gzip_bytes, read_member


def make(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return zipfile.ZipFile(path)


@pytest.mark.parametrize("name", ["edges.csv", "a/b/edges.csv", "../../edges.csv", "/etc/edges.csv", "a\\edges.csv"])
def test_a_member_is_found_by_its_base_name(tmp_path, name):
    with make(tmp_path / "a.zip", [("edges.csv/", ""), (name, "0,1")]) as archive:
        assert read_member(archive, "edges.csv") == b"0,1"
    assert [file.name for file in tmp_path.iterdir()] == ["a.zip"]


def test_a_member_must_be_there_once(tmp_path):
    with make(tmp_path / "a.zip", [("a/x", ""), ("b/x", "")]) as archive:
        with pytest.raises(DatasetError, match="has 2 files named x"):
            read_member(archive, "x")
        with pytest.raises(DatasetError, match="has no files named y"):
            read_member(archive, "y")


def test_a_member_that_swells_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 1000)
    content = b"0" * 1001
    with make(tmp_path / "a.zip", [("bomb", content), ("fits", content[1:])]) as archive:
        assert len(read_member(archive, "fits")) == 1000
        with pytest.raises(DatasetError, match="more than 1,000 bytes"):
            read_member(archive, "bomb")
    with pytest.raises(DatasetError, match="more than 1,000 bytes"):
        gunzip(gzip_bytes(content), "bomb.gz")


def test_gzipped_bytes_are_the_same_every_time():
    first = gzip_bytes(b"edges")
    assert first[4:8] == bytes(4)  # no time
    assert gunzip(first, "x") == b"edges"
