"""The consensus: a mean of admissible graphs, the same whoever counts it, with intervals that mean something."""

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from nashgraph import GLGP, ConsensusGL, DataWarning, InputError, LogDegreeGL, SmoothGL, edge_auc
from nashgraph.certificate import Measure
from nashgraph.datasets import preferential_attachment, small_world, smooth_signals
from nashgraph.estimators import _members
from nashgraph.estimators._members import energy_correlation, ladder_degrees, resamples_of
from nashgraph.pairs import make_search
from nashgraph.smoothness import smooth_ladder


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
        alone = [SmoothGL(degree=degree, geometry=geometry).fit(signals).adjacency_ for degree in degrees]
        np.testing.assert_allclose(found, np.mean(alone, axis=0), atol=1e-12)
        np.testing.assert_allclose(shares, np.mean([graph > 0 for graph in alone], axis=0), atol=1e-12)


def test_the_consensus_lies_in_s_and_frequencies_are_shares(hubs):
    model = ConsensusGL(random_state=0, resamples=6).fit(hubs)
    W = model.adjacency_
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


def test_without_resamples_and_prior_it_is_the_mean_of_smooth_graphs(signals):
    model = ConsensusGL(resamples=0, benefit=None, n_degrees=3, geometries=["distance", "cosine"]).fit(signals)
    members = [
        SmoothGL(degree=degree, geometry=geometry).fit(signals).adjacency_
        for degree in model.degrees_
        for geometry in ("distance", "cosine")
    ]
    np.testing.assert_allclose(model.adjacency_, np.mean(members, axis=0), atol=1e-12)
    assert list(model.edges().columns) == ["source", "target", "weight", "frequency"]
    assert model.certificate_.sentence.startswith("exact")


def test_any_estimator_can_make_the_members(signals):
    options = {"resamples": 2, "benefit": None, "n_degrees": 2, "geometries": ["distance"], "random_state": 0}
    fast, slow = ConsensusGL(**options).fit(signals), ConsensusGL(SmoothGL(), **options).fit(signals)
    np.testing.assert_allclose(slow.adjacency_, fast.adjacency_, atol=1e-10)
    other = ConsensusGL(LogDegreeGL(), resamples=0, n_degrees=3).fit(signals)
    np.testing.assert_allclose(other.adjacency_, other.adjacency_.T, atol=1e-12)


def test_the_members_certificates_are_summed_up(signals):
    options = {"resamples": 2, "benefit": None, "n_degrees": 2, "geometries": ["distance"], "random_state": 0}
    model = ConsensusGL(GLGP(lam=1.0), **options).fit(signals)
    assert model.certificate_.measure is Measure.STATIONARITY
    assert model.converged_
    assert model.n_iter_ >= 6
    short = ConsensusGL(GLGP(lam=1.0, tol=1e-12, max_iter=1), **options)
    with pytest.warns(ConvergenceWarning, match="6 of 6 members fell short: raise max_iter") as caught:
        short.fit(signals)
    assert len(caught) == 1
    assert (
        ConsensusGL(**options).fit(signals).certificate_.sentence
        == "exact: computed by a formula, with nothing left to improve"
    )


def test_more_members_never_change_those_there():
    few, many = (list(resamples_of(9, count, "bayes", entropy=7)) for count in (3, 8))
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one.weights, other.weights)
    halves = list(resamples_of(9, 4, "half", entropy=7))[1:]
    assert ((halves[0].weights > 0) ^ (halves[1].weights > 0)).all()
    assert all(half.weights.sum() == pytest.approx(9) for half in halves)


def test_a_seed_fixes_it_and_another_changes_it(hubs):
    model = ConsensusGL(random_state=3, resamples=4)
    first, again = clone(model).fit(hubs).adjacency_, clone(model).fit(hubs).adjacency_
    np.testing.assert_array_equal(first, again)
    assert (ConsensusGL(random_state=4, resamples=4).fit(hubs).adjacency_ != first).any()


def test_large_networks_are_held_sparsely_and_agree(signals, monkeypatch):
    dense = ConsensusGL(random_state=0, resamples=3).fit(signals)
    monkeypatch.setattr(_members, "DENSE_NODES", 10)
    sparse = ConsensusGL(random_state=0, resamples=3).fit(signals)
    np.testing.assert_allclose(sparse.graph_.weights.toarray(), dense.adjacency_, atol=1e-10)
    for column in ("frequency", "low", "high"):
        np.testing.assert_allclose(sparse.edges()[column], dense.edges()[column], atol=1e-6)


