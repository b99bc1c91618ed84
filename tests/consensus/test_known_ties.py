"""Known ties: what they may look like, what is learned from them, and that little knowledge changes little."""

import json

import cvxpy as cp
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from nashgraph import ConsensusGL, DataWarning, InputError, edge_auc, fit_known_weights
from nashgraph.consensus.known_ties import known_ties
from nashgraph.consensus.stacking import (
    LEAST_SLOPE,
    SLOPE_PENALTY,
    Evidence,
    chosen_pairs,
    learn,
    scores_of,
    solve,
)
from nashgraph.datasets import preferential_attachment, smooth_signals
from nashgraph.estimators import consensus

NAMES = ["ann", "bob", "cat", "dan"]
NODES = 60


@pytest.fixture(scope="module")
def village():
    """A network of hubs, and signals on it."""
    graph = preferential_attachment(NODES, 2, random_state=0)
    return graph, smooth_signals(graph, 10, "lowpass", noise=0.2, random_state=0)


def asked(graph, nodes):
    """Return what is known when some nodes were asked for all their ties."""
    return {"ties": [edge for edge in graph.edges() if {*edge} & {*nodes}], "nodes": list(nodes)}


def options(**more):
    return {"n_replicates": 3, "random_state": 0, **more}


# ------------------------------------------------------------------------------------------------ forms


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"source": ["ann", "cat"], "target": ["bob", "ann"], "tie": [1, 0]}),
        pd.DataFrame({"From": ["bob", "ann"], "To": ["ann", "cat"], "Tie": [True, False]}),
        pd.DataFrame({"source": ["ann", "cat"], "target": ["bob", "ann"], "tie": ["1", "0"]}),
        [("ann", "bob"), ("ann", "cat", 0), ("bob", "ann", 1)],
        {"ties": [("ann", "bob")], "non_ties": [("cat", "ann")]},
    ],
)
def test_pairs_in_any_form(given):
    known = known_ties(given, NAMES)
    assert known.pairs.tolist() == [[0, 1], [0, 2]]
    assert known.values.tolist() == [True, False]
    assert known.of(np.array([[1, 0], [2, 0], [3, 2]])).tolist() == [1, 0, -1]


def test_nodes_whose_ties_are_all_known_in_any_form():
    graph = nx.Graph([("ann", "bob")])
    graph.add_node("ann", known=True)
    table = pd.DataFrame({"source": ["ann", "ann"], "target": ["bob", "*"], "tie": [1, None]})
    for given in (graph, table, [("ann", "bob"), ("ann", "*")], {"ties": [("ann", "bob")], "nodes": ["ann"]}):
        known = known_ties(given, NAMES)
        assert known.pairs.tolist() == [[0, 1], [0, 2], [0, 3]]
        assert known.values.tolist() == [True, False, False]
        assert known.groups().tolist() == [0, 0, 0]
    assert known_ties(known, NAMES).pairs.tolist() == known.pairs.tolist()


def test_names_that_are_numbers_may_be_given_as_text():
    assert known_ties([("0", "2"), (1, 2, 0)], [0, 1, 2]).pairs.tolist() == [[0, 2], [1, 2]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([("ann", "bob"), ("bob", "ann", 0)], "tied and that they are not: ann - bob"),
        ([("ann", "eve"), ("fay", "bob")], "2 node.s. that X does not have: eve, fay; the nodes are ann, bob, cat"),
        ({"ties": [("ann", "bob")], "nodes": ["eve"]}, "that X does not have: eve"),
        ([("ann", "ann")], "a tie of ann with itself"),
        ([], "known is empty"),
        ({}, "known is empty"),
        ({"nodes": ["ann"]}, "none with one"),
        ([("ann", "bob", 0)], "none with one"),
        ([("ann", "bob", 2)], "the tie 2 for ann and bob: it must be 1 or 0"),
        ([("ann", "bob", None)], "it must be 1 or 0"),
        (["ann"], "not a pair of nodes"),
        ({"edges": []}, "parts that are not known: edges"),
        (pd.DataFrame({"a": [1], "b": [2]}), "has the columns a, b, but it needs source and target"),
        ("ties.csv", "cannot be a str"),
        (7, "cannot be a int"),
    ],
)
def test_what_cannot_be_known(given, message):
    with pytest.raises(InputError, match=message):
        known_ties(given, NAMES)


