"""Mistakes that people make: a sentence that says what to type, and never an error inside nashgraph."""

import numpy as np
import pandas as pd
import pytest

from ..commands import error_lines, run


@pytest.fixture
def folder(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 5))).add_prefix("q")
    table = table.assign(name=[f"n{k}" for k in range(12)], gain=[1e308] * 6 + [1.0] * 6)
    table["n"] = [1, 2] * 6
    table.drop(columns="gain").to_csv(tmp_path / "survey.csv", index=False)
    table.to_csv(tmp_path / "gains.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["survey.csv", "--method", "glgp", "--set", "c=1e-300"], 1, "try --set c=0.95"),
        (["survey.csv", "--method", "smooth", "--set", "c=1e-310"], 1, "--set c=0.95"),
        (["gains.csv", "--method", "glgp", "--set", "benefit=gain"], 1, "benefit is too large to compute with, 1e+308"),
        (["gains.csv", "--set", "benefit=gain"], 1, "benefit is too large to compute with, 1e+308"),
        (["survye.csv"], 1, "survye.csv (did you mean 'survey.csv'?)"),
        (["survey.csv", "--truth", "gians.csv"], 1, "gians.csv (did you mean 'gains.csv'?)"),
        (["survey.csv", "--method", "glpg"], 2, "'glpg' is not known (did you mean 'glgp'?)"),
        (["survey.csv", "--missing", "imput"], 2, "'impute' (did you mean 'impute'?)"),
        (["survey.csv", "--degree", "nine"], 2, "(--help lists the options)"),
    ],
)
def test_a_mistake_has_a_sentence(folder, monkeypatch, arguments, code, sentence):
    monkeypatch.chdir(folder)
    result = run("learn", *arguments)
    assert result.exit_code == code, result.output
    assert sentence in error_lines(result)[-1]
    for leak in ("Value error", "Traceback", "parse string", "this is a bug"):
        assert leak not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan", "--mixing", "1e300"], "mixing must be a finite number in [-100, 100]"),
        (["plan", "--questions", "1" + 30 * "0"], "questions must be at most 100"),
        (["plan", "--draws", "1" + 30 * "0"], "n_draws must be at most 1,000"),
        (["plan", "--recall", "1e-300"], "recall must be"),
        (["plan", "--asked", "101"], "--asked 101 must be percentages from 1 to 100, for example 30,100"),
        (["plan", "--people", "10", "--ties", "9"], "it is a guess of ties per person; try 2.5"),
        (["plan", "--people", "10", "--ties", "0.1"], "a network was drawn that has no ties"),
        (["plan", "--seed", "1" + 30 * "0"], "--seed"),
        (["demo", "--seed", "1" + 30 * "0"], "--seed"),
        (["path", "survey.csv", "--n-lams", "1" + 30 * "0"], "n_lams must be at most 1,000"),
        (["learn", "survey.csv", "--set", "workers=1" + 30 * "0"], "--set workers"),
        (["learn", "survey.csv", "--n-ties", "n", "--set", "recall=1e-300"], "recall must be"),
        (["learn", "survey.csv", "--set", "n_degrees=nan"], "n_degrees must be a finite number"),
        (["learn", "survey.csv", "--n-ties", "n", "--set", "tol=1" + 400 * "0"], "tol must be a finite number"),
        (["learn", "survey.csv", "--method", "glgp", "--set", "solver__gamma=inf"], "gamma must be a finite number"),
        (["learn", "survey.csv", "--method", "glgp", "--set", "solver__first_accuracy=-1"], "try 0.0001"),
        (["learn", "survey.csv", "--method", "glgp", "--set", "solver__turned=1e300"], "turned must be"),
        (["learn", "survey.csv", "--method", "spectemp", "--set", "slack=1e300"], "slack must be"),
        (["learn", "survey.csv", "--method", "spectemp", "--set", "epsilon=1e300"], "epsilon must be"),
        (["learn", "survey.csv", "--method", "quadgame", "--set", "theta1=1e308"], "theta1 must be"),
        (["learn", "survey.csv", "--method", "logdegree", "--set", "beta=1e-300"], "beta must be"),
        (["learn", "survey.csv", "--method", "logdegree", "--set", "alpha=1e-300"], "alpha must be"),
        (["learn", "survey.csv", "--n-ties", "n", "--set", "max_iter=1.5"], "max_iter must be an integer"),
        (["learn", "survey.csv", "--n-ties", "n", "--set", "tol=-1"], "tol must be"),
    ],
)
def test_a_number_beyond_reason_is_refused(folder, monkeypatch, arguments, sentence):
    monkeypatch.chdir(folder)
    result = run(*arguments)
    assert result.exit_code in (1, 2), result.output
    assert sentence in error_lines(result)[-1]


