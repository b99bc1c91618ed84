"""The report's data: hubs, certificate, front and drawing, before they become a page."""

import json
import re
import warnings
from html import unescape

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from nashgraph import GLGP, BestResponse, LearnedGraph, LinearGLGP, SmoothGL, TieModel
from nashgraph.certificate import Measure, Monitor, Status, exact
from nashgraph.graph import NOT_CENTRAL
from nashgraph.report import drawing, prose, summarize
from nashgraph.report.drawing import NEIGHBOURS, place, radii
from nashgraph.report.html import render
from nashgraph.report.prose import shortened
from nashgraph.report.summary import prior_part, said

from .models import Held, held, karate, karate_consensus, path_of, popular_graph


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
    assert np.allclose(hubs["influence"], model.adjacency_.toarray().sum(axis=0))


def test_dense_and_sparse_graphs_are_summarised_alike(club):
    model, _ = club
    dense, thin = (
        summarize(held(kind(model.adjacency_.toarray()))).to_dict() for kind in (np.asarray, sparse.csr_array)
    )
    assert dense == thin


def certified(model):
    """Return the verdict of a page on its calculation, and its explanation."""
    page = unescape(render(summarize(model)))
    verdict = page.split('<span class="opening">')[1].split("</span>")[0]
    return verdict, page.split('id="certificate"><p>')[1].split("</p>")[0]


def test_the_certificate_is_said_and_what_it_means(club):
    verdict, meaning = certified(club[0])
    assert verdict.lower() == f"{club[0].certificate_.sentence}."
    assert verdict.startswith("Converged: stationarity")
    assert "Nash equilibrium" in meaning
    assert "not that it is the only place" in meaning


def test_a_run_that_did_not_converge_is_said_not_to_have(signals):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GLGP(lam=50, benefit=np.arange(30.0), solver=BestResponse(max_iter=1)).fit(signals)
    verdict, meaning = certified(model)
    assert verdict.startswith(f"Not converged: stationarity {model.stationarity_:.1e} > tol=1e-06")
    assert "used up" in verdict
    assert "caution" in meaning
    assert "anything left" not in meaning


def test_every_measure_has_its_meaning():
    for measure in Measure:
        monitor = Monitor(measure, tol=1e-3, max_iter=5)
        meaning = certified(held(popular_graph(5), certificate=monitor.certificate(monitor.check(1, 2.0, 5e-4))))[1]
        assert ("0.05% of it" in meaning) == (measure is Measure.GAP)
        assert len(meaning) > 50
        unknown = Monitor(measure, tol=1e-3, max_iter=1)
        unknown.check(1, np.nan, np.inf)
        meaning = certified(held(popular_graph(5), certificate=unknown.certificate(Status.MAX_ITER)))[1]
        assert meaning == "Read the graph with caution. "
    verdict, _ = certified(held(popular_graph(5)))
    assert verdict == "Solved exactly (closed form); this does not show that ties are real."


@pytest.mark.parametrize("model", [SmoothGL(), LinearGLGP()])
def test_what_a_method_does_not_have_is_said(signals, model):
    summary = summarize(model.fit(signals))
    page = render(summary)
    assert summary.history is None
    assert "action" not in summary.hubs
    assert ("benefit" in summary.hubs) == isinstance(model, LinearGLGP)
    for words in ("plays no game", "no convergence curve", "no Pareto front"):
        assert words in page


def test_the_history_ends_at_the_certificates_value(club):
    model, _ = club
    history = summarize(model).history
    assert history["value"].iloc[-1] == pytest.approx(model.certificate_.value)
    assert list(history.columns) == ["iteration", "objective", "value", "welfare"]


def test_every_method_with_a_history_has_the_curve_by_its_measure():
    monitor = Monitor(Measure.GAP, tol=1e-3, max_iter=5)
    monitor.check(0, 3.0, np.inf)
    monitor.check(1, 2.0, 0.5)
    summary = summarize(held(popular_graph(12), certificate=monitor.certificate(monitor.check(2, 2.0, 5e-4))))
    data = summary.to_dict()
    assert data["history"]["value"] == [None, 0.5, 5e-4]
    assert data["certificate"]["measure"] == "duality gap"
    assert "the duality gap went from not known to 5.0e-04 in 2 steps" in render(summary)


