"""What is said in words follows the numbers."""

import numpy as np
import pytest

from nashgraph import ConsensusGL, LearnedGraph, SmoothGL
from nashgraph.report.prose import settled_sentence


def pairs(*frequencies):
    """Return a chain of ties, each as frequent in both directions."""
    n = len(frequencies) + 1
    weights = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    graph = LearnedGraph.of(weights)
    ends = np.minimum(np.repeat(np.arange(n), np.diff(graph.weights.indptr)), graph.weights.indices)
    return LearnedGraph.of(weights, edge_columns={"frequency": np.array(frequencies)[ends]})


@pytest.mark.parametrize(
    ("frequencies", "said"),
    [
        ((1.0, 0.9, 0.6, 0.2), "2 of 3 ties have a frequency of 90% or more"),
        ((0.5, 0.2), "0 of 1 tie have a frequency of 90% or more"),
        ((0.4, 0.2), "No pair has a frequency of one half, so nothing of this network is settled"),
    ],
)
def test_how_much_is_settled(frequencies, said):
    assert settled_sentence(pairs(*frequencies)) == f"{said}."
    assert settled_sentence(pairs(*frequencies), 0.5).endswith("agree on 50% of the weight.")


def test_nothing_is_said_of_graphs_without_frequencies(signals):
    assert settled_sentence(SmoothGL().fit(signals).graph_) == ""
    alone = ConsensusGL(n_replicates=0).fit(signals)
    assert "replicates" not in settled_sentence(alone.graph_, alone.agreement_)