def test_degrees_reach_from_two_to_everybody_but_no_further_than_memory():
    degrees, kept = ladder_degrees(60, 8)
    assert degrees[0] == pytest.approx(2)
    assert degrees[-1] == pytest.approx(59)
    assert kept == 59
    degrees, kept = ladder_degrees(20_000, 8)
    assert degrees[-1] == pytest.approx(64)
    assert kept == 104
    assert ladder_degrees(2, 8)[0].tolist() == [1.0]


def test_the_prior_speaks_where_there_are_hubs_and_is_silent_elsewhere():
    tree = smooth_signals(preferential_attachment(60, random_state=1), 50, "lowpass", noise=0.1, random_state=1)
    ring = smooth_signals(small_world(60, random_state=0), 50, "heat", noise=0.1, random_state=0)
    hub, flat = ConsensusGL(random_state=0, resamples=2).fit(tree), ConsensusGL(random_state=0, resamples=2).fit(ring)
    assert hub.prior_share_ > 0 == flat.prior_share_
    assert hub.prior_.benefit == "own"
    assert hub.certificate_.converged
    np.testing.assert_allclose(flat.without_prior_.weights.toarray(), flat.adjacency_)
    more = hub.graph_.influence - hub.without_prior_.influence
    assert np.corrcoef(more, hub.without_prior_.influence)[0, 1] > 0.3


@pytest.mark.parametrize(("n_signals", "inner"), [(10, 0.5), (40, 0.2)])
def test_the_inner_product_counts_where_strong_nodes_are_popular_and_signals_few(n_signals, inner):
    tree = preferential_attachment(60, 1, random_state=1)
    strong = smooth_signals(tree, n_signals, "lowpass", random_state=1)
    found = ConsensusGL(resamples=0).fit(strong).geometries_
    assert found == pytest.approx({"cosine": 1 - inner, "inner": inner})
    weak = ConsensusGL(resamples=0).fit(smooth_signals(tree, n_signals, "heat", random_state=1)).geometries_
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


def test_intervals_are_of_the_mean_with_its_prior():
    """The members with a prior are not resampled, but they move the mean."""
    club = smooth_signals(nx.karate_club_graph(), 50, "gmrf", random_state=0)
    model = ConsensusGL(random_state=0).fit(club)
    assert model.prior_share_ > 0
    nodes = model.graph_.node_columns
    inside = (nodes["influence_low"] <= model.graph_.influence) & (model.graph_.influence <= nodes["influence_high"])
    assert inside.mean() > 0.9
    table = model.edges()
    assert (table.weight <= table.high + 0.02).mean() > 0.9


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
    assert nodes["led"].rank_high[0] >= nodes["plain"].rank_low[0] > 1


def test_a_benefit_of_ones_own_counts(signals):
    benefit = np.ones(30)
    benefit[7] = 20.0
    model = ConsensusGL(benefit=benefit, resamples=0).fit(signals)
    assert model.prior_.benefit == "given"
    assert model.prior_share_ == 0.5
    assert model.graph_.influence[7] > model.without_prior_.influence[7]
    with pytest.warns(DataWarning, match="benefit is the same at every node"):
        assert ConsensusGL(benefit=np.ones(30), resamples=0).fit(signals).prior_share_ == 0


def test_it_recovers_more_than_one_degree_does():
    graph = preferential_attachment(50, random_state=5)
    X = smooth_signals(graph, 10, "lowpass", noise=0.2, random_state=5)
    consensus = edge_auc(ConsensusGL(random_state=0).fit(X), graph, symmetrize="mean")
    assert consensus > 0.9 > edge_auc(GLGP().fit(X), graph, symmetrize="mean")


def test_gaps_are_compared_pairwise(signals):
    signals[::7, ::5] = np.nan
    model = ConsensusGL(missing="pairwise", resamples=3, random_state=0).fit(signals)
    np.testing.assert_allclose(model.adjacency_.sum(axis=1), 0.95, atol=1e-10)


