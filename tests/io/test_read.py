"""Every kind of file gives the same table."""

import bz2
import csv
import gzip
import json
import lzma
import os
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.feather
import pyarrow.parquet
import pyreadstat
import pytest

import nashgraph
from nashgraph import read_study
from nashgraph.io import TableError, TableOptions, read_table

from ..commands import run

# Tests of what a process of its own is for are without it: tests/io/test_apart.py has the others.
read_here = pytest.mark.usefixtures("read_here")


@pytest.fixture
def frame(random):
    table = pd.DataFrame(random.normal(size=(6, 3)), columns=["x", "y", "z"])
    table.insert(0, "id", [f"00{k}" for k in range(6)])
    table.loc[2, "y"] = np.nan
    return table


def zipped(frame, path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__MACOSX/._t.csv", "")
        archive.writestr("folder/t.csv", frame.to_csv(index=False))


WRITERS = {
    "t.csv": lambda frame, path: frame.to_csv(path, index=False),
    "t.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "t.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "t.csv.xz": lambda frame, path: frame.to_csv(path, index=False),
    "t.zip": zipped,
    "t.parquet": lambda frame, path: frame.to_parquet(path),
    "t.feather": lambda frame, path: frame.to_feather(path),
    "t.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "t.json": lambda frame, path: frame.to_json(path, double_precision=15),
    "records.json": lambda frame, path: frame.to_json(path, orient="records", double_precision=15),
    "split.json": lambda frame, path: frame.to_json(path, orient="split", double_precision=15),
    "t.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, double_precision=15),
    "t.dta": lambda frame, path: pyreadstat.write_dta(frame, str(path)),
    "t.sav": lambda frame, path: pyreadstat.write_sav(frame, str(path)),
}


@read_here
@pytest.mark.parametrize("name", WRITERS)
def test_all_kinds_of_tables_read_back_alike(tmp_path, frame, name):
    path = tmp_path / name
    WRITERS[name](frame, path)
    table, notes = read_table(path)
    assert notes == []
    assert list(table.columns) == list(frame.columns)
    assert table["id"].tolist() == frame["id"].tolist()
    np.testing.assert_allclose(table[["x", "y", "z"]].to_numpy(float), frame[["x", "y", "z"]].to_numpy(), rtol=1e-14)


@read_here
def test_arrays(tmp_path, random):
    values = random.normal(size=(5, 3))
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "one.npz", values)
    np.savez(tmp_path / "two.npz", signals=values, other=values[0])
    for name, options in (("a.npy", None), ("one.npz", None), ("two.npz", TableOptions(array="signals"))):
        table, _ = read_table(tmp_path / name, options)
        assert list(table.columns) == ["column 1", "column 2", "column 3"]
        np.testing.assert_array_equal(table.to_numpy(), values)


@read_here
def test_an_index_saved_with_the_table_comes_first(tmp_path, frame):
    frame.set_index("id").to_parquet(tmp_path / "t.parquet")
    table, _ = read_table(tmp_path / "t.parquet")
    assert table.columns[0] == "id"


@read_here
def test_an_index_of_several_columns_or_one_that_is_a_column_already(tmp_path, frame):
    frame.assign(village=1).set_index(["village", "id"]).to_parquet(tmp_path / "two.parquet")
    assert list(read_table(tmp_path / "two.parquet")[0].columns) == ["village", "id", "x", "y", "z"]
    frame.set_index("id", drop=False).to_parquet(tmp_path / "same.parquet")
    assert list(read_table(tmp_path / "same.parquet")[0].columns) == ["id", "x", "y", "z"]
    wide = frame.set_index("id")
    wide.columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")])
    wide.to_parquet(tmp_path / "columns.parquet")
    assert list(read_table(tmp_path / "columns.parquet")[0].columns) == ["id", "a x", "a y", "b x"]


@read_here
def test_intervals_are_categories(tmp_path):
    bins = pd.arrays.IntervalArray.from_tuples([(0, 10), (10, 20), (0, 10)])
    pd.DataFrame({"age": bins, "x": [1.0, 2.0, 4.0]}).to_parquet(tmp_path / "bins.parquet")
    assert list(read_study(tmp_path / "bins.parquet").signals.index) == ["age=(0, 10]", "age=(10, 20]", "x"]


