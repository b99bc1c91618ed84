"""Ways to look at the page in headless Chromium: ties, two nodes, communities and their answers, trust, and access."""

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import LearnedGraph, SmoothGL
from nashgraph.report import differences, stability_curve, summarize, write_report

from .browsing import DESKTOP, PHONE, opened
from .models import Held, exact, held, karate, popular_graph

AXE = Path(__file__).parent / "axe.min.js.gz"  # axe-core, https://github.com/dequelabs/axe-core, licence MPL 2.0


def written(folder, model, **about):
    out = folder / "report.html"
    write_report(summarize(model, **about), out)
    return out


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """Two villages of twenty, each with its water and its language, tied within; with a truth, and stability."""
    side = np.repeat([0, 1], 20)
    random = np.random.default_rng(0)
    weights = (side[:, None] == side) * random.random((40, 40)) * (random.random((40, 40)) < 0.3)
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    truth = (weights > 0) & (np.add.outer(np.arange(40), np.arange(40)) % 3 > 0)
    names = [f"person {k}" for k in range(40)]
    table = pd.DataFrame(
        {"water": np.where(side == 0, "tap", "well"), "age": 30 + 20 * side + random.normal(size=40)}, index=names
    )
    columns = {"probability": np.where(weights[weights > 0] > 0.5, 0.9, 0.6)}
    model = held(weights, names, edge_columns=columns, directed=False)
    curve = {"share": [0.5, 1.0], "agreement": [0.4, 1.0], "correlation": [0.6, 1.0], "cs": 0.25}
    folder = tmp_path_factory.mktemp("survey")
    return model, written(folder, model, columns=table, truth=LearnedGraph.of(truth, names), stability=curve)


def middle_of(page, place):
    """Return the middle of a tie's line, in the window, and the names of its ends."""
    box = page.locator("#stage").bounding_box()
    script = """(place) => { const { a, b } = nashgraph.pairs()[place], { x, y } = nashgraph.onScreen;
        return [(x[a] + x[b]) / 2, (y[a] + y[b]) / 2, nashgraph.nodes.name[a], nashgraph.nodes.name[b]]; }"""
    x, y, *ends = page.evaluate(script, place)
    return box["x"] + x, box["y"] + y, ends


def test_a_tie_is_named_under_the_pointer_and_a_click_compares_its_ends(browser, tmp_path):
    weights = np.zeros((4, 4))
    weights[0, 1] = weights[1, 0] = weights[2, 3] = weights[3, 2] = 0.4
    table = pd.DataFrame({"water": ["tap", "tap", "well", "well"], "age": [20, 21.5, 60, 61]}, index=list("abcd"))
    with opened(browser, written(tmp_path, held(weights, list("abcd")), columns=table)) as page:
        x, y, ends = middle_of(page, 0)
        page.mouse.move(x, y)
        page.wait_for_selector("#tooltip:not([hidden])")
        said = page.locator("#tooltip").text_content()
        assert f"{ends[0]} – {ends[1]}, weight 0.4" in said
        assert "of 2 answers, water first" in said
        page.mouse.click(x, y)
        assert page.locator("#selection-heading").text_content() == f"{ends[0]} and {ends[1]}"
        assert "They count as tied" in page.locator("#selection-text").text_content()
        same = page.locator(".compared tr.same th").all_text_contents()
        assert same == ["community", "influence", "water"]
        address = page.evaluate("location.hash")
        assert f"other={ends[1]}" in address
        page.keyboard.press("Escape")
        assert page.locator("#selection-heading").text_content() == ends[0]
        page.fill("#compare", next(name for name in "abcd" if name not in ends))
        assert "no sign of a tie" in page.locator("#selection-text").text_content()


def test_of_two_hubs_it_is_said_whether_their_influence_differs(browser, consensus):
    model, out = consensus
    first = model.graph_.by_influence
    differ = differences(model, most=30, nodes=first).differ
    with opened(browser, out) as page:
        page.fill("#search", model.graph_.names[first[0]])
        for other in (1, 29):
            page.fill("#compare", model.graph_.names[first[other]])
            said = page.locator("#selection-text p").first.text_content()
            assert ("Their influence differs" in said) == bool(differ[0, other])
            assert ("do not tell which" in said) != bool(differ[0, other])


