"""A selection with a promise: the bounds are the published ones, hold where they should, and are refused elsewhere."""

import networkx as nx
import numba
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import NotFittedError

from nashgraph import ConsensusGL, DataWarning, InputError
from nashgraph.consensus.stability import factor, halves, heaviest, plan
from nashgraph.datasets import preferential_attachment, smooth_signals


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Networks this small gain nothing by threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


@pytest.fixture(scope="module")
def hubs():
    """A tree of hubs, and a model of 40 signals on it."""
    tree = preferential_attachment(40, random_state=2)
    X = smooth_signals(tree, 40, "heat", noise=0.1, random_state=2)
    return tree, X, ConsensusGL(random_state=0, n_replicates=2).fit(X)


def largest_tail(mean, threshold, splits, unimodal):
    """Return the maximum of P(share >= threshold), for a share of so many splits with at most this mean.

    A unimodal distribution is a mixture of uniform ones on intervals around its mode: a linear program for each mode.
    """
    first, last = np.triu_indices(splits + 1)
    if not unimodal:
        first = last = np.arange(splits + 1)
    means = (first + last) / (2 * splits)
    tails = np.clip(last - np.maximum(first, round(threshold * splits)) + 1, 0, None) / (last - first + 1)
    best = 0.0
    for mode in range(splits + 1):
        use = (first <= mode) & (mode <= last) if unimodal else first >= 0
        if means[use].min() <= mean:  # else no distribution with this mode has so small a mean
            program = linprog(-tails[use], means[use][None], [mean], np.ones((1, use.sum())), [1])
            best = max(best, -program.fun)
    return best


@pytest.mark.parametrize("tau", [0.6, 0.75, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("theta", [0.05, 0.2])
def test_the_bounds_are_what_the_worst_distribution_has(tau, theta):
    """A pair no better than chance is in both halves of a split with probability at most theta^2."""
    for kind in ("unimodal", "worst-case"):
        worst = largest_tail(theta**2, 2 * tau - 1, 20, kind == "unimodal")
        assert worst == pytest.approx(factor(tau, 20, kind) * theta**2)


def test_the_bound_holds_for_pairs_drawn_blindly():
    random = np.random.default_rng(0)
    found = plan(20, false_edges=2, tau=0.6, n_splits=10, kind="unimodal")
    theta = found.taken / found.n_pairs
    blind = random.binomial(20, theta, size=(400, found.n_pairs)) / 20
    assert (blind >= found.tau).sum(axis=1).mean() <= found.bound
    # As likely to be taken, but all of it in a few samples, where half after half takes the pair: here it is near.
    often = np.where(random.random(blind.shape) < theta**2 / 0.5**2, 0.5, 0.0)
    both = random.binomial(10, often**2) / 10
    assert 0.1 * found.bound < (both >= 2 * found.tau - 1).sum(axis=1).mean() <= found.bound


def test_the_plan_takes_the_most_that_the_promise_allows():
    for kind in ("unimodal", "worst-case"):
        taken = [plan(60, wanted, 0.9, 50, kind).taken for wanted in (0.5, 1, 5, 20)]
        assert taken == sorted(set(taken))
        for wanted in (0.5, 1, 5, 20):
            found = plan(60, wanted, 0.9, 50, kind)
            assert found.bound <= wanted < factor(0.9, 50, kind) * (found.taken + 1) ** 2 / found.n_pairs
    assert plan(60, 5, 0.9, 50, "worst-case").taken < plan(60, 5, 0.9, 50, "unimodal").taken
    assert plan(60, 5, 0.777, 50, "unimodal").tau == pytest.approx(0.78)  # a multiple of 1/2B
    assert plan(4, 100, 0.9, 50, "unimodal").taken == 3  # of six: below a share of 1/sqrt(3)
    assert plan(60, 1e6, 0.6, 50, "unimodal").taken < 1770 * np.sqrt(0.1)


def test_halves_are_disjoint_and_equal_and_more_of_them_change_none():
    for rows, rest in zip(*[halves(9, 3, entropy=1)] * 2, strict=True):
        assert len(rows) == len(rest) == 4
        assert not set(rows) & set(rest)
    for one, other in zip(halves(9, 3, 1), halves(9, 5, 1), strict=False):
        np.testing.assert_array_equal(one, other)


def test_the_heaviest_pairs_are_counted_without_direction_and_ties_are_left_out():
    weights = sparse.csr_array(np.array([[0, 0.5, 0.2], [0.1, 0, 0.3], [0.4, 0, 0]]))
    assert heaviest(weights, 2).tolist() == [1, 2]  # 0.6 and 0.6; 0.3 is left
    assert heaviest(weights, 1).tolist() == []
    assert heaviest(weights, 3).tolist() == [1, 2, 5]


def test_hubs_are_found_and_hardly_anything_else(hubs):
    tree, X, model = hubs
    selection = model.select(X, false_edges=2, n_splits=20)
    ties = selection.edges()
    true = [tree.has_edge(*pair) for pair in zip(ties.source, ties.target, strict=True)]
    assert len(ties) > 15
    assert np.mean(true) > 0.8
    assert list(ties.columns) == ["source", "target", "weight", "share", "evidence", "frequency", "low", "high"]
    assert (ties.share >= selection.plan.tau).all()
    assert not selection.graph.directed
    learned = model.graph_.undirected().to_networkx(directed=False)
    assert all(learned[a][b]["weight"] == pytest.approx(w) for a, b, w in ties.iloc[:, :3].itertuples(index=False))


def test_who_allows_more_gets_more_and_a_seed_fixes_it(hubs):
    _, X, model = hubs
    found = [model.select(X, false_edges, n_splits=10) for false_edges in (0.5, 2, 8)]
    kept = [set(zip(one.edges().source, one.edges().target, strict=True)) for one in found]
    assert len(kept[0]) < len(kept[1]) < len(kept[2])
    strict = model.select(X, 2, n_splits=10, bound="worst-case")
    assert strict.graph.n_edges < found[1].graph.n_edges
    assert model.select(X, 2, n_splits=10).edges().equals(found[1].edges())
    assert not model.select(X, 2, n_splits=10, random_state=9).edges().share.equals(found[1].edges().share)


def test_in_noise_no_more_is_selected_than_was_asked():
    """Every pair is chance here, so all that is selected counts against the promise."""
    counts = []
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(12, 20))
        model = ConsensusGL(random_state=seed, n_replicates=0).fit(X)
        counts.append(model.select(X, false_edges=2, tau=0.75, n_splits=10).graph.n_edges)
    assert 0 < np.mean(counts) <= 2


def test_what_is_promised_is_said(hubs):
    selection = hubs[2].select(hubs[1], false_edges=2, n_splits=10)
    assert f"{selection.graph.n_edges} of 780 pairs" in selection.sentence
    assert "at least 90% of 20 random halves" in selection.sentence
    assert "no more often than chance" in selection.sentence
    assert "unimodal" in selection.sentence
    assert "unimodal" not in hubs[2].select(hubs[1], 2, n_splits=10, bound="worst-case").sentence


def test_progress_counts_halves(hubs):
    seen = []
    hubs[2].select(hubs[1], n_splits=5, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 10) for k in range(1, 11)]