def test_ties_only_are_taken_with_a_warning():
    with pytest.warns(DataWarning, match="probabilities need pairs without a tie"):
        known = known_ties([("ann", "bob")], NAMES)
    pairs, tied, weights, _ = chosen_pairs(known)
    assert tied.tolist() == [True] + [False] * 5
    assert weights.tolist() == [1.0] * 6
    assert len(np.unique(pairs, axis=0)) == 6


def test_a_failing_fit_leaves_nothing_behind(village):
    model = ConsensusGL(**options())
    with pytest.raises(InputError, match="does not have: eve"):
        model.fit(village[1], known=[("eve", 1)])
    assert not hasattr(model, "adjacency_")


# ------------------------------------------------------------------------------------------------ solver


def evidence(random, n=300, groups=4):
    scores = random.exponential(size=(n, groups + 1))
    tied = random.random(n) < expit(-3.0 + scores @ np.r_[0.5, 1.0, 0.3, np.zeros(groups - 2)])
    weights = random.uniform(0.5, 2.0, size=n)
    names = ("consensus", *(f"group {k}" for k in range(groups)))
    return Evidence(names, scores, tied, weights, np.arange(n), np.full(n, 2.0), {})


@pytest.mark.parametrize("ridge", [0.1, 10.0, 1000.0])
def test_cvxpy_agrees_with_the_solver(ridge, random):
    given = evidence(random)
    spread = given.scores[:, 1:].std(axis=0)
    intercept, slopes = cp.Variable(), cp.Variable(5)
    odds = intercept - given.offset + given.scores @ slopes
    loss = given.weights @ (cp.logistic(odds) - cp.multiply(given.tied.astype(float), odds))
    pull = SLOPE_PENALTY * (slopes[0] - 1) ** 2 + ridge * cp.sum_squares(cp.multiply(spread, slopes[1:]))
    problem = cp.Problem(cp.Minimize(loss + 0.5 * pull), [slopes >= 0, slopes[0] >= LEAST_SLOPE])
    problem.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(solve(given, ridge), np.r_[intercept.value, slopes.value], atol=2e-5)


def test_the_optimality_condition_holds(random):
    given, ridge = evidence(random), 5.0
    answer = solve(given, ridge)
    residual = given.weights * (expit(given.odds(answer)) - given.tied)
    spread = given.scores[:, 1:].std(axis=0)
    assert abs(residual.sum()) < 1e-5  # as many ties as expected
    slope = residual @ given.scores[:, 1:] + ridge * spread**2 * answer[2:]
    np.testing.assert_allclose(np.minimum(answer[2:], slope), 0.0, atol=1e-4)


def test_an_infinite_ridge_leaves_the_consensus_alone(random):
    given = evidence(random)
    answer = solve(given, np.inf)
    assert (answer[2:] == 0).all()
    np.testing.assert_allclose(solve(given, 1e9)[:2], answer[:2], atol=1e-4)


def test_groups_without_a_say_are_shrunk_away_and_good_ones_found(random):
    given = evidence(random, n=3000)
    noise = given._replace(tied=random.random(3000) < expit(-2.0 + given.scores[:, 0]))
    assert np.isinf(learn(noise)[1].ridge)
    answer, record = learn(given)
    assert np.isfinite(record.ridge)
    assert record.auc["stacked"] > record.auc["consensus"] + 0.05
    assert np.argmax(answer[2:]) == 0


def test_scores_are_those_of_the_formula(random):
    W = random.random((5, 5))
    np.testing.assert_allclose(scores_of(W, 0.9).toarray(), np.log1p(4 * (W + W.T) / 1.8))


# --------------------------------------------------------------------------------------------- estimator


@pytest.mark.parametrize("known", [[(0, 1), (5, 6, 0)], [(0, 40), (1, 2, 0), (3, 50), (20, 30, 0)]])
def test_few_known_pairs_keep_the_ranking_of_the_plain_consensus(village, known):
    plain = ConsensusGL(**options()).fit(village[1])
    model = ConsensusGL(**options()).fit(village[1], known=known)
    np.testing.assert_allclose(model.adjacency_, plain.adjacency_, atol=1e-12)
    table = model.probabilities()
    table = table[table.known == ""]
    weights = plain.adjacency_ + plain.adjacency_.T
    score = weights[table.source, table.target]
    order = np.argsort(score, kind="stable")
    assert (np.diff(table.probability.to_numpy()[order]) >= 0).all()
    assert "too few" in model.known_.sentence


