"""The drawings, read back from the axes."""

import builtins

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy import sparse

from nashgraph import GLGP, BestResponse, SmoothGL
from nashgraph.certificate import Measure, Monitor
from nashgraph.report import plots
from nashgraph.report.plots import BLUE, GREY, HEAT_CELLS, ORANGE

from .models import popular_graph

# Node 2 is listened to by all; 0 and 1 listen to each other as well.
WEIGHTS = np.array([[0.0, 0.3, 0.6], [0.1, 0.0, 0.8], [0.0, 0.0, 0.0]])


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture
def model(signals):
    names = [f"n{k}" for k in range(signals.shape[1])]
    return GLGP(lam=0.3, benefit=np.arange(30.0), degree=4).fit(pd.DataFrame(signals, columns=names))


def lines_of(ax):
    return {collection.get_label(): collection for collection in ax.collections[:-1]}


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


# ------------------------------------------------------------------------------------------------ graphs


def test_a_pair_is_one_line_whatever_its_directions(ax):
    plots.plot_graph(WEIGHTS, ax)
    lines, nodes = ax.collections
    assert len(lines.get_segments()) == 3
    assert len(nodes.get_offsets()) == 3
    plots.plot_graph(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "b")]), ax)
    assert len(ax.collections[2].get_segments()) == 1


def test_heavier_pairs_are_more_opaque_and_more_influence_is_a_larger_circle(ax):
    plots.plot_graph(WEIGHTS, ax)
    lines, nodes = ax.collections
    opacity = lines.get_colors()[:, 3]
    assert opacity[0] == 1.0  # 1 - 2, mean 0.4
    assert np.all(np.diff(opacity) < 0)
    areas = nodes.get_sizes()
    assert areas[2] > areas[1] > areas[0]


def test_the_heaviest_pairs_and_the_strongest_hubs_are_chosen(ax):
    plots.plot_graph(WEIGHTS, ax, n_edges=1, n_labels=2, positions=[[0, 0], [1, 0], [2, 5]])
    (segment,) = ax.collections[0].get_segments()
    assert segment.tolist() == [[1, 0], [2, 5]]
    assert texts_of(ax) == ["2", "1"]


def test_names_are_the_models_own(model, ax):
    plots.plot_graph(model, ax, n_labels=3)
    strongest = np.argsort(-model.adjacency_.toarray().sum(axis=0))[:3]
    assert texts_of(ax) == [f"n{k}" for k in strongest]
    pairs = (model.adjacency_.toarray() + model.adjacency_.toarray().T) > 0
    sparse_default = int(2.5 * len(pairs))
    assert len(ax.collections[0].get_segments()) == sparse_default < pairs.sum() / 2


def test_truth_sorts_pairs_into_hits_mistakes_and_misses(ax):
    learned = nx.to_numpy_array(nx.Graph([(0, 1), (1, 2), (2, 3)]))
    truth = nx.Graph([(0, 1), (1, 2), (0, 3)])
    plots.plot_graph(learned, ax, truth=truth)
    lines = lines_of(ax)
    assert {name: len(kind.get_segments()) for name, kind in lines.items()} == {
        "true": 2,
        "not in the truth": 1,
        "missed": 1,
    }
    colors = {name: to_hex(kind.get_colors()[0]) for name, kind in lines.items()}
    assert colors == {"true": BLUE, "not in the truth": ORANGE, "missed": GREY}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["2 true", "1 not in the truth", "1 missed"]


def test_with_a_truth_as_many_pairs_are_drawn_as_it_has(model, ax):
    truth = nx.to_numpy_array(nx.path_graph(30))
    plots.plot_graph(model, ax, truth=truth)
    lines = lines_of(ax)
    drawn = len(lines["true"].get_segments()) + len(lines["not in the truth"].get_segments())
    assert drawn == 29


def test_the_same_graph_gives_the_same_picture_however_large():
    for weights in (WEIGHTS, popular_graph(1_600, 3)):
        one, other = (plots.plot_graph(weights, Figure().subplots()).collections[-1].get_offsets() for _ in range(2))
        assert np.array_equal(one, other)
        assert np.abs(one).max() <= 1


