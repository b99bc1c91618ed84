"""Advice under uncertainty: intervals over the resamples of a consensus, and how often a node is among the first."""

import networkx as nx
import numpy as np
import pytest

from nashgraph import ConsensusGL, best_support, best_ties, costliest_ties, key_group, key_players, what_if
from nashgraph.datasets import smooth_signals
from nashgraph.games import Game

ADVICE = {
    "key_players": lambda model: key_players(model, best=3),
    "key_group": lambda model: key_group(model, 3),
    "support": lambda model: best_support(model, 4, best=3),
    "units": lambda model: best_support(model, 3, cost="units"),
    "best_ties": lambda model: best_ties(model, 3),
    "costliest_ties": lambda model: costliest_ties(model, 3),
    "what_if": lambda model: what_if(model, without=[0], best=3),
}
SCORE = {"key_players": "loss", "key_group": "loss", "support": "support", "units": "support", "what_if": "change"}


@pytest.fixture(scope="module")
def model():
    X = smooth_signals(nx.karate_club_graph(), n_signals=30, filter="heat", random_state=0)
    return ConsensusGL(n_replicates=10, random_state=0).fit(X)


@pytest.mark.parametrize("advice", ADVICE)
def test_a_consensus_gives_intervals(model, advice):
    table, plain = ADVICE[advice](model), ADVICE[advice](model.graph_)
    assert {"low", "high", "among_best"} == {*table.columns} - {*plain.columns}
    np.testing.assert_array_equal(table[plain.columns.tolist()].to_numpy(), plain.to_numpy())
    assert (table.low <= table.high).all()
    assert table.among_best.between(0, 1).all()
    if advice not in ("best_ties", "costliest_ties", "key_group"):
        assert table.among_best.sum() == pytest.approx(3)


@pytest.mark.parametrize("advice", ADVICE)
def test_resamples_that_are_alike_leave_nothing_open(model, advice):
    class Sure:
        graph_, replicate_graphs_ = model.graph_, [model.graph_.weights] * 3

        def get_params(self):
            return {}

    table = ADVICE[advice](Sure())
    score = table[SCORE.get(advice, table.columns[3])]
    np.testing.assert_allclose(table.low, score, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(table.high, score, rtol=2e-3, atol=2e-3)
    assert (table.among_best[:3] == 1).all()


def test_intervals_of_a_loss_are_near_those_of_games_solved_anew(model):
    table = key_players(model).set_index("name")
    node = table.index[0]
    exact = [member.value - member.without(np.array([node])).value for member in Game.on(model).each_member()]
    np.testing.assert_allclose(
        table.loc[node, ["low", "high"]].astype(float), np.quantile(exact, (0.05, 0.95)), rtol=0.05
    )


def test_the_benefit_is_that_the_graph_was_learned_with(model):
    np.testing.assert_array_equal(Game.on(model).benefit, model.benefit_)
    np.testing.assert_allclose(Game.on(model).actions, model.equilibrium_, rtol=1e-8)
    assert Game.on(model.adjacency_).benefit.tolist() == [1.0] * 34