def test_known_nodes_help_where_nothing_is_known(village):
    graph, X = village
    nodes = range(20)
    model = ConsensusGL(**options()).fit(X, known=asked(graph, nodes))
    W = model.adjacency_
    np.testing.assert_allclose(W.sum(axis=1), 0.95, atol=1e-10)
    assert W.min() >= 0
    assert np.diag(W).max() == 0
    unknown = model.probabilities().query("known == ''")
    tied = np.array([graph.has_edge(*pair) for pair in zip(unknown.source, unknown.target, strict=True)])
    plain = ConsensusGL(**options()).fit(X).adjacency_
    before = (plain + plain.T)[unknown.source, unknown.target]
    order = lambda scores: scores[tied][:, None] > scores[~tied]  # noqa: E731
    assert order(unknown.probability.to_numpy()).mean() > order(before).mean() - 0.01
    assert unknown.probability.sum() == pytest.approx(tied.sum(), rel=0.6)
    assert {"stacked", "consensus", "pair regression"} == {*model.known_.auc}
    assert model.known_.ties + model.known_.non_ties == 20 * 40 + 190


def test_known_pairs_appear_as_known(village):
    graph, X = village
    model = ConsensusGL(**options()).fit(X, known=asked(graph, range(20)))
    edges = model.edges()
    assert set(edges.known) <= {"tie", "no tie", ""}
    assert (edges.probability[edges.known == "tie"] == 1).all()
    assert (edges.probability[edges.known == "no tie"] == 0).all()
    assert edges.probability.between(0, 1).all()
    both = model.graph_.undirected().edges()
    pairs = model.probabilities(zip(both.source, both.target, strict=True))
    np.testing.assert_allclose(both.probability, pairs.probability)
    assert both.known.tolist() == pairs.known.tolist()
    with pytest.raises(InputError, match="does not have: 99"):
        model.probabilities([(0, 99)])


def test_large_networks_are_held_sparsely_and_agree(village, monkeypatch):
    graph, X = village
    known = asked(graph, range(20))
    dense = ConsensusGL(**options()).fit(X, known=known)
    monkeypatch.setattr(consensus, "DENSE_NODES", 10)
    sparse = ConsensusGL(**options()).fit(X, known=known)
    np.testing.assert_allclose(sparse.adjacency_.toarray(), dense.adjacency_, atol=1e-10)
    both = dense.probabilities().merge(sparse.probabilities(), on=["source", "target"])
    np.testing.assert_allclose(both.probability_x, both.probability_y, atol=1e-8)


def test_known_ties_are_not_taken_for_y(village):
    graph, X = village
    known = asked(graph, range(20))
    with pytest.raises(InputError, match=r"fit\(X, known=\.\.\.\)"):
        ConsensusGL(**options()).fit(X, known)
    assert ConsensusGL(**options()).fit(X, np.zeros(len(X))).known_ is None  # labels, as pipelines pass them


def test_a_benefit_is_a_group_and_a_control(village):
    graph, X = village
    benefit = 1.0 + np.array([graph.degree(node) for node in range(NODES)])
    model = ConsensusGL(**options(benefit=benefit)).fit(X, known=asked(graph, range(30)))
    assert "benefit" in model.known_.auc
    assert model.known_weights_["groups"]["benefit given"] > 0
    with pytest.raises(InputError, match="members that are not here: benefit given"):
        ConsensusGL(**options(known_weights=model.known_weights_)).fit(X)


