"""Unusable input is an InputError, even if another library found it, with that library's words."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import check_array

from nashgraph import GLGP, TTGD, BestResponse, DataWarning, InputError, SmoothGL

X = np.random.default_rng(0).normal(size=(6, 8))


@pytest.mark.parametrize(
    "given",
    [[1.0, 2.0], np.ones((2, 2, 2)), np.empty((0, 3)), [["a", "b"], ["c", "d"]], np.ones((3, 2), dtype=complex)],
)
def test_what_scikit_learn_says_of_the_signals(given):
    model = SmoothGL()
    with pytest.raises(ValueError) as theirs:  # noqa: PT011 (whatever it says)
        check_array(given, dtype=np.float64, ensure_min_features=2, estimator=model, input_name="X")
    with pytest.raises(InputError) as ours:
        model.fit(given)
    assert str(ours.value) == str(theirs.value)
    assert not hasattr(model, "adjacency_")


def test_wrong_types_are_type_errors_too():
    for given in (sparse.csr_array(X), pd.DataFrame(X, columns=[*"abcdefg", 7])):
        with pytest.raises(InputError) as found:
            SmoothGL().fit(given)
        assert isinstance(found.value, TypeError)


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": 3},
        {"solver": "newton"},
        {"random_state": "abc", "solver": BestResponse(n_starts=2)},
    ],
)
def test_parameters_that_go_further_down(parameters):
    with pytest.raises(InputError):
        GLGP(**parameters).fit(X)
    GLGP(solver=TTGD(max_iter=10, tol=10.0, alpha=0.1)).fit(X)


def test_an_absurd_cell_is_told_by_its_place():
    signals = pd.DataFrame(X, index=[f"q{k}" for k in range(6)], columns=list("abcdefgh"))
    signals.loc["q3", "c"] = 1e34
    with pytest.warns(DataWarning, match=r"1 signal\(s\) with a value so absurd.*: 1e\+34 in row q3 at node c;"):
        SmoothGL(degree=3).fit(signals)
