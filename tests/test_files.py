"""Files are written whole, and together, or not at all."""

import pytest

from nashgraph.files import check_writable, written_together, written_whole


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


def fail_in(folder):
    with written_together(folder) as beside:
        (beside / "a.txt").write_text("new")
        raise RuntimeError("stop")


def test_failure_leaves_no_folder_and_no_parents(tmp_path):
    with pytest.raises(RuntimeError, match="stop"):
        fail_in(tmp_path / "x" / "y")
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(RuntimeError, match="stop"):
        fail_in(tmp_path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.txt", "old")]


def test_files_of_the_same_name_are_replaced_and_others_stay(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "mine.txt").write_text("mine")
    with written_together(tmp_path) as beside:
        (beside / "a.txt").write_text("new")
        assert (tmp_path / "a.txt").read_text() == "old"
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"a.txt": "new", "mine.txt": "mine"}


def test_a_folder_in_the_way_stops_all(tmp_path):
    (tmp_path / "b.txt").mkdir()

    def write():
        with written_together(tmp_path) as beside:
            (beside / "a.txt").write_text("new")
            (beside / "b.txt").write_text("new")

    with pytest.raises(IsADirectoryError, match=r"b\.txt is a folder"):
        write()
    assert [file.name for file in tmp_path.iterdir()] == ["b.txt"]


def test_trying_leaves_no_trace_and_keeps_empty_folders(tmp_path):
    (tmp_path / "empty").mkdir()
    check_writable(tmp_path / "empty" / "deep" / "er")
    check_writable(tmp_path / "empty")
    assert [file.name for file in tmp_path.iterdir()] == ["empty"]
    assert list((tmp_path / "empty").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"):
        check_writable(tmp_path / "file")