def test_views_follow_the_path_and_hold_the_models_own_graph_once(club):
    model, path = club
    drawing = summarize(model, path=path).drawing
    assert [view.prior.lam for view in drawing.views] == sorted([*path.lams, 0.3])
    assert [view.fitted for view in drawing.views].count(True) == 1
    names = summarize(model).hubs["name"].tolist()
    order = [list(model.node_names_).index(name) for name in names]
    last = drawing.views[-1]
    graph = path.models[-1].adjacency_.toarray()[np.ix_(order, order)]
    assert np.array_equal(last.edges.weight, graph[last.edges.target, last.edges.source])
    assert last.n_edges == len(last.edges.weight) == (graph > 0).sum()
    assert np.allclose(last.influence, graph.sum(axis=0))
    assert np.array_equal(last.action, path.models[-1].equilibrium_[order])


def test_a_lambda_of_the_path_that_is_the_models_is_shown_once(club):
    model, path = club
    graph = model.graph_
    twin = held(graph.weights, graph.names, prior=model.prior_._replace(lam=float(path.lams[2])))
    front = summarize(twin, path=path).front
    assert front["lam"].tolist() == path.lams.tolist()
    assert front["fitted"].tolist() == [False, False, True, False, False, False]


def test_the_models_own_point_on_the_front_is_where_the_path_has_it(signals):
    benefit = np.arange(30.0)
    path = GLGP(benefit=benefit, solver=BestResponse(tol=1e-9)).path(signals, [0.5, 1.0])
    front = summarize(GLGP(lam=1.0, benefit=benefit, solver=BestResponse(tol=1e-9)).fit(signals), path=path).front
    assert front["smoothness_cost"].iloc[1] == pytest.approx(path.smoothness_costs[1])
    assert front["welfare"].iloc[1] == pytest.approx(path.welfares[1])


def test_a_method_without_lambda_comes_first_and_has_no_point(signals):
    summary = summarize(SmoothGL().fit(signals), path=GLGP(benefit=np.arange(30.0)).path(signals, n_lams=3))
    assert summary.drawing.fitted == 0
    assert summary.to_dict()["front"]["smoothness_cost"][0] is None
    assert "From λ =" in render(summary)


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
    assert "AUC against the true network: not known" in render(summary)
    data = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert data["nodes"]["name"][0] == summary.hubs["name"][0]
    assert data["nodes"]["influence"] == pytest.approx(summary.hubs["influence"], rel=1e-5)
    assert len(data["drawing"]["views"]) == 7


def test_parameters_are_the_models(club):
    model, _ = club
    assert summarize(model).parameters["lam"] == "0.3"
    assert [said(value) for value in (np.ones(4), len, {"a": 0.25})] == ["an array of 4 numbers", "len", "a 0.25"]


def test_a_graph_without_edges_is_summarised():
    summary = summarize(held(np.zeros((4, 4))))
    assert summary.graph.n_edges == 0
    assert np.isfinite(summary.drawing.positions).all()
    json.dumps(summary.to_dict(), allow_nan=False)


def test_lambda_found_by_auto_is_among_the_parameters(signals):
    model = GLGP(benefit=np.arange(30.0)).fit(signals)
    assert float(summarize(model).parameters["lam (found)"]) == pytest.approx(model.prior_.lam, rel=1e-5)


def test_the_reading_fits_the_method(club, signals):
    model, path = club
    page = render(summarize(model, path=path))
    for words in ("0.95 of weight to share", "λ, here 0.3;", "“spectral”", "<p>Move the λ slider", "as effort"):
        assert words in page
    lines = np.array([[0.0, 0.4, 0.1], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]) * np.array([[1.0], [2.0], [3.0]])
    other = render(summarize(held(lines)))
    assert "of weight to share" not in other
    assert "as effort" not in other
    assert "Held adds no assumption" in other


def test_an_auc_is_put_into_words(club):
    model, _ = club
    assert "larger weight in 71% of cases" in render(summarize(model, scores={"AUC": 0.713}))
    assert "of cases" not in render(summarize(model, scores={"AP": 0.5}))


# ------------------------------------------------------------------------------------------- large graphs


