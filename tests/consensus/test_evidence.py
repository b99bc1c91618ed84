"""Evidence: one score per pair that can be compared between pairs, the number of ties, whose influence holds."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.covariance import ledoit_wolf
from sklearn.metrics import average_precision_score

from nashgraph import ConsensusGL, edge_auc
from nashgraph.consensus.evidence import global_ladder, upper_pairs
from nashgraph.consensus.members import conditional_signals
from nashgraph.consensus.signal_kinds import frequency_distance, kind_of_signals
from nashgraph.datasets import preferential_attachment, small_world, smooth_signals
from nashgraph.graph import LearnedGraph
from nashgraph.scaling import standardised


def likert(X, levels=5):
    """Cut every signal at its quantiles."""
    return np.stack([np.searchsorted(np.quantile(row, np.linspace(0, 1, levels + 1)[1:-1]), row) for row in X]) * 1.0


def test_what_the_signals_are(random):
    X = smooth_signals(small_world(60, random_state=0), 20, "heat", random_state=0)
    units = np.geomspace(1, 1000, 20)[:, None]
    cuts = np.quantile(X, np.linspace(0.1, 0.9, 20), axis=1).diagonal()[:, None]
    questions = (cuts < X).astype(float)  # to some of which more people say yes
    found = [kind_of_signals(each).name for each in (X, likert(X), likert(X, 2), questions, X * units)]
    assert found == ["samples", "samples", "answers", "answers", "answers"]
    assert "about equally often" in kind_of_signals(likert(X)).reason
    assert "100% of the signals" in kind_of_signals(questions).reason
    X[random.random(X.shape) < 0.2] = np.nan
    assert kind_of_signals(X).name == "samples"


def test_sparse_counts_are_answers_and_do_not_tell_who_is_central(random):
    """How often people play 80 songs: some people and songs more than others, and most pairs never."""
    rates = np.outer(random.lognormal(0, 1, 80), random.lognormal(0, 1, 120))
    plays = random.poisson(random.gamma(0.1, 10 * rates)).astype(float)
    plays = plays[[len(np.unique(row)) > 10 for row in plays]]
    assert (plays == 0).mean() > 0.4
    kind = kind_of_signals(plays)
    assert kind.name == "answers"
    assert kind_of_signals(standardised(plays)).name == "answers"  # as the command line passes them
    model = ConsensusGL(random_state=0).fit(plays)
    assert model.signals_ == "answers"
    assert model.influence_supported_ is False


def test_what_the_signals_are_can_be_said():
    X = smooth_signals(small_world(40, random_state=0), 30, "heat", random_state=0)
    found, told = ConsensusGL(n_replicates=0).fit(X), ConsensusGL(n_replicates=0, signals="answers").fit(X)
    assert (found.signals_, told.signals_) == ("samples", "answers")
    assert set(told.geometries_) == {"distance", "cosine", "inner"}
    assert len({*told.geometries_.values()}) == 1
    assert found.found_params()["signals"] == "samples"


@pytest.mark.parametrize("kind", ["answers", "samples"])
@pytest.mark.parametrize("n_signals", [20, 90])
def test_evidence_is_symmetric_and_the_average_pair_has_one(kind, n_signals):
    X = smooth_signals(small_world(40, random_state=0), n_signals, "gmrf", noise=0.1, random_state=0)
    model = ConsensusGL(n_replicates=0, signals=kind).fit(X)
    evidence = model.evidence_.toarray()
    np.testing.assert_array_equal(evidence, evidence.T)
    assert np.diag(evidence).max() == 0
    assert evidence[np.triu_indices(40, 1)].mean() == pytest.approx(1)
    table = model.edges()
    np.testing.assert_allclose(table.evidence, evidence[table.target.to_numpy(int), table.source.to_numpy(int)])
    assert (np.diff(table.evidence) <= 0).all()  # edges are ranked by it


def test_for_answers_pairs_are_also_compared_over_the_whole_network(random):
    """Two people who share rare answers have more evidence than two who share common ones, though rows have one sum."""
    X = (random.random((30, 50)) < 0.5).astype(float)
    X[:6] = 0.0
    X[:6, :2] = 1.0
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    evidence = ConsensusGL(n_replicates=0).fit(X).evidence_.toarray()
    assert evidence[0, 1] == evidence.max()
    assert evidence[0, 1] > 2 * np.sort(evidence.ravel())[-3]


def test_a_global_ladder_ranks_pairs_as_their_scores_do(random):
    scores = random.normal(size=45)
    found = global_ladder(scores, 10, np.array([2.0, 4.0, 9.0]))
    assert found.mean() == pytest.approx(1)
    order = np.argsort(scores)
    assert (np.diff(found[order]) >= 0).all()
    assert np.count_nonzero(found) == 44  # all but the least


def inverse_covariance(X):
    found = -np.linalg.inv(np.cov(X.T))
    pairs = found[np.triu_indices(len(found), 1)]
    return pairs - np.median(pairs)


def gmse(found, truth):
    """Squared error relative to the truth, at the best scale."""
    found = np.maximum(found, 0)
    return np.sum((found @ truth / (found @ found) * found - truth) ** 2) / np.sum(truth**2)


@pytest.mark.parametrize(
    ("graph", "n_signals"),
    [(small_world(50, 6, random_state=3), 3000), (preferential_attachment(20, 1, random_state=3), 3000)],
    ids=["small world", "preferential attachment"],
)
def test_with_many_signals_it_is_at_least_as_good_as_inverse_covariance(graph, n_signals):
    X = smooth_signals(graph, n_signals, "gmrf", noise=0.1, random_state=3)
    truth = nx.to_numpy_array(graph)[np.triu_indices(len(graph), 1)]
    model = ConsensusGL(n_replicates=0).fit(X)
    ours, theirs = model.evidence_.toarray()[np.triu_indices(len(graph), 1)], inverse_covariance(X)
    assert model.geometries_["partial"] == pytest.approx(1 - len(graph) / n_signals)
    assert average_precision_score(truth, ours) >= average_precision_score(truth, theirs)
    assert gmse(ours, truth) <= gmse(theirs, truth)


def test_partial_likeness_counts_with_many_signals_or_where_strong_nodes_are_popular():
    graph = preferential_attachment(60, random_state=1)
    shares = {
        (filter, count): ConsensusGL(n_replicates=0)
        .fit(smooth_signals(graph, count, filter, random_state=1))
        .geometries_.get("partial", 0)
        for filter in ("heat", "lowpass")
        for count in (30, 240)
    }
    assert shares == {("heat", 30): 0, ("heat", 240): 0.75, ("lowpass", 30): 0.5, ("lowpass", 240): 0.75}


@pytest.mark.parametrize("shape", [(8, 30), (30, 30), (90, 30)])
def test_conditional_signals_are_those_of_ledoit_and_wolf(random, shape):
    X = random.normal(size=shape) @ random.normal(size=(shape[1], shape[1]))
    Y, inverse = conditional_signals(X), np.linalg.inv(ledoit_wolf(X)[0])
    off = ~np.eye(shape[1], dtype=bool)
    np.testing.assert_allclose((Y.T @ Y)[off], -inverse[off], atol=1e-9 * np.abs(inverse).max())
    assert len(Y) == min(shape)
    assert not conditional_signals(np.ones(shape)).any()
    parallel = np.linspace(0.5, 2.5, shape[0])[:, None] * random.normal(size=shape[1])
    assert not conditional_signals(parallel / parallel.std(axis=1, keepdims=True)).any()  # equal up to rounding


def test_the_suggested_ties_are_those_with_most_evidence():
    X = smooth_signals(small_world(60, random_state=0), 20, "heat", random_state=0)
    model = ConsensusGL(n_replicates=0, degree=4).fit(X)
    graph = model.suggested_
    pairs = {frozenset(edge) for edge in graph.edges()[["source", "target"]].itertuples(index=False)}
    assert len(pairs) == 120
    cut = np.sort(model.evidence_.toarray()[np.triu_indices(60, 1)])[-120]
    assert graph.edges().evidence.min() >= cut
    np.testing.assert_array_equal(graph.influence, model.graph_.influence)
    guess = ConsensusGL(n_replicates=0).fit(X)
    assert guess.degree_ == 6  # by convention, whatever the signals
    assert guess.suggested_.undirected().n_edges == 180


def test_the_suggested_ties_of_a_graph_without_directions():
    graph = LearnedGraph.of(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]]), directed=False)
    assert graph.suggested(1.4).edges().weight.tolist() == [3, 2]


def test_influence_is_supported_by_samples_with_hubs_and_not_by_noise(random):
    hubs = smooth_signals(preferential_attachment(60, random_state=0), 60, "heat", noise=0.1, random_state=0)
    assert ConsensusGL(random_state=0).fit(hubs).graph_.influence_supported
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(size=(50, 60))
        assert not ConsensusGL(random_state=0).fit(noise).graph_.influence_supported


def test_influence_is_not_supported_by_answers_nor_by_energy_nor_without_replicates(random):
    hubs = smooth_signals(preferential_attachment(60, random_state=0), 60, "heat", noise=0.1, random_state=0)
    assert not ConsensusGL(random_state=0, signals="answers").fit(hubs).influence_supported_
    assert not ConsensusGL(random_state=0, n_replicates=0).fit(hubs).influence_supported_
    loud = random.normal(size=(60, 80)) * np.geomspace(0.3, 3, 80)  # energy differs, and nothing else
    model = ConsensusGL(random_state=0).fit(loud)
    assert np.corrcoef(np.argsort(model.graph_.by_influence), np.arange(80))[0, 1] > 0.7
    assert not model.influence_supported_


def test_scores_are_those_of_the_evidence():
    truth = small_world(40, random_state=0)
    X = likert(smooth_signals(truth, 30, "heat", random_state=0))
    model = ConsensusGL(n_replicates=0).fit(X)
    assert edge_auc(truth, model) == edge_auc(truth, model.evidence_) != edge_auc(truth, model.adjacency_)
    assert edge_auc(truth, model.graph_) == pytest.approx(edge_auc(truth, model), abs=0.01)


def test_frequencies_are_compared_whatever_the_values_are():
    assert frequency_distance(np.array([[0, 0, 1, 1], [5, 7, 7, 5]])) == 0.0
    assert frequency_distance(np.array([[0, 1, 1, 1], [0, 0, 0, 1]])) == 0.25
    assert global_ladder(np.array([3.0, 1.0, 0.0]), 3, np.array([0.67, 1.33])).round(2).tolist() == [2.62, 0.38, 0.0]


@pytest.mark.parametrize("everything", [False, True])
def test_upper_pairs_have_the_mean_of_both_directions_once(everything):
    W = np.random.default_rng(0).random((7, 7)) * (1.0 - np.eye(7))
    found = upper_pairs(sparse.csr_array(W), everything)
    np.testing.assert_allclose(found.toarray(), np.triu(0.5 * (W + W.T), 1))
    assert found.nnz == 21
