"""One driver for all questions: the library's tables, one solved game, and sentences that name their conditions."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import ConsensusGL, InputError, best_seeds, best_support, best_ties, key_players, roles, what_if
from nashgraph.datasets import smooth_signals
from nashgraph.graph import NOT_CENTRAL
from nashgraph.interventions import Game, Questions, answer_questions, driver
from nashgraph.interventions.driver import NAMING, QUESTIONS, caution
from nashgraph.priors import GamePrior

GOSSIP = np.arange(34.0)
CHANGE = {"without": [33], "cap_influence": 1.5}


@pytest.fixture(scope="module")
def model():
    X = smooth_signals(nx.karate_club_graph(), n_signals=30, filter="heat", random_state=0)
    return ConsensusGL(n_replicates=6, random_state=0).fit(X)


@pytest.fixture(scope="module")
def answers(model):
    asked = Questions(best=3, gossip=GOSSIP, change=CHANGE)
    return {answer.name: answer for answer in answer_questions(Game.on(model), asked)}


def test_the_tables_are_those_of_the_library(model, answers):
    assert [*answers] == [*QUESTIONS]
    expected = {
        "players": key_players(model, best=3),
        "support": best_support(model, 10.0, best=3),
        "ties_to_build": best_ties(model, 3),
        "seeds": best_seeds(model, 3),
        "gossip": best_seeds(model, 3, score=GOSSIP),
        "roles": roles(model, best=3),
        "what_if": what_if(model, **CHANGE, best=3),
    }
    for name, table in expected.items():
        pd.testing.assert_frame_equal(answers[name].table, table)
        assert answers[name].shown == 3


def test_nobody_is_named_where_the_signals_do_not_support_who_is_central(model, answers):
    assert model.influence_supported_
    unsupported = replace(Game.on(model), influence_supported=False)
    found = {answer.name: answer for answer in answer_questions(unsupported, Questions(best=3, change=CHANGE))}
    assert [name for name, answer in found.items() if answer.sentence == NOT_CENTRAL] == [*NAMING]
    assert all(found[name].table.empty for name in NAMING)
    pd.testing.assert_frame_equal(found["what_if"].table, answers["what_if"].table)


def test_the_game_is_solved_once_for_each_network(model):
    """Other solves are of changed games: the same weights and benefits never come twice."""
    solved = []

    class Counted(GamePrior):
        def evaluate(self, weights, **options):
            matrix = weights.matrix
            dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
            solved.append((dense.tobytes(), self.benefit.tobytes()))
            return super().evaluate(weights, **options)

    on_model = Game.on(model, game=Counted())
    answer_questions(on_model)
    for network in (on_model, *on_model.replicates):
        key = network.matrix if isinstance(network.matrix, np.ndarray) else network.matrix.toarray()
        assert solved.count((key.tobytes(), network.benefit.tobytes())) == 1


def test_sentences_give_the_typical_loss_and_the_random_seeds(model, answers):
    players, seeds = answers["players"], answers["seeds"]
    typical = players.table.loss.median() / Game.on(model).value
    assert f"without the median node by {typical:.0%}" in players.sentence
    assert f"{seeds.table.random_seeds.iloc[-1]} seeds drawn at random reach as many" in seeds.sentence
    assert "come from a model" in caution(Game.on(model))
    assert "only a consensus" not in caution(Game.on(model))
    assert "only a consensus" in caution(Game.on(model.graph_))
    assert "partly an assumption" in caution(Game.on(model), prior=True)


@pytest.mark.parametrize(("shares", "words"), [((1.0, 1.0), ""), ((1.0, 0.2), "others"), ((0.2, 0.1), "not stable")])
def test_what_is_not_stable_is_said(model, answers, monkeypatch, shares, words):
    table = answers["players"].table.assign(among_best=[*shares, *[0.0] * 32])
    monkeypatch.setattr(driver, "key_players", lambda *_, **__: table)
    sentence = answer_questions(Game.on(model), Questions(best=2))[0].sentence
    assert words in sentence
    assert ("not stable" in sentence) == (min(shares) < 0.9)


def test_who_is_first_only_because_of_the_prior_is_said():
    star = np.zeros((6, 6))
    star[1:, 0] = 0.5
    other = np.roll(star, 1, axis=(0, 1))
    first = answer_questions(Game.on(star), Questions(best=1), plain=Game.on(other))[0]
    assert "0 is among them only because of the prior." in first.sentence
    same = answer_questions(Game.on(star), Questions(best=1), plain=Game.on(star))[0]
    assert "They are the same without the prior." in same.sentence


def test_what_has_too_little_to_choose_from_is_said_and_bad_input_is_an_error():
    complete = {answer.name: answer for answer in answer_questions(Game.on(0.3 * (1 - np.eye(3))))}
    assert "Not available: count=2 is more than the 0 pairs" in complete["ties_to_build"].sentence
    assert complete["ties_to_build"].table.empty
    untied = {answer.name: answer for answer in answer_questions(Game.on(np.zeros((3, 3))))}
    assert "Not available" in untied["ties_to_watch"].sentence
    assert len(untied["players"].table) == 3
    for wrong, words in (
        (Questions(best=4), "best=4 is more than the 3 nodes"),
        (Questions(budget=0.0), "budget must"),
    ):
        with pytest.raises(InputError, match=words):
            answer_questions(Game.on(np.zeros((3, 3))), wrong)
