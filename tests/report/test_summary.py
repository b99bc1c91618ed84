"""The report's data: hubs, certificate, distributions, front and drawing, before any of it is a page."""

import json
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from nashgraph import GLGP, LinearGLGP, LogDegreeGL, SmoothGL
from nashgraph.report import summarize
from nashgraph.report.drawing import EDGES_DRAWN, NEIGHBOURS, NODES_DRAWN
from nashgraph.report.layout import place, radii
from nashgraph.report.plain import shortened

from .models import held, karate, path_of, popular_graph


@pytest.fixture(scope="module")
def club():
    return karate()


@pytest.fixture(scope="module")
def large():
    weights = popular_graph(2_500, degree=14)
    return weights, summarize(held(weights))


def test_hubs_are_counted_as_the_adjacency_says():
    weights = np.array([[0.0, 0.4, 0.1], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]])
    hubs = summarize(held(weights, ["a", "b", "c"])).hubs
    assert hubs["name"].tolist() == ["b", "c", "a"]
    assert hubs["influence"].tolist() == pytest.approx([0.9, 0.6, 0.0])
    assert hubs["followers"].tolist() == [2, 2, 0]
    assert hubs["listens_to"].tolist() == [1, 1, 2]


def test_actions_and_benefits_belong_to_their_nodes(club):
    model, _ = club
    hubs = summarize(model).hubs.set_index("name").loc[model.node_names_]
    assert np.array_equal(hubs["action"], model.equilibrium_)
    assert np.array_equal(hubs["benefit"], model.benefit_)
    assert np.allclose(hubs["influence"], model.adjacency_.sum(axis=0))


def test_dense_and_sparse_graphs_are_summarised_alike(club):
    model, _ = club
    dense, thin = (summarize(held(kind(model.adjacency_))).to_dict() for kind in (np.asarray, sparse.csr_array))
    assert dense == thin


def test_the_certificate_says_what_was_reached_and_asked_for(club):
    model, _ = club
    said = summarize(model).certificate
    assert said.startswith(f"Converged: stationarity {model.stationarity_:.1e}, below the 1e-06 asked for")
    assert "Nash equilibrium" in said
    assert "not that it is the only place" in said


def test_a_run_that_did_not_converge_is_said_not_to_have(signals):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GLGP(lam=50, max_iter=1, benefit=np.arange(30.0)).fit(signals)
    said = summarize(model).certificate
    assert said.startswith(f"Not converged: stationarity {model.stationarity_:.1e}, above the 1e-06")
    assert "used up" in said
    assert "caution" in said
    assert "nothing left" not in said
    assert "anything left" not in said


@pytest.mark.parametrize(
    ("model", "opening"),
    [(SmoothGL(), "Exact"), (LinearGLGP(), "Exact"), (LogDegreeGL(degree=4), "Converged after")],
)
def test_other_methods_have_their_own_certificates_and_say_what_is_missing(signals, model, opening):
    summary = summarize(model.fit(signals))
    assert summary.certificate.startswith(opening)
    assert summary.history is None
    assert "action" not in summary.hubs
    assert any("plays no game" in sentence for sentence in summary.absent)
    assert any("no Pareto front" in sentence for sentence in summary.absent)


def test_the_history_ends_at_the_models_stationarity(club):
    model, _ = club
    history = summarize(model).history
    assert history["stationarity"].iloc[-1] == pytest.approx(model.stationarity_)
    assert list(history.columns) == ["iteration", "objective", "welfare", "stationarity"]


def test_distributions_count_every_edge_and_every_node(club):
    model, _ = club
    summary = summarize(model)
    spread = summary.distributions
    assert spread["weight"].counts.sum() == summary.n_edges == len(model.edges())
    assert spread["listens_to"].counts.sum() == spread["followers"].counts.sum() == 34
    assert np.diff(spread["followers"].edges).min() == np.diff(spread["followers"].edges).max()


