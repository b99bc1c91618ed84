"""What if: the game after a change is the game on the remaining network."""

import numpy as np
import pandas as pd
import pytest

from nashgraph import LearnedGraph, equilibrium, welfare, what_if

from ..problems import random_graph

NAMES = ["ann", "bob", "cat", "dan", "eve", "fay"]


@pytest.fixture
def graph(random):
    W, b = random_graph(6, 0.9, random), 0.2 + random.random(6)
    return LearnedGraph.of(W, NAMES, node_columns={"benefit": b})


def after(table):
    return table.set_index("name").after.loc[NAMES].to_numpy()


def test_those_who_stay_play_on_what_is_left(graph):
    W, b = graph.weights.toarray(), graph.node_columns["benefit"]
    table = what_if(graph, without=["bob", "eve"])
    stays = [0, 2, 3, 5]
    left = equilibrium(W[np.ix_(stays, stays)], b[stays])
    np.testing.assert_allclose(after(table)[stays], left, rtol=1e-8)
    assert after(table)[[1, 4]].tolist() == [0.0, 0.0]
    assert table.attrs["welfare_before"] == pytest.approx(welfare(W, b))
    assert table.attrs["welfare_after"] == pytest.approx(left.sum())
    assert (table.change.abs().diff().dropna() <= 0).all()
    np.testing.assert_allclose(table.change, table.after - table.before)
    np.testing.assert_allclose(after(what_if(graph, without="bob"))[1], 0.0)


@pytest.mark.parametrize("kind", ["dict", "series", "array"])
def test_new_benefits_are_those_given(graph, kind):
    b = graph.node_columns["benefit"].copy()
    b[2], b[3] = 5.0, 0.0
    given = {"dict": {"cat": 5.0, "dan": 0}, "series": pd.Series({"dan": 0.0, "cat": 5.0}), "array": b}[kind]
    np.testing.assert_allclose(after(what_if(graph, new_benefit=given)), equilibrium(graph.weights, b), rtol=1e-8)


def test_influence_can_be_capped(graph):
    W, cap = graph.weights.toarray(), 0.7
    capped = W * np.minimum(1.0, cap / W.sum(axis=0))
    expected = equilibrium(capped, graph.node_columns["benefit"])
    np.testing.assert_allclose(after(what_if(graph, cap_influence=cap)), expected, rtol=1e-8)


def test_all_who_have_a_benefit_may_leave():
    table = what_if(np.array([[0.0, 0.5], [0.5, 0.0]]), [1.0, 0.0], without=[0])
    assert table.after.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"without": ["zoe"]}, "there is no node 'zoe': the nodes are called 'ann', 'bob'"),
        ({"without": NAMES}, "nobody is left"),
        ({"new_benefit": {"zoe": 1}}, "there is no node 'zoe'"),
        ({"new_benefit": {"ann": -1}}, "new_benefit of 'ann' must be a finite number in"),
        ({"new_benefit": [1, 2]}, "benefit must have shape"),
        ({"cap_influence": 0}, "cap_influence must be a finite number"),
        ({"benefit": pd.Series({"ann": 1.0})}, "benefit lacks bob"),
        ({"best": 7}, "best=7 is more than the 6 nodes"),
    ],
)
def test_bad_input(graph, change, message):
    with pytest.raises(ValueError, match=message):
        what_if(graph, **change)
