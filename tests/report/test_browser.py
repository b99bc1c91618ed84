"""The report as a reader sees it, in headless Chromium: it works, it is safe, and it sends no requests."""

import re

import numpy as np
import pandas as pd
import pytest

from nashgraph.certificate import Measure, Monitor
from nashgraph.report import summarize, write_report

from ..commands import run
from .browsing import DESKTOP, PHONE, brightness, edges_shown, ink, move_slider, names_listed, opened
from .models import HOSTILE, IMAGE, SCRIPT, held, karate, popular_graph

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

ARABIC, EMOJI = HOSTILE[5], HOSTILE[4]


@pytest.fixture(scope="module")
def club(tmp_path_factory):
    model, path = karate()
    out = tmp_path_factory.mktemp("club") / "report.html"
    write_report(summarize(model, title="The karate club", source="club.csv", path=path, scores={"AUC": 0.79}), out)
    return out


def test_a_report_draws_the_network_and_every_chart(browser, club):
    with opened(browser, club) as page:
        assert page.title() == "The karate club"
        assert ink(page) > 20_000
        assert page.locator("#evidence rect").count() > 20
        assert page.locator("#history-chart svg path.curve").count() == 1
        assert page.locator("#front-chart svg circle.point").count() == 7
        assert page.locator("#nodes tbody tr").count() == 15


def test_what_the_demo_writes_works(browser, tmp_path):
    assert run("demo", "--out", tmp_path).exit_code == 0
    edges = pd.read_csv(tmp_path / "edges.csv")
    with opened(browser, tmp_path / "report.html") as page:
        assert ink(page) > 20_000
        page.fill("#search", "member 34")
        both_ways = edges[(edges["source"] == "member 34") | (edges["target"] == "member 34")]
        other = both_ways["source"].where(both_ways["source"] != "member 34", both_ways["target"])
        heaviest = both_ways["weight"].groupby(other).sum().sort_values(ascending=False)
        assert names_listed(page)[:3] == heaviest.index[:3].tolist()


def test_search_selects_a_node_and_lists_its_strongest_ties(browser, club):
    model, _ = karate()
    ties = model.edges()
    with opened(browser, club) as page:
        page.check("#directed")
        page.fill("#search", "member 34")
        assert page.locator("#stage").get_attribute("data-selected") == "member 34"
        assert page.locator("#selection-heading").text_content() == "member 34"
        listens = ties[ties["target"] == "member 34"]["source"].head(5).tolist()
        followers = ties[ties["source"] == "member 34"]["target"].head(5).tolist()
        assert names_listed(page) == listens + followers
        assert "member 34 is selected" in page.locator("#status").text_content()
        assert ink(page, "overlay") > 1_000
        page.keyboard.press("Escape")
        assert page.locator("#stage").get_attribute("data-selected") == ""
        assert page.input_value("#search") == ""
        for _ in range(40):  # the next frame clears it, which a busy machine may draw late
            if ink(page, "overlay") == 0:
                break
            page.wait_for_timeout(50)
        assert ink(page, "overlay") == 0
        page.fill("#search", "MEMBER 3")
        page.keyboard.press("Enter")
        assert page.locator("#stage").get_attribute("data-selected") == "member 3"


