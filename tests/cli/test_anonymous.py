"""--anonymous: no file but the key tells who anybody is."""

import io
import stat
import zipfile

import numpy as np
import pandas as pd
import pytest

from nashgraph.io.anonymous import read_key

from ..commands import report_data, run_as_given

PEOPLE = [
    f"{first}{last}" for first in ("Ama", "Kofi", "Esi", "Yaw") for last in ("Mensah", "Boat", "Addo", "Osei", "Asare")
]


@pytest.fixture
def survey(tmp_path):
    """Write a survey with names, places, telephone numbers and free text, and a list of known ties."""
    random = np.random.default_rng(0)
    n = len(PEOPLE)
    table = pd.DataFrame({"name": PEOPLE})
    for question in range(6):
        table[f"q{question}"] = random.integers(1, 6, n)
    table["friend1"] = [PEOPLE[(k + 1) % n] for k in range(n)]
    table["friend2"] = [PEOPLE[(k + 2) % n].upper() if k % 3 else "Kwame Nkrumah" for k in range(n)]
    table["latitude"] = np.round(5.6 + random.random(n), 6)
    table["longitude"] = np.round(-0.2 + random.random(n), 6)
    table["phone"] = [f"+23324{random.integers(1000000, 9999999)}" for _ in range(n)]
    table["comments"] = [f"ask {person} about the well, he knows more than I do" for person in PEOPLE]
    table.loc[3, "q1"] = np.nan
    table.to_csv(tmp_path / "survey.csv", index=False)
    known = pd.DataFrame({"source": PEOPLE[:6], "target": PEOPLE[6:12], "tie": [1, 0, 1, 0, 1, 1]})
    known.to_csv(tmp_path / "known.csv", index=False)
    return table


def texts_of(folder):
    """Return the text of every file but the key, unpacked where it is packed."""
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name == "key.csv":
            continue
        yield file.name, file.read_bytes().decode("utf-8", "replace")
        if file.name == "report.html":
            yield "the data of the page", report_data(folder)
        if file.suffix == ".npz":
            packed = zipfile.ZipFile(io.BytesIO(file.read_bytes()))
            yield from ((name, packed.read(name).decode("utf-32-le", "replace")) for name in packed.namelist())
            yield from ((name, packed.read(name).decode("utf-8", "replace")) for name in packed.namelist())


@pytest.mark.parametrize("more", [(), ("--method", "consensus", "--drop", "friend1,friend2"), ("--known", "known.csv")])
def test_no_file_but_the_key_tells_who_anybody_is(survey, tmp_path, more):
    out = tmp_path / "out"
    more = [tmp_path / word if str(word).endswith(".csv") else word for word in more]
    result = run_as_given("learn", tmp_path / "survey.csv", "--anonymous", "--out", out, *more)
    assert result.exit_code == 0, result.output
    private = [*survey["name"], *survey["phone"], "Kwame Nkrumah", "about the well"]
    private += [f"{value:.6f}".rstrip("0") for value in (*survey["latitude"], *survey["longitude"])]
    names = [name for name, _ in texts_of(out)]
    assert {"edges.csv", "nodes.csv", "graph.graphml", "plan.toml", "model.json", "the data of the page"} <= {*names}
    for name, text in texts_of(out):
        folded = text.casefold()
        assert [word for word in private if word.casefold() in folded] == [], name
    key = read_key(out / "key.csv")
    assert sorted(key.values()) == sorted(PEOPLE)
    assert {*pd.read_csv(out / "nodes.csv")["name"]} == {*key}
    assert stat.S_IMODE((out / "key.csv").stat().st_mode) == 0o600
    again = run_as_given("rerun", out, "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    assert "the graph is the same" in again.stdout
    assert read_key(tmp_path / "again" / "key.csv") == key


def test_the_plan_keeps_the_codes_and_the_order_of_codes_tells_nothing(survey, tmp_path):
    first = run_as_given("learn", tmp_path / "survey.csv", "--anonymous", "--out", tmp_path / "out")
    assert f"{tmp_path / 'out' / 'key.csv'} says who they are" in first.stdout
    assert run_as_given("learn", tmp_path / "out" / "plan.toml", "--out", tmp_path / "other").exit_code == 0
    keys = [read_key(tmp_path / name / "key.csv") for name in ("out", "other")]
    assert keys[0] != keys[1]
    assert list(keys[0].values()) != PEOPLE
    (tmp_path / "out" / "key.csv").unlink()
    refused = run_as_given("rerun", tmp_path / "out", "--out", tmp_path / "third")
    assert refused.exit_code == 1
    assert "key.csv is not there" in refused.stderr
