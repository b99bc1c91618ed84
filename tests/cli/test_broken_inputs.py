"""Every broken input prints its own line, exits with a code that is not zero, and leaves no files."""

import errno
import gzip
import os
import pickle
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from nashgraph.cli import learn
from nashgraph.io import GRAPH_FILES, graphs

from ..commands import error_lines, run

GOOD = "id,age,income\nann,31,5\nbob,45,7\ncat,28,6\ndan,60,4\n"


def text(content):
    return lambda path: path.write_text(content)


def raw(content):
    return lambda path: path.write_bytes(content)


def excel_in_pieces(path):
    pd.DataFrame({"a": [1, 2]}).to_excel(path, index=False)
    path.write_bytes(path.read_bytes()[:-900])


def parquet_in_pieces(path):
    pd.DataFrame({"a": [1, 2]}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-40])


def nested(cells):
    return lambda path: pd.DataFrame({"x": cells, "y": [1, 2]}).to_parquet(path)


def index_as_column(path):
    pd.DataFrame({"x": [1, 2], "y": [1, 2]}, index=pd.Index([5, 6], name="x")).to_parquet(path)


def two_in_a_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", GOOD)
        archive.writestr("b.csv", GOOD)


def stray_cell(path):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD200000"] = 1, 2
    book.save(path)


def feather_with_wild_offsets(path):
    pd.DataFrame({"id": ["aaa", "bbb", "ccc"], "x": [1.0, 2.0, 4.0]}).to_feather(path, compression="uncompressed")
    content = path.read_bytes()
    for kind in ("<i8", "<i4"):
        content = content.replace(
            np.array([0, 3, 6, 9], kind).tobytes(), np.array([0, 3, 2**30, 2**30 + 3], kind).tobytes()
        )
    path.write_bytes(content)


def npz_in_pieces(path):
    np.savez(path, np.ones((3, 3)))
    path.write_bytes(path.read_bytes()[:-60])


def numpy_objects(path):
    with path.open("wb") as file:
        np.save(file, np.array([[{"a": 1}], [None]], dtype=object), allow_pickle=True)