def test_columns_of_edges_and_nodes_stand_beside_the_ties_and_the_node(browser, tmp_path):
    weights = np.array([[0.0, 0.4, 0.2], [0.6, 0.0, 0.0], [0.0, 0.6, 0.0]])
    frequency = np.array([0.9, 0.1, 0.7, 0.5])  # of 1 -> 0, 2 -> 0, 0 -> 1, 1 -> 2
    district = np.array([SCRIPT, "north", "south"], dtype=object)
    columns = {"node_columns": {"district": district}, "edge_columns": {"frequency": frequency}}
    out = tmp_path / "report.html"
    write_report(summarize(held(weights, ["ann", "bob", "eve"], **columns)), out)
    with opened(browser, out) as page:
        page.check("#directed")
        page.fill("#search", "ann")
        assert f"district{SCRIPT}" in page.locator("#selection-text dl").text_content()
        ties = page.locator("#selection-text .ties .figure")
        assert ties.all_text_contents() == [
            *("strong, in 90% of versions", "weight 0.4"),
            *("weak, in 10% of versions", "weight 0.2"),
            *("strong, in 70% of versions", "weight 0.6"),
        ]
        page.uncheck("#directed")
        assert ties.all_text_contents() == [
            "strong, in 80% of versions",
            "weight 0.5",
            "weak, in 5% of versions",
            "weight 0.1",
        ]


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_the_cut_shows_the_ties_that_are_sure_enough(browser, consensus, viewport, tmp_path):
    graph, out = consensus[0].graph_, tmp_path / "report.html"
    shares = {"frequency": graph.edge_columns["frequency"]}  # a share, unlike evidence
    write_report(summarize(held(graph.weights, edge_columns=shares)), out)
    frequency = graph.undirected().edges()["frequency"]
    ties = int((frequency >= 0.5).sum())
    with opened(browser, out, viewport) as page:
        assert edges_shown(page) <= 2.5 * 34  # two or three lines a node at first
        for percent in (50, 80, 100, 0):
            move_slider(page, "#threshold", percent)
            count = int((frequency >= percent / 100 - 1e-4).sum())
            assert edges_shown(page) == pytest.approx(count, abs=1)  # the page has four figures
            said = page.locator("#shown").text_content()
            assert f"frequency at least {percent}%" in said
            assert ("All" if percent == 50 else f"{edges_shown(page):,}") in said
            assert f"{ties:,}" in said
        move_slider(page, "#threshold", 90)
        page.wait_for_timeout(100)
        few = ink(page)
        move_slider(page, "#threshold", 0)
        page.wait_for_timeout(100)
        assert ink(page) > few


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_hubs_and_nodes_have_their_intervals(browser, consensus, viewport):
    model, out = consensus
    first = model.graph_.nodes().iloc[0]
    with opened(browser, out, viewport) as page:
        headings = page.locator("#nodes thead th").all_text_contents()
        assert headings[:4] == ["Node", "Influence", "90% interval", "Rank"]
        row = page.locator("#nodes tbody tr").first.locator("td").all_text_contents()
        assert row[1].strip() == f"{first.influence_low:.2f} to {first.influence_high:.2f}"
        assert row[2].strip() == f"{first.rank_low} to {first.rank_high}"
        page.fill("#search", str(first["name"]))
        facts = page.locator("#selection-text dl").first.inner_text().split("\n")
        assert f"{first.influence_low:.3g} to {first.influence_high:.3g}" in facts[1]
        assert facts[3] == f"1, {first.rank_low} to {first.rank_high}"
        tie = page.locator("#selection-text .ties li").first
        assert "of versions" in tie.text_content()
        assert re.search(r"weight [\d.]+ \(90%: [\d.]+ to [\d.]+\)", tie.text_content())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_curve_begins_at_its_first_known_value(browser, tmp_path):
    monitor = Monitor(Measure.GAP, tol=1e-3, max_iter=5)
    monitor.check(0, 3.0, np.inf)
    monitor.check(1, 2.0, 0.5)
    out = tmp_path / "report.html"
    write_report(summarize(held(popular_graph(12), certificate=monitor.certificate(monitor.check(2, 2.0, 5e-4)))), out)
    with opened(browser, out) as page:
        chart = page.locator("#history-chart svg")
        assert "duality gap" in chart.text_content()
        assert chart.locator("path.curve").get_attribute("d").count("L") == 1


def test_hub_buttons_and_listed_neighbours_select_too(browser, club):
    with opened(browser, club) as page:
        button = page.locator("#nodes button.node").nth(2)
        name = button.text_content()
        button.focus()
        page.keyboard.press("Enter")
        assert page.locator("#selection-heading").text_content() == name
        neighbour = names_listed(page)[0]
        page.locator("#selection-text button.node").first.click()
        assert page.locator("#selection-heading").text_content() == neighbour


