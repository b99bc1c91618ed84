"""Raw files as people have them: each is read right, or refused with the command to use instead."""

import numpy as np
import pandas as pd
import pytest

from nashgraph import read_study
from nashgraph.io import TableError, read_truth

from ..commands import error_lines, run

N = 40


@pytest.fixture
def answers(random):
    """Forty people with ids from 1 on and four answers on scales."""
    table = pd.DataFrame(random.integers(1, 6, (N, 4)), columns=["trust", "help", "news", "vote"])
    table.insert(0, "id", np.arange(1, N + 1))
    return table


def edges(random, names):
    pairs = [(a, b) for a in names for b in names if a != b and random.random() < 0.1]
    return pd.DataFrame(pairs, columns=["a", "b"])


# ------------------------------------------------------------------------------------- the nine raw files


@pytest.mark.parametrize("columns", [("source", "target"), ("ego", "alter"), ("person", "knows")])
def test_an_edge_list_is_refused_with_the_commands_for_it(tmp_path, random, columns):
    edges(random, range(1, N + 1)).set_axis(columns, axis=1).to_csv(tmp_path / "ties.csv", index=False)
    result = run("learn", tmp_path / "ties.csv", "--out", tmp_path / "out")
    assert result.exit_code == 1
    said = error_lines(result)[-1]
    assert "ties.csv has the ties themselves, so there is nothing to learn" in said
    assert f"nashgraph act {tmp_path / 'ties.csv'}" in said