# name of the file, how to make it, further options, code, a piece of the message
BROKEN = {
    "a folder": ("t.csv", lambda path: path.mkdir(), [], 1, "is a folder"),
    "no file": ("t.csv", lambda path: None, [], 1, "there is no file"),
    "no known kind": ("t.docx", text("a"), [], 1, "t.docx is of no known kind"),
    "empty": ("t.csv", text(""), [], 1, "t.csv is empty"),
    "blanks only": ("t.csv", text(" \n \n"), [], 1, "t.csv is empty"),
    "quotes only": ("t.csv", text('""\n""\n'), [], 1, "t.csv is empty"),
    "binary": ("t.csv", raw(b"\x89PNG\r\n\x1a\n\x00\x00"), [], 1, "byte 0 (0x89)"),
    "zeros": ("t.csv", raw(b"a,b\n1,\x00\n"), [], 1, "is a binary file"),
    "Excel named CSV": ("t.csv", raw(b"PK\x03\x04\x00\x00\xff"), [], 1, "looks like an Excel file: name it .xlsx"),
    "PDF named CSV": ("t.csv", raw(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0"), [], 1, "it is a PDF: copy the table"),
    "header only": ("t.csv", text("id,age\n"), [], 1, "a header and no rows"),
    "duplicate columns": ("t.csv", text("a,b,a\n1,2,3\n4,5,6\n"), [], 1, "column name 'a' more than once"),
    "wrong separator": ("t.csv", text(GOOD), ["--set", "separator=;"], 1, "',' would give 3"),
    "long separator": ("t.csv", text(GOOD), ["--set", "separator=--"], 2, "separator must be one character"),
    "separator at the end of lines": ("t.csv", text(GOOD), ["--set", "separator=\n"], 2, "no quote or end of line"),
    "separator of two letters": (
        "t.csv",
        text(GOOD),
        ["--set", "separator=👨‍👩‍👧"],
        2,
        "separator must be one character",
    ),
    "separator that is not there": ("t.csv", text(GOOD), ["--set", "separator=§"], 1, "',' would give 3"),
    "thousands as decimals": ("t.csv", text(GOOD), ["--set", "thousands=."], 2, "not the decimal mark"),
    "unknown column to drop": ("t.csv", text(GOOD), ["--drop", "agee"], 1, "no column 'agee' (did you mean 'age'?)"),
    "unknown id": ("t.csv", text(GOOD), ["--id", "who"], 1, "no column 'who'"),
    "unknown benefit": ("t.csv", text(GOOD), ["--set", "benefit=rank"], 1, "no column 'rank'"),
    "unknown category": ("t.csv", text(GOOD), ["--set", "categorical=side"], 1, "no column 'side'"),
    "ragged, too long": ("t.csv", text(GOOD + "eve,1,2,3\n"), [], 1, "line 6 has 4 fields"),
    "ragged, too short": ("t.csv", text(GOOD + "eve,1\n"), [], 1, "line 6 has 2 fields"),
    "open quote": ("t.csv", text(GOOD + '"eve,1,2\n'), [], 1, "is never closed"),
    "wrong encoding": (
        "t.csv",
        raw("id,a\nZoë,1\nbob,2\n".encode("latin-1")),
        ["--set", "encoding=utf-8"],
        1,
        "(0xeb)",
    ),
    "unknown encoding": ("t.csv", text(GOOD), ["--set", "encoding=klingon"], 1, "encoding 'klingon' is not known"),
    "an encoding for nothing": ("t.csv", text(GOOD), ["--set", "encoding=undefined"], 1, "cannot be read as undefined"),
    "an encoding for names": ("t.csv", text(GOOD + "é\n"), ["--set", "encoding=punycode"], 1, "punycode"),
    "an encoding that is none": ("t.csv", text(GOOD), ["--set", "encoding=base64"], 1, "'base64' is not known"),
    "beta and degree": ("t.csv", text(GOOD), ["--set", "beta=1", "--degree", "2"], 2, "--set beta and --degree both"),
    "c outside": ("t.csv", text(GOOD), ["--set", "c=1.5"], 1, "c must be a finite number in [1e-09, 1), got 1.5"),
    "negative lam": (
        "t.csv",
        text(GOOD),
        ["--method", "glgp", "--set", "lam=-1"],
        1,
        "lam must be a finite number in [0, 1e+100]",
    ),
    "degree below one": (
        "t.csv",
        text(GOOD),
        ["--method", "glgp", "--degree", "0.5"],
        1,
        "degree must be a finite number in [1",
    ),
    "degree no number": ("t.csv", text(GOOD), ["--degree", "ten"], 2, "--degree"),
    "unknown method": ("t.csv", text(GOOD), ["--method", "magic"], 2, "magic"),
    "unknown option": ("t.csv", text(GOOD), ["--magic"], 2, "--magic"),
    "unknown interaction": ("t.csv", text(GOOD), ["--set", "interaction=magic"], 2, "--set interaction"),
    "option of another method": (
        "t.csv",
        text(GOOD),
        ["--method", "smooth", "--set", "lam=1"],
        2,
        "smooth has no --set lam",
    ),
    "benefit for a method without": (
        "t.csv",
        text(GOOD),
        ["--method", "smooth", "--set", "benefit=age"],
        2,
        "the method smooth has no --set benefit",
    ),
    "pairwise for a method without": (
        "t.csv",
        text(GOOD),
        ["--method", "glasso", "--missing", "pairwise"],
        2,
        "take one of consensus, smooth, linear, glgp",
    ),
    "setting without value": ("t.csv", text(GOOD), ["--set", "tol"], 2, "--set tol must read NAME=VALUE"),
    "unknown setting": ("t.csv", text(GOOD), ["--set", "magic=1"], 2, "no parameter of the method consensus"),
    "setting of a wrong kind": (
        "t.csv",
        text(GOOD),
        ["--method", "glgp", "--set", "tol=small"],
        1,
        "tol must be a number, got 'small'",
    ),
    "corrupt xlsx": ("t.xlsx", excel_in_pieces, [], 1, "cannot be read as an Excel file"),
    "text named xlsx": ("t.xlsx", text(GOOD), [], 1, "cannot be read as an Excel file"),
    "corrupt parquet": ("t.parquet", parquet_in_pieces, [], 1, "cannot be read as a Parquet file"),
    "index and column of one name": (
        "t.parquet",
        index_as_column,
        [],
        1,
        "an index and a column called 'x' that differ",
    ),
    "corrupt feather": ("t.feather", text("ARROW1"), [], 1, "cannot be read as a Feather file"),
    "wild feather": ("t.feather", feather_with_wild_offsets, [], 1, "cannot be read as a Feather file"),
    "corrupt json": ("t.json", text('[{"a": 1'), [], 1, "cannot be read as a table in JSON"),
    "no table in json": ("t.json", text("3"), [], 1, "cannot be read as a table in JSON"),
    "empty json": ("t.json", text("[]"), [], 1, "t.json is empty"),
    "corrupt dta": ("t.dta", text("dta"), [], 1, "cannot be read as a file of Stata, SPSS or SAS"),
    "corrupt sav": ("t.sav", text("sav"), [], 1, "cannot be read as a file of Stata, SPSS or SAS"),
    "corrupt gz": ("t.csv.gz", text(GOOD), [], 1, "t.csv.gz cannot be unpacked"),
    "corrupt within gz": (
        "t.csv.gz",
        raw(gzip.compress(GOOD.encode())[:12] + b"\xff" * 20),
        [],
        1,
        "cannot be unpacked",
    ),
    "corrupt zip": ("t.zip", text(GOOD), [], 1, "t.zip cannot be unpacked"),
    "two files in a zip": ("t.zip", two_in_a_zip, [], 1, "t.zip holds 2 files, a.csv, b.csv"),
    "a stray cell": ("t.xlsx", stray_cell, [], 1, "is there a stray cell far out (Ctrl+End goes to it)?"),
    "corrupt npz": ("t.npz", npz_in_pieces, [], 1, "cannot be read as a NumPy file"),
    "several arrays": (
        "t.npz",
        lambda path: np.savez(path, a=np.eye(3), b=np.eye(3)),
        [],
        1,
        "2 arrays, a, b: choose one",
    ),
    "unknown array": (
        "t.npz",
        lambda path: np.savez(path, a=np.eye(3)),
        ["--set", "array=z"],
        1,
        "no array 'z': it has a",
    ),
    "objects in npy": ("t.npy", numpy_objects, [], 1, "pickled Python objects"),
    "pickle named npy": ("t.npy", lambda path: path.write_bytes(pickle.dumps([1])), [], 1, "pickled Python objects"),
    "a vector": (
        "t.npy",
        lambda path: np.save(path, np.ones(3)),
        [],
        1,
        "two-dimensional array of numbers, got shape (3,)",
    ),
}


ENDS_ITS_READER = ("a stray cell", "wild feather")


@pytest.mark.parametrize("case", BROKEN)
def test_broken_input(tmp_path, request, case):
    if case not in ENDS_ITS_READER:
        request.getfixturevalue("read_here")
    name, make, options, code, message = BROKEN[case]
    make(tmp_path / name)
    result = run("learn", tmp_path / name, "--out", tmp_path / "new" / "out", *options)
    lines = error_lines(result)
    assert len(lines) == 1, result.output
    assert lines[0].startswith("nashgraph learn: ")
    assert message in lines[0]
    assert result.exit_code == code
    assert "Traceback" not in result.output
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source,target\nann,eve\n", "no tie between two nodes of the signals: it names eve"),
        ("ann,bob\n", "a header and no rows"),
        ("a,b\nann,bob\n", "must have the columns source and target"),
        ("", "truth.csv is empty"),
    ],
)
def test_broken_truth(tmp_path, content, message):
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "truth.csv").write_text(content)
    result = run("learn", tmp_path / "t.csv", "--truth", tmp_path / "truth.csv", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert message in error_lines(result)[-1]
    assert not (tmp_path / "out").exists()


def test_the_truth_that_tells_nothing_apart(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "truth.csv").write_text("source,target\nann,bob\nann,cat\nann,dan\nbob,cat\nbob,dan\ncat,dan\n")
    result = run("learn", tmp_path / "t.csv", "--truth", tmp_path / "truth.csv", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "truth has every possible edge" in error_lines(result)[-1]
    assert not (tmp_path / "out").exists()


def test_unwritable_folders(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        result = run("learn", tmp_path / "t.csv", "--out", out)
        assert result.exit_code == 1
        assert "file" in error_lines(result)[-1]
    assert (tmp_path / "file").read_text() == "mine"

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "out")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    result = run("learn", tmp_path / "t.csv", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert error_lines(result)[-1] == "nashgraph learn: out: permission denied"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("part", [*GRAPH_FILES, "report.html"])
@pytest.mark.parametrize("there", [True, False])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, part, there):
    (tmp_path / "t.csv").write_text(GOOD)
    out = tmp_path / "out"
    if there:
        out.mkdir()
        (out / "edges.csv").write_text("old")

    def full(*arguments):
        arguments[-1].write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if part in GRAPH_FILES:
        monkeypatch.setitem(GRAPH_FILES, part, full)
    else:
        monkeypatch.setattr(learn, "write_report", full)
    result = run("learn", tmp_path / "t.csv", "--out", out)
    assert result.exit_code == 1
    assert error_lines(result)[-1] == "nashgraph learn: the disk is full: nothing was written"
    if there:
        assert [(file.name, file.read_text()) for file in out.iterdir()] == [("edges.csv", "old")]
    else:
        assert not out.exists()


def test_a_disk_that_fills_within_a_file(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(GOOD)

    def lines(graph):
        yield "<?xml"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(graphs, "_graphml_lines", lines)
    result = run("learn", tmp_path / "t.csv", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "the disk is full" in result.stderr
    assert not (tmp_path / "out").exists()


def test_errors_as_json(tmp_path):
    import json

    result = run("learn", tmp_path / "nowhere.csv", "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["code"] == 1
    assert "there is no file" in answer["error"]
    assert result.stderr == ""
    assert json.loads(run("learn", "t.csv", "--magic", "--json").stdout)["code"] == 2


def test_errors_with_markup_and_control_characters_are_plain(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    result = run("learn", tmp_path / "t.csv", "--id", "[red]\x1b[31m", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert r"[red]\x1b[31m" in result.stderr
    assert "\x1b" not in result.stderr
