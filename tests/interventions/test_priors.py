"""Interventions play the prior that the graph was learned with, or refuse; exact values against brute force."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from nashgraph import (
    GLGP,
    ConsensusGL,
    GamePrior,
    LinearGLGP,
    best_support,
    best_ties,
    costliest_ties,
    key_players,
    what_if,
)
from nashgraph.datasets import smooth_signals
from nashgraph.games import INTERACTIONS, WELFARES
from nashgraph.graph import LearnedGraph
from nashgraph.interventions import Game, answer_questions
from nashgraph.interventions.variants import BatchOptions
from nashgraph.priors import (
    CustomPrior,
    Epidemic,
    GraphFilter,
    LinearPrior,
    Opinions,
    Resilience,
    UnansweredError,
)

from ..problems import random_graph

N = 8
B = 0.2 + np.linspace(0.0, 1.0, N)
PRIORS = {
    "game": GamePrior(B, "log1p"),
    "utilitarian": GamePrior(B, "saturating", "utilitarian"),
    "share": GamePrior(B, "linear", share=0.5),
    "substitutes": GamePrior(B, "linear", share=-0.9),
    "cap": GamePrior(B, "linear", cap=1.0),
    "spread": Epidemic(0.1 * B, 1.5),
    "containment": -Epidemic(0.1 * B, 1.5),
    "filter": GraphFilter([0.0, 1.0, 0.5], B),
    "resilience": Resilience(GamePrior(B), [[0], [1, 2]]),
    "sum": GamePrior(B) + 0.5 * GamePrior(B, welfare="utilitarian"),
}


@pytest.fixture
def W(random):  # noqa: N802 (the paper's name)
    return random_graph(N, 0.9, random) * (random.random((N, N)) < 0.6)


def without(prior, W, node):
    """Return the value of a prior without a node, by the definition: its ties and its benefit are 0."""
    stays = np.arange(N) != node
    return prior.without(np.array([node])).evaluate(W * stays * stays[:, None]).value


@pytest.mark.parametrize("name", PRIORS)
def test_key_players_and_ties_are_those_of_the_prior(W, name):
    prior = PRIORS[name]
    value = prior.evaluate(W).value
    losses = key_players(W, game=prior).set_index("name").loss.loc[range(N)]
    np.testing.assert_allclose(losses, [value - without(prior, W, node) for node in range(N)], rtol=1e-6, atol=1e-9)
    best = best_ties(W, 3, game=prior, weight=0.1)
    for row in best.itertuples():
        changed = W.copy()
        changed[row.target, row.source] += 0.1
        assert row.gain == pytest.approx(prior.evaluate(changed).value - value, rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("name", [name for name in PRIORS if name != "containment"])
def test_support_follows_the_gradient_by_the_benefits(W, name):
    prior = PRIORS[name]
    game = Game.on(W, game=prior)
    step = 1e-6
    for node in (0, 5):
        more = game.benefit + step * (np.arange(N) == node)
        slope = (prior.with_benefit(more).evaluate(W).value - game.value) / step
        assert game.worth[node] == pytest.approx(slope, rel=1e-4, abs=1e-7)
    table = best_support(W, 1.0, game=prior)
    supported = game.benefit + table.attrs["unit"] * table.set_index("name").support.loc[range(N)].to_numpy()
    assert table.attrs["gain"] == pytest.approx(prior.with_benefit(supported).evaluate(W).value - game.value, rel=1e-6)
    assert table.attrs["gain"] >= table.attrs["gain_even"] - 1e-9


def test_a_model_plays_the_prior_it_was_learned_with():
    X = smooth_signals(nx.karate_club_graph(), n_signals=30, filter="heat", random_state=0)
    benefit = np.arange(1.0, 35.0)
    for name, share in (("game", 1.0), ("substitutes", -0.9)):
        model = GLGP(lam=0.01, benefit=benefit, prior=name).fit(X)
        game = Game.on(model)
        assert game.prior.share == share
        assert game.value == pytest.approx(model.welfare_, rel=1e-9)
        assert Game.on(model.graph_).value == pytest.approx(model.welfare_, rel=1e-9)
        np.testing.assert_allclose(game.actions, model.equilibrium_, rtol=1e-6)
    spread = GLGP(lam=0.01, benefit=benefit, prior="spread").fit(X)
    assert Game.on(spread).value == pytest.approx(spread.welfare_, rel=1e-9)
    capped = GLGP(lam=0.01, benefit=benefit, prior=GamePrior(interaction="linear", cap=0.05)).fit(X)
    assert Game.on(capped).actions.max() <= 0.05
    consensus = ConsensusGL(n_replicates=0, benefit=benefit, prior=GamePrior(interaction="linear", share=-0.5)).fit(X)
    assert Game.on(consensus).prior.share == -0.5
    assert Game.on(consensus).value == pytest.approx(consensus.welfare_, rel=1e-9)
    linear = LinearGLGP(lam=1.0, benefit=benefit).fit(X)
    assert Game.on(linear).value == pytest.approx(float((linear.graph_.weights @ linear.benefit_).sum()))


def test_rules_given_by_hand_replace_those_of_the_learned_game(W):
    graph = LearnedGraph.of(W, prior=GamePrior(B, "linear", cap=1.0))
    assert Game.on(graph).prior.cap == 1.0
    other = Game.on(graph, interaction="log1p")
    assert (type(other.prior.interaction).__name__, other.prior.cap) == ("Log1p", 1.0)
    with pytest.raises(ValueError, match="leave these out, or game"):
        Game.on(graph, interaction="log1p", game=GamePrior(B))
    with pytest.raises(ValueError, match="game must be a prior or a fitted game"):
        Game.on(graph, game="linear")
    with pytest.raises(ValueError, match="for 8 nodes, and the graph has 3"):
        Game.on(np.zeros((3, 3)), game=GamePrior(B))


def test_what_a_prior_cannot_answer_is_refused_with_a_sentence(W):
    opinions, filters = Opinions(B), LinearPrior(np.ones((N, 1)), B[:, None])
    custom = CustomPrior(lambda V: (float(B @ V.dot(B)), B, B))
    for prior in (opinions, filters, custom):
        with pytest.raises(UnansweredError, match=r"when somebody leaves|what a unit"):
            key_players(W, game=prior)
        with pytest.raises(UnansweredError, match="has no benefits"):
            best_support(W, 1.0, game=prior)
        assert len(best_ties(W, 2, game=prior)) == 2  # ties can be asked of every prior
        assert len(costliest_ties(W, 2, game=prior)) == 2
    with pytest.raises(UnansweredError, match="no single action"):
        what_if(W, game=filters, cap_influence=1.0)
    assert what_if(W, game=opinions, cap_influence=0.5).change.abs().max() > 0
    answers = {answer.name: answer for answer in answer_questions(Game.on(W, game=opinions))}
    assert "Not available: the prior Opinions" in answers["players"].sentence
    assert len(answers["ties_to_build"].table)
    other = GamePrior(B) + Epidemic(0.1 * B, 1.0)
    with pytest.raises(UnansweredError, match="different benefits"):
        best_support(W, 1.0, game=other)


@pytest.mark.parametrize("as_type", [np.asarray, sparse.csr_array, sparse.coo_array, LearnedGraph.of])
@pytest.mark.parametrize("name", PRIORS)
def test_a_prior_takes_arrays_csr_and_learned_graphs(W, name, as_type):
    np.fill_diagonal(W, 0.0)
    value = Game.on(W, game=PRIORS[name]).value
    assert PRIORS[name].evaluate(as_type(W)).value == pytest.approx(value, rel=1e-9)


def small_networks(count=200):
    """Yield games on small networks of all interactions and welfares, some with a cap or substitutes."""
    random = np.random.default_rng(0)
    kinds = [(f, g) for f in INTERACTIONS for g in WELFARES]
    for k in range(count):
        n = int(random.integers(4, 9))
        W = random_graph(n, float(random.uniform(0.3, 0.95)), random) * (random.random((n, n)) < 0.5)
        if W.any():
            interaction, welfare = kinds[k % len(kinds)]
            options = ({}, {}, {"cap": 1.0}, {"share": -0.8})[k % 4]
            yield W, GamePrior(random.lognormal(size=n), interaction, welfare, **options)


def test_the_best_ties_of_small_networks_are_those_of_brute_force():
    """First-order values missed the best in 34 and 18 of 600, by up to 7% and 18%."""
    count = 0
    for W, prior in small_networks():
        value, n = prior.evaluate(W).value, len(W)
        weight = float((W**2).sum() / W.sum())
        gains, losses = [], []
        for i, j in np.ndindex(n, n):
            if i == j:
                continue
            changed = W.copy()
            changed[i, j] += weight
            if W[i, j] < weight * (1 - 1e-9):
                gains.append(prior.evaluate(changed).value - value)
            if W[i, j] > 0:
                changed[i, j] = 0.0
                losses.append(value - prior.evaluate(changed).value)
        built, watched = best_ties(W, 1, game=prior), costliest_ties(W, 1, game=prior)
        assert built.gain[0] == pytest.approx(max(gains), rel=1e-7, abs=1e-9)
        assert watched.loss[0] == pytest.approx(max(losses), rel=1e-7, abs=1e-9)
        count += 1
    assert count > 190


@pytest.mark.parametrize("interaction", INTERACTIONS)
def test_a_bounded_search_proves_what_brute_force_finds(interaction):
    """With little tried and the bound of the module, the best new ties are proven and right."""
    random = np.random.default_rng(1)
    for _ in range(15):
        W, b = random_graph(12, 0.8, random) * (random.random((12, 12)) < 0.4), random.lognormal(size=12)
        few = BatchOptions(max_nodes=0)
        found = best_ties(W, 2, b, interaction, batch=few)
        expected = best_ties(W, 2, b, interaction)
        assert expected.attrs["proven"]
        assert found.attrs["proven"]
        np.testing.assert_allclose(found.gain, expected.gain, rtol=1e-7)


def test_a_search_that_proves_nothing_says_approximately(W):
    few = BatchOptions(max_nodes=0)
    assert not costliest_ties(W, 1, B, "log1p", batch=few, most_tried=0).attrs["proven"]
    assert costliest_ties(W, 1, B, "linear", batch=few).attrs["proven"]
    assert not best_ties(W, 1, B, "log1p", "utilitarian", batch=few, most_tried=0).attrs["proven"]


def test_variants_that_do_not_come_to_rest_together_are_solved_alone(W):
    """The chord Newton steps for all nodes at once may stop early; no value is taken unchecked."""
    exact = key_players(W, game=PRIORS["game"])
    hurried = key_players(W, game=PRIORS["game"], batch=BatchOptions(max_steps=1))
    np.testing.assert_allclose(hurried.loss, exact.loss, rtol=1e-8)
