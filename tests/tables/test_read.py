"""Every kind of file gives the same table."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.tables import TableError, TableOptions, read_table


@pytest.fixture
def frame(random):
    table = pd.DataFrame(random.normal(size=(6, 3)), columns=["x", "y", "z"])
    table.insert(0, "id", [f"00{k}" for k in range(6)])
    table.loc[2, "y"] = np.nan
    return table


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.xlsx"])
def test_all_kinds_of_tables_read_back_alike(tmp_path, frame, name):
    path = tmp_path / name
    {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        ".parquet": lambda: frame.to_parquet(path),
        ".xlsx": lambda: frame.to_excel(path, index=False),
    }[path.suffix]()
    table, notes = read_table(path)
    assert notes == []
    assert list(table.columns) == list(frame.columns)
    assert table["id"].tolist() == frame["id"].tolist()
    np.testing.assert_allclose(table[["x", "y", "z"]].to_numpy(float), frame[["x", "y", "z"]].to_numpy(), rtol=1e-15)


def test_arrays(tmp_path, random):
    values = random.normal(size=(5, 3))
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "one.npz", values)
    np.savez(tmp_path / "two.npz", signals=values, other=values[0])
    for name, options in (("a.npy", None), ("one.npz", None), ("two.npz", TableOptions(array="signals"))):
        table, _ = read_table(tmp_path / name, options)
        assert list(table.columns) == ["column 1", "column 2", "column 3"]
        np.testing.assert_array_equal(table.to_numpy(), values)


def test_an_index_saved_with_the_table_comes_first(tmp_path, frame):
    frame.set_index("id").to_parquet(tmp_path / "t.parquet")
    table, _ = read_table(tmp_path / "t.parquet")
    assert table.columns[0] == "id"


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


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")

    def absent(*_, **__):
        raise ImportError("Missing optional dependency 'pyarrow'")

    monkeypatch.setattr(pd, "read_parquet", absent)
    with pytest.raises(TableError, match=r"pip install 'nashgraph\[tables\]'"):
        read_table(tmp_path / "t.parquet")


def test_no_permission_is_said(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(TableError, match="no permission"):
        read_table(tmp_path / "t.csv")