def test_scaling_brings_signals_to_one_spread(signals):
    uneven = signals * np.geomspace(1, 1e4, 20)[:, None]
    one, other = (ConsensusGL(scale="standard", resamples=0).fit(X).adjacency_ for X in (signals, uneven))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_progress_counts_to_the_end(hubs):
    seen = []
    ConsensusGL(resamples=2, random_state=0, progress=lambda done, total: seen.append((done, total))).fit(hubs)
    assert np.all(np.diff([done for done, _ in seen]) > 0)
    assert {total for _, total in seen} == {seen[-1][0]}  # known from the first, and reached


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
@pytest.mark.parametrize("n", [2, 3])
def test_two_and_three_nodes(n, random):
    model = ConsensusGL(random_state=0, resamples=3).fit(random.normal(size=(5, n)))
    np.testing.assert_allclose(model.adjacency_.sum(axis=1), 0.95)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_equal_nodes_get_equal_ties():
    model = ConsensusGL(random_state=0, resamples=3).fit(np.ones((4, 6)))
    np.testing.assert_allclose(model.adjacency_[~np.eye(6, dtype=bool)], 0.95 / 5)


@pytest.mark.filterwarnings("ignore:X has one signal only, so all distances")
def test_one_signal_cannot_be_resampled(random):
    with pytest.warns(DataWarning, match="nothing to resample"):
        model = ConsensusGL(random_state=0).fit(random.normal(size=(1, 8)))
    assert "low" not in model.edges()
    assert np.isnan(model.agreement_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resamples": -1}, "resamples must be at least 0"),
        ({"resampling": "jackknife"}, "resampling='jackknife' is not known"),
        ({"geometries": "all"}, "geometries='all' is not known"),
        ({"geometries": []}, "geometries is empty"),
        ({"geometries": ["angle"]}, "geometry='angle' is not known"),
        ({"n_degrees": 0}, "n_degrees must be at least 1"),
        ({"scale": "robust"}, "scale='robust' is not known"),
        ({"benefit": "degree"}, "benefit='degree' is not known"),
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
    assert edge_auc(ConsensusGL(random_state=0).fit(X), club, symmetrize="mean") > 0.75


def test_rounding_lifts_no_frequency_above_one():
    X = (np.random.default_rng(0).random((8, 40)) < 0.15).astype(float)
    with pytest.warns(DataWarning, match="exactly the signals"):
        assert ConsensusGL(random_state=0).fit(X).edges().frequency.max() <= 1


def test_the_graphs_of_resamples_are_kept_within_bounds(signals, monkeypatch):
    model = ConsensusGL(resamples=4, random_state=0).fit(signals)
    kept = model.resampled_graphs_
    assert len(kept) == 4
    for graph in kept:
        assert graph.dtype == np.float32
        np.testing.assert_allclose(graph.sum(axis=1), 0.95, rtol=1e-5)
        assert graph.data.min() > 0
    monkeypatch.setattr("nashgraph.estimators._resampled.PAIRS", 4 * 30 * 18)
    few = ConsensusGL(resamples=4, random_state=0).fit(signals)
    np.testing.assert_array_equal(few.adjacency_, model.adjacency_)
    for graph, whole in zip(few.resampled_graphs_, kept, strict=True):
        assert np.diff(graph.indptr).max() <= 18
        np.testing.assert_allclose(graph.sum(axis=1), 0.95, rtol=1e-5)
        heavy = whole.toarray() > 0.1
        np.testing.assert_allclose(graph.toarray()[heavy], whole.toarray()[heavy], rtol=0.02)
    influence, expected = (sum(graph.sum(axis=0) for graph in graphs) for graphs in (few.resampled_graphs_, kept))
    np.testing.assert_allclose(influence, expected, rtol=0.1)
    assert ConsensusGL(resamples=0, random_state=0).fit(signals).resampled_graphs_ == []


def test_what_the_prior_moved_is_in_every_second_resample(signals):
    prior = ConsensusGL(resamples=4, random_state=0, benefit=np.arange(1.0, 31.0)).fit(signals).resampled_graphs_
    plain = ConsensusGL(resamples=4, random_state=0, benefit=None).fit(signals).resampled_graphs_
    same = [abs(one - other).max() < 1e-6 for one, other in zip(prior, plain, strict=True)]
    assert same == [True, False, True, False]
