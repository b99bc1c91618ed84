"""Key players: brute force, the published closed form, dense and sparse alike."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from nashgraph import key_group, key_players, welfare
from nashgraph.games import INTERACTIONS, WELFARES
from nashgraph.interventions import Game, players
from nashgraph.interventions.variants import BatchOptions

from ..problems import random_graph


def loss_by_hand(W, b, gone, interaction, kind):
    """Return the loss of welfare, the others' game solved on the graph without those rows and columns."""
    stays = np.setdiff1d(np.arange(len(b)), gone)
    left = welfare(W[np.ix_(stays, stays)], b[stays], interaction, kind)
    return welfare(W, b, interaction, kind) - left


@pytest.fixture
def game(random):
    """Eight nodes, some pairs untied, benefits that differ."""
    W = random_graph(8, 0.9, random) * (random.random((8, 8)) < 0.6)
    return W, 0.2 + random.random(8)


@pytest.mark.parametrize("kind", WELFARES)
@pytest.mark.parametrize("interaction", INTERACTIONS)
def test_losses_are_those_of_the_games_without_a_node(game, interaction, kind):
    W, b = game
    table = key_players(W, b, interaction, kind).set_index("name")
    expected = [loss_by_hand(W, b, [node], interaction, kind) for node in range(8)]
    np.testing.assert_allclose(table.loss.loc[range(8)], expected, rtol=1e-8)
    assert table.loss.is_monotonic_decreasing
    np.testing.assert_allclose(table.share, table.loss / welfare(W, b, interaction, kind))


def test_a_loss_stands_beside_that_of_the_median_node(game):
    W, b = game
    table = key_players(W, b)
    median = np.median([loss_by_hand(W, b, [node], "log1p", "total") for node in range(8)])
    assert table.attrs["typical_loss"] == pytest.approx(median)
    np.testing.assert_allclose(table.times_typical, table.loss / median)


def test_the_linear_loss_is_the_intercentrality(random):
    """Ballester, Calvó-Armengol and Zenou (2006): u_i y_i / M_ii, with M the inverse of I - W."""
    W, b = random_graph(60, 0.9, random), random.random(60)
    M = np.linalg.inv(np.eye(60) - W)
    table = key_players(W, b, "linear").set_index("name")
    np.testing.assert_allclose(table.loss.loc[range(60)], M.sum(axis=0) * (M @ b) / np.diag(M), rtol=1e-9)


@pytest.mark.parametrize("kind", WELFARES)
@pytest.mark.parametrize("interaction", ["linear", "log1p"])
def test_the_first_order_loss_bounds_that_of_the_linear_game(game, interaction, kind):
    found = Game.on(game[0], game[1], interaction, kind)
    estimates = players.first_order_losses(found)
    exact = [loss_by_hand(*game, [node], interaction, kind) for node in range(8)]
    if interaction == "linear":
        assert (estimates >= np.array(exact) * (1 - 1e-9)).all()
    else:
        np.testing.assert_allclose(estimates, exact, rtol=1.01 if kind == "utilitarian" else 0.15)


@pytest.mark.parametrize("interaction", ["linear", "log1p"])
def test_in_large_networks_the_first_are_found_one_by_one(random, interaction):
    W, b = random_graph(60, 0.9, random) * (random.random((60, 60)) < 0.2), random.random(60)
    whole = key_players(W, b, interaction, best=4)
    table = key_players(sparse.csr_array(W), b, interaction, best=4, batch=BatchOptions(max_nodes=10))
    assert table.name[:4].tolist() == whole.name[:4].tolist()
    np.testing.assert_allclose(table.loss[:4], whole.loss[:4], rtol=1e-7)
    assert table.loss.isna().sum() >= 20  # those that cannot be among the first are not solved
    assert sorted(table.name) == list(range(60))
    assert table.attrs["solved"] == table.loss.notna().sum()
    assert table.attrs["proven"] == (interaction == "linear")
    assert table.attrs["typical_loss"] == pytest.approx(whole.loss.median(), rel=0.1)  # by the first-order losses


@pytest.mark.parametrize(("interaction", "least"), [("linear", 1 - 1 / np.e), ("log1p", 0.9)])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_greed_beside_the_best_group(game, interaction, least, size):
    W, b = game
    losses = {group: loss_by_hand(W, b, list(group), interaction, "total") for group in combinations(range(8), size)}
    found = key_group(W, size, b, interaction)
    assert found.loss.iloc[-1] == pytest.approx(losses[tuple(sorted(found.name))])
    assert found.loss.iloc[-1] >= least * max(losses.values())
    np.testing.assert_allclose(found.gain.cumsum(), found.loss)
    if size == 1:
        assert found.loss[0] == pytest.approx(max(losses.values()))


def test_greed_can_miss_the_best_group():
    """Node 1 passes on what 2 and 3 do, and its loss alone costs most; without 2 and 3 it has nothing to pass on."""
    W = np.zeros((5, 5))
    W[0, [1, 2, 4]], W[1, [2, 3]], W[2, 0], W[3, 0], W[4, 1] = (0.24, 0.12, 0.42), (0.36, 0.54), 0.06, 0.48, 0.6
    b = np.array([0.1, 0.2, 1.4, 1.0, 0.1])
    found = key_group(W, 2, b, "linear")
    assert sorted(found.name) == [1, 2]
    assert found.loss.iloc[-1] / loss_by_hand(W, b, [2, 3], "linear", "total") == pytest.approx(0.891, abs=1e-3)


def test_who_had_the_only_benefit_takes_all_welfare_along():
    W = np.array([[0.0, 0.5], [0.5, 0.0]])
    table = key_players(W, [1.0, 0.0], "linear").set_index("name")
    assert table.share[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: key_group(np.eye(3) / 2, 3), "size=3 is more than the 2 nodes there are to choose from"),
        (lambda: key_group(np.eye(3) / 2, 0), "size must be at least 1"),
        (lambda: key_players(np.eye(3) / 2, best=4), "best=4 is more than the 3 nodes"),
        (lambda: key_players(np.ones((3, 3)), interaction="linear"), r"feedback.* is 2 .* fall by more than 50.00%"),
        (lambda: key_players(-np.eye(3)), "W must not have negative entries"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
