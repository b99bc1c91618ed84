"""Nodes of two named objects are matched by name: the order of nodes does not matter."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nashgraph import (
    GLGP,
    BestResponse,
    ConsensusGL,
    DataWarning,
    GamePrior,
    InputError,
    LinearGLGP,
    SmoothGL,
    as_graph,
    compare,
    edge_auc,
    edge_average_precision,
    edge_precision_recall,
    plot_graph,
    welfare_gain,
)
from nashgraph.datasets import smooth_signals

NAMES = [f"m{k}" for k in range(34)]


@pytest.fixture(scope="module")
def club():
    return nx.relabel_nodes(nx.karate_club_graph(), dict(enumerate(NAMES)))


@pytest.fixture(scope="module")
def other(club):
    """The same network, its nodes in another order."""
    mixed = nx.Graph()
    mixed.add_nodes_from(np.random.default_rng(1).permutation(NAMES).tolist())
    mixed.add_edges_from(club.edges())
    return mixed


@pytest.fixture(scope="module", name="X")
def frame(club):
    return pd.DataFrame(smooth_signals(club, 30, "gmrf", random_state=0), columns=NAMES)


@pytest.mark.parametrize("score", [edge_auc, edge_average_precision, edge_precision_recall])
def test_scores_match_names(score, X, club, other):
    model = SmoothGL().fit(X)
    wanted = score(club, model)
    table = nx.to_pandas_adjacency(other)
    assert score(other, model) == score(other, model.graph_) == score(table, model) == pytest.approx(wanted)
    assert score(table.sample(frac=1, random_state=0), model) == pytest.approx(wanted)  # rows in another order
    assert score(club, nx.to_pandas_adjacency(other)) == score(club, club)


def test_a_matrix_has_no_names_and_that_is_said(X, club):
    model = SmoothGL().fit(X)
    with pytest.warns(DataWarning, match="pass the model or its graph_ in place of the matrix"):
        assert edge_auc(club, model.adjacency_) == edge_auc(club, model)
    with pytest.warns(DataWarning, match="score numbers the nodes 0, 1, 2, ... and truth has names for them"):
        assert edge_auc(club, SmoothGL().fit(X.to_numpy())) == edge_auc(club, model)


@pytest.fixture(scope="module")
def numbered():
    """The club with its nodes 0 to 33, its edges reversed, signals of it, and their order in the reversed graph."""
    club = nx.karate_club_graph()
    mixed = nx.Graph(list(club.edges)[::-1])
    assert list(mixed) != list(club)
    return club, mixed, smooth_signals(club, 50, "gmrf", random_state=0)


def test_numbers_in_another_order_are_matched_by_label(numbered):
    club, mixed, signals = numbered
    model = ConsensusGL(n_replicates=0, random_state=0).fit(signals)
    assert edge_auc(mixed, model) == edge_auc(club, model) > 0.8
    tables = [compare(signals, truth, ["smooth"]).drop(columns="seconds") for truth in (club, mixed)]
    pd.testing.assert_frame_equal(*tables)
    benefit = pd.Series(dict(club.degree), dtype=float)
    wanted = welfare_gain(model, club.subgraph(club), benefit, "log1p")
    assert welfare_gain(model, club, benefit.sort_values(), "log1p") == pytest.approx(wanted)
    assert as_graph(nx.to_pandas_adjacency(mixed).loc[::-1]).names.tolist() == list(mixed)


@pytest.mark.parametrize("prior", ["game", GamePrior(interaction="linear")])
def test_numbered_benefits_are_matched_by_label(numbered, prior):
    club, _, signals = numbered
    benefit = pd.Series(dict(club.degree), dtype=float)
    wanted = GLGP(benefit=benefit.to_numpy(), prior=prior).fit(signals).adjacency_.toarray()
    np.testing.assert_array_equal(
        GLGP(benefit=benefit.sort_values(), prior=prior).fit(signals).adjacency_.toarray(), wanted
    )


def test_sample_weights_follow_the_rows_labels(X):
    weights = pd.Series(np.arange(1.0, 31.0))
    wanted = SmoothGL().fit(X, sample_weight=weights.to_numpy()).adjacency_.toarray()
    np.testing.assert_array_equal(SmoothGL().fit(X, sample_weight=weights[::-1]).adjacency_.toarray(), wanted)


def test_numbers_that_overlap_and_differ_are_an_error(numbered):
    club, _, signals = numbered
    model = SmoothGL().fit(signals)
    from_one = nx.relabel_nodes(club, {node: node + 1 for node in club})
    with pytest.raises(InputError, match="truth lacks 0, score lacks 34") as refusal:
        edge_auc(from_one, model)
    assert refusal.value.parameter == "truth"


def test_names_that_cannot_be_matched_are_an_error(X, club):
    model = SmoothGL().fit(X)
    with pytest.raises(
        InputError, match=r"truth and score do not name the same nodes: truth lacks m0, score lacks eve; .*"
    ):
        edge_auc(nx.relabel_nodes(club, {"m0": "eve"}), model)
    with pytest.raises(InputError, match="truth lacks m0"):
        edge_auc(club.subgraph(NAMES[1:]), model)
    with pytest.raises(InputError, match="benefit and X do not name the same nodes: benefit lacks m33"):
        GLGP(benefit=pd.Series(1.0, index=NAMES[:33])).fit(X)
    with pytest.raises(InputError, match="benefit names nodes more than once: m0"):
        GLGP(benefit=pd.Series(1.0, index=[*NAMES, "m0"])).fit(X)


@pytest.mark.parametrize("make", [GLGP, LinearGLGP, lambda benefit: ConsensusGL(benefit=benefit, random_state=0)])
def test_a_benefit_with_names_is_matched(make, X):
    benefit = pd.Series(np.arange(1.0, 35.0), index=NAMES)
    model = make(benefit=benefit.sample(frac=1, random_state=3))
    given = model.benefit
    wanted = make(benefit=benefit.to_numpy()).fit(X)
    np.testing.assert_array_equal(model.fit(X).adjacency_.toarray(), wanted.adjacency_.toarray())
    np.testing.assert_allclose(model.benefit_, wanted.benefit_)
    assert model.benefit is given


def test_a_path_and_a_start_match_names(X):
    benefit = pd.Series(np.arange(1.0, 35.0), index=NAMES)
    mixed = benefit.sample(frac=1, random_state=3)
    paths = [GLGP(benefit=each).path(X, [0.1]).models[0].adjacency_.toarray() for each in (benefit.to_numpy(), mixed)]
    np.testing.assert_array_equal(*paths)
    start = pd.DataFrame(SmoothGL().fit(X).adjacency_.toarray(), index=NAMES, columns=NAMES)
    mixed = start.sample(frac=1, random_state=3).sample(frac=1, axis=1, random_state=4)
    solver = BestResponse(max_iter=2, tol=1.0)
    starts = [GLGP(init=each, solver=solver).fit(X).adjacency_.toarray() for each in (start.to_numpy(), mixed)]
    np.testing.assert_array_equal(*starts)


def test_compare_matches_names(X, club, other):
    benefit = pd.Series(np.arange(1.0, 35.0), index=NAMES)
    wanted, found = (
        compare(X, truth, ["smooth"], benefit=b).drop(columns="seconds")
        for truth, b in ((club, benefit), (other, benefit.sample(frac=1, random_state=0)))
    )
    pd.testing.assert_frame_equal(found, wanted)
    with pytest.raises(InputError, match="do not name the same nodes"):
        compare(X, nx.relabel_nodes(club, {"m0": "eve"}), ["smooth"])


def test_welfare_gain_matches_names(X, other):
    model = SmoothGL().fit(X)
    mixed = nx.DiGraph()
    mixed.add_nodes_from(other)
    mixed.add_weighted_edges_from(model.to_networkx().edges(data="weight"))
    benefit = pd.Series(np.arange(34.0), index=NAMES)
    assert welfare_gain(model, mixed, benefit.sample(frac=1, random_state=0)) == pytest.approx(0.0, abs=1e-12)


def test_a_picture_against_the_truth_matches_names(X, club, other):
    model = SmoothGL().fit(X)
    pictures = [plot_graph(model, Figure().subplots(), truth=truth) for truth in (club, other)]
    lines = [[len(part.get_segments()) for part in ax.collections if hasattr(part, "get_segments")] for ax in pictures]
    assert lines[0] == lines[1]