def test_an_integer_beyond_those_of_a_computer_is_a_number(folder):
    given = ("--method", "glgp", "--degree", "3", "--set", "tol=1" + 30 * "0", "--out", folder / "out")
    assert run("learn", folder / "survey.csv", *given).exit_code == 0


def test_a_trait_that_decides_nearly_everything_and_a_cap_beyond_all_influence(folder):
    assert run("plan", "--people", "30", "--draws", "1", "--mixing", "100").exit_code == 0
    pd.DataFrame({"source": [*"aab"], "target": [*"bcc"]}).to_csv(folder / "ties.csv", index=False)
    result = run("act", folder / "ties.csv", "--cap-influence", "1e308")
    assert result.exit_code == 0, result.output
    assert "overflow" not in result.output


def test_the_wrong_file_is_answered_with_the_right_command(folder):
    model, table = folder / "out" / "model.json", folder / "survey.csv"
    assert run("learn", table, "--method", "glgp", "--degree", "3", "--out", folder / "out").exit_code == 0
    for given in (model, folder / "out"):
        (line,) = error_lines(run("learn", given))
        assert f"print it with 'nashgraph show {given}'" in line
    (folder / "damaged.json").write_text('{"x":')
    for command in ("show", "rerun"):
        for given in (table, folder / "damaged.json"):
            (line,) = error_lines(run(command, given))
            assert "give the model.json that nashgraph learn wrote" in line
            assert "char" not in line
    result = run("act", folder / "out", "--cap", "1e300")
    assert result.exit_code == 0, result.output


def test_an_engine_that_is_not_here_is_refused_before_the_table_is_read(folder, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr("nashgraph.cli.learn.study_of", lambda *_, **__: pytest.fail("the table was read"))
    if (result := run("learn", folder / "survey.csv", "--set", "engine=cuda")).exit_code == 0:
        pytest.skip("there is a GPU here")
    assert "--set engine: the engine cuda needs" in error_lines(result)[-1]
    assert "--set engine=threads" in error_lines(result)[-1]


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize(
    "ending", ["json", "jsonl", "parquet", "feather", "xlsx", "sav", "npy", "npz", "csv.gz", "zip"]
)
def test_a_file_that_is_not_what_its_name_says_is_refused_without_the_words_of_its_reader(tmp_path, ending):
    (tmp_path / f"t.{ending}").write_text("id,age\nann,3\n")
    result = run("learn", tmp_path / f"t.{ending}", "--out", tmp_path / "out")
    assert result.exit_code == 1, result.output
    (line,) = error_lines(result)
    assert "name it .csv" in line or "named wrongly" in line or "it is damaged, or is not a" in line
    for leak in ("Expecting", "char 0", "magic", "engine", "b'", "constructor", "pickle", "V1", "decoder"):
        assert leak not in line


def test_advice_does_not_name_python(tmp_path):
    table = pd.DataFrame({"id": [f"n{k}" for k in range(12)], "a": np.arange(12) ** 2})
    table.to_csv(tmp_path / "one.csv", index=False)
    halves = table.assign(b=table.a.where(table.a % 2 == 0), a=table.a.where(table.a % 2 == 1))
    halves.to_csv(tmp_path / "halves.csv", index=False)
    said = [
        run("learn", tmp_path / "one.csv", "--method", "glgp", "--out", tmp_path / "out").stderr,
        run("compare", tmp_path / "one.csv").stderr,
        run("learn", tmp_path / "halves.csv", "--missing", "pairwise", "--out", tmp_path / "other").stderr,
        run("learn", tmp_path / "one.csv", "--method", "smooth", "--set", "beta=1e-300").stderr,
    ]
    assert "there is one signal only" in said[0]
    assert "try --missing impute" in said[2]
    for text in said:
        for word in (" X ", "X has", "sklearn", "n_samples", "None"):
            assert word not in text


def test_graph_files_are_written_as_asked_for(folder):
    learn = ("learn", folder / "survey.csv", "--method", "smooth", "--degree", "3", "--out")
    assert run(*learn, folder / "one", "--set", "formats=graphml").exit_code == 0
    assert {file.name for file in (folder / "one").glob("graph.*")} == {"graph.graphml"}
    assert run(*learn, folder / "none", "--set", "formats=none").exit_code == 0
    assert not [*(folder / "none").glob("graph.*")]
    result = run(*learn, folder / "two", "--set", "formats=grapml")
    assert result.exit_code == 2
    assert "did you mean 'graphml'?" in result.stderr