def test_a_large_graph_is_held_whole_in_bubbles_of_its_communities(large):
    weights, summary = large
    drawing = summary.drawing
    assert len(drawing.positions) == 2_500
    bubbles, community = drawing.bubbles, drawing.community
    assert len(bubbles.radius) == community.max() + 1 > 3
    assert (np.diff(np.bincount(community)) <= 0).all()
    inside = np.linalg.norm(drawing.positions - bubbles.positions[community], axis=1)
    assert (inside <= bubbles.radius[community]).all()
    apart = np.linalg.norm(bubbles.positions[:, None] - bubbles.positions[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (apart > 0.9 * (bubbles.radius[:, None] + bubbles.radius)).all()
    held = len(drawing.views[0].edges.weight)
    assert f"all 2,500 nodes and {held:,} of the {weights.nnz:,} edges" in drawing.left_out


def test_of_a_huge_graph_the_most_influential_part_is_held_and_said(monkeypatch):
    monkeypatch.setattr(drawing, "NODES_HELD", 60)
    weights = popular_graph(100)
    summary = summarize(held(weights), truth=weights)
    assert "the 60 most influential of the 100 nodes" in summary.drawing.left_out
    assert summary.drawing.views[0].influence.min() >= np.sort(weights.sum(axis=0))[-60]
    page = summary.to_dict()
    assert len(page["nodes"]["name"]) == len(page["drawing"]["x"]) == 60
    assert max(map(max, page["checks"])) < 60


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


@pytest.mark.parametrize("n_nodes", [34, 71, 105])
def test_the_picture_fills_the_sheet(n_nodes):
    """Forces alone place nodes on a line as a snake."""
    line = sparse.diags_array([np.ones(n_nodes - 1)] * 2, offsets=[-1, 1], shape=(n_nodes, n_nodes))
    for weights in (sparse.csr_array(line), popular_graph(n_nodes, 4)):
        points = place(weights, np.ones(n_nodes))
        high = np.abs(points[:, 1]).max()
        counts, *_ = np.histogram2d(*points.T, bins=(4, 3), range=[[-1, 1], [-high, high]])
        assert high > 0.5
        assert (counts > 0).all()


def test_neighbours_are_placed_nearer_than_strangers():
    two_groups = sparse.csr_array(np.kron(np.eye(2), np.ones((10, 10)) - np.eye(10)))
    points = place(two_groups, np.ones(20))
    within = np.linalg.norm(points[:10] - points[:10].mean(axis=0), axis=1).max()
    assert np.linalg.norm(points[:10].mean(axis=0) - points[10:].mean(axis=0)) > 1.5 * within


def test_names_are_cut_the_shorter_the_more_there_are():
    assert shortened(["n" * 200])[0] == "n" * 200
    many = shortened(["<" * 300] * 10_000)
    assert len(many[0]) == 50
    assert many[0].endswith("…")


def test_of_a_consensus_the_suggested_ties_are_counted():
    model = karate_consensus()
    summary = summarize(model)
    assert summary.cut.n_ties == model.suggested_.undirected().n_edges == round(17 * model.degree_)
    assert summary.cut.level == model.suggested_.edges()["evidence"].min()
    sure = summary.cut.ties.n_edges
    assert summary.cut.n_ties <= sure < summary.graph.n_edges
    np.testing.assert_allclose(summary.hubs["influence"], np.sort(model.graph_.influence)[::-1])
    assert summary.hubs["listens_to"].sum() == sure
    assert summary.agreement == model.agreement_
    assert "progress" not in summary.parameters
    assert summary.parameters["signals (found)"] == "samples"


def test_the_priors_part_is_the_difference_to_the_graph_without_it():
    model = karate_consensus()
    part = prior_part(model)
    more = model.graph_.influence - model.without_prior_.influence
    assert [gain.names[0] for gain in part.nodes] == [f"member {k + 1}" for k in np.argsort(-more)[:3]]
    assert part.nodes[0].now - part.nodes[0].without == pytest.approx(more.max())
    source, target = part.ties[0].names
    i, j = (int(name.split()[1]) - 1 for name in (target, source))
    gained = model.adjacency_.toarray() - model.without_prior_.weights.toarray()
    assert gained[i, j] == pytest.approx(gained.max())
    assert 0 < part.moved <= part.share == model.prior_share_
    assert prior_part(held(popular_graph(20, 3))) is None


def test_the_surest_edges_are_drawn_and_then_the_heaviest(monkeypatch):
    monkeypatch.setattr(drawing, "EDGES_HELD", 40)
    monkeypatch.setattr(drawing, "NEIGHBOURS", 0)
    weights = popular_graph(20, 5)
    frequency = np.random.default_rng(0).choice([0.2, 0.6, 1.0], weights.nnz)
    model = held(weights, edge_columns={"frequency": frequency})
    (view,) = summarize(model).drawing.views
    pairs = model.graph_.undirected().edges()["frequency"].sort_values(ascending=False)
    assert 40 <= len(view.edges.weight) <= 80  # both directions of a pair, or none
    assert view.pair.min() >= pairs.iloc[40]
    assert (np.diff(view.edges.weight) <= 0).all()
    assert "edges: the surest" in summarize(model).drawing.left_out


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ([1, 1, 1, 4, 4], [3, 3, 3, 5, 5], "Settled as most influential: a, b, c."),
        ([1, 2, 2, 3, 3], [1, 4, 5, 5, 5], "Settled as most influential: a. Who comes next is not settled."),
        ([1, 1, 2, 2, 3], [3, 2, 4, 5, 5], "a ranks first, but its rank is uncertain: b may rank higher."),
        ([1, 2, 2, 3, 4], [2, 3, 5, 5, 5], "a ranks first, but its rank is uncertain: b, c may rank higher."),
        ([1, 1, 1, 1, 1], [5, 5, 5, 5, 5], "a ranks first, but its rank is uncertain: b, c, d, e may rank higher."),
    ],
)
def test_who_is_most_influential_is_said_as_far_as_it_is_settled(low, high, said):
    weights = np.zeros((5, 5))
    weights[[1, 2, 3, 4, 0], [0, 0, 0, 0, 1]] = 1.0
    weights[[3, 1, 0], [1, 2, 3]] = [0.9, 0.8, 0.7]
    graph = held(weights, "abcde", node_columns={"rank_low": np.array(low), "rank_high": np.array(high)}).graph_
    assert said in prose.leaders(graph).sentence
    assert "Fit ConsensusGL to see how stable this is" in prose.leaders(held(weights, "abcde").graph_).sentence


