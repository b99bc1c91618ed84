"""``fit-game`` and ``act --game``: the library's figures, from the names in two files."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import fit_game, key_players
from nashgraph.graph import LearnedGraph

from ..commands import error_lines, run


@pytest.fixture
def village(tmp_path):
    """A network as a table of ties, and a table of people in another order."""
    graph = nx.connected_watts_strogatz_graph(60, 4, 0.2, seed=0)
    names = [f"{k:03d}" for k in range(60)]
    A, random = nx.to_numpy_array(graph), np.random.default_rng(0)
    table = pd.DataFrame({"person": names, "age": random.normal(size=60), "land": random.normal(size=60)})
    W = A / A.sum(axis=1, keepdims=True)
    mean = np.linalg.solve(np.eye(60) - 0.5 * W, 2.0 + table.age + table.land)
    table["savings"] = mean + 0.1 * random.normal(size=60)
    ties = pd.DataFrame([(names[i], names[j], 1) for i, j in graph.edges], columns=["source", "target", "weight"])
    ties.to_csv(tmp_path / "ties.csv", index=False)
    table.sample(frac=1.0, random_state=0).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path, LearnedGraph.of(A, names), table.set_index("person")


ASKED = ("--action", "savings", "--covariates", "age,land", "--undirected")


def test_the_fit_is_that_of_the_library_and_act_plays_it(village):
    folder, graph, table = village
    result = run("fit-game", folder / "ties.csv", folder / "people.csv", *ASKED, "--json")
    assert result.exit_code == 0, result.output
    expected = fit_game(graph, table.savings, table[["age", "land"]])
    answer = json.loads(result.stdout)
    assert answer["peer_effect"] == pytest.approx(expected.peer_effect, rel=1e-6)
    assert answer["interval"] == pytest.approx(expected.interval, rel=1e-5)
    written = pd.read_csv(folder / "fit" / "fit.csv")
    np.testing.assert_allclose(written.estimate, expected.coefficients.estimate, rtol=1e-6)
    for given in ("fit", "fit/fit.json"):
        acted = run("act", folder / "ties.csv", "--undirected", "--game", folder / given, "--json")
        assert acted.exit_code == 0, acted.output
        answer = json.loads(acted.stdout)
        assert answer["replicates"] == 50
        best = key_players(graph, game=expected, best=5)
        assert [row["name"] for row in answer["players"]] == best.name[:5].tolist()


def test_the_fit_is_printed_with_its_condition(village):
    folder, *_ = village
    result = run("fit-game", folder / "ties.csv", folder / "people.csv", *ASKED, "--method", "2sls")
    assert result.exit_code == 0, result.output
    assert "if the network is exogenous" in result.stdout
    assert "first stage: F = " in result.stdout


def test_answers_yes_or_no_are_fitted_by_their_likelihood_and_act_finds_the_fit(village):
    folder, _, table = village
    table.assign(adopted=(table.age + np.tile([1.5, -1.5], 30) > 0).astype(int)).to_csv(folder / "people.csv")
    asked = ("--action", "adopted", "--covariates", "age", "--undirected", "--link", "logit")
    result = run("fit-game", folder / "ties.csv", folder / "people.csv", *asked)
    assert result.exit_code == 0, result.output
    assert "estimated by: maximum likelihood" in result.stdout
    assert f"next: nashgraph act {folder / 'ties.csv'} --game" in result.stdout.replace("\n", " ")
    assert run("act", folder / "ties.csv", "--undirected", "--game", folder).exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--action", "income"), "no column 'income'"),
        (("--action", "savings", "--covariates", "age,sex"), "no column 'sex'"),
        (("--action", "savings", "--id", "pid"), "people.csv has no column 'pid'"),
        ((), "--action is missing"),
        (("--action", "savings"), "the peer effect is not identified"),
    ],
)
def test_bad_input(village, options, message):
    folder, *_ = village
    result = run("fit-game", folder / "ties.csv", folder / "people.csv", "--undirected", *options)
    assert result.exit_code in (1, 2)
    assert message in " ".join(error_lines(result))
    assert not (folder / "fit").exists()


def test_another_file_is_no_fitted_game(village):
    folder, *_ = village
    (folder / "other.json").write_text("{}")
    for name in ("other.json", "people.csv", "nothing.json"):
        result = run("act", folder / "ties.csv", "--game", folder / name)
        assert result.exit_code == 1
        assert "fitted game" in error_lines(result)[-1]