def test_positions_by_name_or_by_row(ax):
    graph = nx.path_graph(["a", "b", "c"])
    by_name = plots.plot_graph(graph, ax, positions={"a": (0, 0), "c": (2, 2), "b": (1, 0)})
    by_row = plots.plot_graph(graph, Figure().subplots(), positions=[(0, 0), (1, 0), (2, 2)])
    assert np.array_equal(by_name.collections[-1].get_offsets(), by_row.collections[-1].get_offsets())


def test_nodes_may_be_tuples(ax):
    plots.plot_graph(nx.grid_2d_graph(2, 2), ax, n_labels=1)
    assert texts_of(ax) == ["(0, 0)"]


def test_an_empty_graph_draws_its_nodes(ax):
    plots.plot_graph(sparse.csr_array((3, 3)), ax)
    lines, nodes = ax.collections
    assert len(lines.get_segments()) == 0
    assert len(nodes.get_offsets()) == 3


def test_sparse_draws_what_dense_draws(model, ax):
    dense = plots.plot_graph(model.adjacency_.toarray(), ax).collections[0].get_segments()
    other = plots.plot_graph(model.adjacency_, Figure().subplots()).collections[0].get_segments()
    assert np.array_equal(dense, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_edges": -1}, "n_edges must be at least 0"),
        ({"n_labels": -1}, "n_labels must be at least 0"),
        ({"positions": {0: (0, 0), 1: (1, 1)}}, "no place for 2"),
        ({"positions": np.zeros((2, 2))}, r"shape \(3, 2\)"),
        ({"truth": nx.path_graph(4)}, "graph lacks 3"),
    ],
)
def test_bad_options_of_a_graph_are_named(ax, options, message):
    with pytest.raises(ValueError, match=message):
        plots.plot_graph(WEIGHTS, ax, **options)


@pytest.mark.parametrize("plot", [plots.plot_graph, plots.plot_adjacency, plots.plot_convergence])
def test_an_unfitted_model_is_refused(plot, ax):
    with pytest.raises(ValueError, match="fit"):
        plot(GLGP(), ax)


# ------------------------------------------------------------------------------------------ adjacencies


def cells_of(ax):
    return np.asarray(ax.images[0].get_array())


def test_the_matrix_is_drawn_in_the_order_asked_for(ax):
    assert np.array_equal(cells_of(plots.plot_adjacency(WEIGHTS, ax, order="given")), WEIGHTS)
    by_influence = cells_of(plots.plot_adjacency(WEIGHTS, Figure().subplots()))
    assert np.array_equal(by_influence, WEIGHTS[[2, 1, 0]][:, [2, 1, 0]])
    own = cells_of(plots.plot_adjacency(WEIGHTS, Figure().subplots(), order=[1, 0]))
    assert np.array_equal(own, WEIGHTS[[1, 0]][:, [1, 0]])


def test_a_small_matrix_names_its_rows_and_has_a_scale_from_zero(model, ax):
    plots.plot_adjacency(model, ax, order="given")
    assert [label.get_text() for label in ax.get_yticklabels()] == list(model.node_names_)
    assert ax.images[0].get_clim() == (0.0, model.adjacency_.toarray().max())
    assert ax.images[0].colorbar.ax.get_ylabel() == "weight"