def test_of_a_long_history_about_a_thousand_steps_are_held_the_last_among_them():
    monitor = Monitor(Measure.GAP, tol=1e-9, max_iter=10_000)
    for step in range(4_999):
        monitor.check(step, 1.0, 1.0)
    model = held(popular_graph(12), certificate=monitor.certificate(monitor.check(4_999, 1.0, 1e-10)))
    assert summarize(model).to_dict()["history"]["iteration"][-2:] == [4_994, 4_999]


def test_a_tie_model_says_whom_to_ask_and_whom_to_tell_before_the_tables():
    random = np.random.default_rng(0)
    ties = np.triu(random.random((40, 40)) < 0.12, 1)
    n_ties = pd.Series((ties | ties.T).sum(axis=1).astype(float))
    n_ties[30:] = np.nan
    model = TieModel(random_state=0).fit(traits=pd.DataFrame({"farmer": np.arange(40) % 2}), n_ties=n_ties)
    summary = summarize(model)
    ask, tell = summary.next_steps
    assert ask.heading == "Ask these 10 next"
    assert {*ask.names} == {*range(30, 40)}
    assert tell.heading == "Tell these 5 first"
    assert re.search(r"reach about \d+ of 40", tell.sentence)
    page = render(summary)
    assert page.index("Ask these 10 next") < page.index("All nodes")


def test_what_is_not_known_is_said_once_and_gives_no_advice():
    graph = LearnedGraph.of(nx.to_numpy_array(nx.star_graph(30)) * 0.03, influence_supported=False)
    model = Held(graph, exact())
    model._become(graph.names)
    model.adjacency_ = graph.weights
    summary = summarize(model, interventions=True)
    page = render(summary)
    assert summary.next_steps == ()
    assert summary.game is None
    assert 'id="act"' not in page
    assert page.split("How to read this")[0].count(NOT_CENTRAL) == 1


def test_names_that_match_nobody_are_said_first(signals):
    spellings = pd.DataFrame(
        {
            "written": ["Anil", "Bla Shah", "Uma"],
            "matched": ["", "Bela Shah", "Uma Das"],
            "distance": [0, 1, 0],
            "by": ["several people have this name", "nearest name", "as written"],
            "sure": [False, False, True],
        }
    )
    summary = summarize(SmoothGL().fit(signals), spellings=spellings)
    chips = prose.verdicts(summary, prose.leaders(summary.graph))
    assert ("2 names are not used; 1 with a likely spelling", "amber") in chips
    page = render(summary)
    assert page.index("Bla Shah") < page.index("several people have this name")
    assert "Uma" not in page
    assert summarize(SmoothGL().fit(signals), spellings=spellings[spellings["sure"]]).unmatched is None