def test_hovering_shows_the_name_and_clicking_selects(browser, club):
    with opened(browser, club) as page:
        page.locator("#network").scroll_into_view_if_needed()
        page.evaluate("document.getElementById('network').scrollIntoView({behavior: 'instant'})")
        box = page.locator("#stage").bounding_box()
        spot = page.evaluate("({x: nashgraph.onScreen.x[0], y: nashgraph.onScreen.y[0]})")
        page.mouse.move(box["x"] + spot["x"], box["y"] + spot["y"])
        assert page.locator("#tooltip").is_visible()
        name = page.locator("#tooltip").text_content()
        page.mouse.down()
        page.mouse.up()
        assert page.locator("#stage").get_attribute("data-selected") == name
        assert name == page.locator("#nodes button.node").first.text_content()


def test_the_cut_of_a_graph_without_frequencies_is_by_weight(browser, club):
    weights = karate()[0].graph_.undirected().edges()["weight"]
    with opened(browser, club) as page:
        move_slider(page, "#threshold", 0)
        assert edges_shown(page) == len(weights)
        assert f"All {len(weights)} ties shown: weight at least" in page.locator("#shown").text_content()
        move_slider(page, "#threshold", 50)
        assert edges_shown(page) == pytest.approx((weights >= 0.25 * weights.max()).sum(), abs=1)
        page.check("#directed")
        assert edges_shown(page) == pytest.approx((weights >= 0.25 * weights.max()).sum(), abs=1)  # one number


def test_the_lambda_slider_redraws_the_network_on_the_same_places(browser, club):
    with opened(browser, club) as page:
        before, places = edges_shown(page), page.evaluate("[[...nashgraph.onScreen.x], [...nashgraph.onScreen.y]]")
        marker = page.locator("#front-chart .marker").get_attribute("cx")
        assert "λ = 0.3: the graph of this report" in page.locator("#lam-said").text_content()
        page.locator("#lam").focus()
        page.keyboard.press("End")
        page.wait_for_selector("#stage[data-view='6']")
        path = karate()[1]
        move_slider(page, "#threshold", 0)
        assert edges_shown(page) == path.models[-1].graph_.undirected().n_edges != before
        assert float(page.locator("#stage").get_attribute("data-lam")) == pytest.approx(path.lams[-1], rel=1e-5)
        assert page.locator("#front-chart .marker").get_attribute("cx") != marker
        assert page.evaluate("[[...nashgraph.onScreen.x], [...nashgraph.onScreen.y]]") == places


def test_light_and_dark_follow_the_system_and_the_button(browser, club):
    background = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, club, color_scheme="dark") as page:
        dark = page.evaluate(background)
        assert page.locator("#theme").text_content() == "Light page"
        page.click("#theme")
        light = page.evaluate(background)
        assert brightness(light) > 0.9
        assert brightness(dark) < 0.2
        assert page.evaluate("nashgraph.onScreen.colours.paper") == "#fcfbf8"
    with opened(browser, club, color_scheme="light") as page:
        assert page.evaluate(background) == light


def test_a_phone_shows_everything_without_scrolling_sideways(browser, club, hostile):
    for file in (club, hostile):
        with opened(browser, file, viewport=PHONE, has_touch=True) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= 375
            box = page.locator("#stage").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 375


def test_every_control_is_reached_by_the_keyboard(browser, club):
    with opened(browser, club) as page:
        reached = []
        for _ in range(20):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
        wanted = [
            "skip",
            "share",
            "theme",
            "search",
            "colour",
            "directed",
            "nearer",
            "farther",
            "whole",
            "network-tab",
            "matrix-tab",
            "stage",
            "threshold",
            "chip",
        ]
        assert list(dict.fromkeys(reached))[: len(wanted)] == wanted
        for control in ("search", "colour", "threshold", "directed", "lam", "sift"):
            assert page.locator(f"label[for={control}]").count() == 1


def test_zoom_buttons_move_nearer_and_back(browser, club):
    with opened(browser, club) as page:
        page.click("#nearer")
        assert page.evaluate("nashgraph.camera.transform.k") == pytest.approx(1.5)
        page.click("#whole")
        assert page.evaluate("nashgraph.camera.transform.k") == 1


