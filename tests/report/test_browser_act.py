"""Interventions and what-ifs in the page, in headless Chromium: the game in the page is Python's."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from nashgraph import GamePrior, key_players
from nashgraph.games import INTERACTIONS, WELFARES, WeightedTotal
from nashgraph.priors import equilibrium
from nashgraph.report import summarize, write_report
from nashgraph.report.game import PLAYED
from nashgraph.report.prose import number

from .browsing import DESKTOP, PHONE, move_slider, opened
from .models import held, karate


@pytest.fixture(scope="module")
def players(tmp_path_factory):
    """The karate club with a page that shows all about its game."""
    model, out = karate()[0], tmp_path_factory.mktemp("players") / "report.html"
    write_report(summarize(model, title="The karate club"), out)
    return model, out


def played(model, interaction, gone=(), **given):
    """Return the equilibrium by Python, in the page's order, without some nodes and with given benefits."""
    graph = model.graph_
    weights, benefit = graph.weights.toarray(), pd.Series(graph.node_columns["benefit"], graph.names)
    left = ~np.isin(graph.names.astype(str), gone)
    for name, value in given.items():
        benefit[name] = value
    actions = equilibrium(weights * left * left[:, None], benefit.to_numpy() * left, interaction)
    return actions[graph.by_influence]


def test_the_page_plays_the_game_as_python_does(browser, players):
    model, out = players
    solve = "([given, gone]) => [...nashgraph.equilibriumOf({...nashgraph.game, ...given}, new Set(gone))]"
    with opened(browser, out) as page:
        names = page.evaluate("nashgraph.nodes.name")
        gone = names[3]
        assert {*page.evaluate("Object.keys(nashgraph.INTERACTIONS)")} == PLAYED["interaction"] == {*INTERACTIONS}
        assert {*page.evaluate("Object.keys(nashgraph.WELFARES)")} == PLAYED["welfare"] == {*WELFARES, "weighted"}
        for interaction in INTERACTIONS:
            found = page.evaluate(solve, [{"interaction": interaction}, [3]])
            np.testing.assert_allclose(found, played(model, interaction, [gone]), rtol=1e-6, atol=1e-12)
        actions = played(model, "log1p")
        counts = np.arange(34.0)
        for name, welfare in {**WELFARES, "weighted": lambda: WeightedTotal(counts)}.items():
            found = page.evaluate(
                "([welfare, counts]) => nashgraph.welfareOf({...nashgraph.game, welfare, counts}, "
                "nashgraph.actions().before)",
                [name, counts.tolist()],
            )
            assert found == pytest.approx(welfare().value(actions), rel=1e-6)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_what_if_somebody_is_gone_or_gains_more_by_acting(browser, players, viewport):  # noqa: PLR0915 (one load)
    model, out = players
    with opened(browser, out, viewport) as page:
        box, said = page.locator("#what-if"), page.locator("#welfare-said")

        def agrees(actions):
            np.testing.assert_allclose(page.evaluate("[...nashgraph.actions().after]"), actions, rtol=1e-6, atol=1e-12)
            assert float(box.get_attribute("data-welfare")) == pytest.approx(actions.sum(), rel=1e-6)

        before = played(model, "log1p")
        names = np.array(page.evaluate("nashgraph.nodes.name"))
        assert box.is_hidden()
        page.fill("#search", "member 34")
        assert said.text_content() == f"Welfare {number(before.sum())}."
        page.locator("#take-out").focus()
        page.keyboard.press("Enter")  # by the keyboard alone
        agrees(without := played(model, "log1p", ["member 34"]))
        assert page.locator("#take-out").text_content() == "Put back member 34"
        assert page.locator("#benefit").is_disabled()
        assert f"Welfare {number(before.sum())} → {number(without.sum())} (−" in said.text_content()
        order = [node for node in np.argsort(without - before) if names[node] != "member 34"]
        lists = page.locator("#moved ol")
        assert lists.count() == 1  # nobody's action increases
        assert lists.locator("bdi").all_text_contents() == names[order[:5]].tolist()
        assert page.locator("#moved p").text_content() == "nobody"

        page.fill("#search", "member 1")
        page.fill("#benefit-figure", "0.5")
        agrees(more := played(model, "log1p", ["member 34"], **{"member 1": 0.5}))
        then = more[names.tolist().index("member 1")]
        assert f"action, what if\n{number(then)}" in page.locator("#selection-text dl").first.inner_text()
        most = np.argsort(before - more)[:5]
        assert lists.first.locator("bdi").all_text_contents() == names[most[more[most] > before[most]]].tolist()
        move_slider(page, "#benefit", 0)
        agrees(played(model, "log1p", ["member 34"], **{"member 1": 0.0}))
        page.click("#colour-change")
        chips = dict(
            zip(page.locator("#groups bdi").all_text_contents(), page.locator("#groups .figure").all(), strict=True)
        )
        assert chips["gone"].text_content() == "1"
        with page.expect_download() as waiting:
            page.click("#save-svg")
        picture = ElementTree.parse(waiting.value.path()).getroot()
        assert "gone (1)" in {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
        page.fill("#benefit-figure", "-1")
        assert page.get_attribute("#benefit-figure", "aria-invalid") == "true"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

        page.click("#undo")  # both steps of one benefit are one change
        agrees(without)
        page.click("#reset")
        agrees(before)
        assert page.locator("#reset").is_disabled()
        page.click("#undo")
        agrees(without)
        page.click("#clear")
        page.locator("#moved .changes button:not(.node)").click()
        agrees(before)
        assert box.is_hidden()


def test_a_game_without_an_equilibrium_says_so(browser, tmp_path):
    weights = np.array([[0.0, 0.9, 0.3], [0.9, 0.0, 0.3], [0.3, 0.3, 0.0]])
    columns = {"benefit": np.ones(3), "action": np.ones(3)}
    model = held(weights, ["ann", "bob", "eve"], node_columns=columns)
    model.game_ = GamePrior(benefit=np.ones(3), interaction="linear")
    model.graph = replace(model.graph, prior=model.game_)
    write_report(summarize(model, interventions=True), tmp_path / "report.html")
    with opened(browser, tmp_path / "report.html") as page:
        assert "No interventions: the game on W has no equilibrium" in page.locator("#act-caution").text_content()
        assert "There is no equilibrium" in page.locator("#welfare-said").text_content()
        page.fill("#search", "bob")
        page.click("#take-out")
        actions = equilibrium(np.array([[0.0, 0.3], [0.3, 0.0]]), np.ones(2), "linear")
        assert float(page.locator("#what-if").get_attribute("data-welfare")) == pytest.approx(actions.sum(), rel=1e-6)
        assert "before there was no equilibrium" in page.locator("#welfare-said").text_content()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_an_intervention_is_a_table_whose_names_go_to_the_node(browser, consensus, viewport):
    model, out = consensus
    losses = key_players(model)
    with opened(browser, out, viewport) as page:
        table = page.locator("#act table").first
        assert table.locator("bdi").all_text_contents() == losses["name"].head(5).tolist()
        assert table.locator("tbody tr").first.locator("td").first.text_content() == number(losses["loss"][0])
        table.locator("button").nth(1).click()
        assert page.locator("#stage").get_attribute("data-selected") == losses["name"][1]
        worth = page.locator("#selection-text dl").first.inner_text()
        assert f"loss of welfare if gone\n{number(losses['loss'][1])}" in worth
        page.select_option("#colour", label="worth of a unit of benefit")
        assert page.locator("#groups .chip").count() == 5
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
