"""How a study is read: three lines, a plan to change, and the same network from the plan."""

import json

import numpy as np
import pandas as pd
import pytest

from ..commands import error_lines, run

SURVEY = pd.DataFrame(
    {
        "name": [f"p{k:02}" for k in range(20)],
        "age": [20 + 7 * k % 31 for k in range(20)],
        "trust": [1 + k % 5 for k in range(20)],
        "friend": [f"p{(k + 1) % 20:02}" for k in range(20)],
        "notes": [""] * 20,
    }
)


@pytest.fixture
def survey(tmp_path):
    SURVEY.to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path / "survey.csv"


def test_read_prints_three_lines_and_writes_the_plan(survey, tmp_path):
    out = tmp_path / "study"
    result = run("read", survey, "--out", out)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "people: 20, identified by 'name': p00, p01, …"
    assert lines[1] == "used: 2 signals from age, trust; 20 ties named in friend"
    assert lines[2] == "left out or unsure: 1 column left out (notes)"
    assert str(out / "plan.toml") in lines[3]
    assert 'file = "../survey.csv"' in (out / "plan.toml").read_text()
    answer = json.loads(run("read", survey, "--out", out, "--json").stdout)
    assert answer["people"] == 20
    assert answer["tells_of_ties"] is True
    assert answer["lines"] == lines[:3]


def test_learn_takes_the_tie_model_where_people_name_ties(survey, tmp_path):
    answer = json.loads(run("learn", survey, "--out", tmp_path / "a", "--json").stdout)
    assert answer["method"] == "ties"
    answer = json.loads(run("learn", survey, "--drop", "friend", "--out", tmp_path / "b", "--json").stdout)
    assert answer["method"] == "consensus"


def test_the_plan_and_a_rerun_give_the_same_network(survey, tmp_path):
    out = tmp_path / "out"
    assert run("learn", survey, "--drop", "friend", "--set", "n_replicates=0", "--out", out).exit_code == 0
    assert run("learn", out / "plan.toml", "--out", tmp_path / "again").exit_code == 0
    edges = (out / "edges.csv").read_bytes()
    assert (tmp_path / "again" / "edges.csv").read_bytes() == edges
    again = run("rerun", out, "--out", tmp_path / "rerun")
    assert again.exit_code == 0, again.output
    assert "the graph is the same, to the last digit" in again.stdout


def test_a_changed_line_of_the_plan_counts(survey, tmp_path):
    out = tmp_path / "out"
    run("read", survey, "--out", out)
    plan = out / "plan.toml"
    plan.write_text(
        plan.read_text().replace("age = {", "age = {unsure = true, ").replace('role = "answer"', 'role = "ignore"')
    )
    result = run("read", plan, "--out", tmp_path / "other")
    assert "2 signals" not in result.stdout


def test_a_question_is_asked_with_a_plan_to_change(tmp_path):
    table = pd.concat([SURVEY, SURVEY.head(2).assign(age=99)]).drop(columns="friend")
    table.to_csv(tmp_path / "twice.csv", index=False)
    out = tmp_path / "out"
    result = run("learn", tmp_path / "twice.csv", "--out", out)
    assert result.exit_code == 1
    assert "try --set repeats=first" in error_lines(result)[-1]
    assert str(out / "plan.toml") in error_lines(result)[-1]
    assert run("learn", tmp_path / "twice.csv", "--set", "repeats=first", "--out", out).exit_code == 0


def test_a_table_that_is_the_network_is_not_learned_from(tmp_path):
    ties = pd.DataFrame(
        {"from": ["ann", "bob", "cat", "ann"], "to": ["bob", "cat", "dan", "dan"], "amount": [1, 2, 3, 4]}
    )
    ties.to_csv(tmp_path / "loans.csv", index=False)
    result = run("learn", tmp_path / "loans.csv", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "nashgraph act" in error_lines(result)[-1]


def test_the_network_of_another_table_is_not_written_over(survey, tmp_path):
    out = tmp_path / "out"
    learn = ("--drop", "friend", "--set", "n_replicates=0", "--out", out)
    assert run("learn", survey, *learn).exit_code == 0
    SURVEY.to_csv(tmp_path / "other.csv", index=False)
    refused = run("learn", tmp_path / "other.csv", *learn)
    assert refused.exit_code == 1
    assert "has the network of another table, survey.csv: give another --out, or --force" in error_lines(refused)[-1]
    assert run("learn", survey, *learn).exit_code == 0
    assert run("learn", tmp_path / "other.csv", *learn, "--force").exit_code == 0


@pytest.mark.parametrize("command", ["check", "compare"])
def test_check_and_compare_read_a_file_as_learn_does(tmp_path, command):
    """Prices have decimal commas, and the last row has totals: both are recognized by the study's reader only."""
    random = np.random.default_rng(0)
    rows = [f"p{k};{random.integers(10, 99)},{random.integers(10, 99)};{random.integers(1, 9)}" for k in range(30)]
    (tmp_path / "prices.csv").write_text("\n".join(["name;price;visits", *rows, "Total;1500,5;150"]))
    options = ["--methods", "smooth"] if command == "compare" else []
    result = run(command, tmp_path / "prices.csv", *options)
    assert result.exit_code == 0, result.output
    assert "prices.csv: 30 nodes, 2 signals: price, visits" in result.output


def test_declarations_that_cannot_be_right_are_refused(survey, tmp_path):
    out = ("--out", tmp_path / "out")
    result = run("read", survey, "--n-ties", "age", "--drop", "age", *out)
    assert result.exit_code == 1
    assert "--n-ties: 'age' is declared as drop and n_ties" in error_lines(result)[-1]
    bad = SURVEY.assign(friends=-3).drop(columns="friend")
    bad["friends"] = [-3, *range(1, len(bad))]
    bad.to_csv(tmp_path / "bad.csv", index=False)
    result = run("read", tmp_path / "bad.csv", "--n-ties", "friends", *out)
    assert (
        "--n-ties: n_ties must be whole numbers of 0 or more, got '-3' for p00 in 'friends'" in error_lines(result)[-1]
    )
    assert "try --set na=friends=-3" in error_lines(result)[-1]
    for command in ("read", "learn"):
        result = run(command, survey, "--drop", "friend", "--set", "recall=0.7", *out)
        assert result.exit_code == 2
        assert "declare their columns with --n-ties COLUMN" in error_lines(result)[-1]
    assert run("learn", survey, "--drop", "friend", "--method", "ties", *out).exit_code == 2


def test_the_tie_model_takes_answers_with_gaps(survey, tmp_path):
    table = pd.read_csv(survey)
    table.loc[3, "age"] = None
    table.to_csv(survey, index=False)
    result = run("learn", survey, "--out", tmp_path / "out", "--json")
    assert result.exit_code in (0, 3), result.output
    assert json.loads(result.stdout)["method"] == "ties"


def test_people_and_columns_that_are_dropped_are_in_the_three_lines(tmp_path):
    table = pd.DataFrame({"name": [f"p{k}" for k in range(12)], "q1": [1, 2, 3] * 4, "q2": [2, 1] * 6, "same": 4})
    table.loc[7, ["q1", "q2", "same"]] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run("read", tmp_path / "t.csv", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    line = next(line for line in result.stdout.splitlines() if line.startswith("left out or unsure"))
    assert "people without any answer: p7" in line
    assert "1 column left out (same)" in line