def test_paper_is_light_has_the_drawing_and_no_controls(browser, club):
    with opened(browser, club, color_scheme="dark") as page:
        page.wait_for_selector("#printed[width='2160']", state="attached")
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator(".controls").first.is_hidden()
        assert page.locator("#theme").is_hidden()
        assert page.locator("#printed").is_visible()
        assert page.locator("#base").is_hidden()
        assert ink(page, "printed") > 20_000
        assert page.evaluate("nashgraph.onPaper.colours.ink") == "#1f252b"
        assert page.pdf(format="A4").count(b"/Subtype /Image") >= 1


def test_hostile_names_are_shown_as_typed_and_do_nothing(browser, hostile):
    with opened(browser, hostile) as page:
        assert page.title() == SCRIPT
        assert page.locator("h1").text_content() == SCRIPT
        assert page.locator("#notes li").first.text_content() == SCRIPT
        for name in HOSTILE[:8]:
            page.fill("#search", name)
            page.keyboard.press("Enter")
            assert page.locator("#selection-heading").text_content() == name
            assert names_listed(page)
        page.select_option("#colour", label=SCRIPT)
        assert page.locator("#groups bdi").all_text_contents() == ["</script>", IMAGE]
        page.fill("#search", SCRIPT)
        page.locator(".why summary").first.click()
        playwright.expect(page.locator(".why").first).to_contain_text(f"{SCRIPT}: ")
        page.locator("#nodes button.node").nth(3).click()
        assert (
            page.locator("#nodes tbody bdi").nth(3).text_content() == page.locator("#selection-heading").text_content()
        )
        page.fill("#search", "long long")
        page.keyboard.press("Enter")
        assert len(page.locator("#selection-heading").text_content()) == 200


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_ten_thousand_nodes_are_bubbles_that_open_and_all_are_found(browser, hostile, viewport):
    with opened(browser, hostile, viewport) as page:
        stage = page.locator("#stage")
        communities = int(page.locator("#bubbles-said").text_content().split()[0])
        assert communities > 5
        assert stage.get_attribute("data-nodes") == "10000"
        assert "all 10,000 nodes" in page.locator("#left-out").text_content()
        assert ink(page) > 30_000
        page.evaluate("document.getElementById('network').scrollIntoView({behavior: 'instant'})")
        box, spot = stage.bounding_box(), page.evaluate("nashgraph.onScreen.bubbles[0]")
        page.mouse.click(box["x"] + spot["x"], box["y"] + spot["y"])
        assert stage.get_attribute("data-open") == "1"
        assert page.evaluate("nashgraph.camera.transform.k") > 2
        page.fill("#search", "household 9")
        assert page.locator("#names option").count() == 20
        page.fill("#search", "household 9980")
        assert page.locator("#selection-heading").text_content() == "household 9980"
        assert page.evaluate("nashgraph.isOpen(nashgraph.state.selected)")
        assert len(names_listed(page)) >= 5
        page.click("#open-all")
        assert stage.get_attribute("data-open") == "0"
        page.click("#open-all")
        assert stage.get_attribute("data-open") == str(communities)


@pytest.mark.parametrize("weights", [np.zeros((4, 4)), np.ones((5, 5)) - np.eye(5)], ids=["no edges", "mutual"])
def test_odd_graphs_open_without_an_error(browser, tmp_path, weights):
    out = tmp_path / "report.html"
    write_report(summarize(held(weights)), out)
    with opened(browser, out) as page:
        assert edges_shown(page) == np.count_nonzero(weights) // 2
        assert not page.is_checked("#directed")
        page.locator("#nodes button.node").first.click()
        assert page.locator("#selection-heading").text_content() == "0"


def test_text_in_both_directions_is_kept_apart(browser, hostile):
    with opened(browser, hostile) as page:
        page.fill("#search", ARABIC)
        page.keyboard.press("Enter")
        heading = page.locator("#selection-heading")
        assert heading.evaluate("heading => getComputedStyle(heading).direction") == "rtl"
        page.fill("#search", EMOJI)
        page.keyboard.press("Enter")
        assert heading.text_content() == EMOJI
        assert heading.evaluate("heading => getComputedStyle(heading).direction") == "ltr"
