"""nashgraph check: a verdict in words, and nothing found if there is no structure."""

import json

import numpy as np
import pandas as pd
import pytest

from ..commands import run


def survey(random, *, shuffled):
    """Answers of sixty people in three groups that answer alike; shuffling removes the groups."""
    group = random.integers(0, 3, 60)
    columns = {
        f"likes {k}": (random.random(60) < np.array([0.1, 0.5, 0.9])[(group + k) % 3]).astype(int) for k in range(8)
    }
    columns["roof"] = np.array(["tile", "sheet", "thatch"])[group]
    table = pd.DataFrame(columns)
    return table.apply(random.permutation) if shuffled else table


@pytest.mark.parametrize("shuffled", [False, True])
def test_groups_are_found_and_shuffled_answers_are_not(shuffled, tmp_path):
    table = tmp_path / "survey.csv"
    survey(np.random.default_rng(0), shuffled=shuffled).to_csv(table, index=False)
    found = json.loads(run("check", table, "--json").stdout)
    assert (found["verdict"] == "unrelated") == shuffled
    assert (found["p_value"] > 0.05) == shuffled
    words = " ".join(found["sentences"])
    assert ("Ask about ties instead" in words) == shuffled


def test_one_category_alone_is_not_structure(tmp_path):
    """Its 0/1 signals exclude each other: they are one question."""
    random = np.random.default_rng(1)
    table = tmp_path / "survey.csv"
    columns = {f"q{k}": random.integers(0, 2, 80) for k in range(4)}
    pd.DataFrame(columns | {"job": random.choice(list("abcdef"), 80)}).to_csv(table, index=False)
    assert json.loads(run("check", table, "--json").stdout)["verdict"] == "unrelated"


def test_a_truth_adds_the_score_next_to_chance_and_controls(tmp_path):
    random, table, truth = np.random.default_rng(0), tmp_path / "survey.csv", tmp_path / "ties.csv"
    answers = survey(random, shuffled=False)
    answers.to_csv(table, index=False)
    same = answers["roof"].to_numpy()[:, None] == answers["roof"].to_numpy()
    pairs = [(i, j) for i, j in np.argwhere(np.triu(same, 1)) if random.random() < 0.3]
    pd.DataFrame(pairs, columns=["source", "target"]).to_csv(truth, index=False)
    notes = json.loads(run("check", table, "--truth", truth, "--set", "truth_directed=yes", "--json").stdout)["notes"]
    assert any("the truth has directions" in note for note in notes)
    words = " ".join(json.loads(run("check", table, "--truth", truth, "--json").stdout)["sentences"])
    assert "chance" in words
    assert "consensus 0." in words


@pytest.mark.parametrize("shuffled", [False, True])
def test_learn_says_in_a_line_whether_there_is_structure(shuffled, tmp_path):
    table, out = tmp_path / "survey.csv", tmp_path / "out"
    survey(np.random.default_rng(0), shuffled=shuffled).to_csv(table, index=False)
    done = run("learn", table, "--method", "smooth", "--out", out)
    assert ("do not go together" in done.stderr) == shuffled
    notes = " ".join(json.loads((out / "model.json").read_text())["notes"])
    assert ("do not go together" if shuffled else "as concentrated as if their answers were shuffled") in notes
    assert ("do not go together" in (out / "report.html").read_text()) == shuffled


def test_a_table_that_cannot_tell_gives_null_in_json(tmp_path):
    (tmp_path / "two.csv").write_text("id,a,b\nx,1,2\ny,2,1\n")
    result = run("check", tmp_path / "two.csv", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["p_value"] is None
