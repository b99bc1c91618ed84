"""Sentences follow the numbers."""

from pathlib import Path

import numpy as np
import pytest

import nashgraph
from nashgraph import GLGP, ConsensusGL, LearnedGraph, LogDegreeGL, SmoothGL
from nashgraph.report import prose, summarize
from nashgraph.report.cut import cut_of
from nashgraph.validation import InputError

HOME = Path(__file__).parents[2]


def pairs(*frequencies):
    """Return a chain of ties, each as frequent in both directions."""
    n = len(frequencies) + 1
    weights = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    graph = LearnedGraph.of(weights)
    ends = np.minimum(np.repeat(np.arange(n), np.diff(graph.weights.indptr)), graph.weights.indices)
    return LearnedGraph.of(weights, edge_columns={"frequency": np.array(frequencies)[ends]})


@pytest.mark.parametrize(
    ("frequencies", "said", "colour"),
    [
        ((1.0, 0.9, 0.6, 0.2), "3 ties, 67% of them at 90% or more", "green"),
        ((0.5, 0.2), "1 ties, 0% of them at 90% or more", "red"),
        ((0.4, 0.2), "0 ties, 0% of them at 90% or more", "red"),
    ],
)
def test_how_sure_ties_are(frequencies, said, colour):
    graph = pairs(*frequencies)
    first, leaders, stability = prose.verdicts(cut_of(graph), prose.Leaders(["ann"], ["bob"]), 0.5)
    assert first == (said, colour)
    assert leaders == ("leaders not settled", "red")
    assert stability == ("replicates agree on 50%", "amber")


def test_without_replicates_nothing_is_called_stable(signals):
    for model in (SmoothGL(), ConsensusGL(n_replicates=0)):
        graph = model.fit(signals).graph_
        found = prose.verdicts(cut_of(graph), prose.leaders(graph), model.agreement_)
        assert found[2] == ("stability not measured", "amber")
        assert "green" not in [colour for _, colour in found]


def test_a_pair_has_one_evidence_and_counts_from_one_half_on():
    columns = {"frequency": np.array([0.9, 0.3, 0.2]), "probability": np.array([0.7, 0.1, 0.7])}
    graph = LearnedGraph.of(np.array([[0, 0.4, 0.1], [0.2, 0, 0], [0, 0, 0]]), edge_columns=columns)
    cut = cut_of(graph)
    assert (cut.column, cut.share, cut.level, cut.n_ties, cut.ties.n_edges) == ("probability", True, 0.5, 1, 2)


def test_figures_are_written_for_reading():
    assert [prose.number(value) for value in (0.0123456, 12345, 3.2e-7, np.nan)] == [
        "0.0123",
        "12,345",
        "3.2e-07",
        "not known",
    ]
    assert [prose.percent(share) for share in (0.384, 3e-9)] == ["38%", "0.0000003%"]


def test_two_nodes_with_most_of_the_influence_are_pointed_out():
    star = np.zeros((20, 20))
    star[1:, 0], star[0, 1] = 0.9, 0.9
    assert prose.concentration_sentence(LearnedGraph.of(star)).startswith("0 and 1 hold 100% of all influence among 20")
    assert prose.concentration_sentence(LearnedGraph.of(np.ones((20, 20)))) == ""
    assert prose.concentration_sentence(LearnedGraph.of(np.zeros((20, 20)))) == ""


def test_nodes_with_gaps_are_marked_and_silent_ones_not_named():
    gaps = {"missing": np.array([0.0, 0.4, 0.0]), "silent": np.array([0, 1, 0])}
    graph = LearnedGraph.of(np.eye(3)[[1, 2, 1]], node_columns=gaps)
    assert [prose.gaps_mark(graph, node) for node in (0, 1)] == ["", " (40% missing)"]
    assert prose.speaking(graph).tolist() == [2, 0]


def test_the_methods_paragraph_is_read_back_from_a_page(tmp_path):
    page = tmp_path / "report.html"
    with pytest.raises(InputError, match="run nashgraph learn again"):
        prose.read_methods(page)
    page.write_text('<p class="column" id="methods">A &amp; B were tied.</p>')
    assert prose.read_methods(page) == "A & B were tied."


@pytest.mark.parametrize(
    ("model", "cited"),
    [
        (ConsensusGL(n_replicates=0), {prose.SMOOTH}),
        (ConsensusGL(n_replicates=0, benefit=np.arange(12.0)), {prose.SMOOTH, prose.GAME}),
        (SmoothGL(degree=3), {prose.SMOOTH}),
        (GLGP(degree=3, lam=0.1), {prose.GAME}),
        (GLGP(degree=3, lam=0.1, prior="diffusion"), {prose.FUNCTIONAL}),
        (LogDegreeGL(), set()),
    ],
)
def test_a_network_cites_what_it_used(model, cited):
    X = np.random.default_rng(0).normal(size=(20, 12))
    summary = summarize(model.fit(X))
    paragraph = prose.methods_paragraph(summary)
    assert {reference for reference in (prose.SMOOTH, prose.GAME, prose.FUNCTIONAL) if reference in paragraph} == cited


def test_every_reference_is_in_the_bibliography_and_the_citation_file():
    bibliography = " ".join((HOME / "CITATION.bib").read_text(encoding="utf-8").split())
    for reference in (prose.GAME, prose.FUNCTIONAL, prose.SMOOTH, prose.TIES):
        year, rest = reference.partition("(")[2].split("), ", 1)
        assert f"title = {{{rest.split(', ')[0]}" in bibliography
        assert f"year = {{{year}}}" in bibliography
    citation = (HOME / "CITATION.cff").read_text(encoding="utf-8")
    assert f'version: "{nashgraph.__version__}"' in citation
    for number in ("2410.24095", "2606.13885"):
        assert number in bibliography
        assert f"arXiv:{number}" in citation


def test_without_ties_nobody_leads():
    found = prose.leaders(LearnedGraph.of(np.zeros((4, 4)), list("abcd")))
    assert found.first == []
    assert found.sentence == "There are no ties, so nobody has influence."
