"""Synthetic networks: the requested degree, the promised structure, the same graph for a seed."""

import networkx as nx
import numpy as np
import pytest

from nashgraph.datasets import (
    erdos_renyi,
    preferential_attachment,
    random_geometric,
    small_world,
    stochastic_block_model,
)

MAKERS = [preferential_attachment, erdos_renyi, small_world, stochastic_block_model, random_geometric]


@pytest.mark.parametrize("make", MAKERS)
def test_seeded_and_on_nodes_zero_to_n(make):
    first, again, other = make(60, random_state=3), make(60, random_state=3), make(60, random_state=4)
    assert list(first) == list(range(60))
    assert set(first.edges()) == set(again.edges()) != set(other.edges())
    assert not first.is_directed()


def test_preferential_attachment_is_a_tree_by_default():
    assert nx.is_tree(preferential_attachment(50, random_state=0))
    assert preferential_attachment(50, 3, random_state=0).number_of_edges() == 3 * 47


@pytest.mark.parametrize(
    "graph",
    [
        erdos_renyi(1500, degree=8, random_state=0),
        stochastic_block_model(1500, n_blocks=5, degree=8, random_state=0),
        random_geometric(3000, degree=8, random_state=0),
        small_world(1500, degree=8, random_state=0),
    ],
)
def test_mean_degree_is_as_asked(graph):
    assert 2 * graph.number_of_edges() / graph.number_of_nodes() == pytest.approx(8, rel=0.08)


def test_blocks_mix_as_asked():
    graph = stochastic_block_model(2000, n_blocks=4, degree=10, mixing=0.2, random_state=0)
    block = nx.get_node_attributes(graph, "block")
    assert np.mean([block[i] != block[j] for i, j in graph.edges()]) == pytest.approx(0.2, abs=0.02)
    assert stochastic_block_model(20, n_blocks=1, degree=4, random_state=0).number_of_nodes() == 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: erdos_renyi(1), "n_nodes must be at least 2"),
        (lambda: erdos_renyi(10, degree=10), "degree must be"),
        (lambda: preferential_attachment(3, 3), "edges_per_node must be below n_nodes=3"),
        (lambda: small_world(10, rewiring=1.5), "rewiring must be"),
        (lambda: stochastic_block_model(3, n_blocks=4), "n_blocks must not exceed"),
        (lambda: random_geometric(2.5), "n_nodes must be an integer"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
