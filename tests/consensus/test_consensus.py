"""The consensus: a mean of admissible graphs, the same on every machine, with meaningful intervals."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nashgraph import GLGP, BestResponse, ConsensusGL, DataWarning, InputError, LogDegreeGL, SmoothGL, edge_auc
from nashgraph.certificate import Measure
from nashgraph.consensus.evidence import plain_mean
from nashgraph.consensus.members import Ladders, MemberMean, energy_correlation, ladder_degrees
from nashgraph.consensus.replicates import Replicates, inclusion_threshold, replicates_of
from nashgraph.datasets import preferential_attachment, smooth_signals
from nashgraph.pairs import make_search
from nashgraph.smoothness import Ladder, smooth_ladder


@pytest.fixture
def hubs():
    """Signals on a tree of hubs."""
    return smooth_signals(preferential_attachment(40, random_state=0), 20, "heat", noise=0.1, random_state=0)


def test_a_ladder_is_the_mean_of_its_smooth_graphs(signals):
    """Each rung, in closed form from the sorted nearest, is what SmoothGL learns at that degree."""
    for geometry in ("distance", "cosine", "inner"):
        degrees = np.array([2.0, 5.0, 29.0])
        ladder = smooth_ladder(make_search(signals, geometry=geometry), degrees, 0.95, kept=29)
        found, shares = np.zeros((30, 30)), np.zeros((30, 30))
        np.put_along_axis(found, ladder.labels.astype(int), ladder.weights, axis=1)
        np.put_along_axis(shares, ladder.labels.astype(int), ladder.shares, axis=1)
        alone = [SmoothGL(degree=degree, geometry=geometry).fit(signals).adjacency_.toarray() for degree in degrees]
        np.testing.assert_allclose(found, np.mean(alone, axis=0), atol=1e-12)
        np.testing.assert_allclose(shares, np.mean([graph > 0 for graph in alone], axis=0), atol=1e-12)


def test_the_consensus_lies_in_s_and_frequencies_are_shares(hubs):
    model = ConsensusGL(random_state=0, n_replicates=6).fit(hubs)
    W = model.adjacency_.toarray()
    assert W.min() >= 0
    assert np.diag(W).max() == 0
    np.testing.assert_allclose(W.sum(axis=1), 0.95, atol=1e-10)
    edges = model.edges()
    assert edges.frequency.between(0, 1).all()
    assert (edges.low <= edges.high).all()
    assert edges.frequency.corr(edges.weight, method="spearman") > 0.8
    nodes = model.graph_.nodes()
    assert (nodes.influence_low <= nodes.influence_high).all()
    assert (nodes.rank_low <= nodes.rank_high).all()
    assert nodes.rank_low.iloc[0] <= 3
    assert 0 < model.agreement_ <= 1


def test_without_replicates_and_prior_it_is_the_mean_of_smooth_graphs(signals):
    model = ConsensusGL(n_replicates=0, n_degrees=3, signals="answers", scale="none").fit(signals)
    members = [
        SmoothGL(degree=degree, geometry=geometry).fit(signals).adjacency_.toarray()
        for degree in model.degrees_
        for geometry in ("distance", "cosine", "inner")
    ]
    np.testing.assert_allclose(model.adjacency_.toarray(), np.mean(members, axis=0), atol=1e-12)
    assert list(model.edges().columns) == ["source", "target", "weight", "evidence", "frequency"]
    assert model.certificate_.sentence.startswith("solved exactly")


def test_a_replicate_of_all_signals_is_the_consensus(signals):
    """Newton's thresholds on the edges are those of the ladders' sorted rows."""
    model = ConsensusGL(n_replicates=0, n_degrees=5, signals="answers", scale="none").fit(signals)
    weights, frequency = model.adjacency_, model.graph_.edge_columns["frequency"]
    ladders = Ladders(model.degrees_, len(model.node_names_) - 1, model.c, "threads")
    every = [np.arange(len(signals))]
    found, both = replicates_of(signals, every, weights, weights.data, frequency, model.geometries_, ladders)
    np.testing.assert_allclose(found.values[0], weights.data, atol=1e-6)
    np.testing.assert_allclose(both, frequency, atol=1e-6)


def test_any_estimator_can_make_the_members(signals):
    options = {"n_replicates": 2, "n_degrees": 2, "signals": "answers", "random_state": 0}
    fast, slow = ConsensusGL(**options).fit(signals), ConsensusGL(SmoothGL(), **options).fit(signals)
    np.testing.assert_allclose(slow.adjacency_.toarray(), fast.adjacency_.toarray(), atol=1e-10)
    np.testing.assert_allclose(slow.edges().high.sum(), fast.edges().high.sum(), rtol=1e-6)
    other = ConsensusGL(LogDegreeGL(), n_replicates=0, n_degrees=3).fit(signals)
    np.testing.assert_allclose(other.adjacency_.toarray(), other.adjacency_.toarray().T, atol=1e-12)


def test_the_members_certificates_are_summed_up(signals):
    options = {"n_replicates": 2, "n_degrees": 2, "signals": "answers", "scale": "none", "random_state": 0}
    model = ConsensusGL(GLGP(lam=1.0), **options).fit(signals)
    assert model.certificate_.measure is Measure.STATIONARITY
    assert model.converged_
    assert model.n_iter_ >= 18
    short = ConsensusGL(GLGP(lam=1.0, solver=BestResponse(tol=1e-12, max_iter=1)), **options)
    with pytest.warns(ConvergenceWarning, match="18 of 18 members fell short: raise max_iter") as caught:
        short.fit(signals)
    assert len(caught) == 1
    assert (
        ConsensusGL(**options).fit(signals).certificate_.sentence
        == "solved exactly (closed form); this does not show that ties are real"
    )


def test_more_replicates_never_change_those_there(signals):
    few, many = (ConsensusGL(random_state=7, n_replicates=count).fit(signals).replicate_graphs_ for count in (3, 8))
    for one, other in zip(few, many, strict=False):
        assert abs(one - other).max() == 0


def test_a_seed_fixes_the_intervals_and_never_changes_the_weights(hubs):
    model = ConsensusGL(random_state=3, n_replicates=4)
    first, again, other = (clone(model).set_params(random_state=seed).fit(hubs) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.adjacency_.toarray(), other.adjacency_.toarray())
    assert first.edges().equals(again.edges())
    assert (first.edges().high != other.edges().high).any()


def test_in_large_networks_only_pairs_of_members_have_evidence(signals):
    degrees, n_nearest = ladder_degrees(30, 8)
    few, everything = (
        plain_mean("answers", dict.fromkeys(("distance", "cosine", "inner"), 1 / 3), signals, ladders)
        for ladders in (Ladders(degrees, n_nearest, 0.95, "threads", all_pairs_up_to=limit) for limit in (10, 3000))
    )
    np.testing.assert_allclose(few[0].weights.toarray(), everything[0].weights.toarray(), atol=1e-12)
    listed = few[1].toarray() > 0
    np.testing.assert_allclose(few[1].toarray()[listed], everything[1].toarray()[listed], atol=1e-6)


def test_degrees_reach_from_two_to_everybody_but_no_further_than_memory():
    degrees, kept = ladder_degrees(60, 8)
    assert degrees[0] == pytest.approx(2)
    assert degrees[-1] == pytest.approx(59)
    assert kept == 59
    degrees, kept = ladder_degrees(20_000, 8)
    assert degrees[-1] == pytest.approx(64)
    assert kept == 104
    assert ladder_degrees(2, 8)[0].tolist() == [1.0]


@pytest.mark.parametrize(("n_signals", "inner"), [(10, 0.5), (40, 0.2)])
def test_the_inner_product_counts_where_strong_nodes_are_popular_and_signals_few(n_signals, inner):
    tree = preferential_attachment(60, 1, random_state=1)
    strong = smooth_signals(tree, n_signals, "lowpass", random_state=1)
    found = ConsensusGL(n_replicates=0).fit(strong).geometries_
    assert found == pytest.approx({"cosine": (1 - inner) / 2, "inner": inner / 2, "partial": 0.5})
    weak = ConsensusGL(n_replicates=0).fit(smooth_signals(tree, n_signals, "heat", random_state=1)).geometries_
    assert weak == pytest.approx({"cosine": 0.125, "distance": 0.875})


@pytest.mark.parametrize(
    ("energy", "influence", "expected"),
    [
        ([2, 4, 6, 8], [1, 2, 3, 4], 1),
        ([8, 6, 4, 2], [1, 2, 3, 4], -1),
        ([1, 1, 1, 1], [1, 2, 3, 4], 0),
        ([1, 2, 4, 8], [2, 2, 2, 2], 0),
        ([0, 0, 0, 0], [1, 2, 3, 4], 0),
        ([1, 2, 3, 1e30], [3, 2, 1, 0], -0.82),
    ],
)
def test_how_energy_goes_with_influence(energy, influence, expected):
    found = energy_correlation(np.sqrt(np.array([energy, energy], float)), np.array(influence, float))
    assert found == pytest.approx(expected, abs=0.01)


def test_estimates_are_inside_their_intervals(hubs):
    """By construction, with a prior too."""
    for benefit in (None, np.arange(1.0, 41.0)):
        graph = ConsensusGL(random_state=0, n_replicates=6, benefit=benefit).fit(hubs).graph_
        table, nodes = graph.edges(), graph.node_columns
        assert table.weight.between(table.low, table.high).all()
        assert ((nodes["influence_low"] <= graph.influence) & (graph.influence <= nodes["influence_high"])).all()
        rank = np.argsort(graph.by_influence) + 1
        assert ((nodes["rank_low"] <= rank) & (rank <= nodes["rank_high"])).all()


def test_intervals_hold_what_fresh_signals_give():
    """Nominally 90%: of the weights of ties that most members have, and of ranks."""
    weights, ranks = [], []
    for seed in range(6):
        graph = preferential_attachment(40, 2, random_state=seed)
        X = smooth_signals(graph, 80, ("heat", "tikhonov", "gmrf")[seed % 3], noise=0.1, random_state=seed)
        first, fresh = (ConsensusGL(random_state=seed, signals="answers").fit(part) for part in (X[:40], X[40:]))
        table = first.edges()[first.edges().frequency >= 0.5]
        found = fresh.adjacency_.toarray()[table.target.to_numpy(int), table.source.to_numpy(int)]
        weights.append(((found >= table.low) & (found <= table.high)).mean())
        nodes, rank = first.graph_.node_columns, np.argsort(fresh.graph_.by_influence) + 1
        ranks.append(((nodes["rank_low"] <= rank) & (rank <= nodes["rank_high"])).mean())
    assert 0.84 < np.mean(weights) < 0.97
    assert 0.80 < np.mean(ranks) < 0.97


def test_a_rank_is_settled_only_if_it_is_so_without_the_prior_too(random):
    centres = random.integers(1, 8, size=(16, 12)).astype(float)
    X = centres[:, random.integers(0, 12, 120)] + random.normal(size=(16, 120))  # clusters, and nobody leads
    benefit = np.ones(120)
    benefit[0] = 10.0
    nodes = {
        name: ConsensusGL(benefit=given, random_state=0).fit(X).graph_.nodes().set_index("name")
        for name, given in (("plain", None), ("led", benefit))
    }
    assert nodes["led"].index[0] == 0
    assert nodes["led"].rank_low[0] == 1
    width = nodes["plain"].rank_high[0] - nodes["plain"].rank_low[0]
    assert nodes["led"].rank_high[0] - 1 >= width / 2 > 10  # one end is cut off at 1


def test_a_benefit_of_ones_own_counts(signals):
    benefit = np.ones(30)
    benefit[7] = 20.0
    model = ConsensusGL(benefit=benefit, n_replicates=0).fit(signals)
    assert model.prior_.benefit == "given"
    assert model.prior_share_ == 0.5
    assert model.graph_.influence[7] > model.without_prior_.influence[7]
    with pytest.warns(DataWarning, match="benefit is the same at every node"):
        assert ConsensusGL(benefit=np.ones(30), n_replicates=0).fit(signals).prior_share_ == 0


def test_it_recovers_more_than_one_degree_does():
    graph = preferential_attachment(50, random_state=5)
    X = smooth_signals(graph, 10, "lowpass", noise=0.2, random_state=5)
    consensus = edge_auc(graph, ConsensusGL(random_state=0).fit(X), symmetrize="mean")
    assert consensus > 0.9 > edge_auc(graph, GLGP().fit(X), symmetrize="mean")


def test_gaps_are_compared_pairwise(signals):
    signals[::7, ::5] = np.nan
    model = ConsensusGL(missing="pairwise", n_replicates=3, random_state=0).fit(signals)
    np.testing.assert_allclose(model.adjacency_.toarray().sum(axis=1), 0.95, atol=1e-10)


def test_scaling_brings_signals_to_one_spread(signals):
    uneven = signals * np.geomspace(1, 1e4, 20)[:, None]
    one, other = (
        ConsensusGL(scale="standard", signals="samples", n_replicates=0).fit(X).adjacency_.toarray()
        for X in (signals, uneven)
    )
    np.testing.assert_allclose(one, other, atol=1e-9)


def two_groups_of_people(random):
    """Answers from 1 to 5 to ten questions on which two groups differ, an age, and an income in another unit."""
    group = np.repeat([0, 1], 30)
    answers = random.integers(1, 4, (10, 60)) + 2 * group
    X = np.vstack([answers, random.integers(18, 80, 60), random.lognormal(10, 1, 60)]).astype(float)
    truth = (group[:, None] == group).astype(float)
    np.fill_diagonal(truth, 0)
    return X, truth


def test_answers_are_standardised_unless_one_says_otherwise(random):
    X, truth = two_groups_of_people(random)
    raw, auto, standard = (ConsensusGL(scale=scale, n_replicates=0).fit(X) for scale in ("none", "auto", "standard"))
    assert edge_auc(truth, raw, "mean") < 0.6
    assert edge_auc(truth, auto, "mean") > 0.9
    np.testing.assert_array_equal(auto.graph_.weights.data, standard.graph_.weights.data)
    assert (auto.scale_, raw.scale_) == ("standard", "none")
    kind, scaling = auto.decisions_
    assert (kind.kind, kind.remedy.parameter, kind.remedy.value) == ("answers", "signals", "samples")
    assert (scaling.kind, scaling.remedy.parameter, scaling.remedy.value) == ("standardised", "scale", "none")


def test_samples_of_one_unit_are_taken_as_they_are_and_of_several_are_not(signals):
    assert ConsensusGL(n_replicates=0).fit(signals).scale_ == "none"
    uneven = signals * np.geomspace(1, 1e4, 20)[:, None]
    assert ConsensusGL(n_replicates=0, signals="samples").fit(uneven).scale_ == "standard"


def test_a_scaler_of_nodes_is_noticed(random):
    X, _ = two_groups_of_people(random)
    pipeline = make_pipeline(StandardScaler(), ConsensusGL(n_replicates=0))
    with pytest.warns(DataWarning, match="StandardScaler scales people and not their answers"):
        pipeline.fit(X)
    with pytest.warns(DataWarning, match="every node has mean 0 and spread 1"):
        ConsensusGL(n_replicates=0).fit((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))
    ConsensusGL(n_replicates=0, signals="samples").fit(StandardScaler().fit_transform(X))  # no warning: it was said


def test_progress_counts_to_the_end(hubs):
    seen = []
    ConsensusGL(n_replicates=2, random_state=0).fit(hubs, progress=lambda done, total: seen.append((done, total)))
    assert np.all(np.diff([done for done, _ in seen]) > 0)
    assert {total for _, total in seen} == {seen[-1][0]}  # known from the first, and reached


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
@pytest.mark.parametrize("n", [2, 3])
def test_two_and_three_nodes(n, random):
    model = ConsensusGL(random_state=0, n_replicates=3).fit(random.normal(size=(5, n)))
    np.testing.assert_allclose(model.adjacency_.toarray().sum(axis=1), 0.95)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_equal_nodes_get_equal_ties():
    model = ConsensusGL(random_state=0, n_replicates=3).fit(np.ones((4, 6)))
    np.testing.assert_allclose(model.adjacency_.toarray()[~np.eye(6, dtype=bool)], 0.95 / 5)


@pytest.mark.filterwarnings("ignore:there is one signal only, so all distances")
def test_one_signal_cannot_be_resampled(random):
    with pytest.warns(DataWarning, match="no replicates can be drawn"):
        model = ConsensusGL(random_state=0).fit(random.normal(size=(1, 8)))
    assert "low" not in model.edges()
    assert np.isnan(model.agreement_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_replicates": -1}, "n_replicates must be at least 0"),
        ({"signals": "votes"}, "signals='votes' is not known"),
        ({"n_degrees": 0}, "n_degrees must be at least 1"),
        ({"n_degrees": 10**30}, "n_degrees must be at most 1,000"),
        ({"n_replicates": 10**30}, "n_replicates must be at most 10,000"),
        ({"degree": 1e308}, "degree must be"),
        ({"random_state": 10**30}, "random_state must be a whole number from 0 to 4,294,967,295"),
        ({"random_state": 0.5}, "random_state must be a whole number"),
        ({"scale": "robust"}, "scale='robust' is not known"),
        ({"benefit": "degree"}, "benefit='degree' is not known"),
        ({"benefit": "own"}, "benefit='own' is not known"),
        ({"c": 1.0}, "c must be"),
    ],
)
def test_bad_parameters(options, message, signals):
    with pytest.raises(InputError, match=message):
        ConsensusGL(**options).fit(signals)


@pytest.mark.parametrize("filter", ["heat", "lowpass", "tikhonov", "gmrf"])
def test_the_karate_club_is_found_whatever_made_the_signals(filter):
    club = nx.karate_club_graph()
    X = smooth_signals(club, n_signals=50, filter=filter, random_state=0)
    X += 0.1 * X.std() * np.random.default_rng(0).normal(size=X.shape)
    assert edge_auc(club, ConsensusGL(random_state=0).fit(X), symmetrize="mean") > 0.75


def test_rounding_lifts_no_frequency_above_one():
    X = (np.random.default_rng(0).random((8, 40)) < 0.15).astype(float)
    with pytest.warns(DataWarning, match="exactly the signals"):
        assert ConsensusGL(random_state=0).fit(X).edges().frequency.max() <= 1


def test_the_graphs_of_replicates_lie_in_s(signals):
    kept = ConsensusGL(n_replicates=4, random_state=0).fit(signals).replicate_graphs_
    assert len(kept) == 4
    for graph in kept:
        assert graph.dtype == np.float32
        np.testing.assert_allclose(graph.sum(axis=1), 0.95, rtol=1e-5)
        assert graph.data.min() > 0
    assert ConsensusGL(n_replicates=0, random_state=0).fit(signals).replicate_graphs_ == []


@pytest.fixture
def replicates(random):
    """Four replicates of a graph in which everybody is tied."""
    weights = random.dirichlet(np.full(29, 0.2), size=(4, 30)).reshape(4, -1).astype(np.float32)
    columns = np.concatenate([np.delete(np.arange(30), i) for i in range(30)])
    return Replicates(np.arange(31) * 29, columns, weights.mean(axis=0, dtype=float), weights)


@pytest.mark.parametrize("spread", [0.0, 1.0, 6.0])
def test_the_expected_number_of_included_edges_is_the_one_asked_for(random, spread):
    for each in (1, 5, 30):
        values = random.lognormal(sigma=spread, size=each + 20)
        threshold = inclusion_threshold(values, each)
        assert np.minimum(1.0, values / threshold).sum() == pytest.approx(each, rel=1e-12)


def test_thinned_graphs_keep_the_heaviest_edges_and_the_influence(replicates):
    nothing, ones = np.zeros(30 * 29), np.ones(30)
    whole, few = (replicates.thinned_graphs(nothing, ones, n_edges) for n_edges in (10**6, 4 * 30 * 18))
    for number, (graph, all_of_it) in enumerate(zip(few, whole, strict=True)):
        np.testing.assert_allclose(all_of_it.data, replicates.values[number], rtol=1e-5)
        assert np.diff(graph.indptr).max() <= 18
        np.testing.assert_allclose(graph.sum(axis=1), 1.0, rtol=1e-5)
        heavy = all_of_it.toarray() > 0.1
        np.testing.assert_allclose(graph.toarray()[heavy], all_of_it.toarray()[heavy], rtol=0.02)
    influence, expected = (sum(graph.sum(axis=0) for graph in graphs) for graphs in (few, whole))
    np.testing.assert_allclose(influence, expected, rtol=0.1)


def test_no_interval_exceeds_the_sum_of_a_row(hubs):
    edges = ConsensusGL(random_state=0).fit(hubs).edges()
    assert (edges["high"] <= 0.95 + 1e-12).all()
    assert (edges["high"] >= edges["weight"]).all()
    pattern = np.array([0, 1]), np.array([0])
    one = Replicates(*pattern, plain=np.array([0.9]), values=np.array([[0.5], [0.7]], dtype=np.float32))
    assert one.intervals(np.array([0.9]), most=0.95)[1].tolist() == [0.95]


def test_intervals_and_agreement_are_those_of_numpy(replicates):
    low, high = replicates.intervals(replicates.plain + 0.01, most=5.0)
    away = 1.645 * np.sqrt(2 * np.mean((replicates.values - replicates.plain) ** 2, axis=0))
    np.testing.assert_allclose(high, replicates.plain + 0.01 + away, atol=1e-6)
    np.testing.assert_allclose(low, np.maximum(replicates.plain + 0.01 - away, 0), atol=1e-6)
    graphs = replicates.values.astype(float)
    common = [np.minimum(one, other).sum() / one.sum() for one, other in pairwise(graphs)]
    assert replicates.agreement() == pytest.approx(np.mean(common), rel=1e-6)


def test_sums_on_one_growing_pattern_are_those_of_scipy(random):
    graphs = [sparse.random_array((40, 40), density=d, rng=random, format="csr") for d in (0.05, 0.3, 0.0, 0.9)]
    labels = np.tile(np.arange(40, dtype=np.int32), (40, 1))
    mean = MemberMean.nothing(40)
    for share, graph in enumerate(graphs, 1):
        dense = graph.toarray()
        mean = mean.plus(Ladder(labels, dense, 0.01 * (dense > 0), np.array([])), share)
    weights, frequency = mean.edges()
    expected = sparse.csr_array(sum(share * graph for share, graph in enumerate(graphs, 1)))
    np.testing.assert_allclose(weights.toarray(), expected.toarray())
    assert weights.has_sorted_indices
    times = sparse.csr_array(sum(0.01 * share * (graph > 0) for share, graph in enumerate(graphs, 1)))
    np.testing.assert_allclose(frequency, times.toarray()[weights.tocoo().coords])


def test_what_the_prior_moved_is_in_every_second_replicate(signals):
    prior = ConsensusGL(n_replicates=4, random_state=0, benefit=np.arange(1.0, 31.0)).fit(signals).replicate_graphs_
    plain = ConsensusGL(n_replicates=4, random_state=0).fit(signals).replicate_graphs_
    same = [abs(one - other).max() < 1e-6 for one, other in zip(prior, plain, strict=True)]
    assert same == [True, False, True, False]


def test_a_model_is_one_line_and_has_no_results_before_it_is_fitted(hubs):
    model = ConsensusGL(n_replicates=2, random_state=0, benefit=np.arange(40.0))
    assert "\n" not in repr(model)
    assert not [name for name in dir(model) if name.endswith("_") and not name.startswith("_") and hasattr(model, name)]
    shown = repr(model.fit(hubs))
    assert "\n" not in shown
    ties = model.suggested_.undirected().n_edges
    assert f": 40 nodes, {ties:,} suggested ties, replicates agree on " in shown


def test_a_fitted_model_does_not_carry_the_signals(hubs):
    model = ConsensusGL(n_replicates=2, random_state=0).fit(hubs)
    assert not [name for name, value in vars(model).items() if np.shape(value) == hubs.shape]


def test_replicates_do_not_depend_on_the_order_of_nodes(random):
    """Levels of replicates are found on 500 nodes, which were those at certain rows of the table."""
    X, order = random.normal(size=(8, 700)), random.permutation(700)
    one, other = (ConsensusGL(n_replicates=4, random_state=0).fit(each) for each in (X, X[:, order]))
    np.testing.assert_allclose(other.replicates_.influence(), one.replicates_.influence()[:, order], rtol=1e-5)
    for column in ("frequency", "low", "high"):
        found, expected = (np.sort(model.graph_.edge_columns[column]) for model in (other, one))
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_crowded_nodes_share_influence_whatever_their_rows_and_this_is_said(random):
    X = np.sort(random.integers(0, 3, size=(1, 2000)).astype(float))
    X = np.vstack([X, X])
    with pytest.warns(DataWarning) as told:
        model = ConsensusGL(n_replicates=2, random_state=0).fit(X[:, random.permutation(2000)])
    assert any("more equally near others than the 195 that are kept" in str(each.message) for each in told)
    influence = model.graph_.influence
    assert 0.08 < influence[:200].sum() / influence.sum() < 0.12
    assert influence.min() > 0.2 * influence.mean()
