"""Every write of every command may fail: then the command prints an error and leaves the files as before."""

import errno
import shutil
import sys

import pytest

from nashgraph.cli import data
from nashgraph.datasets import villages
from nashgraph.datasets.villages import VILLAGES
from nashgraph.files import LOCK

from ..commands import error_lines, run
from ..village_archive import pinned_to, village_archive

resource = pytest.importorskip("resource", reason="about limits that only POSIX has")

TABLE = "id,age,income\nann,31,5\nbob,45,7\ncat,28,6\ndan,60,4\neve,33,9\n"
WRITES = {"os.mkdir", "os.rename", "os.link", "os.chmod", "tempfile.mkstemp", "tempfile.mkdtemp"}


class Disk:
    """A file system that fails at its n-th write below a folder; an audit hook of Python sees all writes."""

    folder, left, error, event = None, None, None, None

    @classmethod
    def hook(cls, event, arguments):
        if cls.folder is None or not (event in WRITES or (event == "open" and cls.writes(*arguments))):
            return
        if any(str(part).startswith(cls.folder) for part in arguments):
            cls.left -= 1
            if cls.left == 0:
                cls.event = event
                raise cls.error

    @staticmethod
    def writes(path, mode, flags):
        return bool(mode and set(mode) & set("wax+")) and not str(path).endswith(LOCK)  # which is a courtesy

    @classmethod
    def fails_at(cls, folder, count, error):
        cls.folder, cls.left, cls.error = str(folder), count, error

    @classmethod
    def works(cls):
        broke, cls.folder = cls.left <= 0, None
        return not broke


sys.addaudithook(Disk.hook)


def learn(tmp_path, out):
    return ("learn", tmp_path / "t.csv", "--method", "smooth", "--degree", "2", "--out", out)


PLAN = ("--people", "12", "--ties", "3", "--asked", "100", "--questions", "0", "--draws", "1")
COMMANDS = {
    "learn": learn,
    "path": lambda tmp_path, out: ("path", tmp_path / "t.csv", "--degree", "2", "--n-lams", "2", "--out", out),
    "compare": lambda tmp_path, out: ("compare", tmp_path / "t.csv", "--methods", "smooth", "--out", out),
    "rerun": lambda tmp_path, out: ("rerun", tmp_path / "model", "--out", out),
    "plan": lambda tmp_path, out: ("plan", *PLAN, "--out", out),
    "act": lambda tmp_path, out: ("act", tmp_path / "model", "--out", out),
    "demo": lambda tmp_path, out: ("demo", "--out", out),
}
# Every write of one command fails once; the others write in the same way, so only some of their writes fail.
STEPS = {"learn": 1, "path": 6, "compare": 2, "rerun": 6, "act": 3, "plan": 2, "demo": 60}
FULL = OSError(errno.ENOSPC, "No space left on device")


def content(folder):
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder): file.read_bytes() for file in files} if folder.exists() else None


def check_whole_or_absent(folder, step, *arguments):
    """Let writes fail in a command that writes its files in turn: each file is whole or missing."""
    assert run(*arguments).exit_code == 0
    whole, count = content(folder), 0
    kept = {file for file in whole if file.parts[0] == ".trials"}  # the checkpoints of a study
    for count in range(1, 199, step):
        for file in (content(folder) or {}).keys() - kept:
            (folder / file).unlink()
        Disk.fails_at(folder, count, FULL)
        try:
            result = run(*arguments)
        finally:
            worked = Disk.works()
        if worked:
            break
        assert result.exit_code == 1 or Disk.event == "os.mkdir", (count, result.output)
        assert result.exit_code == 0 or "No space left" in result.stderr or "the disk is full" in result.stderr
        assert (content(folder) or {}).items() <= whole.items(), count
    assert worked
    assert count > 3
    assert content(folder) == whole


@pytest.fixture
def place(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    assert run(*learn(tmp_path, tmp_path / "model")).exit_code == 0
    return tmp_path


@pytest.mark.parametrize("before", [False, True], ids=["new folder", "old files"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_write_that_fails_leaves_the_files_of_before(place, command, before):
    out = place / "deep" / "out"
    if before:
        assert run(*learn(place, out)).exit_code == 0
    old, count = content(out), 0
    for count in range(1 + before, 99, STEPS[command]):
        Disk.fails_at(out.parent, count, FULL)
        try:
            result = run(*COMMANDS[command](place, out))
        finally:
            worked = Disk.works()
        if worked:
            break
        if result.exit_code == 0:  # making an existing folder may fail; files that cannot be linked are copied
            assert Disk.event in ("os.mkdir", "os.link"), count
            old = content(out)
            if not before:
                shutil.rmtree(out.parent)
                old = None
            continue
        assert result.exit_code == 1, (count, result.output)
        assert error_lines(result)[-1].endswith("the disk is full: nothing was written"), (count, result.stderr)
        assert content(out) == old, count
        assert before or not out.parent.exists()
    else:
        pytest.fail("there are more writes than were tried")
    assert count > 5


@pytest.mark.parametrize("room", [0, 100, 3000, 20_000])
def test_a_disk_that_fills_up_while_writing_leaves_the_files_of_before(place, room):
    out = place / "out"
    old, limits = content(out), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        result = run(*learn(place, out))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.exit_code == 1, result.output
    assert "bug" not in result.stderr
    assert content(out) == old


def test_the_run_after_a_fault_is_the_run_without(place):
    out = place / "out"
    Disk.fails_at(out, 9, OSError(errno.EIO, "Input/output error"))
    try:
        assert run(*learn(place, out)).exit_code == 1
    finally:
        assert not Disk.works()
    assert run(*learn(place, out)).exit_code == 0
    assert (out / "edges.csv").read_bytes() == (place / "model" / "edges.csv").read_bytes()


def test_data_that_cannot_be_written_leave_whole_files(tmp_path, monkeypatch):
    archive, home = village_archive(tmp_path / "datav4.0.zip"), tmp_path / "home"
    pinned = pinned_to(VILLAGES, archive)
    monkeypatch.setattr(villages, "VILLAGES", pinned)
    monkeypatch.setitem(data.SOURCES, "villages", pinned)
    check_whole_or_absent(home, 1, "datasets", "import-villages", archive, "--data-home", home)
