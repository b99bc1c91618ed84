"""The page on ties, answers and changes, in headless Chromium: each test fails if the page would mislead."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from nashgraph.report import summarize, write_report

from .browsing import DESKTOP, PHONE, move_slider, opened
from .models import held, karate, popular_graph
from .test_browser import edges_shown, ink


def written(tmp_path, model, **about):
    out = tmp_path / "report.html"
    write_report(summarize(model, **about), out)
    return out


@pytest.fixture(scope="module")
def known():
    """Ten nodes in a ring that is probable and seldom found; all other pairs are often found and improbable."""
    weights = np.full((10, 10), 0.1)
    np.fill_diagonal(weights, 0.0)
    target, source = np.nonzero(weights)
    ring = (np.abs(target - source) % 8) == 1
    columns = {"frequency": np.where(ring, 0.2, 0.9), "probability": np.where(ring, 0.95, 0.05)}
    model = held(weights, [f"node {k}" for k in range(10)], edge_columns=columns)
    return model, int(ring.sum()) // 2


def test_probability_decides_where_edges_have_one(browser, known, tmp_path):
    model, ties = known
    with opened(browser, written(tmp_path, model)) as page:
        assert edges_shown(page) == ties
        assert f"learned {ties} ties among 10 nodes" in page.locator("#standfirst").text_content()
        assert "probability at least 50%" in page.locator("#shown").text_content()
        assert page.evaluate("nashgraph.pairs()[0].evidence") == pytest.approx(0.95)


def test_one_network_has_one_number_of_ties(browser, consensus):
    model, out = consensus
    ties = model.suggested_.undirected().n_edges
    with opened(browser, out) as page:
        said = " ".join(page.locator(place).inner_text() for place in ("#standfirst", ".verdicts", "#shown"))
        found = re.findall(r"([\d,]+)\s+(?=ties\b|strongest pairs\b)", said)
        assert len(found) >= 3
        assert {int(count.replace(",", "")) for count in found} == {ties}
        shown = edges_shown(page)
        page.check("#directed")
        assert edges_shown(page) == shown


@pytest.fixture(scope="module")
def likert():
    """Nodes in a chain whose answers, from 1 to 5, rise along it: tied ones differ by at most one level."""
    count = 40
    answers = np.minimum(np.arange(count) // 8 + 1, 5)
    weights = np.diag(np.ones(count - 1), 1) + np.diag(np.ones(count - 1), -1)
    table = pd.DataFrame({"trust": answers}, index=[f"node {k}" for k in range(count)])
    return held(weights, list(table.index)), table


def test_ordered_answers_have_a_scale_and_neighbouring_answers_are_near(browser, likert, tmp_path):
    model, table = likert
    with opened(browser, written(tmp_path, model, columns=table)) as page:
        page.select_option("#colour", label="trust")
        swatches = page.locator("#groups .chip i").evaluate_all("all => all.map(one => one.style.backgroundColor)")
        light = [sum(map(int, re.findall(r"\d+", colour))) for colour in swatches]
        assert light == sorted(light, reverse=True)
        assert len(set(light)) == 5
        page.fill("#search", "node 8")
        page.keyboard.press("Enter")
        for place in range(page.locator(".why summary").count()):
            page.locator(".why summary").nth(place).click()
        page.wait_for_timeout(100)
        said = page.locator("#selection-text").inner_text()
        assert "2 and 1, nearer than" in said or "1 and 2, nearer than" in said
        assert "Not alike" not in said


def test_a_change_that_nobody_could_see_is_not_coloured_and_undo_takes_the_colours_back(browser, tmp_path):
    with opened(browser, written(tmp_path, karate()[0])) as page:
        page.fill("#search", "member 34")
        before = float(page.input_value("#benefit-figure"))
        page.fill("#benefit-figure", str(before * (1 + 1e-4)))
        page.click("#colour-change")
        counts = page.locator("#groups .figure").all_text_contents()
        words = page.locator("#groups bdi").all_text_contents()
        assert dict(zip(words, counts, strict=True))["no visible change (under 0.5%)"] == "34"
        assert page.locator("#colour option:checked").text_content() == "change of action, what if"
        page.click("#undo")
        assert page.locator("#colour option:checked").text_content() == "community"
        page.click("#take-out")
        page.click("#colour-change")
        words, counts = (page.locator(f"#groups {each}").all_text_contents() for each in ("bdi", ".figure"))
        after = dict(zip(words, counts, strict=True))
        share = page.evaluate("[...nashgraph.actions().after].map((y, k) => y / nashgraph.actions().before[k] - 1)")
        wanted = sum(value <= -0.05 for value in share) - 1  # one is gone
        assert int(after["at least 5% less"]) == wanted


@pytest.fixture(scope="module")
def village(tmp_path_factory):
    """Two thousand nodes: too many to draw with all their ties."""
    weights = popular_graph(2_000, 6)
    frequency = np.random.default_rng(0).random(weights.nnz)
    return written(tmp_path_factory.mktemp("village"), held(weights, edge_columns={"frequency": frequency}))


def test_cut_and_direction_change_a_large_picture_while_communities_are_closed(browser, village):
    def pictured(page):
        page.wait_for_timeout(150)
        return page.evaluate("document.getElementById('base').toDataURL()")

    with opened(browser, village) as page:
        assert page.locator("#stage").get_attribute("data-open") == "0"
        move_slider(page, "#threshold", 20)
        many = pictured(page)
        drawn = ink(page)
        page.check("#directed")
        assert pictured(page) != many
        page.uncheck("#directed")
        assert pictured(page) == many
        move_slider(page, "#threshold", 100)
        assert pictured(page) != many
        assert ink(page) < drawn


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_the_address_holds_what_is_chosen_and_back_goes_back(browser, consensus, viewport):
    _, out = consensus
    with opened(browser, out, viewport) as page:
        opening = edges_shown(page)
        move_slider(page, "#threshold", 90)
        page.fill("#search", "member 34")
        page.select_option("#colour", label="influence")
        cut, shown = page.locator("#stage").get_attribute("data-cut"), edges_shown(page)
        address = page.evaluate("location.hash")
        page.go_back()
        page.wait_for_selector("#stage[data-selected='']")
        assert edges_shown(page) == shown
        page.evaluate("history.replaceState(null, '', location.pathname)")
        page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
        assert edges_shown(page) == opening
    page = browser.new_page(viewport=viewport)
    page.goto(out.as_uri() + address)
    page.wait_for_selector("html[data-ready]")
    stage = page.locator("#stage")
    assert stage.get_attribute("data-selected") == "member 34"
    assert float(stage.get_attribute("data-cut")) == pytest.approx(float(cut))
    assert page.locator("#colour option:checked").text_content() == "influence"
    page.close()


def test_communities_are_called_by_what_sets_them_apart(browser, tmp_path):
    side = np.repeat(["north", "south"], 20)
    weights = (side[:, None] == side) * 0.05
    np.fill_diagonal(weights, 0.0)
    table = pd.DataFrame({"water": np.where(side == "north", "tap water", "well"), "coin": [0, 1] * 20})
    with opened(browser, written(tmp_path, held(weights), columns=table)) as page:
        assert set(page.locator("#groups bdi").all_text_contents()) == {"water: tap water", "water: well"}


def test_nothing_overlaps_on_paper(browser, consensus):
    _, out = consensus
    with opened(browser, out) as page:
        page.set_viewport_size({"width": 720, "height": 1000})
        page.emulate_media(media="print")
        page.wait_for_timeout(300)
        parts = "header, .stage, .evidence, .stage-figure > figcaption, .side, #facts, main > section ~ section"
        boxes = page.evaluate(
            """(parts) => [...document.querySelectorAll(parts)]
               .map((one) => ({ name: one.id || one.className, ...one.getBoundingClientRect().toJSON() }))
               .filter(({ height }) => height > 0)""",
            parts,
        )
        assert len(boxes) > 6
        for one, other in pairwise(boxes):
            assert other["top"] >= one["bottom"] - 1, (one["name"], other["name"])
        assert page.locator("#reading").is_visible()


def test_arrow_keys_go_from_node_to_node(browser, consensus):
    _, out = consensus
    with opened(browser, out) as page:
        page.locator("#stage").focus()
        page.keyboard.press("ArrowRight")
        first = page.evaluate("nashgraph.state.selected")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        last = page.evaluate("nashgraph.state.selected")
        assert first == 0 != last
        x = page.evaluate("[...nashgraph.onScreen.x]")
        assert x[last] < max(x)


def test_a_matrix_has_a_cell_for_every_tie_and_a_map_goes_by_two_columns(browser, tmp_path):
    side = np.repeat([0, 1], 20)
    weights = (side[:, None] == side) * 0.05
    np.fill_diagonal(weights, 0.0)
    table = pd.DataFrame({"age": np.linspace(20, 60, 40), "height": np.linspace(150, 190, 40)[::-1]})
    table.loc[3, "age"] = np.nan
    with opened(browser, written(tmp_path, held(weights), columns=table)) as page:
        move_slider(page, "#threshold", 0)
        page.click("#map-tab")
        page.wait_for_timeout(100)
        names = [int(name) for name in page.evaluate("nashgraph.nodes.name")]
        x, y = (np.array(page.evaluate(f"[...nashgraph.onScreen.{axis}]"), dtype=float) for axis in "xy")
        assert np.isnan(x[names.index(3)])
        seen = [k for k, name in enumerate(names) if name != 3]
        assert np.corrcoef(x[seen], table["age"].to_numpy()[names][seen])[0, 1] == pytest.approx(1, abs=1e-4)
        assert np.corrcoef(y[seen], table["height"].to_numpy()[names][seen])[0, 1] == pytest.approx(-1, abs=1e-4)
        assert "tab=map" in page.evaluate("location.hash")
        drawn = ink(page)
        page.click("#matrix-tab")
        page.wait_for_timeout(100)
        assert ink(page) != drawn
        assert page.locator("#stage").get_attribute("data-tab") == "matrix"
        dark = page.evaluate(
            """() => { const { width, height } = document.getElementById("base");
                const drawn = document.getElementById("base").getContext("2d");
                const { data } = drawn.getImageData(0, 0, width, height);
                let count = 0;
                for (let k = 0; k < data.length; k += 4) count += data[k + 3] > 200 && data[k] + data[k + 1] < 200;
                return count; }"""
        )
        cell = (min(page.locator("#stage").bounding_box()[each] for each in ("width", "height")) - 16) / 40
        assert dark == pytest.approx(2 * edges_shown(page) * cell**2, rel=0.1)
