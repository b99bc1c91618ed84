"""Files are written whole, and together, or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nashgraph
from nashgraph import files
from nashgraph.files import LOCK, claimed, noting_writes, written_together, written_whole

HOLD = """
import sys, time
from nashgraph.files import written_together
with written_together(sys.argv[1]) as beside:
    (beside / "a.txt").write_text("new")
    print("holding", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that is writing to a folder."""
    env = {**os.environ, "PYTHONPATH": str(Path(nashgraph.__file__).parents[1])}
    command = [sys.executable, "-c", HOLD, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout.readline() == "holding\n"
        yield process
        process.kill()


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


def test_a_claim_leaves_no_trace_and_keeps_empty_folders(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty" / "deep" / "er", tmp_path / "empty"):
        with claimed(folder):
            pass
    assert [file.name for file in tmp_path.iterdir()] == ["empty"]
    assert list((tmp_path / "empty").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"), claimed(tmp_path / "file"):
        pass


def test_a_second_run_is_told_who_has_the_folder(tmp_path, holder):
    said = rf"in use by another run of nashgraph \(process {holder.pid} on "
    with pytest.raises(BlockingIOError, match=said), claimed(tmp_path / "out"):
        pass


def test_what_a_killed_run_leaves_is_cleaned_by_the_next(tmp_path, holder):
    holder.kill()
    holder.wait()
    out = tmp_path / "out"
    assert len(list(out.glob(".nashgraph*"))) == 2  # the lock and the new folder
    (out / "mine.txt").write_text("mine")
    with written_together(out) as beside:
        (beside / "b.txt").write_text("new")
    assert sorted(file.name for file in out.iterdir()) == ["b.txt", "mine.txt"]


def test_a_claim_of_ones_own_is_no_hindrance(tmp_path):
    with claimed(tmp_path / "out"):
        assert (tmp_path / "out" / LOCK).exists()
        with written_together(tmp_path / "out") as beside:
            (beside / "a.txt").write_text("new")
        assert (tmp_path / "out" / LOCK).exists()
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["a.txt"]


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("broken", range(3))
@pytest.mark.parametrize("error", [OSError("disk gone"), KeyboardInterrupt()])
def test_a_move_that_breaks_off_is_taken_back(tmp_path, monkeypatch, broken, error, links):
    for name in "ac":
        (tmp_path / name).write_text("old")
    move, calls = Path.replace, []

    def replace(self, target):
        if Path(target).parent == tmp_path and self.parent.name.startswith(".nashgraph-"):
            calls.append(target)
            if len(calls) == broken + 1:
                raise error
        return move(self, target)

    def no_links(*_):
        raise OSError("no links here")

    monkeypatch.setattr(Path, "replace", replace)
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", no_links)

    def write():
        with written_together(tmp_path) as beside:
            for name in "abc":
                (beside / name).write_text("new")

    with pytest.raises(type(error)):
        write()
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"a": "old", "c": "old"}


def test_bytes_reach_the_disk_before_the_name_does(tmp_path, monkeypatch):
    done = []
    sync, move = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append("fsync"), sync(handle))[1])
    monkeypatch.setattr(Path, "replace", lambda self, target: (done.append("rename"), move(self, target))[1])
    with written_whole(tmp_path / "a.txt") as name:
        name.write_text("new")
    assert done == ["fsync", "rename", "fsync"]
    done.clear()
    with written_together(tmp_path) as beside:
        (beside / "b.txt").write_text("new")
        (beside / "c.txt").write_text("new")
    assert done == ["fsync", "fsync", "rename", "rename", "fsync"]


def test_what_was_written_is_noted_and_what_was_removed_is_not(tmp_path):
    with noting_writes() as written:
        with pytest.raises(RuntimeError, match="stop"):
            fail_in(tmp_path / "x")
        assert written == []
        with written_together(tmp_path / "x") as beside, written_whole(beside / "a.txt") as name:
            name.write_text("new")
    assert written == [tmp_path / "x"]


def test_a_folder_of_the_users_that_is_called_like_ours_stays(tmp_path):
    out, notes, elsewhere = tmp_path / "out", tmp_path / "out" / ".nashgraph-notes", tmp_path / "elsewhere"
    notes.mkdir(parents=True)
    elsewhere.mkdir()
    for folder in (notes, elsewhere):
        (folder / "mine.txt").write_text("mine")
    (elsewhere / files.MARK).touch()
    (out / ".nashgraph-link").symlink_to(elsewhere)
    stale = out / ".nashgraph-killed"  # as left by a killed run
    stale.mkdir()
    (stale / files.MARK).touch()
    with files.written_together(out) as beside:
        (beside / "edges.csv").write_text("")
    assert (notes / "mine.txt").read_text() == (elsewhere / "mine.txt").read_text() == "mine"
    assert sorted(file.name for file in out.iterdir()) == [".nashgraph-link", ".nashgraph-notes", "edges.csv"]


@pytest.mark.parametrize("kind", ["text", "hard link", "symbolic link", "dangling link", "folder"])
def test_a_file_of_the_users_with_the_name_of_the_lock_is_refused_and_stays(tmp_path, kind):
    out, mine = tmp_path / "out", tmp_path / "mine.txt"
    out.mkdir()
    if kind != "dangling link":
        mine.write_text("" if kind == "hard link" else "mine")
    if kind == "hard link":
        (out / LOCK).hardlink_to(mine)
    elif kind.endswith("link"):
        (out / LOCK).symlink_to(mine)
    elif kind == "folder":
        (out / LOCK).mkdir()
    else:
        (out / LOCK).write_text("mine")
    before = {file: file.is_file() and file.read_text() for file in (mine, out / LOCK)}
    with pytest.raises(FileExistsError, match=r"lock is not a lock file .* or is a link.*: rename or remove it"):
        fail_in(out)
    assert {file: file.is_file() and file.read_text() for file in (mine, out / LOCK)} == before
    assert [file.name for file in out.iterdir()] == [LOCK]


@pytest.mark.parametrize("text", ["", "process 1 on elsewhere since Monday"])
def test_a_lock_that_a_killed_run_left_is_taken_over(tmp_path, text):
    (tmp_path / LOCK).write_text(text)
    with claimed(tmp_path):
        assert f"process {os.getpid()} on" in (tmp_path / LOCK).read_text()
    assert list(tmp_path.iterdir()) == []
