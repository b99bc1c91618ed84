"""The degree obtained is the one requested."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from nashgraph import GLGP, DataWarning, SmoothGL
from nashgraph.pairs import Bonus, make_search
from nashgraph.smoothness import beta_for_degree, make_smoothness, response_ladder, smooth_ladder
from nashgraph.smoothness.degree import farther_than_first, level_of

from ..gaps import with_gaps


def neighbours(X, beta, c=0.95):
    return (SmoothGL(beta=beta, c=c, missing="pairwise").fit(X).adjacency_.toarray() > 0).sum(axis=1)


@pytest.mark.parametrize("degree", [1, 2.5, 5, 10, 30])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_mean_degree_is_met(degree, seed, share):
    random = np.random.default_rng(seed)
    X = random.normal(size=(8, 90)) * random.exponential(size=90)  # some nodes crowded, some remote
    X = with_gaps(X, random, share)
    assert neighbours(X, beta_for_degree(make_search(X), degree, 0.95)).mean() == pytest.approx(degree, rel=0.05)


def test_one_crowded_row_needs_more_neighbours_than_first_kept(random):
    """A tight cluster and scattered nodes: rows of the cluster take far more neighbours than the mean."""
    X = np.hstack([random.normal(size=(5, 60)) * 1e-4, 10 * random.normal(size=(5, 180))])
    beta = beta_for_degree(make_search(X), 10, 0.95)
    counts = neighbours(X, beta)
    assert counts.mean() == pytest.approx(10, rel=0.05)
    assert counts.max() > 28  # the first guess keeps 2 * 10 + 8


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_fact_five_row_by_row(share, random):
    """A row has k neighbours iff S_k < 2 beta c <= S_{k+1}, with S_k = sum (d_k - d_j) over the k nearest."""
    X = with_gaps(random.normal(size=(6, 25)), random, share)
    model = SmoothGL(beta=0.4, missing="pairwise").fit(X)
    from nashgraph import squared_distances

    D = squared_distances(X)
    for i in range(25):
        d = np.sort(np.delete(D[i], i))
        S = np.arange(1, 25) * d - np.cumsum(d)
        assert (model.adjacency_.toarray()[i] > 0).sum() == (S < 2 * 0.4 * 0.95).sum()


def test_all_neighbours(random):
    X = random.normal(size=(6, 12))
    assert neighbours(X, beta_for_degree(make_search(X), 11, 0.95)).min() == 11
    X = with_gaps(X, random, 0.3)
    assert neighbours(X, beta_for_degree(make_search(X), 11, 0.95)).min() == 11


def test_two_nodes_with_a_gap_get_a_beta_of_the_distances_size():
    X = np.array([[0.0, 2.0], [1.0, 5.0], [np.nan, 0.0]])
    assert beta_for_degree(make_search(X), 1, 0.95) == pytest.approx(
        beta_for_degree(make_search(X[:2]), 1, 0.95), rel=0.5
    )


def test_ties_are_said(random):
    X = random.integers(0, 2, size=(2, 80)).astype(float)
    with pytest.warns(DataWarning, match="cannot be met because many distances are tied"):
        beta_for_degree(make_search(X), 5, 0.95)


def test_all_nodes_alike_is_an_error():
    with pytest.raises(ValueError, match="every node has the same signals"):
        beta_for_degree(make_search(np.ones((3, 10))), 5, 0.95)


def yes_or_no(seed):
    """Return a table of 0 and 1: few ones, one answer of several, or nodes that occur several times."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(4, 60)), int(random.integers(1, 20))
    X = (random.random((m, n)) < random.uniform(0.02, 0.3)).astype(float)
    if seed % 3 == 1:
        X = np.vstack([np.eye(4)[:, random.integers(0, 4, n)] for _ in range(3)])
    elif seed % 3 == 2:
        X = X[:, random.integers(0, n, n)]
    X[0, 0], X[0, 1] = 0.0, 1.0  # not all alike
    return X


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
@pytest.mark.parametrize("seed", range(60))
def test_yes_or_no_tables_give_the_nearest_degree_that_any_beta_gives(seed):
    X = yes_or_no(seed)
    n = X.shape[1]
    wanted = min(10, n - 1)
    model = GLGP().fit(X)
    assert model.converged_
    np.testing.assert_allclose(model.adjacency_.toarray().sum(axis=1), 0.95)
    ends = np.array([np.sort(np.delete(row, i)) for i, row in enumerate(cdist(X.T, X.T, "sqeuclidean") / (2 * len(X)))])
    S = (np.arange(1, n) * ends - np.cumsum(ends, axis=1)).round(9)
    reached = [(level > S).sum() / n for level in [*np.unique(S), np.inf]]
    possible = [degree for degree in reached if degree >= 1]
    obtained = neighbours(X, model.beta_).mean()
    assert abs(obtained - wanted) == pytest.approx(min(abs(np.array(possible) - wanted)))