def test_views_follow_the_path_and_hold_the_models_own_graph_once(club):
    model, path = club
    drawing = summarize(model, path=path).drawing
    assert [view.lam for view in drawing.views] == sorted([*path.lams, 0.3])
    assert [view.fitted for view in drawing.views].count(True) == 1
    names = summarize(model).hubs["name"].tolist()
    order = [list(model.node_names_).index(name) for name in names]
    last = drawing.views[-1]
    graph = path.results[-1].coupling.matrix()[np.ix_(order, order)]
    assert np.array_equal(last.edges.weight, graph[last.edges.target, last.edges.source])
    assert last.n_edges == len(last.edges.weight) == (graph > 0).sum()
    assert np.allclose(last.influence, graph.sum(axis=0))
    assert np.array_equal(last.action, path.results[-1].equilibrium[order])


def test_a_lambda_of_the_path_that_is_the_models_is_shown_once(club):
    model, path = club
    twin = GLGP(lam=float(path.lams[2]))
    twin.__dict__.update({key: value for key, value in model.__dict__.items() if key.endswith("_")})
    twin.lam_ = twin.lam
    front = summarize(twin, path=path).front
    assert front["lam"].tolist() == path.lams.tolist()
    assert front["fitted"].tolist() == [False, False, True, False, False, False]


def test_the_models_own_point_on_the_front_is_where_the_path_has_it(signals):
    from nashgraph import glgp_path

    benefit = np.arange(30.0)
    path = glgp_path(signals, [0.5, 1.0], benefit=benefit, tol=1e-9)
    front = summarize(GLGP(lam=1.0, benefit=benefit, tol=1e-9).fit(signals), path=path).front
    assert front["fidelity"].iloc[1] == pytest.approx(path.fidelities[1])
    assert front["welfare"].iloc[1] == pytest.approx(path.welfares[1])


def test_a_method_without_lambda_comes_first_and_has_no_point(signals):
    from nashgraph import glgp_path

    summary = summarize(SmoothGL().fit(signals), path=glgp_path(signals, n_lams=3, benefit=np.arange(30.0)))
    assert summary.drawing.fitted == 0
    assert summary.to_dict()["front"]["fidelity"][0] is None
    assert "λ =" in summary.front_sentence


def test_a_path_of_other_nodes_is_refused(club):
    _, path = club
    with pytest.raises(ValueError, match="path is of 34 nodes and the model of 3"):
        summarize(held(np.ones((3, 3)) - np.eye(3)), path=path)


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        summarize(GLGP())


def test_data_are_json_even_with_what_is_not_finite(club):
    model, path = club
    summary = summarize(model, path=path, scores={"AUC": float("nan"), "gain": float("inf")}, notes=["One note."])
    data = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert data["scores"] == {"AUC": None, "gain": None}
    assert data["nodes"]["name"][0] == summary.hubs["name"][0]
    assert data["nodes"]["influence"] == pytest.approx(summary.hubs["influence"], rel=1e-5)
    assert len(data["drawing"]["views"]) == 7


def test_parameters_are_the_models_unless_given(club):
    model, _ = club
    found = summarize(model).parameters
    assert found["lam"] == "0.3"
    assert float(found["beta (found from degree)"]) == pytest.approx(model.beta_, rel=1e-5)
    assert summarize(model, parameters={"signals": np.ones(4)}).parameters == {"signals": "an array of 4 numbers"}


def test_a_graph_without_edges_is_summarised():
    summary = summarize(held(np.zeros((4, 4))))
    assert summary.n_edges == 0
    assert summary.distributions["weight"].sentence == "The graph has no edges."
    assert np.isfinite(summary.drawing.positions).all()
    json.dumps(summary.to_dict(), allow_nan=False)


def test_the_reading_fits_the_method(club, signals):
    model, path = club
    texts = {passage.heading: passage.text for passage in summarize(model, path=path).reading}
    assert "0.95 in all" in texts["A line is attention"]
    assert "λ, here 0.3" in texts["What the method takes for granted"]
    assert "spectral" in texts["What the method takes for granted"]
    assert texts["What to try next"].startswith("Move the λ slider")
    other = " ".join(passage.text for passage in summarize(LogDegreeGL(degree=4).fit(signals)).reading)
    assert "in all, and a weight is" not in other
    assert "effort" not in other
    assert "adds no assumption" in other


