"""A survey as people have it, from the shell: its notes, the columns used, and the same result in a second run."""

import csv

import numpy as np
import pandas as pd

from nashgraph.estimators import METHODS, SmoothGL

from ..commands import run

N = 28


def survey(path):
    draw = np.random.default_rng(0)
    ids = [f"{1001 + k}" for k in range(N)]
    table = pd.DataFrame(
        {
            "household": ids,
            "zip": draw.choice(["02139", "02140", "10001"], N),
            "income": [f"{value:,}" for value in draw.integers(300, 4000, N)],
            "share": [f"{value}%" for value in draw.integers(0, 100, N)],
            "radio": draw.choice(["yes", "no"], N),
            "visits": [99, *draw.integers(1, 6, N - 1)],
            "trust": draw.choice(["never", "sometimes", "often", "refused"], N),
            "friend": draw.choice(ids, N),
            "nothing": "",
            **{f"q{k}": draw.integers(0, 2, N) for k in range(4)},
        }
    )
    path.write_text("# second wave\n" + table.to_csv())  # with the row numbers, as pandas saves them
    return path


def test_no_csv_that_is_written_has_a_formula_and_its_names_come_back(tmp_path):
    draw = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "name": [f"={name}" for name in "abcdefghijklmnop"],
            "group": ["=north"] * 8 + ["south"] * 8,
            "=cmd": draw.normal(size=16),
            "+what": draw.choice(["@yes", "no"], 16),
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    options = (
        tmp_path / "t.csv",
        "--id",
        "name",
        "--group",
        "group",
        "--set",
        "n_replicates=0",
        "--set",
        "benefit=none",
    )
    assert run("learn", *options, "--out", tmp_path / "out").exit_code in (0, 3)
    ties = pd.read_csv(tmp_path / "out" / "edges.csv", dtype=str)[["group", "source", "target"]]
    whole = ties.drop_duplicates(["group", "source"]).assign(target="*")
    pd.concat([ties, whole]).to_csv(tmp_path / "ties.csv", index=False)
    result = run("learn", *options[:5], "--known", tmp_path / "ties.csv", "--out", tmp_path / "again")
    assert result.exit_code == 0, result.output
    assert (pd.read_csv(tmp_path / "again" / "edges.csv")["probability"] == 1).any()
    compared = ("compare", tmp_path / "t.csv", "--id", "name", "--drop", "group", "--methods", "=smooth,spectemp")
    METHODS.register("=smooth")(type("Smooth", (SmoothGL,), {}))
    try:
        assert run(*compared, "--out", tmp_path / "compared").exit_code in (0, 3)
    finally:
        METHODS.unregister("=smooth")
    files = [*tmp_path.glob("*/**/*.csv")]
    assert len(files) > 8
    for file in files:
        for row in csv.reader(file.read_text().splitlines()):
            assert not [cell for cell in row if cell.startswith(("=", "+", "@"))], file