def test_an_opened_community_has_a_breadcrumb_and_closes(browser, tmp_path):
    with opened(browser, written(tmp_path, held(popular_graph(2_000, 6)))) as page:
        assert page.locator("#crumbs").is_hidden()
        box = page.locator("#stage").bounding_box()
        for closing in ("Escape", "#all-communities", "outside"):
            x, y = page.evaluate("(({ x, y }) => [x, y])(nashgraph.onScreen.bubbles[0])")
            page.mouse.click(box["x"] + x, box["y"] + y)
            page.wait_for_selector("#stage[data-open='1']")
            assert page.locator("#crumb").text_content().startswith("community 1 ")
            page.wait_for_timeout(100)  # the breadcrumb moves the stage
            box = page.locator("#stage").bounding_box()
            if closing == "Escape":
                page.keyboard.press("Escape")
            elif closing == "outside":
                script = """() => { const { bubbles, width, height } = nashgraph.onScreen;
                    for (let x = 5; x < width; x += 10) for (let y = 5; y < height; y += 10)
                        if (bubbles.every((at) => Math.hypot(at.x - x, at.y - y) > at.r + 9)) return [x, y]; }"""
                x, y = page.evaluate(script)
                page.mouse.click(box["x"] + x, box["y"] + y)
            else:
                page.click(closing)
            page.wait_for_selector("#stage[data-open='0']")
            page.wait_for_timeout(100)
            box = page.locator("#stage").bounding_box()


def test_communities_and_answers_are_a_table_and_trust_has_its_charts(browser, survey):
    _, out = survey
    with opened(browser, out) as page:
        cells = page.locator("#profile-table tbody tr").first.locator("td bdi").all_text_contents()
        assert cells[0] in ("tap 100%", "well 100%")
        heads = page.locator("#profile-table thead bdi").all_text_contents()
        assert heads[:4] == ["Community", "Nodes", "water", "age"]
        for chart in ("stability", "calibration", "scores"):
            assert page.locator(f"#{chart} svg path.curve").count() >= 1, chart
        assert "up to 25% dropped" in page.locator("#stability figcaption").text_content()


def test_the_methods_paragraph_is_copied(browser, survey):
    with opened(browser, survey[1], permissions=["clipboard-read", "clipboard-write"]) as page:
        page.click("#copy-methods")
        page.wait_for_selector("#copy-methods:text-is('Copied')")
        assert page.evaluate("navigator.clipboard.readText()").startswith("A network of 40 nodes was learned")


def test_nobody_stands_out_if_the_signals_do_not_tell_who_is_influential(browser, tmp_path):
    graph = LearnedGraph.of(nx.to_numpy_array(nx.star_graph(80)), influence_supported=False)
    model = Held(graph, exact())
    model._become(graph.names)
    model.adjacency_ = graph.weights
    with opened(browser, written(tmp_path, model)) as page:
        radii = page.evaluate("[...nashgraph.onScreen.r]")
        assert min(radii) == max(radii)
        heads = page.locator("#nodes thead bdi").all_text_contents()
        assert not {"Influence", "Rank", "90% interval"} & set(heads)
        assert "influence" not in page.locator("#colour").inner_text()
        assert "most influential" not in page.locator("#nodes-sentence").text_content()


@pytest.mark.parametrize(("scheme", "viewport"), [("light", DESKTOP), ("dark", PHONE)])
def test_axe_finds_nothing(browser, survey, consensus, viewport, scheme, tmp_path):
    model, path = karate()
    pages = [survey[1], consensus[1], written(tmp_path, model, path=path)]
    for out in pages:
        with opened(browser, out, viewport, color_scheme=scheme) as page:
            page.evaluate(gzip.decompress(AXE.read_bytes()).decode())
            page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
            found = page.evaluate("axe.run()")["violations"]
            page.locator("#nodes button.node").first.click()
            found += page.evaluate("axe.run()")["violations"]
            assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found] == []


def test_a_stability_curve_can_drop_signals_or_nodes():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3)) @ np.kron(np.eye(3), np.ones(4)) + 0.5 * random.normal(size=(200, 12))
    model = SmoothGL(degree=3).fit(X)
    for drop in ("signals", "nodes"):
        curve = stability_curve(model, X, shares=(0.5, 1.0), drop=drop, repeats=3)
        assert curve["agreement"][0] < curve["agreement"][1] == 1.0
        assert 0.0 <= float(curve["cs"]) <= 0.5
