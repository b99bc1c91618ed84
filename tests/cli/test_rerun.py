"""A model runs again to the same graph, on the same file only."""

import json

import numpy as np
import pandas as pd
import pytest

from nashgraph import GLGP, InputError
from nashgraph.cli.fitting import with_parameters
from nashgraph.io import sha256_of

from ..commands import error_lines, run


@pytest.fixture
def survey(tmp_path, random):
    table = pd.DataFrame(random.normal(size=(40, 6)), columns=list("abcdef"))
    table = table.mask(random.random(table.shape) < 0.1)
    table["side"] = random.choice(["n", "s"], 40)
    table["rank"] = np.arange(40)
    table.to_csv(tmp_path / "survey.csv", index=False)
    pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4]}).to_csv(tmp_path / "truth.csv", index=False)
    return tmp_path


CASES = {
    "all defaults but gaps": ("learn", "--missing", "pairwise"),
    "many choices": (
        *(
            "learn",
            "--method",
            "glgp",
            "--missing",
            "impute",
            "--set",
            "standardize=no",
            "--set",
            "benefit=rank",
            "--set",
            "lam=3",
            "--degree",
            "4",
        ),
        *(
            "--set",
            "interaction=linear",
            "--set",
            "undirected=yes",
            "--set",
            "init=path",
            "--set",
            "categorical=f",
            "--drop",
            "a",
        ),
    ),
    "another method": ("learn", "--method", "logdegree", "--missing", "impute", "--degree", "5"),
    "few resamples, all ties": (
        "learn",
        "--missing",
        "impute",
        "--set",
        "n_replicates=3",
        "--seed",
        "5",
        "--set",
        "least_frequency=0",
    ),
    "random starts": (
        "learn",
        "--method",
        "glgp",
        "--missing",
        "impute",
        "--set",
        "n_starts=4",
        "--set",
        "random_state=1",
        "--set",
        "lam=9",
    ),
    "a path": ("path", "--missing", "pairwise", "--n-lams", "4"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_graph_bit_for_bit(survey, case):
    command, *options = CASES[case]
    first = run(command, survey / "survey.csv", "--truth", survey / "truth.csv", "--out", survey / "a", *options)
    assert first.exit_code == 0, first.output
    again = run("rerun", survey / "a" / "model.json", "--out", survey / "b", "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["same"] is True
    for name in ("edges.csv", "graph.graphml", "graph.json"):
        assert (survey / "a" / name).read_bytes() == (survey / "b" / name).read_bytes()
    one, two = (json.loads((survey / name / "model.json").read_text()) for name in "ab")
    assert one.pop("seconds") > 0
    assert two.pop("seconds") > 0
    assert one == two


def test_another_file_is_refused_unless_forced(survey):
    run("learn", survey / "survey.csv", "--missing", "impute", "--out", survey / "a")
    text = (survey / "survey.csv").read_text()
    (survey / "survey.csv").write_text(text.replace("n", "s", 1))
    result = run("rerun", survey / "a", "--out", survey / "b")
    assert result.exit_code == 1
    assert "is not the file that the model was learned from" in error_lines(result)[-1]
    assert not (survey / "b").exists()
    (survey / "moved.csv").write_text(text)
    assert run("rerun", survey / "a", "--input", survey / "moved.csv", "--out", survey / "b").exit_code == 0
    table = pd.read_csv(survey / "moved.csv")
    table["b"] = 2 * table["b"].to_numpy()[::-1]
    table.to_csv(survey / "survey.csv", index=False)
    forced = run("rerun", survey / "a", "--out", survey / "c", "--force")
    assert forced.exit_code == 3, forced.output
    assert "the graph is NOT the same as that of the model: its weights differ by" in forced.stdout
    assert (survey / "c" / "edges.csv").exists()


def test_a_lost_file_and_a_changed_version_are_said(survey):
    run("learn", survey / "survey.csv", "--method", "glgp", "--missing", "impute", "--out", survey / "a")
    model = survey / "a" / "model.json"
    model.write_text(model.read_text().replace('"nashgraph": "', '"nashgraph": "0.0.'))
    assert "note: nashgraph is" in run("rerun", model, "--out", survey / "b").stderr
    (survey / "survey.csv").unlink()
    result = run("rerun", model, "--out", survey / "c")
    assert result.exit_code == 1
    assert "is not there: give it with --input" in error_lines(result)[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda job: job.update(method="magic"), "'learn with the method magic', which this nashgraph cannot do"),
        (lambda job: job.update(command="magic"), "'magic with the method glgp'"),
        (lambda job: job["parameters"].update(magic=1), "the method GLGP has no parameter 'magic'"),
        (lambda job: job["parameters"].update(storage=[1]), "storage=[1] is not known"),
        (
            lambda job: job.update(command="path", method="smooth", parameters={}),
            "SmoothGL has no lambda-path",
        ),
        (lambda job: job.update(command="path", parameters={"n_lams": [1]}), "n_lams must be an integer"),
        (lambda job: job.update(command="path", parameters={"n_lams": None}), "n_lams must be an integer"),
        (lambda job: job.update(command="path", parameters={"lams": 5}), "lams must be a list of numbers, got 5"),
    ],
)
def test_a_model_that_was_tampered_with_is_refused(survey, change, message):
    run("learn", survey / "survey.csv", "--method", "glgp", "--missing", "impute", "--out", survey / "a")
    model = survey / "a" / "model.json"
    content = json.loads(model.read_text())
    change(content["job"])
    model.write_text(json.dumps(content))
    result = run("rerun", model, "--out", survey / "b")
    assert result.exit_code == 1
    assert message in error_lines(result)[-1]
    assert not (survey / "b").exists()


def test_what_another_processor_rounds_is_the_same_within_a_tolerance(survey):
    run("learn", survey / "survey.csv", "--missing", "impute", "--out", survey / "a", "--method", "smooth")
    edges, model = survey / "a" / "edges.csv", survey / "a" / "model.json"
    text, record = edges.read_text(), json.loads(model.read_text())
    table = pd.read_csv(edges, dtype={"source": str, "target": str})

    def rerun_after(factor):
        changed = table.assign(weight=table["weight"] * factor)
        changed.to_csv(edges, index=False)
        record["edges_sha256"] = sha256_of(edges)
        model.write_text(json.dumps(record))
        result = run("rerun", model, "--out", survey / "b", "--json")
        return result.exit_code, json.loads(result.stdout)

    code, answer = rerun_after(1 + 1e-15)
    assert (code, answer["same"], answer["bit_identical"]) == (0, True, False)
    assert 0 < answer["largest_difference"] < 1e-14
    code, answer = rerun_after(1 + 1e-6)
    assert (code, answer["same"], answer["bit_identical"]) == (3, False, False)
    code, answer = rerun_after(0.0)
    assert (code, answer["same"], answer["largest_difference"]) == (3, False, None)
    edges.write_text(text)
    result = run("rerun", model, "--out", survey / "b")
    assert result.exit_code == 3
    assert "so the difference is unknown" in result.stdout


def test_parameters_of_the_prior_and_the_solver_are_set():
    given = {"lam": 2.0, "interaction": "linear", "welfare": "total", "solver": "ttgd", "max_iter": None}
    given |= {"solver__gamma": 0.05, "tol": 1e-5, "n_starts": 3, "storage": "auto"}
    model = with_parameters(GLGP(), given)
    game, solver = "GamePrior(interaction=Linear())", "TTGD(tol=1e-05, n_starts=3, gamma=0.05)"
    assert str(model) == f"GLGP(lam=2.0, prior={game}, solver={solver})"
    with pytest.raises(InputError, match="not of prior='spread'"):
        with_parameters(GLGP(), {"prior": "spread", "welfare": "utilitarian"})