def test_a_large_sparse_matrix_is_drawn_in_blocks_that_keep_its_sum(ax):
    n = 2 * HEAT_CELLS + 300
    random = np.random.default_rng(0)
    weights = sparse.csr_array(
        (random.random(5000), (random.integers(0, n, 5000), random.integers(0, n // 2, 5000) + n // 2)), shape=(n, n)
    )
    weights.setdiag(0)
    plots.plot_adjacency(weights, ax, order="given")
    cells = cells_of(ax)
    assert cells.shape == (HEAT_CELLS, HEAT_CELLS)
    sizes = np.bincount(np.arange(n) * HEAT_CELLS // n)
    assert (cells * np.outer(sizes, sizes)).sum() == pytest.approx(weights.sum())
    assert not cells[:, : HEAT_CELLS // 2 - 1].any()
    assert ax.get_xlim() == (-0.5, n - 0.5)
    assert ax.images[0].colorbar.ax.get_ylabel() == "mean weight of a block"


@pytest.mark.parametrize(
    ("order", "message"),
    [("degree", "'influence', 'community', 'given'"), ([0, 7], "not in the graph: 7"), ([], "order is empty")],
)
def test_a_bad_order_is_named(ax, order, message):
    with pytest.raises(ValueError, match=message):
        plots.plot_adjacency(WEIGHTS, ax, order=order)


# -------------------------------------------------------------------------------------- paths and runs


@pytest.fixture
def path(signals):
    return GLGP(degree=4, benefit=np.arange(30.0)).path(signals, n_lams=7)


def test_the_front_is_welfare_against_cost(path, ax):
    plots.plot_path(path, ax)
    (line,) = ax.lines
    assert np.array_equal(line.get_xdata(), path.smoothness_costs)
    assert np.array_equal(line.get_ydata(), path.welfares)
    marks = texts_of(ax)
    assert 2 <= len(marks) <= 5
    assert marks[0] == f"λ = {path.lams[0]:.3g}"
    assert marks[-1] == f"λ = {path.lams[-1]:.3g}"


def test_lambdas_asked_for_are_marked_at_the_nearest_point(path, ax):
    plots.plot_path(path, ax, marked=[1.01 * path.lams[3]])
    (mark,) = ax.texts
    assert mark.get_text() == f"λ = {path.lams[3]:.3g}"
    assert mark.xy == (path.smoothness_costs[3], path.welfares[3])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_point_that_did_not_converge_is_hollow(signals, ax):
    solver = BestResponse(max_iter=1, tol=1e-14)
    path = GLGP(degree=4, benefit=np.arange(30.0), solver=solver).path(signals, [0.0, 20.0])
    plots.plot_path(path, ax)
    fills = [to_hex(color) for color in ax.collections[0].get_facecolors()]
    assert fills == [BLUE, "#ffffff"]


def test_two_fronts_on_one_ax_have_two_colours_and_a_legend(path, ax):
    plots.plot_path(path, plots.plot_path(path, ax, label="one"), label="two")
    assert len({line.get_color() for line in ax.lines}) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]


def test_what_is_no_path_is_refused(model, ax):
    with pytest.raises(TypeError, match=r"what GLGP\.path returns, got GLGP"):
        plots.plot_path(model, ax)


def test_a_run_is_drawn_on_a_log_axis_with_its_tolerance(model, ax):
    plots.plot_convergence(model, ax)
    line, tolerance = ax.lines
    assert ax.get_yscale() == "log"
    assert line.get_ydata().tolist() == [record.value for record in model.certificate_.history]
    assert line.get_xdata()[-1] == model.n_iter_
    assert list(tolerance.get_ydata()) == [1e-6, 1e-6]
    assert texts_of(ax) == ["tol = 1e-06"]


def test_a_certificate_is_drawn_by_its_measure(ax):
    monitor = Monitor(Measure.GAP, tol=1e-4, max_iter=9)
    monitor.check(0, 3.0, 0.5)
    certificate = monitor.certificate(monitor.check(1, 2.0, 1e-5))
    plots.plot_convergence(certificate, ax)
    assert ax.get_ylabel() == "duality gap"
    assert ax.lines[0].get_ydata().tolist() == [0.5, 1e-5]
    assert texts_of(ax) == ["tol = 0.0001"]


def test_runs_that_share_a_tolerance_share_its_line(model, ax):
    plots.plot_convergence(model, plots.plot_convergence(model, ax, label="one"), label="two")
    assert len(ax.lines) == 3
    assert len(ax.texts) == 1


def test_an_exact_zero_stays_on_the_log_axis(signals, ax):
    plots.plot_convergence(GLGP(lam=0, benefit=np.arange(30.0)).fit(signals), ax)
    assert ax.lines[0].get_ydata().min() == 1e-17


def test_a_method_without_iterates_says_so(signals, ax):
    with pytest.raises(ValueError, match=r"no history of steps to draw .*closed form"):
        plots.plot_convergence(SmoothGL().fit(signals), ax)


# ------------------------------------------------------------------------------------------- matplotlib


def test_without_an_ax_a_figure_is_made():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    ax = plots.plot_graph(WEIGHTS)
    assert ax.figure.number in pyplot.get_fignums()
    pyplot.close(ax.figure)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    honest = builtins.__import__

    def without_matplotlib(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return honest(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(ImportError, match=r"pip install 'nashgraph\[plot\]'"):
        plots.plot_graph(WEIGHTS)