def test_gaps_are_compared_pairwise_unless_a_half_has_nothing_to_compare(signals):
    gappy = signals.copy()
    gappy[::7, ::5] = np.nan
    model = ConsensusGL(missing="pairwise", n_replicates=0, random_state=0)
    assert model.fit(gappy).select(gappy, n_splits=5).graph.n_edges > 0
    gappy[1:, 3] = np.nan
    gappy[0] = signals[0]
    with pytest.warns(DataWarning, match=r"share fewer than 2 of 20 signals .* most gaps \(3 \(95%\)\)"):
        model.fit(gappy)
    with pytest.raises(InputError, match=r"half of the signals has too many gaps.* 3; drop"):
        model.select(gappy, n_splits=5)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_equal_nodes_are_all_tied_and_none_is_selected():
    assert (
        ConsensusGL(random_state=0, n_replicates=2)
        .fit(np.ones((6, 8)))
        .select(np.ones((6, 8)), n_splits=5)
        .graph.n_edges
        == 0
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"false_edges": 0}, "false_edges must be a finite number"),
        ({"false_edges": -1}, "false_edges must be a finite number"),
        ({"false_edges": 1e-4}, "cannot be promised"),
        ({"tau": 0.5}, "tau must be"),
        ({"tau": 1.1}, "tau must be"),
        ({"n_splits": 2}, "n_splits must be at least 5"),
        ({"bound": "normal"}, "bound='normal' is not known"),
    ],
)
def test_bad_parameters(options, message, hubs):
    with pytest.raises(InputError, match=message):
        hubs[2].select(hubs[1], **options)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_what_cannot_be_halved_is_refused(random):
    with pytest.raises(NotFittedError):
        ConsensusGL().select(random.normal(size=(8, 9)))
    with pytest.raises(InputError, match=r"4 signals or more.*X has 3"):
        ConsensusGL(n_replicates=0).fit(X := random.normal(size=(3, 9))).select(X)
    with pytest.raises(InputError, match="three nodes or more"):
        ConsensusGL(n_replicates=0).fit(X := random.normal(size=(8, 2))).select(X)


def test_names_survive():
    club = nx.karate_club_graph()
    names = [f"member {k}" for k in range(34)]
    X = pd.DataFrame(smooth_signals(club, n_signals=30, filter="heat", random_state=0), columns=names)
    model = ConsensusGL(random_state=0, n_replicates=0).fit(X)
    assert set(model.select(X, n_splits=5).edges().source) <= set(names)
    with pytest.raises(InputError, match="other nodes than the model was fitted to"):
        model.select(X.iloc[:, 1:])
