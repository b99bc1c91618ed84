"""Interventions on a consensus: intervals over its replicates, and how often a node is among the first."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import (
    ConsensusGL,
    TieModel,
    best_seeds,
    best_support,
    best_ties,
    costliest_ties,
    key_group,
    key_players,
    what_if,
)
from nashgraph.datasets import smooth_signals
from nashgraph.games.feedback import spectral_radius
from nashgraph.graph import interval_around
from nashgraph.interventions import Game

QUESTIONS = {
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


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_consensus_gives_intervals(model, question):
    table, plain = QUESTIONS[question](model), QUESTIONS[question](model.graph_)
    assert {"low", "high", "among_best"} == {*table.columns} - {*plain.columns}
    np.testing.assert_array_equal(table[plain.columns.tolist()].to_numpy(), plain.to_numpy())
    assert (table.low <= table.high).all()
    assert table.among_best.between(0, 1).all()
    if question not in ("best_ties", "costliest_ties", "key_group"):
        assert table.among_best.sum() == pytest.approx(3)


@pytest.mark.parametrize("question", QUESTIONS)
def test_replicates_that_are_alike_leave_nothing_open(model, question):
    class Sure:
        graph_, replicate_graphs_ = model.graph_, [model.graph_.weights] * 3

        def get_params(self):
            return {}

    table = QUESTIONS[question](Sure())
    score = table[SCORE.get(question, table.columns[3])]
    np.testing.assert_allclose(table.low, score, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(table.high, score, rtol=2e-3, atol=2e-3)
    assert (table.among_best[:3] == 1).all()


def test_intervals_of_a_loss_are_near_those_of_games_solved_again(model):
    table = key_players(model).set_index("name")
    node = table.index[0]
    exact = [each.value - each.without(np.array([node])).value for each in Game.on(model).replicates]
    ends = interval_around(table.loss[[node]].to_numpy(float), np.array(exact)[:, None])
    np.testing.assert_allclose(table.loc[node, ["low", "high"]].astype(float), np.ravel(ends), rtol=0.05)


def test_the_benefit_is_that_the_graph_was_learned_with():
    X = smooth_signals(nx.karate_club_graph(), n_signals=30, filter="heat", random_state=0)
    model = ConsensusGL(n_replicates=0, benefit="spectral").fit(X)
    np.testing.assert_array_equal(Game.on(model).benefit, model.benefit_)
    np.testing.assert_allclose(Game.on(model).actions, model.equilibrium_, rtol=1e-8)
    assert Game.on(model.adjacency_.toarray()).benefit.tolist() == [1.0] * 34


def test_draws_of_a_tie_model_are_its_replicates_and_news_do_not_reach_everybody():
    random = np.random.default_rng(0)
    A = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    traits = pd.DataFrame(random.random((34, 5)) < 0.4).astype(float)
    model = TieModel().fit(traits=traits, counts=pd.DataFrame(A @ traits.to_numpy()), n_ties=pd.Series(A.sum(axis=0)))
    game = Game.on(model)
    assert len(game.replicates) == 20
    assert all(spectral_radius(each.weights) == pytest.approx(0.95, rel=1e-4) for each in (game, *game.replicates))
    seeds = best_seeds(model, 3)
    assert set(seeds.name[:2]) == {0, 33}
    assert seeds.reached.iloc[-1] < 25
    assert {"low", "high", "among_best"} <= {*seeds.columns}
    assert seeds.random_seeds.iloc[-1] > 3