def test_what_was_learned_elsewhere_applies_here(village):
    graph, _ = village
    tables = [smooth_signals(graph, 10, "lowpass", noise=0.2, random_state=seed) for seed in range(1, 4)]
    whole = asked(graph, range(NODES))
    models = [ConsensusGL(**options()).fit(X, known=whole) for X in tables]
    weights = json.loads(json.dumps(fit_known_weights(models)))
    X = smooth_signals(graph, 10, "lowpass", noise=0.2, random_state=9)
    plain, stacked = ConsensusGL(**options()).fit(X), ConsensusGL(**options(known_weights=weights)).fit(X)
    np.testing.assert_allclose(stacked.adjacency_.sum(axis=1), 0.95, atol=1e-10)
    scores = nx.Graph()
    scores.add_weighted_edges_from(stacked.probabilities().iloc[:, :3].itertuples(index=False))
    assert edge_auc(graph, scores) >= edge_auc(graph, plain, symmetrize="mean") - 0.005
    assert stacked.probabilities().probability.sum() == pytest.approx(graph.number_of_edges(), rel=0.3)
    assert set(stacked.edges().known) == {""}
    marked = ConsensusGL(**options(known_weights=weights)).fit(X, known=[(0, 1, 1), (0, 2, 0)])
    np.testing.assert_array_equal(marked.adjacency_, stacked.adjacency_)
    assert marked.probabilities([(1, 0)]).known.tolist() == ["tie"]


def test_signals_that_matter_are_found_and_go_by_their_names(village, random):
    """Ties go by the first signal alone, which the consensus of all cannot see."""
    place = random.normal(size=NODES)
    X = pd.DataFrame(np.vstack([place, random.normal(size=(11, NODES))]), index=[f"q{k}" for k in range(12)])
    graph = nx.Graph([(i, j) for i in range(NODES) for j in range(i) if abs(place[i] - place[j]) < 0.1])
    model = ConsensusGL(**options(benefit=None)).fit(X, known=asked(graph, range(30)))
    groups = model.known_weights_["groups"]
    assert max(groups, key=groups.get) == "signal q0"
    assert model.known_.auc["stacked"] > model.known_.auc["consensus"] + 0.1
    other = ConsensusGL(**options(benefit=None, known_weights=model.known_weights_))
    with pytest.warns(DataWarning, match="signals that are not here: .*signal q0"):
        other.fit(X.drop(index="q0"))
    both = fit_known_weights([model, ConsensusGL(**options(benefit=None)).fit(X[1:], known=asked(graph, range(30)))])
    assert "signal q0" not in both["groups"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"intercept": 0.0}, "must be a dict with intercept, consensus, groups and n_degrees"),
        ({"intercept": 0.0, "consensus": 1.0, "groups": {}, "n_degrees": 3}, "n_degrees=3 and this consensus has 8"),
        ({"intercept": 0.0, "consensus": 0.0, "groups": {}, "n_degrees": 8}, "weights of consensus must be"),
        ({"intercept": 0.0, "consensus": 1.0, "groups": {"cosine 0": -1.0}, "n_degrees": 8}, "cosine 0 must be"),
    ],
)
def test_bad_weights(weights, message, village):
    with pytest.raises(InputError, match=message):
        ConsensusGL(**options(known_weights=weights)).fit(village[1])


def test_weights_need_models_with_known_ties(village):
    with pytest.raises(InputError, match="fitted with known ties"):
        fit_known_weights([ConsensusGL(**options()).fit(village[1])])


def test_known_ties_do_not_make_every_pair_look_settled(village):
    graph, X = village
    plain, told = (ConsensusGL(**options()).fit(X, known=known) for known in (None, asked(graph, range(30))))
    assert told.known_weights_["groups"]  # members were weighed anew
    both = plain.edges().merge(told.edges(), on=["source", "target"])
    assert both.frequency_x.tolist() == pytest.approx(both.frequency_y.tolist())
    assert len(told.edges()) - len(both) == (told.edges().frequency == 0).sum()


def test_weights_are_of_models_that_know_ties_and_are_alike(village):
    graph, X = village
    known = asked(graph, range(20))
    with_ties = ConsensusGL(**options(n_replicates=0)).fit(X, known=known)
    plain = ConsensusGL(**options(n_replicates=0)).fit(X)
    with pytest.raises(InputError, match="needs models that were fitted with known ties"):
        fit_known_weights([with_ties, plain])
    other = ConsensusGL(**options(n_replicates=0, n_degrees=4)).fit(X, known=known)
    with pytest.raises(InputError, match="needs models of the same n_degrees"):
        fit_known_weights([with_ties, other])
