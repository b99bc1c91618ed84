"""Figures about a network's reliability: the drawing shows the computed values."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import average_precision_score

from nashgraph import SmoothGL
from nashgraph.report import (
    methods_paragraph,
    plot_adjacency,
    plot_calibration,
    plot_influence,
    plot_precision_recall,
    plot_stability,
    stability_curve,
    summarize,
)
from nashgraph.report.prose import methods_supplement
from nashgraph.validation import InputError

from ..commands import run
from .models import held, karate_consensus, popular_graph


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def model():
    return karate_consensus()


def test_a_matrix_by_community_has_its_blocks_on_the_diagonal(ax):
    side = np.array([0, 1] * 10)
    weights = (side[:, None] == side) * 0.1
    np.fill_diagonal(weights, 0.0)
    plot_adjacency(weights, ax, order="community")
    cells = ax.images[0].get_array()
    assert cells[:10, 10:].sum() == cells[10:, :10].sum() == 0
    assert len(ax.lines) == 2


def test_influence_has_its_interval(model, ax):
    nodes = model.graph_.nodes().head(5)
    plot_influence(model, ax, n_nodes=5)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == nodes["name"].tolist()
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends, nodes[["influence_low", "influence_high"]])
    np.testing.assert_allclose(ax.lines[0].get_xdata(), nodes["influence"])


def test_stability_grows_with_the_share_of_signals(ax):
    random = np.random.default_rng(0)
    signals = random.normal(size=(200, 3)) @ random.normal(size=(3, 20)) + 0.3 * random.normal(size=(200, 20))
    fitted = SmoothGL(degree=4).fit(pd.DataFrame(signals))
    curve = stability_curve(fitted, pd.DataFrame(signals), shares=(0.05, 0.9, 1.0), repeats=2)
    assert curve["agreement"][0] < curve["agreement"][1] < curve["agreement"][2] == 1
    plot_stability(curve, ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve["agreement"])
    with pytest.raises(InputError, match="above 0 and at most 1"):
        stability_curve(fitted, signals, shares=(2.0,))


def test_calibrated_probabilities_lie_on_the_diagonal(ax):
    random = np.random.default_rng(0)
    probability = np.triu(random.random((120, 120)), 1)
    truth = np.triu(random.random((120, 120)), 1) < probability
    both = probability + probability.T
    graph = held(both, edge_columns={"probability": both[both > 0]}).graph_
    plot_calibration(graph, (truth | truth.T).astype(float), ax)
    x, y = ax.lines[1].get_data()
    assert len(x) == 10
    np.testing.assert_allclose(x, y, atol=0.06)
    with pytest.raises(InputError, match="not a share"):
        plot_calibration(popular_graph(12), np.ones((12, 12)))


def test_precision_and_recall_are_those_of_the_average_precision(ax):
    random = np.random.default_rng(0)
    weights = np.triu(random.random((30, 30)), 1)
    truth = np.triu(random.random((30, 30)) < 0.2 + 0.5 * weights, 1).astype(float)
    weights, truth = weights + weights.T, truth + truth.T
    plot_precision_recall(weights, truth, ax)
    recall, precision = ax.lines[1].get_data()
    area = -np.sum(np.diff(recall) * np.asarray(precision)[:-1])
    above = np.triu_indices(30, 1)
    assert area == pytest.approx(average_precision_score(truth[above], weights[above]))
    with pytest.raises(InputError, match="no ties"):
        plot_precision_recall(weights, np.zeros((30, 30)))


def test_methods_are_said_with_versions_and_the_one_number_of_ties(model, tmp_path):
    summary = summarize(model, source="club.csv")
    said = methods_paragraph(summary)
    for words in ("34 nodes was learned from club.csv with ConsensusGL", f"{summary.cut.n_ties:,} ties"):
        assert words in said
    assert len(said.split()) <= 120
    assert f"NumPy {np.__version__}" in methods_supplement(summary)
    assert "n_replicates" in methods_supplement(summary)
    answers = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 6)), index=[f"person {k}" for k in range(20)])
    answers.to_csv(tmp_path / "answers.csv", index_label="name")
    assert run("learn", tmp_path / "answers.csv", "--out", tmp_path / "graph").exit_code == 0
    shown = run("show", tmp_path / "graph" / "model.json", "--methods")
    assert shown.exit_code == 0
    assert "A network of 20 nodes was learned" in " ".join(shown.output.split())
