"""compare: the scores of direct calls, failures and warnings in their rows, processes as in series."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.comparison import compare
from nashgraph.datasets import random_geometric, smooth_signals
from nashgraph.estimators import GLGP, METHODS, LinearGLGP, SmoothGL, spectral_benefit
from nashgraph.estimators.graphical_lasso import GraphicalLassoGL
from nashgraph.estimators.modular import ModularGL
from nashgraph.estimators.sig_rep import GLSigRep
from nashgraph.games import welfare
from nashgraph.metrics import edge_auc, edge_average_precision

SCORES = ["auc", "average_precision", "welfare"]


@pytest.fixture(scope="module")
def graph():
    return random_geometric(25, degree=5, random_state=3)


@pytest.fixture(scope="module", name="X")
def smooth(graph):
    return smooth_signals(graph, 60, "tikhonov", strength=2, noise=0.05, random_state=0)


def test_scores_are_those_of_direct_calls_in_the_order_given(X, graph):
    models = {"sigrep": GLSigRep(), "few": SmoothGL(degree=3), "glasso": GraphicalLassoGL()}
    table = compare(X, graph, ["sigrep", ("few", SmoothGL(degree=3)), "glasso"])
    assert list(table.method) == list(models)
    assert (table.error == "").all()
    assert (table.seconds > 0).all()
    for row, model in zip(table.itertuples(), models.values(), strict=True):
        W = model.fit(X).adjacency_
        assert row.auc == edge_auc(W, graph)
        assert row.average_precision == edge_average_precision(W, graph)
        assert row.edges == (W > 0).sum()
        assert row.converged == model.converged_
        sums = W.sum(axis=1)
        scaled = np.array([0.95 * row / total if total else row for row, total in zip(W, sums, strict=True)])
        assert row.welfare == pytest.approx(welfare(scaled, spectral_benefit(X), "log1p"), rel=1e-12)


def test_welfare_does_not_depend_on_the_scale_of_the_weights(X):
    table = compare(X, methods=[("one", SmoothGL(c=0.95)), ("half", SmoothGL(c=0.475))])
    assert table.welfare[0] == pytest.approx(table.welfare[1], rel=1e-6)


def test_without_truth_there_are_no_scores_against_it(X):
    table = compare(X, methods=["smooth"])
    assert list(table.columns) == ["method", "welfare", "edges", "seconds", "converged", "warnings", "error"]


def test_one_failure_is_recorded_and_leaves_the_others_alone(X, graph):
    broken = SmoothGL(beta=-1.0)
    table = compare(X, graph, ["smooth", ("broken", broken), "sigrep"]).set_index("method")
    assert table.error["broken"].startswith("InputError: beta must be")
    assert table.loc["broken", [*SCORES, "edges"]].isna().all()
    assert not table.converged["broken"]
    assert (table.error.drop("broken") == "").all()
    assert table.loc[["smooth", "sigrep"], SCORES].notna().all(axis=None)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_end_in_their_rows(n_jobs, X):
    short = GLSigRep(alpha=5.0, max_iter=1, tol=1e-12)
    table = compare(X, methods=[("short", short), "smooth"], n_jobs=n_jobs).set_index("method")
    assert table.warnings["short"].startswith("ConvergenceWarning: GLSigRep not converged: duality gap")
    assert not table.converged["short"]
    assert table.warnings["smooth"] == ""


def test_processes_give_what_a_series_gives(X, graph):
    methods = ["smooth", LinearGLGP(lam=0.5), "sigrep", ("broken", SmoothGL(c=2.0)), ("pieces", ModularGL(2))]
    series = compare(X, graph, methods)
    processes = compare(X, graph, methods, n_jobs=2)
    pd.testing.assert_frame_equal(series.drop(columns="seconds"), processes.drop(columns="seconds"), rtol=1e-6)


def test_all_methods_by_default(X, graph):
    table = compare(X, graph)
    assert list(table.method) == list(METHODS)
    assert (table.error == "").all(), table.error.tolist()
    assert (table.auc > 0.5).all()


def test_estimators_are_not_changed_and_named_by_their_class(X):
    model = SmoothGL(degree=4)
    table = compare(X, methods=[model, GLGP(lam=0.1)])
    assert list(table.method) == ["SmoothGL", "GLGP"]
    assert not hasattr(model, "adjacency_")


def test_benefit_and_names_of_nodes(X, graph):
    hub = np.ones(25)
    hub[3] = 10.0
    frame = pd.DataFrame(X, columns=[f"v{i}" for i in range(25)])
    table = compare(frame, graph, ["smooth"], benefit=hub, interaction="linear")
    W = SmoothGL().fit(X).adjacency_
    assert table.welfare[0] == pytest.approx(welfare(W, hub / hub.sum(), "linear"), rel=1e-6)


def test_progress_is_told_after_every_method_and_nothing_is_printed(X, capsys):
    done = []
    compare(X, methods=["smooth", "linear"], progress=lambda: done.append(1))
    assert len(done) == 2
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"methods": ["smooth", "magic"]},
            "method='magic' is not known: choose one of 'consensus', 'smooth'",
        ),
        ({"methods": []}, "methods is empty"),
        ({"methods": ["smooth", "smooth"]}, "label 'smooth' more than once"),
        ({"methods": [SmoothGL]}, "known names are consensus, smooth, linear"),
        ({"methods": [("a", "smooth")]}, "is not a name, an estimator"),
        ({"truth": np.zeros((25, 25))}, "A has no possible edge"),
        ({"truth": np.eye(3)}, r"A \(3, 3\): both must be on the same nodes"),
        ({"benefit": "magic"}, "benefit='magic' is not known"),
        ({"benefit": np.ones(3)}, r"benefit must have shape \(25,\)"),
        ({"interaction": "magic"}, "magic"),
    ],
)
def test_bad_arguments(arguments, message, X):
    with pytest.raises((ValueError, TypeError), match=message):
        compare(X, **{"methods": ["smooth"], **arguments})


def test_bad_signals_are_an_error_and_not_a_table_of_errors(X):
    holes = X.copy()
    holes[2, 5] = np.nan
    with pytest.raises(ValueError, match=r"first \(NaN\) at signal 2, node 5"):
        compare(holes, methods=["smooth"])
