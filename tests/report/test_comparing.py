"""Tests of differences: their size if there is none, their power if there is one, and their plots."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator

from nashgraph import ConsensusGL, LearnedGraph, SmoothGL
from nashgraph.report import compare_groups, differences, plot_differences, plot_networks, summarize
from nashgraph.report.comparing import compared_groups
from nashgraph.report.html import write_index
from nashgraph.validation import InputError

from .models import held

VILLAGES = np.kron(np.eye(2), np.ones(4))
MIXED = VILLAGES[:, [0, 4, 1, 5, 2, 6, 3, 7]]


class Correlations(BaseEstimator):
    """A graph of positive correlations: fast enough to repeat a test hundreds of times."""

    def fit(self, X):
        weights = np.maximum(np.corrcoef(X.T), 0.0)
        np.fill_diagonal(weights, 0.0)
        self.graph_ = LearnedGraph.of(weights, directed=False)
        return self


def signals(random, factors, count=60, shift=0.0):
    return random.normal(size=(count, 2)) @ factors + random.normal(size=(count, 8)) + shift * np.arange(8)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_equal_groups_are_found_different_no_more_often_than_the_level_says(shift):
    found = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        groups = signals(random, VILLAGES), signals(random, VILLAGES, 40, shift)
        test = compare_groups(Correlations(), *groups, n_permutations=19, random_state=seed)
        found.append([test.p_structure, test.p_strength, test.ties["p_adjusted"].min()])
    p = np.array(found)
    # 60 draws at 10%: 6 are expected, and more than 13 have a probability below 0.3%.
    assert ((p <= 0.1).sum(axis=0) <= 13).all()
    assert ((p.mean(axis=0) > 0.35) & (p.mean(axis=0) < 0.7)).all()


def test_different_groups_are_told_apart_and_the_ties_that_differ_come_first():
    random = np.random.default_rng(0)
    one, other = (pd.DataFrame(signals(random, f, 150), columns=list("abcdefgh")) for f in (VILLAGES, MIXED))
    test = compare_groups(Correlations(), one, other[list("hgfedcba")], n_permutations=99)
    assert test.p_structure == 0.01
    assert (test.ties["p_adjusted"] >= test.ties["p_value"]).all()
    first = test.ties.iloc[0]
    assert first["p_adjusted"] <= 0.02
    together = {frozenset(pair) for pair in ("ab", "ac", "ad", "ef", "eg", "eh")}  # in one group or the other, not both
    assert abs(first["difference"]) > 0.3
    assert frozenset((first["source"], first["target"])) not in together or first["difference"] > 0


def test_the_page_of_groups_compares_those_with_the_same_people(tmp_path):
    random = np.random.default_rng(0)
    one, other = (signals(random, factors, 150) for factors in (VILLAGES, MIXED))
    tables = {"2019": pd.DataFrame(one), "2021": pd.DataFrame(other)}
    comparison = compared_groups(tables, n_permutations=19)
    (cells,) = comparison.rows
    assert cells[:2] == ("2019 and 2021", "0.05")
    write_index(
        tmp_path / "index.html", "waves", ["wave", "who"], [("a", ["2019", "nobody"])], [], comparison=comparison
    )
    assert "<td>0.05</td>" in (tmp_path / "index.html").read_text()
    tables["2023"] = pd.DataFrame(other).iloc[:, 1:]
    assert "different people" in compared_groups(tables).sentence


def test_strength_is_not_tested_if_a_method_gives_every_network_the_same():
    random = np.random.default_rng(0)
    test = compare_groups(SmoothGL(degree=3), signals(random, VILLAGES), signals(random, MIXED), n_permutations=19)
    assert np.isnan(test.p_strength)
    assert test.p_structure == 0.05


def test_groups_that_cannot_be_compared_are_refused():
    table = np.random.default_rng(0).normal(size=(10, 4))
    for one, other, words in (
        (table, table[:, :3], "one has 4 nodes and other 3"),
        (table, np.where(table > 1, np.nan, table), "other must be a table of numbers without gaps"),
        (table[:1], table, "one must be a table"),
    ):
        with pytest.raises(InputError, match=words):
            compare_groups(Correlations(), one, other)


def test_a_hub_differs_from_the_rest_and_equal_nodes_do_not():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3)) @ np.kron(np.eye(3), np.ones(6)) + 0.3 * random.normal(size=(200, 18))
    model = ConsensusGL(random_state=0).fit(X)
    for of in ("nodes", "ties"):
        found = differences(model, of, most=12)
        assert (found.differ == found.differ.T).all()
        assert found.differ.mean() < 0.5
    ties = differences(model, "ties", most=10_000)
    weights = model.graph_.undirected().weights
    assert ties.differ[0, np.argmin(ties.values)], "the heaviest tie and the lightest"
    assert len(ties.values) == weights.nnz // 2
    image = plot_differences(found, Figure().subplots()).images[0].get_array()
    np.testing.assert_array_equal(image, found.differ)
    with pytest.raises(InputError, match="no replicates"):
        differences(SmoothGL().fit(X))


def test_networks_on_the_same_nodes_have_the_same_places_and_others_their_own():
    figure = plot_networks({"one": nx.path_graph(5), "two": nx.cycle_graph(5)})
    places = [ax.collections[-1].get_offsets() for ax in figure.axes]
    np.testing.assert_allclose(places[0], places[1])
    lines = [len(part.get_segments()) for part in figure.axes[1].collections[:2]]
    assert lines == [4, 1], "four ties in common, and one that only this network has"
    assert "dashed" in figure.axes[1].texts[-1].get_text()
    many = plot_networks({str(n): nx.path_graph(n) for n in range(3, 8)})
    assert len(many.axes) == 5
    assert not any("dashed" in text.get_text() for ax in many.axes for text in ax.texts), "these have other nodes"
    with pytest.raises(InputError, match="graphs is empty"):
        plot_networks({})


def test_a_profile_has_a_cell_for_every_community_and_column():
    side = np.repeat([0, 1], 20)
    weights = (side[:, None] == side) * 0.05
    np.fill_diagonal(weights, 0.0)
    ordered = pd.Categorical(np.where(side == 0, "often", "never"), ["never", "seldom", "often"], ordered=True)
    table = pd.DataFrame(
        {"water": np.where(side == 0, "tap", "well"), "phone": side, "visits": ordered, "coin": [1, 2] * 20}
    )
    summary = summarize(held(weights), columns=table)
    assert [sorted(name.split(", ")) for name in sorted(summary.profile.names)] == [
        ["no phone", "visits: high", "water: tap"],
        ["phone", "visits: low", "water: well"],
    ]
    assert {"tap 100%", "well 100%", "often", "never"} <= {word for row in summary.profile.words for word in row}
    assert {"no 100%", "yes 100%"} <= {word for row in summary.profile.words for word in row}  # of phone: 0 and 1
