"""Every kind of bad input, as a table: the error or warning names the argument, the value and the remedy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from nashgraph import (
    GLGP,
    TTGD,
    BestResponse,
    CustomInteraction,
    DataWarning,
    GamePrior,
    InputError,
    LinearGLGP,
    LogDegreeGL,
    SmoothGL,
    WeightedTotal,
    read_study,
    validation,
)
from nashgraph.validation import silent_nodes

GOOD = np.random.default_rng(0).normal(size=(6, 8))


def with_entry(value):
    X = GOOD.copy()
    X[2, 5] = value
    return X


def gaps(*entries, X=GOOD):
    X = pd.DataFrame(X.copy(), columns=list("abcdefgh"))
    for entry in entries:
        X.iloc[entry] = np.nan
    return X


def glgp(**parameters):
    return GLGP(**{"beta": 1.0, **parameters})


ERRORS = [
    # the signals
    (
        SmoothGL(),
        with_entry(np.nan),
        r"X contains NaN or inf: 1 in all, the first \(NaN\) at signal 2, node 5; drop",
    ),
    (SmoothGL(), with_entry(np.inf), r"the first \(inf\) at signal 2, node 5"),
    *[
        (make(missing="error"), with_entry(np.nan), r"at signal 2, node 5; drop .* try missing='pairwise'")
        for make in (SmoothGL, LinearGLGP, GLGP)
    ],
    (LogDegreeGL(), with_entry(np.nan), r"node 5; drop these nodes or signals, or fill the gaps first$"),
    (glgp(missing="drop"), GOOD, "missing='drop' is not known: choose one of 'error', 'pairwise'"),
    (
        glgp(missing="pairwise"),
        with_entry(-np.inf),
        r"X contains NaN or inf: 1 in all, the first \(inf\) at signal 2, node 5; gaps are compared in pairs",
    ),
    (
        glgp(missing="pairwise"),
        gaps(np.s_[:, 3], np.s_[:, 5]),
        r"2 node\(s\) without any observed signal: 'd', 'f'; drop these columns",
    ),
    (glgp(missing="pairwise"), gaps(np.s_[4]), r"1 signal\(s\) missing at every node: rows 4; drop these rows"),
    (
        glgp(missing="pairwise"),
        gaps(np.s_[:3, 0], np.s_[3:, 2], np.s_[2, 6]),
        r"^nodes 'a' and 'c' share no observed signal, so they have no distance \(1 such pair\(s\) in all\): drop one",
    ),
    (
        glgp(missing="pairwise"),
        gaps(np.s_[:3, :4], np.s_[3:, 4:]).to_numpy(),
        r"^nodes 0 and 4, nodes 0 and 5, nodes 0 and 6 share no observed signal, .* \(16 such pair",
    ),
    (SmoothGL(), GOOD[0], "Expected 2D array, got 1D array"),
    (SmoothGL(), GOOD[None], "dim 3"),
    (SmoothGL(), np.empty((0, 5)), "0 sample"),
    (SmoothGL(), GOOD[:, :1], r"1 feature\(s\).*minimum of 2 is required"),
    (SmoothGL(), [["a", "b"], ["c", "d"]], "could not convert string"),
    (
        SmoothGL(),
        pd.DataFrame(GOOD, columns=list("abcdefga")),
        "duplicate column names, and columns name the nodes: a",
    ),
    (SmoothGL(degree=5), np.ones((3, 8)), "degree cannot set beta: every node has the same signals"),
    # the set S
    (SmoothGL(c=0.0), GOOD, r"c must be a finite number in \[1e-09, 1\), got 0.0.*try c=0.95"),
    (SmoothGL(c=1), GOOD, r"c must be a finite number in \[1e-09, 1\), got 1"),
    (SmoothGL(c="much"), GOOD, "c must be a number, got 'much'"),
    (SmoothGL(beta=0), GOOD, "beta must be a finite number in .*got 0.*without it, degree sets it"),
    (SmoothGL(beta=-2.0), GOOD, "beta must be .* got -2.0"),
    (SmoothGL(beta=np.inf), GOOD, "beta must be a finite number"),
    (SmoothGL(beta=True), GOOD, "beta must be a number, got True"),
    (SmoothGL(degree=0.5), GOOD, "degree must be a finite number in .*got 0.5"),
    (SmoothGL(degree=None), GOOD, "beta and degree are both None"),
    (
        SmoothGL(storage="disk"),
        GOOD,
        "storage='disk' is not known: choose one of 'auto', 'dense', 'sparse'",
    ),
    # the prior
    (LinearGLGP(lam=-1), GOOD, "lam must be a finite number in .*got -1.*0 turns the prior off"),
    (glgp(lam=np.nan), GOOD, "lam must be a finite number .*got nan"),
    (glgp(lam=None), GOOD, "lam must be a number, got None"),
    (glgp(benefit=-np.ones(8)), GOOD, "benefit must not be negative, got -1 at node 0"),
    (glgp(benefit=np.ones(7)), GOOD, r"benefit must have shape \(8,\), one entry per node, got \(7,\)"),
    (glgp(benefit=np.zeros(8)), GOOD, "benefit is zero at every node"),
    (
        glgp(benefit=[1, 2, np.nan, 4, 5, 6, 7, 8]),
        GOOD,
        "benefit contains NaN or inf: 1 in all, .* at node 2",
    ),
    (glgp(benefit="degree"), GOOD, "benefit='degree' is not known: choose one of 'spectral', 'uniform'"),
    (glgp(benefit=[["a"]]), GOOD, "benefit must be an array of 8 numbers"),
    (LinearGLGP(benefit=None), GOOD, "benefit must"),
    # names and objects
    (glgp(prior=GamePrior(welfare=WeightedTotal(np.ones(3)))), GOOD, r"WeightedTotal weights must have shape \(8,\)"),
    (glgp(solver="newton"), GOOD, "solver='newton' is not known: choose one of 'best-response', 'ttgd'"),
    (
        glgp(lam=1.0, solver=TTGD(storage="sparse")),
        GOOD,
        "solver='ttgd' needs storage='dense' and engine='threads'",
    ),
    # running it
    (glgp(init="path", solver=BestResponse(n_starts=2)), GOOD, "n_starts=2 chooses its own starts"),
    (glgp(init="warm"), GOOD, "init='warm' is not known: choose one of 'path', or pass a matrix"),
    (glgp(init="path", solver="ttgd"), GOOD, "init='path' needs the solver best-response"),
    (glgp(init=np.eye(8)), GOOD, "init is not an admissible graph"),
    (glgp(init=np.zeros((3, 3))), GOOD, r"init must have shape \(8, 8\), got \(3, 3\)"),
]


@pytest.mark.parametrize(("estimator", "X", "message"), ERRORS)
@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_bad_input_is_refused_in_words(estimator, X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X)
    assert not [name for name in vars(estimator) if name.endswith("_")], "half-fitted"


WARNINGS = [
    (SmoothGL(beta=1.0), GOOD[:1], "one signal only"),
    (
        SmoothGL(beta=1.0),
        np.vstack([GOOD, np.ones(8)]),
        r"1 signal\(s\) are the same at every node \(rows 6\)",
    ),
    (SmoothGL(beta=1.0), np.ones((3, 8)), "every signal is constant over the nodes"),
    (
        SmoothGL(beta=1.0),
        GOOD[:, [0, 1, 2, 3, 4, 4, 4]],
        r"2 node\(s\) have exactly the signals of another node .for example 4 and 5",
    ),
    (
        SmoothGL(beta=1.0, missing="pairwise"),
        gaps(np.s_[6, :3], np.s_[0, 1], X=np.vstack([GOOD, np.ones(8)])),
        r"1 signal\(s\) are the same at every node \(rows 6\)",
    ),
    (
        SmoothGL(beta=1.0, missing="pairwise"),
        gaps(np.s_[2, :2], np.s_[3, 5], X=np.ones((4, 8))),
        "every signal is constant over the nodes",
    ),
    (
        SmoothGL(beta=1.0, missing="pairwise"),
        gaps(np.s_[2, 4:6], np.s_[3, 6], X=GOOD[:, [0, 1, 2, 3, 4, 4, 4, 7]]),
        r"1 node\(s\) have exactly the signals of another node .for example e and f",
    ),
    (glgp(benefit="uniform"), GOOD, "benefit is the same at every node"),
    (glgp(benefit=np.full(8, 3.0)), GOOD, "benefit is the same at every node"),
]


@pytest.mark.parametrize(("estimator", "X", "message"), WARNINGS)
@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_doubtful_input_is_fitted_with_a_warning(estimator, X, message):
    with pytest.warns(DataWarning, match=message):
        estimator.fit(X)
    assert np.isfinite(estimator.adjacency_.toarray()).all()


def test_warnings_point_at_the_callers_line():
    with pytest.warns(DataWarning) as caught:
        SmoothGL(beta=1.0).fit(GOOD[:1])
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GamePrior(interaction="cubic"), "interaction='cubic' is not known: choose one of 'linear', 'log1p'"),
        (lambda: GamePrior(welfare="rawls"), "welfare='rawls' is not known: choose one of 'total', 'utilitarian'"),
        (lambda: BestResponse(tol=-1e-3), "tol must be"),
        (lambda: BestResponse(max_iter=0), "max_iter must be at least 1, got 0.*try 1000"),
        (lambda: TTGD(max_iter=0), "max_iter must be at least 1, got 0.*try 2000"),
        (lambda: BestResponse(max_iter=1.5), "max_iter must be an integer, got 1.5"),
        (lambda: BestResponse(n_starts=0), "n_starts must be at least 1"),
        (lambda: BestResponse(n_starts=10**30), "n_starts must be at most 1,000, got 10+: try 4"),
        (lambda: BestResponse(max_iter=10**30), "max_iter must be at most 1,000,000,000"),
        (lambda: BestResponse(memory=-1), "memory must be at least 0"),
    ],
)
def test_settings_are_refused_when_an_object_is_made(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_fields_of_a_prior_and_a_solver_are_parameters():
    model = GLGP(solver=TTGD(gamma=0.05)).set_params(solver__tol=1e-8, prior__interaction="linear", degree=5)
    assert (
        str(clone(model)) == "GLGP(degree=5, prior=GamePrior(interaction=Linear()), solver=TTGD(tol=1e-08, gamma=0.05))"
    )
    assert model.get_params()["solver__gamma"] == 0.05
    with pytest.raises(InputError, match="unexpected keyword argument 'speed'"):
        model.set_params(solver__speed=3)


def test_a_users_interaction_outside_h1():
    with pytest.raises(ValueError, match=r"interaction breaks H1: f must be 1-Lipschitz, but f'\(0\) = 2"):
        GamePrior(interaction=CustomInteraction(lambda x: 2 * x, lambda x: 2 + 0 * x))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lams": []}, "lams is empty"),
        ({"lams": [1.0, -1.0]}, "lam must be .* got -1.0"),
        ({"n_lams": 1}, "n_lams must be at least 2"),
    ],
)
def test_path_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        GLGP().path(GOOD, **options)


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
def test_no_lam_matters_under_a_uniform_benefit():
    with pytest.raises(ValueError, match="no lam changes an edge"):
        GLGP(benefit="uniform", beta=1.0).path(GOOD)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
def test_pairs_that_share_nothing_are_found_in_blocks_as_by_brute_force(share):
    observed = np.random.default_rng(0).random((5, 40)) > share
    truth = [(i, j) for i in range(40) for j in range(i + 1, 40) if not (observed[:, i] & observed[:, j]).any()]
    assert validation.strangers(observed, limit=4, most_pairs=100) == (len(truth), truth[:4])


def test_a_degree_beyond_all_others_is_said(random):
    X = random.normal(size=(20, 31))
    with pytest.warns(DataWarning, match="the degree 100 is more than the 30 others .* try degree=6"):
        SmoothGL(degree=100).fit(X)
    SmoothGL().fit(X[:, :5])  # the default asks for at most the number there is


def test_a_survey_with_people_in_rows_is_hinted_at():
    survey = pd.DataFrame(
        {"age": [31, 45, 28, 50], "income": [1.5, 2.0, 3.0, 1.0], "side": ["n", "s", "n", "s"]},
        index=["ann", "bob", "cat", "dan"],
    )
    with pytest.raises(InputError, match=r"text in the column\(s\) side: columns are the nodes here: if rows are"):
        GLGP().fit(survey)
    with pytest.warns(DataWarning, match=r"names in its rows \(ann, bob and 2 more\).*people in rows.*or X.T"):
        SmoothGL().fit(survey[["age", "income"]])
    incomes = survey[["age"]].assign(income=[21_000, 34_000, 18_000, 40_000])
    with pytest.warns(DataWarning, match="people in rows"):  # all whole numbers, but of two units
        SmoothGL().fit(incomes)
    SmoothGL().fit(incomes.T)
    SmoothGL().fit(incomes.astype(float))  # measurements may well have nodes of different sizes
    turned = read_study(survey.reset_index(names="name")).signals
    assert list(GLGP().fit(turned).node_names_) == ["ann", "bob", "cat", "dan"]  # the hint's words, and no hint


def test_silent_nodes_are_several():
    rows = np.array([[0.0, 3.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 0.0, 0.0]])
    assert silent_nodes(rows).tolist() == [True, False, False, True, True]
    assert not silent_nodes(rows[:, :4]).any()  # two are few
