"""Which tie to build or to watch: brute force over all pairs, differences, dense and sparse alike."""

import numpy as np
import pytest
from scipy import sparse

from nashgraph import best_ties, costliest_ties, welfare
from nashgraph.games import WELFARES
from nashgraph.interventions import Game, ties
from nashgraph.interventions.variants import BatchOptions

from ..problems import random_graph


@pytest.fixture
def game(random):
    W = random_graph(8, 0.8, random) * (random.random((8, 8)) < 0.7)
    return W, 0.2 + random.random(8)


def pairs_of(table):
    return list(zip(table.target, table.source, strict=True))


def changed(W, pair, by):
    other = W.copy()
    other[pair] = max(other[pair] + by, 0.0)
    return other


@pytest.mark.parametrize("kind", WELFARES)
@pytest.mark.parametrize("interaction", ["linear", "log1p", "saturating"])
def test_the_best_ties_are_those_of_all_pairs(game, interaction, kind):
    (W, b), weight = game, 0.1
    before = welfare(W, b, interaction, kind)
    gains = {
        (i, j): welfare(changed(W, (i, j), weight), b, interaction, kind) - before
        for i in range(8)
        for j in range(8)
        if i != j and W[i, j] < weight
    }
    table = best_ties(W, 4, b, interaction, kind, weight=weight)
    assert pairs_of(table) == sorted(gains, key=lambda pair: -gains[pair])[:4]
    np.testing.assert_allclose(table.gain, [gains[pair] for pair in pairs_of(table)], rtol=1e-6)
    for pair, worth in zip(pairs_of(table), table.worth, strict=True):
        slope = (welfare(changed(W, pair, 1e-6), b, interaction, kind) - before) / 1e-6
        assert worth == pytest.approx(slope, rel=1e-4)
    together = W.copy()
    together[tuple(zip(*pairs_of(table), strict=True))] += weight
    assert table.attrs["gain"] == pytest.approx(welfare(together, b, interaction, kind) - before)


@pytest.mark.parametrize("interaction", ["linear", "log1p"])
def test_the_costliest_are_those_of_all_ties(game, interaction):
    W, b = game
    before = welfare(W, b, interaction)
    losses = {
        (int(i), int(j)): before - welfare(changed(W, (i, j), -W[i, j]), b, interaction)
        for i, j in zip(*np.nonzero(W), strict=True)
    }
    table = costliest_ties(W, 5, b, interaction)
    assert pairs_of(table) == sorted(losses, key=lambda pair: -losses[pair])[:5]
    np.testing.assert_allclose(table.loss, [losses[pair] for pair in pairs_of(table)], rtol=1e-6)
    assert table.weight.tolist() == [W[pair] for pair in pairs_of(table)]


def test_pairs_come_by_their_worth_and_those_that_are_tied_not_at_all(random):
    W, b = random_graph(15, 0.8, random), random.random(15)
    game = Game.on(W, b)
    tied = ties.tied_pairs(game.weights, 0.05)
    worth = np.outer(game.state.left, game.state.right)
    open_pairs = [(i, j) for i in range(15) for j in range(15) if i != j and W[i, j] < 0.05]
    expected = sorted(open_pairs, key=lambda pair: -worth[pair])
    heaped = ties.heaped_pairs(game.state.left, game.state.right, {*tied.tolist()})
    assert [divmod(pair, 15) for pair in heaped] == expected
    assert [divmod(pair, 15) for pair in ties.best_pairs(game, 1000, tied)] == expected


def test_a_search_in_order_of_bounds_finds_what_trying_all_finds(game):
    dense = best_ties(*(game[0], 4, game[1])), costliest_ties(*(game[0], 4, game[1]))
    for expected, find in zip(dense, (best_ties, costliest_ties), strict=True):
        found = find(sparse.csr_array(game[0]), 4, game[1], batch=BatchOptions(max_nodes=3))
        assert pairs_of(found) == pairs_of(expected)
        np.testing.assert_allclose(found.iloc[:, 3], expected.iloc[:, 3], rtol=1e-6)


def test_a_tie_that_leaves_no_equilibrium_is_said():
    W = np.array([[0.0, 0.9], [0.9, 0.0]])
    with pytest.raises(ValueError, match=r"no equilibrium.*feedback.*must fall by more than"):
        best_ties(W, 1, interaction="linear", weight=1.0)


def test_ties_that_leave_no_equilibrium_together_say_so():
    W = np.array([[0.0, 0.6, 0.0], [0.0, 0.0, 0.6], [0.6, 0.0, 0.0]])
    table = best_ties(W, 3, interaction="linear", weight=0.5)
    assert np.isfinite(table.gain).all()
    assert table.attrs["gain"] == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_ties(np.zeros((3, 3)), 1), "the graph has no tie, .* give weight"),
        (lambda: best_ties(np.full((3, 3), 0.1), 1), "count=1 is more than the 0 pairs without a tie of weight 0.1"),
        (lambda: best_ties(np.eye(3), 7, weight=0.1), "count=7 is more than the 6 pairs"),
        (lambda: best_ties(np.eye(3), 1, weight=-1), "weight must be a finite number"),
        (lambda: costliest_ties(np.array([[0, 0.5], [0, 0]]), 2), "count=2 is more than the 1 ties"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
