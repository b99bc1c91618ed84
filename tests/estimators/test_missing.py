"""Signals with gaps: distances over what two nodes share, in every estimator and storage."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import get_tags

from nashgraph import GLGP, BestResponse, LinearGLGP, LogDegreeGL, SmoothGL, project_rows, spectral_benefit
from nashgraph.priors import adjoint, equilibrium

from ..gaps import with_gaps
from ..problems import stored

MAKERS = [SmoothGL, LinearGLGP, GLGP]


@pytest.fixture
def gappy(signals, random):
    return with_gaps(signals, random, 0.15)


def pairwise(X):
    """The distances by their definition."""
    squares = (X[:, :, None] - X[:, None, :]) ** 2 / 2
    found = np.where(np.isnan(squares), np.nanvar(X, axis=1)[:, None, None], squares).mean(axis=0)
    np.fill_diagonal(found, 0.0)
    return found


def as_array(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("make", MAKERS)
def test_complete_signals_give_the_same_graph_bit_for_bit(make, storage, signals):
    strict = stored(make(degree=5), storage).fit(signals)
    lenient = stored(make(degree=5, missing="pairwise"), storage).fit(signals)
    np.testing.assert_array_equal(as_array(lenient.adjacency_.toarray()), as_array(strict.adjacency_.toarray()))
    assert lenient.objective_ == strict.objective_


@pytest.mark.parametrize("make", MAKERS)
def test_storages_agree_on_signals_with_gaps(make, gappy):
    dense = stored(make(degree=5, missing="pairwise"), "dense").fit(gappy)
    other = stored(make(degree=5, missing="pairwise"), "sparse").fit(gappy)
    np.testing.assert_array_equal(other.adjacency_.toarray(), dense.adjacency_.toarray())


def test_linear_glgp_is_the_propositions_formula_on_pairwise_distances(gappy):
    model = LinearGLGP(lam=3.0, beta=1.5, missing="pairwise").fit(gappy)
    scores = (3.0 * model.benefit_ - pairwise(gappy)) / 3.0
    np.testing.assert_allclose(
        model.adjacency_.toarray(), project_rows(scores, 0.95)[0], atol=1e-9
    )  # costs have 32 bits


@pytest.mark.parametrize("options", [{}, {"solver": BestResponse(storage="sparse")}, {"solver": "ttgd", "beta": 5.0}])
def test_glgp_is_stationary_by_scikit_learns_distances(options, gappy):
    model = GLGP(**{"lam": 2.0, "degree": 6, "missing": "pairwise", **options}).fit(gappy)
    W, b = as_array(model.adjacency_.toarray()), model.benefit_
    y = equilibrium(W, b, "log1p")
    u = adjoint(W, y, "log1p", "total")
    response, _ = project_rows((2.0 * np.outer(u, np.log1p(y)) - pairwise(gappy)) / (2 * model.beta_), 0.95)
    assert model.converged_
    assert np.linalg.norm(W - response) / np.linalg.norm(W) <= 1.1e-6


def test_spectral_benefit_is_of_the_pairwise_distances(gappy):
    top = np.abs(np.linalg.eigh(pairwise(gappy))[1][:, -1])
    np.testing.assert_allclose(spectral_benefit(gappy), top / top.sum(), atol=1e-12)
    constant = np.where(np.isnan(gappy), np.nan, 1.0)
    np.testing.assert_array_equal(spectral_benefit(constant), np.full(30, 1 / 30))


@pytest.mark.parametrize("make", MAKERS)
def test_relabelling_nodes_relabels_the_graph(make, gappy, random):
    order = random.permutation(30)
    plain = make(degree=5, missing="pairwise").fit(gappy).adjacency_.toarray()
    shuffled = make(degree=5, missing="pairwise").fit(gappy[:, order]).adjacency_.toarray()
    np.testing.assert_allclose(shuffled, plain[np.ix_(order, order)], atol=1e-5)


def test_path_with_gaps_is_certified(gappy):
    path = GLGP(degree=5, missing="pairwise").path(gappy, n_lams=4)
    assert path.table()["stationarity"].max() <= 1e-6
    with pytest.raises(ValueError, match="missing='pairwise'"):
        GLGP().path(gappy)


def test_missing_answers_of_a_survey_table_are_gaps(random):
    answers = pd.DataFrame(random.integers(0, 9, size=(12, 8)), columns=list("abcdefgh"), dtype="Int64")
    answers.iloc[2, 3] = pd.NA
    plain = answers.astype(float).to_numpy(na_value=np.nan)
    model = SmoothGL(degree=3, missing="pairwise").fit(answers)
    assert list(model.node_names_) == list("abcdefgh")
    np.testing.assert_array_equal(
        model.adjacency_.toarray(), SmoothGL(degree=3, missing="pairwise").fit(plain).adjacency_.toarray()
    )


@pytest.mark.parametrize("make", MAKERS)
def test_scikit_learn_is_told(make):
    assert get_tags(make(missing="pairwise")).input_tags.allow_nan
    assert not get_tags(make()).input_tags.allow_nan
    assert not get_tags(LogDegreeGL()).input_tags.allow_nan