@read_here
@pytest.mark.parametrize("name", ["t.sav", "t.dta"])
def test_labels_come_instead_of_numbers_and_in_their_order(tmp_path, name):
    table = pd.DataFrame({"q": [3.0, 1.0, 2.0, 1.0], "sex": [1.0, 2.0, 2.0, 1.0], "age": [31.0, -9.0, 40.0, 25.0]})
    labels = {
        "q": {1.0: "a little", 2.0: "never so", 3.0: "all"},
        "sex": {1.0: "m", 2.0: "f"},
        "age": {-9.0: "Refused"},
    }
    if name == "t.sav":
        measure = {"q": "ordinal", "sex": "nominal", "age": "scale"}
        pyreadstat.write_sav(table, str(tmp_path / name), variable_value_labels=labels, variable_measure=measure)
    else:
        whole = {column: {int(value): label for value, label in given.items()} for column, given in labels.items()}
        pyreadstat.write_dta(table.astype(int), str(tmp_path / name), variable_value_labels=whole)
    ordinal = ["q"] if name == "t.dta" else []
    study = read_study(tmp_path / name, ordinal=ordinal, gaps="pairwise", standardize=False)
    assert study.signals.loc["q"].tolist() == [2, 0, 1, 0]
    assert study.signals.loc["sex=m"].tolist() == [1, 0, 0, 1]
    np.testing.assert_array_equal(study.signals.loc["age"], [31, np.nan, 40, 25])
    reasons = [decision.reason for decision in study.decisions]
    assert any("1 column(s) have labels for some values only" in reason and "age" in reason for reason in reasons)


@read_here
@pytest.mark.parametrize("name", ["t.csv", "t.xlsx", "t.parquet", "t.feather"])
def test_row_numbers_saved_with_the_table_are_no_signal(tmp_path, frame, name):
    frame = frame.assign(y=1.5, w=[1, 5, 2, 2, 3, 9]).rename(columns={"id": "household"})
    frame = frame.iloc[[3, 1, 5, 0, 2, 4]]  # as after a sort, or a filter
    path = tmp_path / name
    if name == "t.feather":
        frame.rename_axis("Unnamed: 0").reset_index().to_feather(path)
    else:
        {"t.csv": frame.to_csv, "t.xlsx": frame.to_excel, "t.parquet": frame.to_parquet}[name](path)
    for options in ({"id": "household"}, {}):
        study = read_study(path, **options)
        assert list(study.signals.index) == ["x", "z", "w"]
        assert list(study.signals.columns) == frame["household"].tolist()


@read_here
@pytest.mark.parametrize("name", [*WRITERS, "t.npy", "t.npz"])
def test_what_is_too_large_is_refused_in_every_format(tmp_path, frame, name):
    path, numbers = tmp_path / name, np.zeros((6, 4))
    {"t.npy": lambda: np.save(path, numbers), "t.npz": lambda: np.savez_compressed(path, numbers)}.get(
        name, lambda: WRITERS[name](frame, path)
    )()
    with pytest.raises(TableError, match=rf"{path.stem.split('.')[0]}.* is too large: .*--set max_cells=200"):
        read_table(path, TableOptions(max_cells=20))
    assert read_table(path)[0].shape == (6, 4)


