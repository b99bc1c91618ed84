"""A file is written whole or not at all."""

import pytest

from nashgraph.files import written_whole


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "out" / "edges.csv"
    with written_whole(target) as name:
        name.write_text("old")

    def interrupted():
        with written_whole(target) as name:
            name.write_text("half")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        interrupted()
    assert target.read_text() == "old"
    assert [file.name for file in target.parent.iterdir()] == ["edges.csv"]


def test_the_name_beside_has_the_same_ending(tmp_path):
    with written_whole(tmp_path / "graph.graphml") as name:
        assert name.suffix == ".graphml"
        name.write_text("<graphml/>")