@pytest.mark.parametrize("named", [True, False])
def test_an_adjacency_matrix_is_refused_with_the_commands_for_it(tmp_path, random, named):
    cells = np.triu((random.random((12, 12)) < 0.3).astype(int), 1)
    matrix = pd.DataFrame(cells + cells.T, [*"abcdefghijkl"], [*"abcdefghijkl"])
    matrix.to_csv(tmp_path / "m.csv", index=named, header=named)
    result = run("learn", tmp_path / "m.csv", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert f"nashgraph act {tmp_path / 'm.csv'}" in error_lines(result)[-1]
    assert read_truth(tmp_path / "m.csv", [*"abcdefghijkl"])[0].number_of_edges() == cells.sum()


def test_numeric_nomination_columns_are_no_answers(tmp_path, answers, random):
    named = np.array([random.choice(np.delete(np.arange(1, N + 1), k), 3, replace=False) for k in range(N)])
    table = answers.assign(friend1=named[:, 0], friend2=named[:, 1], friend3=named[:, 2])
    table.loc[random.random(N) < 0.3, "friend3"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    study = read_study(tmp_path / "t.csv")
    assert list(study.signals.index) == ["trust", "help", "news", "vote"]
    assert [column.name for column in study.plan.table.of_role("names")] == ["friend1", "friend2", "friend3"]
    assert "friend1" in read_study(tmp_path / "t.csv", keep=["friend1"]).signals.index


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_titles_above_the_header_are_found(tmp_path, answers, ending):
    names = pd.DataFrame([answers.columns.tolist()], columns=answers.columns)
    top = pd.DataFrame([["Village survey 2019", *[None] * 4], [None] * 5], columns=answers.columns)
    raw = pd.concat([top, names, answers])
    path = tmp_path / f"t.{ending}"
    raw.to_excel(path, header=False, index=False) if ending == "xlsx" else raw.to_csv(path, header=False, index=False)
    study = read_study(path)
    assert list(study.signals.index) == ["trust", "help", "news", "vote"]
    assert list(study.signals.columns) == [str(k) for k in range(1, N + 1)]
    reasons = [decision.reason for decision in study.decisions]
    assert any("above the names of the columns: 'Village survey 2019'" in reason for reason in reasons)


def test_a_title_without_separators_is_found_and_data_are_no_title(tmp_path):
    (tmp_path / "t.csv").write_text("Village survey 2019\n\nid;age;side\nann;31;n\nbob;45;s\ncat;28;n\n")
    assert list(read_study(tmp_path / "t.csv").signals.index) == ["age", "side=n", "side=s"]
    (tmp_path / "u.csv").write_text("a\n1,2\n3,4\n")
    with pytest.raises(TableError, match="line 2 has 2 fields and the first line has 1"):
        read_study(tmp_path / "u.csv")


def test_play_counts_in_long_format(tmp_path, random):
    pairs = [(f"u{k}", f"band {j}") for k in range(20) for j in range(12) if random.random() < 0.4 or j == k % 12]
    table = pd.DataFrame(pairs, columns=["user", "artist"]).assign(plays=random.integers(1, 9, len(pairs)))
    table.loc[[3, 9, 14], "plays"] = [88, 97, 998]
    table.to_csv(tmp_path / "t.csv", index=False)
    study = read_study(tmp_path / "t.csv", standardize=False)
    assert study.plan.table.rows == "answers"
    assert not study.signals.isna().any(axis=None)
    assert study.signals.to_numpy().sum() == table["plays"].sum()  # pairs without a row count 0


def test_ids_as_5_point_0_are_the_same_as_5(tmp_path, answers, random):
    answers.assign(id=[f"{k}.0" for k in answers["id"]]).to_csv(tmp_path / "t.csv", index=False)
    ties = edges(random, range(1, N + 1)).set_axis(["source", "target"], axis=1)
    ties.to_csv(tmp_path / "ties.csv", index=False)
    nodes = list(read_study(tmp_path / "t.csv").signals.columns)
    assert nodes == [str(k) for k in range(1, N + 1)]
    assert read_truth(tmp_path / "ties.csv", nodes)[0].number_of_edges() > 50
    ties.astype(float).to_csv(tmp_path / "ties.csv", index=False)  # "5.0" in the ties, 5 in the answers
    assert read_truth(tmp_path / "ties.csv", nodes)[0].number_of_edges() > 50


# ------------------------------------------------------------------------------------- other features of raw files


def test_gaps_are_compared_pairwise_or_filled_without_being_asked(tmp_path, answers):
    table = answers.astype(float)
    table.loc[[3, 8], "trust"] = np.nan
    table.loc[5, ["trust", "help", "news", "vote"]] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    for method, said in (
        ("smooth", "two people are compared over what both answered"),
        ("logdegree", "filled from the nearest"),
    ):
        result = run("learn", tmp_path / "t.csv", "--method", method, "--out", tmp_path / method)
        assert result.exit_code in (0, 3), result.output
        assert said in result.stderr
        assert "people without any answer are left out" in result.stderr


def test_gaps_are_filled_where_two_people_share_no_answer(tmp_path, answers):
    table = answers.astype(float)
    table.loc[3, ["trust", "help"]] = np.nan
    table.loc[4, ["news", "vote"]] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    study = read_study(tmp_path / "t.csv")
    assert not study.signals.isna().any(axis=None)
    assert "filled" in [decision.kind for decision in study.decisions]


def test_latin_1_utf_16_and_dat_files_are_read(tmp_path):
    text = "name age town\nZoë 31 Köln\nÅsa 45 Ulm\nann 28 Köln\n"
    (tmp_path / "t.dat").write_bytes(text.encode("latin-1"))
    study = read_study(tmp_path / "t.dat")
    assert list(study.signals.columns) == ["Zoë", "Åsa", "ann"]
    assert any("was read as Windows-1252" in decision.reason for decision in study.decisions)
    (tmp_path / "u.csv").write_bytes(text.replace(" ", ",").encode("utf-16"))
    assert list(read_study(tmp_path / "u.csv").signals.columns) == ["Zoë", "Åsa", "ann"]


def test_none_is_an_answer_among_words_and_a_gap_among_numbers(tmp_path, answers):
    table = answers.assign(party=np.resize(["None", "Red", "Blue"], N), age=["None", *map(str, range(21, 20 + N))])
    table.to_csv(tmp_path / "t.csv", index=False)
    study = read_study(tmp_path / "t.csv")
    assert "party=None" in study.signals.index
    assert study.signals.loc["age"].isna().tolist() == [True] + [False] * (N - 1)


def test_a_category_of_51_values_is_used_where_each_has_many_people(tmp_path, random):
    table = pd.DataFrame({"id": range(1856), "caste": [f"c{k % 51}" for k in range(1856)]})
    table.assign(age=random.integers(18, 80, 1856)).to_csv(tmp_path / "t.csv", index=False)
    assert len(read_study(tmp_path / "t.csv").signals) == 52
    table.assign(caste=[f"c{k % 400}" for k in range(1856)], age=1.0 * table["id"] ** 0.5).to_csv(tmp_path / "t.csv")
    assert list(read_study(tmp_path / "t.csv").signals.index) == ["age"]