@pytest.mark.parametrize("ending", ["csv.gz", "zip", "parquet", "npz"])
def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path, ending):
    path, size = tmp_path / f"t.{ending}", 30_000_000
    if ending == "csv.gz":
        path.write_bytes(gzip.compress(b"1," * (size // 2)))
    elif ending == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", b"1," * (size // 2))
    elif ending == "parquet":
        pyarrow.parquet.write_table(pyarrow.table({"x": np.zeros(size // 8)}), path)
    else:
        np.savez_compressed(path, np.zeros((size // 8, 1)))
    assert path.stat().st_size < size / 50
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="too large"):
            read_table(path, TableOptions(max_cells=100_000))
        assert tracemalloc.get_traced_memory()[1] < size / 4
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("ending", "unit"), [("csv", b"1,"), ("csv", b"1\n"), ("json", b"1,"), ("jsonl", b"{}\n")])
def test_text_with_more_separators_than_cells_is_refused_before_it_is_decoded(tmp_path, ending, unit):
    path, size = tmp_path / f"t.{ending}.gz", 19_000_000  # as many bytes as a million cells may have
    path.write_bytes(gzip.compress(unit * (size // len(unit))))
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match=r"too large: it has [\d,]+ separators or lines.*--set max_cells"):
            read_table(path, TableOptions(max_cells=1_000_000))
        assert tracemalloc.get_traced_memory()[1] < size / 3
    finally:
        tracemalloc.stop()


SPARSE = {
    "records.json": json.dumps([{f"q{k}": 1} for k in range(2000)]),
    "records.jsonl": "\n".join(json.dumps({f"q{k}": 1}) for k in range(2000)),
    "columns.json": json.dumps({f"q{k}": {f"r{k}": 1} for k in range(2000)}),
    "data.json": json.dumps({"data": [{f"q{k}": 1} for k in range(2000)]}),
}


@pytest.mark.parametrize("name", SPARSE)
def test_records_that_leave_out_nearly_all_cells_are_counted_before_a_table_is_made(tmp_path, monkeypatch, name):
    (tmp_path / name).write_text(SPARSE[name])
    monkeypatch.setattr(pd, "DataFrame", None)  # it would have all the cells
    with pytest.raises(TableError, match=f"{name} is too large: it has 4,000,000 cells"):
        read_table(tmp_path / name, TableOptions(max_cells=3_999_999))


@read_here
def test_rows_without_cells_are_counted(tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((10**10, 0)))  # 128 bytes
    with pytest.raises(TableError, match=r"rows\.npy is too large: it has 10,000,000,000 cells"):
        read_table(tmp_path / "rows.npy")


def test_a_cell_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("nashgraph.io.text.LONGEST", 200_000)
    before = csv.field_size_limit(131_072)
    try:
        (tmp_path / "t.csv").write_text('a,b\n1,"' + 300_000 * "x")
        with pytest.raises(TableError, match=r"line 2 cannot be read: a cell has more than .*quotation mark"):
            read_table(tmp_path / "t.csv")
    finally:
        csv.field_size_limit(before)


@read_here
@pytest.mark.parametrize("encoding", ["PLAIN_DICTIONARY", "DELTA_BYTE_ARRAY", "categories", "feather", "coded"])
def test_few_long_texts_that_are_small_in_the_file_are_refused(tmp_path, encoding):
    table = pyarrow.table({"a": ["x" * 100_000] * 100})
    path = tmp_path / "t.parquet"
    if encoding in ("feather", "coded"):
        path = tmp_path / "t.feather"
        if encoding == "coded":
            table = pyarrow.table({"a": table["a"].dictionary_encode()})
        pyarrow.feather.write_feather(table, path, compression="zstd")
    elif encoding == "categories":
        pyarrow.parquet.write_table(pyarrow.table({"a": table["a"].dictionary_encode()}), path)
    elif encoding == "DELTA_BYTE_ARRAY":
        pyarrow.parquet.write_table(table, path, use_dictionary=False, column_encoding={"a": encoding})
    else:
        pyarrow.parquet.write_table(table, path)
    assert path.stat().st_size < 150_000
    with pytest.raises(TableError, match=r"is too large: it has .* MB"):
        read_table(path, TableOptions(max_cells=100_000))
    assert read_table(path)[0].shape == (100, 1)


@read_here
@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/media/image1.png"])
def test_cells_and_pictures_of_an_excel_file_may_be_large(tmp_path, part):
    path = tmp_path / "t.xlsx"
    pd.DataFrame({"x": [1.0, 2.0]}).to_excel(path, index=False)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in {part: b"", **parts}.items():
            book.writestr(name, text.ljust(7_500_000) if name == part else text)
    assert read_table(path)[0]["x"].tolist() == [1.0, 2.0]


@read_here
def test_long_texts_in_a_packed_file_of_spss_are_refused(tmp_path):
    table = pd.DataFrame({"a": [30_000 * "x"] * 100, "b": range(100)})
    pyreadstat.write_sav(table, str(tmp_path / "t.zsav"), compress=True)
    with pytest.raises(TableError, match=r"t\.zsav is too large.*--set max_cells"):
        read_table(tmp_path / "t.zsav", TableOptions(max_cells=100_000))
    assert read_table(tmp_path / "t.zsav")[0].shape == (100, 2)


@pytest.mark.parametrize("ending", [".csv.bz2", ".csv.xz"])
def test_packed_text_that_grows_too_large_is_refused(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    path.write_bytes((bz2 if ending == ".csv.bz2" else lzma).compress(b"1,2\n" * 100_000))
    with pytest.raises(TableError, match="is too large: it has 400 kB"):
        read_table(path, TableOptions(max_cells=1_000))


@read_here
def test_half_floats_and_a_category_of_one_level(tmp_path, random):
    table = pd.DataFrame(random.normal(size=(20, 4)).astype("float16"), columns=[*"abcd"])
    table.insert(0, "time", np.arange(20).astype("float16"))
    try:
        table.to_parquet(tmp_path / "t.parquet")
    except NotImplementedError:
        pytest.skip("this version of pyarrow cannot write half floats")
    assert read_study(tmp_path / "t.parquet", rows="columns").signals.shape == (20, 4)
    table = table.astype(float).assign(time=pd.Categorical(["a"] * 10 + [None] * 10), id=[*"abcdefghijklmnopqrst"])
    table.to_parquet(tmp_path / "t.parquet")
    given = ("--missing", "impute", "--method", "smooth", "--out", tmp_path / "out")
    assert run("learn", tmp_path / "t.parquet", *given).exit_code == 0


def test_answers_one_a_row(tmp_path):
    lines = [
        "question,person,answer",
        "age,007,31",
        "side,007,n",
        "age,008,45",
        "side,9,s",
        "income,008,'1,200",
        "age,9,.",
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines).replace("'1,200", '"1,200"') + "\n")
    study = read_study(tmp_path / "t.csv", rows="answers", gaps="pairwise", standardize=False, thousands=",")
    assert list(study.signals.columns) == ["007", "008", "9"]
    assert list(study.signals.index) == ["age", "side=n", "side=s"]  # one income is the same everywhere
    np.testing.assert_array_equal(study.signals.loc["age"], [31, 45, np.nan])
    assert study.signals.loc["side=n"].tolist()[::2] == [1, 0]


@read_here
def test_sheets_are_chosen_and_the_choice_is_said(tmp_path, frame):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="first", index=False)
        frame[["id", "z"]].to_excel(book, sheet_name="second", index=False)
    table, notes = read_table(tmp_path / "t.xlsx")
    assert table.shape[1] == 4
    assert "the first of its 2 sheets, 'first'" in notes[0]
    table, notes = read_table(tmp_path / "t.xlsx", TableOptions(sheet="second"))
    assert list(table.columns) == ["id", "z"]
    assert notes == []
    with pytest.raises(TableError, match="no sheet 'third': it has first, second"):
        read_table(tmp_path / "t.xlsx", TableOptions(sheet="third"))


def test_separators_at_the_ends_of_lines_make_no_column(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,\n1,2,\n3,4,\n")
    table, notes = read_table(tmp_path / "t.csv")
    assert list(table.columns) == ["a", "b"]
    assert "left out 1 column" in notes[0]


def test_no_permission_is_said(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(TableError, match="no permission"):
        read_table(tmp_path / "t.csv")


@read_here
def test_names_in_excel_that_look_like_gaps_stay_and_gaps_are_gaps(tmp_path):
    frame = pd.DataFrame({"id": ["NA", "nan", "007"], "age": ["NA", 31.5, 40], "town": ["null", "Ulm", ""]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    table, _ = read_table(tmp_path / "t.xlsx")
    assert table["id"].tolist() == ["NA", "nan", "007"]
    np.testing.assert_array_equal(table["age"], [np.nan, 31.5, 40])
    assert table["age"].dtype == float
    assert table["town"].isna().tolist() == [True, False, True]


def test_a_zip_around_a_file_without_an_ending_is_text(tmp_path):
    pd.DataFrame({"name": ["a", "b"], "age": [1, 2]}).to_csv(tmp_path / "survey.zip", index=False)
    assert read_table(tmp_path / "survey.zip")[0]["age"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("packed", "said"),
    [
        ({"a.csv": "x,y\n1,2\n", "b.csv": "x,y\n1,2\n"}, r"t\.zip holds 2 files, a\.csv, b\.csv: unpack it"),
        ({"__MACOSX/._a.csv": ""}, r"t\.zip holds no file: unpack it"),
    ],
)
def test_an_archive_holds_one_table(tmp_path, packed, said):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        for name, text in packed.items():
            archive.writestr(name, text)
    with pytest.raises(TableError, match=said):
        read_table(tmp_path / "t.zip")


@pytest.mark.parametrize(
    ("name", "package"),
    [("t.parquet", "pyarrow"), ("t.feather", "pyarrow"), ("t.sav.gz", "pyreadstat"), ("t.xlsx", "openpyxl")],
)
def test_a_library_that_is_not_there_is_named(tmp_path, monkeypatch, name, package):
    if name == "t.xlsx":  # for which pandas checks the type
        pd.DataFrame({"x": [1.0]}).to_excel(tmp_path / name)
    else:
        content = b"not looked at"
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    absent = tmp_path / "absent" / f"{package}.py"
    absent.parent.mkdir()
    absent.write_text(f"raise ImportError('absent', name={package!r})\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(absent.parent), os.environ.get("PYTHONPATH", "")]))
    with pytest.raises(TableError, match=f"cannot be read without {package}: pip install"):
        read_table(tmp_path / name)


@read_here
def test_an_excel_sheet_is_named_and_has_rows(tmp_path):
    pd.DataFrame({"x": [1.0]}).to_excel(tmp_path / "t.xlsx", sheet_name="people", index=False)
    with pytest.raises(TableError, match="has no sheet 'others': it has people"):
        read_table(tmp_path / "t.xlsx", TableOptions(sheet="others"))
    pd.DataFrame({"x": []}).to_excel(tmp_path / "head.xlsx", index=False)
    with pytest.raises(TableError, match="has a header and no rows below it"):
        read_table(tmp_path / "head.xlsx")
    pd.DataFrame().to_excel(tmp_path / "none.xlsx", index=False)
    with pytest.raises(TableError, match="has no cells"):
        read_table(tmp_path / "none.xlsx")


@read_here
def test_a_row_number_far_down_is_a_gap_between_rows(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0]}).to_excel(tmp_path / "good.xlsx", index=False)
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good, zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        for name in good.namelist():
            content = good.read(name).replace(b'<row r="3"', b'<row r="30000"').replace(b'r="A3"', b'r="A30000"')
            archive.writestr(name, content)
    assert read_table(tmp_path / "t.xlsx", TableOptions(max_cells=1000))[0]["x"].tolist() == [1.0, 2.0]


def planted(folder, *names):
    """Put Python modules next to the user's table that leave a file behind when they run."""
    for name in names:
        (folder / name).write_text(f"open({str(folder / 'was_run')!r}, 'w').close()\n")
    return folder / "was_run"


def test_a_module_beside_the_table_is_not_run(tmp_path, frame, monkeypatch):
    pyreadstat.write_dta(frame.dropna(), str(tmp_path / "t.dta"))
    was_run = planted(tmp_path, "pyreadstat.py", "numpy.py")
    monkeypatch.chdir(tmp_path)
    assert len(read_table("t.dta")[0]) == 5
    assert not was_run.exists()


def test_python_m_nashgraph_runs_no_module_beside_the_table(tmp_path, frame):
    pyreadstat.write_dta(pd.concat([frame.dropna()] * 4), str(tmp_path / "t.dta"))
    was_run = planted(tmp_path, "pyreadstat.py", "numpy.py", "pandas.py", "scipy.py")
    source = str(Path(nashgraph.__file__).parents[1])
    command = [sys.executable, "-m", "nashgraph", "learn", "t.dta", "--out", "out", "--id", "nobody"]
    ended = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True, check=False
    )
    assert "nobody" in ended.stderr  # the table was read: the column asked for is not in it
    assert not was_run.exists()


def test_a_sheet_of_a_file_without_sheets_is_refused(tmp_path):
    file = tmp_path / "survey.csv"
    file.write_text("id,age\na,3\nb,4\n")
    with pytest.raises(TableError, match=r"survey.csv has no sheets, only Excel files do: leave out the sheet"):
        read_table(file, TableOptions(sheet="people"))
