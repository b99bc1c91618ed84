"""compare: the scores of direct calls, failures and warnings in their rows, processes as in series."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import kneighbors_graph

from nashgraph.baselines.controls import CONTROLS
from nashgraph.comparison import compare, verdict
from nashgraph.datasets import random_geometric, smooth_signals
from nashgraph.estimators import GLGP, METHODS, LinearGLGP, SmoothGL, spectral_benefit
from nashgraph.estimators.graphical_lasso import GraphicalLassoGL
from nashgraph.estimators.modular import ModularGL
from nashgraph.estimators.sig_rep import GLSigRep
from nashgraph.metrics import edge_auc, edge_average_precision, edge_precision_recall
from nashgraph.priors import welfare
from nashgraph.validation import DataWarning

from .gaps import with_gaps

SCORES = ["auc", "average_precision", "welfare"]


@pytest.fixture(scope="module")
def graph():
    return random_geometric(25, degree=5, random_state=3)


@pytest.fixture(scope="module", name="X")
def smooth(graph):
    return smooth_signals(graph, 60, "tikhonov", strength=2, noise=0.05, random_state=0)


def test_scores_are_those_of_direct_calls_in_the_order_given(X, graph):
    models = {"sigrep": GLSigRep(), "few": SmoothGL(degree=3), "glasso": GraphicalLassoGL()}
    table = compare(X, graph, ["sigrep", ("few", SmoothGL(degree=3)), "glasso"])[:3]
    assert list(table.method) == list(models)
    assert (table.scored == "symmetrised").all()
    assert (table.error == "").all()
    assert (table.seconds > 0).all()
    for row, model in zip(table.itertuples(), models.values(), strict=True):
        W = model.fit(X).adjacency_.toarray()
        assert row.auc == edge_auc(graph, W, "mean")
        assert row.average_precision == edge_average_precision(graph, W, "mean")
        assert row.precision == edge_precision_recall(graph, W + 1.0, "mean").precision
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
    assert list(table.columns) == ["method", "edges", "seconds", "converged", "welfare", "warnings", "error"]


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
    assert table.warnings["short"].startswith("ConvergenceWarning: GLSigRep has not converged: duality gap")
    assert not table.converged["short"]
    assert table.warnings["smooth"] == ""


def test_processes_give_what_a_series_gives(X, graph):
    methods = ["smooth", LinearGLGP(lam=0.5), "sigrep", ("broken", SmoothGL(c=2.0)), ("pieces", ModularGL(2))]
    series = compare(X, graph, methods)
    processes = compare(X, graph, methods, n_jobs=2)
    pd.testing.assert_frame_equal(series.drop(columns="seconds"), processes.drop(columns="seconds"), rtol=1e-6)


def test_all_methods_by_default(X, graph):
    table = compare(X, graph)
    assert list(table.method[: len(METHODS)]) == list(METHODS)
    assert (table.error == "").all(), table.error.tolist()
    assert (table.auc[: len(METHODS)] > 0.5).all()


def test_controls_are_always_there_and_are_what_they_say(X, graph):
    benefit = np.arange(1.0, 26.0)
    names = [f"v{i}" for i in range(25)]
    mixed = nx.relabel_nodes(graph, dict(enumerate(names)))
    frame = pd.DataFrame(X, columns=names)[names[::-1]]  # nodes are matched by name
    order = pd.Series(benefit, index=names)
    table = compare(frame, mixed, [("prior", GLGP(degree=4))], benefit=order).set_index("method")
    assert list(table.index)[1:] == [*(f"control: {name}" for name in CONTROLS), "ablation: shuffled benefit"]
    assert (table.error == "").all()
    matrices = {
        "correlation": np.corrcoef(X.T),
        "cosine": cosine_similarity(X.T),
        "inner product": X.T @ X,
        "distance": -cdist(X.T, X.T, "sqeuclidean"),
        "10 nearest": kneighbors_graph(X.T, 10),
        "benefit alone": np.add.outer(benefit, benefit),
    }
    for name, matrix in matrices.items():
        assert table.auc[f"control: {name}"] == pytest.approx(edge_auc(graph, matrix, "mean"), abs=1e-12), name
    chance = table.loc["control: chance"]
    assert (chance.auc, chance.average_precision) == (0.5, pytest.approx(nx.density(graph)))
    assert chance.precision == pytest.approx(nx.density(graph))
    assert table.loc["control: cosine", ["welfare", "edges"]].isna().all()
    shuffled = np.random.default_rng(0).permutation(order[frame.columns].to_numpy())
    wanted = edge_auc(mixed, GLGP(degree=4, benefit=shuffled).fit(frame), "mean")
    assert table.auc["ablation: shuffled benefit"] == pytest.approx(wanted)


def test_all_keep_as_many_pairs_as_are_true(X, graph):
    table = compare(X, graph, [("one", SmoothGL(degree=1)), ("all", SmoothGL(degree=24))]).set_index("method")
    W = SmoothGL(degree=1).fit(X).adjacency_.toarray()
    kept = edge_precision_recall(graph, W, "mean")
    assert table.precision["one"] < kept.precision  # missing pairs are drawn at random
    assert table.precision["one"] > kept.recall
    assert table.precision["all"] == pytest.approx(
        edge_precision_recall(graph, SmoothGL(degree=24).fit(X).adjacency_.toarray(), "mean").precision
    )


def test_a_truth_with_directions_is_scored_as_it_is(X):
    truth = nx.gnp_random_graph(25, 0.2, seed=0, directed=True)
    table = compare(X, truth, ["smooth"])
    assert (table.scored == "directed").all()
    assert table.auc[0] == edge_auc(truth, SmoothGL().fit(X))


def test_gaps_are_left_to_those_that_can(X, graph):
    holes = with_gaps(X, np.random.default_rng(0), 0.2)
    table = compare(holes, graph, ["smooth", "glgp", "sigrep"], missing="pairwise").set_index("method")
    assert table.auc[["smooth", "glgp", "control: cosine", "control: correlation", "control: distance"]].min() > 0.6
    assert table.auc.drop("sigrep").notna().all()
    assert "NaN" in table.error["sigrep"]


def test_estimators_are_not_changed_and_named_by_their_class(X):
    model = SmoothGL(degree=4)
    table = compare(X, methods=[model, GLGP(lam=0.1)])
    assert list(table.method) == ["SmoothGL", "GLGP"]
    assert not hasattr(model, "adjacency_")


def test_benefit_and_names_of_nodes(X, graph):
    hub = np.ones(25)
    hub[3] = 10.0
    frame = pd.DataFrame(X, columns=[f"v{i}" for i in range(25)])
    with pytest.warns(DataWarning, match="truth numbers the nodes 0, 1, 2, .* both are taken in one order"):
        table = compare(frame, graph, ["smooth"], benefit=hub, interaction="linear")
    assert table.warnings[0] == ""
    W = SmoothGL().fit(X).adjacency_.toarray()
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
        ({"truth": np.zeros((25, 25))}, "truth has no possible edge"),
        ({"truth": np.eye(3)}, "truth has 3 nodes and score 25: both must have the same nodes"),
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


def test_the_verdict_names_the_best_control():
    scores = {"method": ["smooth", "control: cosine", "control: chance"], "average_precision": [0.4, 0.5, 0.1]}
    said = "no method is better than the best control, cosine (average precision 0.500; chance 0.100): smooth 0.400"
    assert verdict(pd.DataFrame(scores)) == said
