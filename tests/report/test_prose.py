"""Sentences follow the numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nashgraph
from nashgraph import GLGP, ConsensusGL, LearnedGraph, LogDegreeGL, SmoothGL
from nashgraph.report import prose, summarize
from nashgraph.report.cut import cut_of
from nashgraph.report.html import render
from nashgraph.validation import InputError

from .models import held

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
        ((1.0, 0.9, 0.6, 0.2), "3 ties, 67% of them in at least 90% of versions", "green"),
        ((0.5, 0.2), "1 ties, 0% of them in at least 90% of versions", "red"),
        ((0.4, 0.2), "0 ties, 0% of them in at least 90% of versions", "red"),
    ],
)
def test_how_sure_ties_are(frequencies, said, colour):
    summary = summarize(held(pairs(*frequencies).weights, edge_columns=pairs(*frequencies).edge_columns))
    assert prose.ties_verdict(summary) == (said, colour)


def test_leaders_are_settled_or_not():
    assert prose.leaders_verdict(prose.Leaders(["ann"], ["bob"])) == ("leaders not settled", "red")
    assert prose.leaders_verdict(prose.Leaders(["ann"], [])) == ("leaders settled", "green")
    assert prose.leaders_verdict(prose.Leaders([], [], supported=False))[1] == "red"


def test_without_replicates_nothing_is_called_stable(signals):
    for model in (SmoothGL(), ConsensusGL(n_replicates=0)):
        summary = summarize(model.fit(signals))
        chips = prose.verdicts(summary, prose.leaders(summary.graph))
        assert chips[0] == ("not tested whether answers go together", "amber")
        assert "green" not in [colour for _, colour in chips]


def groups_and_noise():
    """Return answers of four groups, and the same answers shuffled."""
    random = np.random.default_rng(1)
    answers = random.normal(size=(8, 4))[:, np.arange(60) % 4] + 0.4 * random.normal(size=(8, 60))
    shuffled = np.array([random.permutation(row) for row in answers])
    return pd.DataFrame(answers), pd.DataFrame(shuffled)


def test_the_first_verdict_is_whether_there_is_anything():
    for table, colour in zip(groups_and_noise(), ("green", "red"), strict=True):
        summary = summarize(ConsensusGL(random_state=0).fit(table), signals=table)
        chips = prose.verdicts(summary, prose.leaders(summary.graph))
        assert chips[0][1] == colour
        assert (chips[-1][1] == "green") == (colour == "green")  # agreement is graded by its distance from chance
        assert ("Shuffled answers give a picture like this" in render(summary)) == (colour == "red")


def test_columns_stand_beside_what_shuffled_answers_give():
    table, shuffled = groups_and_noise()
    people = table.T.set_axis([f"q{k}" for k in range(8)], axis=1)
    people["village"] = np.arange(60) % 4 // 2
    signals = people.drop(columns="village").T
    real = {
        column.name: column for column in summarize(SmoothGL().fit(signals), columns=people, signals=signals).columns
    }
    assert np.mean([real[name].alike - real[name].by_chance for name in signals.index]) > 0.15
    assert real["q0"].learned_from
    assert real["village"].learned_from is False
    assert abs(real["village"].by_chance) < 0.3 < real["village"].alike
    answers = shuffled.set_axis(signals.index)
    noise = summarize(SmoothGL().fit(answers), columns=answers.T, signals=answers).columns
    assert abs(np.mean([column.alike - column.by_chance for column in noise])) < 0.1


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