@pytest.mark.filterwarnings("ignore:.*exactly the signals")
def test_330_households_with_three_questions_have_a_network_at_the_defaults(random):
    X = random.integers(0, 2, size=(3, 330)).astype(float)
    with pytest.warns(DataWarning, match=r"the nearest that can is .* neighbours on average"):
        model = GLGP().fit(X)
    assert model.converged_
    alike = (X[:, :, None] == X[:, None, :]).all(axis=0)
    assert (model.graph_.weights.toarray()[~alike] == 0).all()  # everybody's neighbours are those who answer the same


def test_what_is_a_rounding_away_is_tied_and_what_is_more_is_not():
    """Costs are rounded to 32 bits, so ties may differ by the last of them; more is a difference in the signals."""
    farther = farther_than_first(np.array([[1.0, 1.0 + 2.0**-52, 1.0 + 2.0**-31, 1.0 + 2e-9, 1.0 + 1e-6]]))
    np.testing.assert_allclose(farther[0], [0.0, 0.0, 0.0, 2e-9, 1e-6], rtol=1e-6)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_a_few_nodes_that_run_out_of_nearest_cost_no_second_scan(random):
    """A tight crowd of six next to 5,994 on a line: only its rows are searched whole, and beta is that of all pairs."""
    X = np.arange(6000.0)[None] + 0.2 * random.random((1, 6000))
    X[:, :6] = 1e-6 * random.random(6) - 100.0
    search = make_search(X)
    level, degree = level_of(search, 1.3, search.nearest(4)[0])
    assert search.scans == pytest.approx(1.001)
    exact, exact_degree = level_of(search, 1.3, search.nearest(400)[0])
    assert level == pytest.approx(exact, rel=1e-9)
    assert degree == pytest.approx(exact_degree)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
@pytest.mark.parametrize("seed", range(30))
def test_one_column_of_counts_has_no_dust_for_beta(seed):
    """Exactly equidistant neighbours have equal weights."""
    counts = np.random.default_rng(seed).integers(0, 12, 40).astype(float)
    X = ((counts - counts.mean()) / counts.std())[None]
    model = SmoothGL(degree=3).fit(X)
    assert model.beta_ > 1e-9
    for node in range(40):
        gaps = np.abs(counts - counts[node])
        for gap in np.unique(gaps):
            equal = (gaps == gap) & (np.arange(40) != node)
            if equal.any():
                assert np.ptp(model.adjacency_.toarray()[node, equal]) <= 1e-9


def test_ladders_are_means_of_graphs_learned_alone(random):
    search, sides = make_search(random.normal(size=(20, 60))), (random.random(60), random.random(60))
    ladder = smooth_ladder(search, np.array([2.0, 20.0]), 0.95, kept=59)
    assert ladder.shares.sum() / 30 == pytest.approx(22)
    for found, bonus in (
        (ladder, Bonus.none(60)),
        (response_ladder(search, ladder.betas, 0.95, 59, *sides), Bonus.of(*sides)),
    ):
        graphs = [make_smoothness(search, beta, 0.95).respond(bonus).matrix().toarray() for beta in ladder.betas]
        alone = np.take_along_axis(np.mean(graphs, axis=0), found.labels.astype(int), axis=1)
        np.testing.assert_allclose(found.weights, alone, atol=1e-6)
