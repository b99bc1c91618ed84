"""Huge and tiny signals, outliers, ties: the right graph or an error, never a certified wrong graph."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from nashgraph import GLGP, BestResponse, ConsensusGL, InputError, SmoothGL, squared_distances
from nashgraph.estimators import METHODS
from nashgraph.smoothness import STORAGES

pytestmark = pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")


def weights(model):
    found = model.adjacency_.toarray()
    return found.toarray() if sparse.issparse(found) else np.asarray(found)


def best_by_definition(D, beta, c=0.95):
    """Each row's projection by sorting, in float64: the formula of fact 5 without the library's code."""
    found = np.zeros_like(D)
    for i in range(len(D)):
        others = np.delete(np.arange(len(D)), i)
        order = others[np.argsort(D[i, others], kind="stable")]
        d = D[i, order] - D[i, order[0]]
        size = max(1, int((np.arange(1, d.size + 1) * d - np.cumsum(d) < 2 * beta * c).sum()))
        found[i, order[:size]] = ((2 * beta * c + d[:size].sum()) / size - d[:size]) / (2 * beta)
    return found


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("outlier", [0.0, 1e3, 1e9])
@pytest.mark.parametrize("beta", [1e-20, 1e-5, 0.3])
def test_an_outlier_or_a_tiny_beta_leaves_every_storage_right(storage, outlier, beta, random):
    X = random.normal(size=(5, 60))
    X[2, 7] += outlier
    found = weights(SmoothGL(beta=beta, storage=storage).fit(X))
    expected = best_by_definition(squared_distances(X), beta)
    np.testing.assert_allclose(found.sum(axis=1), 0.95, rtol=1e-13)
    others = np.delete(np.arange(60), 7)  # the outlier's own costs have no more digits than they have
    np.testing.assert_allclose(found[others], expected[others], atol=1e-8)


@pytest.mark.parametrize("name", METHODS)
def test_at_any_scale_it_is_the_right_graph_or_a_sentence(name, random):
    X = random.normal(size=(12, 25))
    make = METHODS[name]
    given = {"random_state": 0} if "random_state" in make().get_params() else {}
    if name == "consensus":
        given["n_replicates"] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = weights(make(**given).fit(X))
        for scale in (1e-59, 1e59):
            found = weights(make(**given).fit(X * scale))
            if name not in ("quadgame", "glasso"):  # their models have a fixed scale
                np.testing.assert_allclose(found, reference, atol=1e-7, err_msg=f"{scale:g}")
        for scale in (1e-300, 1e-80, 1e80, 1e154, 1e300):
            with pytest.raises(InputError, match=r"squares of squares must fit a float .* bring it to another scale"):
                make(**given).fit(X * scale)
        X[3, 4] = 1e80
        with pytest.raises(InputError, match=r"values up to 1e\+80"):
            make(**given).fit(X)


@pytest.mark.parametrize("storage", STORAGES)
def test_beta_and_lam_beyond_floats_are_refused(storage, signals):
    for beta in (1e-320, 1e-228, 1e150, 1e300):
        with pytest.raises(InputError, match="beta must be a finite number in"):
            GLGP(beta=beta, solver=BestResponse(storage=storage)).fit(signals)
    for lam in (1e99, 1e200):
        model = GLGP(lam=lam, degree=5, solver=BestResponse(storage=storage))
        if lam == 1e99:
            np.testing.assert_allclose(weights(model.fit(signals)).sum(axis=1), 0.95)
        else:
            with pytest.raises(InputError, match=r"lam must be a finite|take a smaller lam"):
                model.fit(signals)


def one_hot(seed):
    """A survey of a few questions with two to five answers each, every answer a signal of 0 and 1."""
    random = np.random.default_rng(seed)
    n = int(random.integers(8, 60))
    answers = [(random.integers(0, k, n), k) for k in random.integers(2, 6, int(random.integers(1, 6)))]
    X = np.vstack([np.equal.outer(np.arange(k), given) for given, k in answers]).astype(float)
    if seed % 2:
        spread = X.std(axis=1, keepdims=True)
        X = (X - X.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return X


def test_one_hot_surveys_have_a_degree_and_no_rounding_dust():
    for seed in range(300):
        X = one_hot(seed)
        n = X.shape[1]
        model = SmoothGL().fit(X)
        D = squared_distances(X)
        # Either all of a row's equally near nodes are neighbours, or none: rounding does not separate them.
        for row, costs in zip(weights(model) > 0, D.round(6), strict=True):
            for cost in np.unique(costs[row]):
                tied = costs == cost
                assert row[tied].sum() >= tied.sum() - 1, seed  # the node itself may be among them
        assert model.beta_ > 1e-6 * D.max(), seed
        assert (weights(model) > 0).sum() >= n, seed


def test_a_survey_of_three_yes_or_no_questions_works_as_it_is():
    X = np.random.default_rng(0).integers(0, 2, (3, 330)).astype(float)
    for model in (GLGP(), SmoothGL(), ConsensusGL(n_replicates=2, random_state=0)):
        assert model.fit(X).converged_
        np.testing.assert_allclose(weights(model).sum(axis=1), 0.95)
    # About forty households give each of eight answers: a household's ties are to those with the same answers.
    alike = squared_distances(X) == 0
    assert (weights(SmoothGL().fit(X))[~alike] == 0).all()