def test_an_auc_is_put_into_words(club):
    model, _ = club
    said = " ".join(passage.text for passage in summarize(model, scores={"AUC": 0.713}).reading)
    assert "the tied one has the larger weight in 71 % of cases" in said
    assert "of cases" not in " ".join(passage.text for passage in summarize(model, scores={"AP": 0.5}).reading)


# ------------------------------------------------------------------------------------------- large graphs


def test_of_a_large_graph_the_most_influential_part_is_drawn_and_said(large):
    weights, summary = large
    drawing = summary.drawing
    own = drawing.views[0]
    assert drawing.n_drawn == NODES_DRAWN
    assert own.influence.min() >= np.sort(weights.sum(axis=0))[-NODES_DRAWN]
    assert "the 2,000 most influential of the 2,500 nodes" in drawing.left_out
    assert f"out of {weights.nnz:,} in all" in drawing.left_out
    drawable = (own.edges.source < NODES_DRAWN) & (own.edges.target < NODES_DRAWN)
    assert f"the {min(drawable.sum(), EDGES_DRAWN):,} heaviest edges" in drawing.left_out


def test_every_node_listed_keeps_its_strongest_neighbours_both_ways(large):
    weights, summary = large
    edges = summary.drawing.views[0].edges
    numbers = summary.hubs["name"].to_numpy()
    for node in (0, 7, 2_100, 2_499):
        row = weights[[numbers[node]]].toarray().ravel()
        column = weights[:, [numbers[node]]].toarray().ravel()
        for kept, whole in ((edges.weight[edges.target == node], row), (edges.weight[edges.source == node], column)):
            assert kept[:NEIGHBOURS] == pytest.approx(-np.sort(-whole[whole > 0])[:NEIGHBOURS])


def test_a_small_graph_is_drawn_whole_and_nothing_is_said(club):
    model, _ = club
    drawing = summarize(model).drawing
    assert drawing.left_out == ""
    assert len(drawing.views[0].edges.weight) == len(model.edges())


def test_a_long_path_is_thinned_but_keeps_its_ends():
    graph = popular_graph(40)
    lams = np.geomspace(0.1, 10, 60)
    front = summarize(held(graph), path=path_of([graph] * 60, lams)).front
    assert len(front) == 26
    assert front["lam"].iloc[[1, -1]].tolist() == [0.1, 10]


# ------------------------------------------------------------------------------------------------- layout


def test_places_are_the_same_every_time_and_inside_the_picture(club):
    model, path = club
    points = summarize(model).drawing.positions
    assert np.array_equal(points, summarize(model, path=path).drawing.positions)
    assert np.abs(points).max() == pytest.approx(1.0)
    assert points[:, 0].std() >= points[:, 1].std()


def test_circles_do_not_overlap_where_there_is_room(club):
    model, _ = club
    drawing = summarize(model).drawing
    own = drawing.views[0]
    radius = radii(own.influence / own.influence.mean(), 34)
    gaps = np.linalg.norm(drawing.positions[:, None] - drawing.positions[None], axis=2) - radius[:, None] - radius
    assert gaps[~np.eye(34, dtype=bool)].min() > 0


def test_neighbours_are_placed_nearer_than_strangers():
    two_groups = sparse.csr_array(np.kron(np.eye(2), np.ones((10, 10)) - np.eye(10)))
    points = place(two_groups, np.ones(20))
    within = np.linalg.norm(points[:10] - points[:10].mean(axis=0), axis=1).max()
    assert np.linalg.norm(points[:10].mean(axis=0) - points[10:].mean(axis=0)) > 1.5 * within


def test_names_are_cut_the_shorter_the_more_there_are():
    assert shortened(["n" * 200])[0] == "n" * 200
    many = shortened(["<" * 300] * 10_000)
    assert len(many[0]) == 12
    assert many[0].endswith("…")
