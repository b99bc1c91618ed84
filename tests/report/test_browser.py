"""The report as a reader sees it, in headless Chromium: it works, it is safe, and it asks nothing of the network."""

from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph.certificate import Measure, Monitor
from nashgraph.report import summarize, write_report

from ..commands import run
from .browsing import DESKTOP, PHONE, move_slider, opened
from .models import HOSTILE, IMAGE, SCRIPT, held, karate, popular_graph

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

ARABIC, EMOJI = HOSTILE[5], HOSTILE[4]


@pytest.fixture(scope="module")
def club(tmp_path_factory):
    model, path = karate()
    out = tmp_path_factory.mktemp("club") / "report.html"
    write_report(summarize(model, title="The karate club", source="club.csv", path=path, scores={"AUC": 0.79}), out)
    return out


PEOPLE = [f"lawyer {k + 1}" for k in range(71)]


@pytest.fixture(scope="module")
def firm(tmp_path_factory):
    """A firm of 71 with a table, of which two answers are in step with the ties and one is not, and its true ties."""
    random = np.random.default_rng(0)
    office = np.repeat(["Boston", "Hartford", "Providence"], [40, 20, 11])
    alike = (office[:, None] == office) & (random.random((71, 71)) < 0.3)
    weights = np.where(alike | (random.random((71, 71)) < 0.02), random.random((71, 71)), 0.0)
    np.fill_diagonal(weights, 0.0)
    table = pd.DataFrame(
        {
            "office": office,
            "age": 30.0 + 10 * (office == "Boston") + 5 * random.random(71),
            "coin": random.integers(0, 2, 71),
        },
        index=PEOPLE,
    )
    table.loc["lawyer 7", ["age", "coin"]] = np.nan
    truth = nx.path_graph(PEOPLE, nx.Graph)
    out = tmp_path_factory.mktemp("firm") / "report.html"
    model = held(weights, PEOPLE)
    write_report(summarize(model, title="A firm", columns=table, truth=truth, scores={"AUC": 0.6}), out)
    return model, table, truth, out


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    names = [*HOSTILE, *(f"household {k}" for k in range(10_000 - len(HOSTILE)))]
    out = tmp_path_factory.mktemp("hostile") / "report.html"
    model = held(popular_graph(10_000), names)
    answers = pd.DataFrame({SCRIPT: [IMAGE, "</script>"] * 5_000})  # in the order of the nodes
    about = {"title": SCRIPT, "source": IMAGE, "notes": [SCRIPT, IMAGE], "parameters": {SCRIPT: IMAGE}}
    write_report(summarize(model, columns=answers, **about), out)
    return out


def edges_shown(page):
    return int(page.locator("#stage").get_attribute("data-edges"))


def ink(page, canvas="base"):
    """Return how many pixels of a canvas are drawn on."""
    return page.evaluate(
        """(id) => {
            const drawn = document.getElementById(id);
            const copy = new OffscreenCanvas(drawn.width, drawn.height).getContext("2d", {willReadFrequently: true});
            copy.drawImage(drawn, 0, 0);
            const pixels = copy.getImageData(0, 0, drawn.width, drawn.height).data;
            let count = 0;
            for (let k = 3; k < pixels.length; k += 4) count += pixels[k] > 0;
            return count;
        }""",
        canvas,
    )


def pixel(page, node):
    """Return the colour of a node's circle, as it is drawn."""
    return page.evaluate(
        """(node) => {
            const canvas = document.getElementById("base");
            const { x, y, width } = nashgraph.onScreen;
            const at = [x[node], y[node]].map((place) => Math.round((canvas.width / width) * place));
            const { data } = canvas.getContext("2d").getImageData(...at, 1, 1);
            return `rgb(${[...data].slice(0, 3).join(", ")})`;
        }""",
        node,
    )


def brightness(colour):
    """Return how bright an "rgb(r, g, b)" is, 1 for white."""
    return sum(map(int, colour[4:-1].split(","))) / (3 * 255)


def names_listed(page):
    return page.locator("#selection-text .ties bdi").all_text_contents()


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
        page.check("#directed")
        page.fill("#search", "member 34")
        followers = edges[edges["source"] == "member 34"]["target"].head(5).tolist()
        assert names_listed(page)[5:] == followers


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
        assert ties.all_text_contents() == ["0.4", "frequency 0.9", "0.2", "frequency 0.1", "0.6", "frequency 0.7"]
        page.uncheck("#directed")
        assert ties.all_text_contents() == ["0.5", "frequency 0.8", "0.1", "frequency 0.05"]


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
        note = page.locator("#selection-text .ties small").first.text_content()
        assert " to " in note
        assert "frequency" in note
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
    write_report(summarize(held(weights), directed=False), out)
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


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_the_network_is_above_the_fold(browser, firm, viewport):
    with opened(browser, firm[-1], viewport) as page:
        box = page.locator("#stage").bounding_box()
        seen = min(box["y"] + box["height"], viewport["height"]) - box["y"]
        assert seen > 0.9 * box["height"]
        assert box["height"] > 300


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_an_exact_name_comes_first_and_an_unknown_one_is_said(browser, firm, viewport):
    with opened(browser, firm[-1], viewport) as page:
        selected = page.locator("#stage")
        for typed, name in (("lawyer 7", "lawyer 7"), ("LAWYER 1", "lawyer 1"), ("yer 71", "lawyer 71")):
            page.fill("#search", typed)
            page.keyboard.press("Enter")
            assert selected.get_attribute("data-selected") == name
        page.fill("#search", "lawyer")
        page.keyboard.press("Enter")
        assert selected.get_attribute("data-selected").startswith("lawyer ")
        assert "The best match for “lawyer”; others: lawyer " in page.locator("#found").inner_text()
        page.fill("#search", "lawyer 7")
        page.fill("#search", "nobody")
        assert page.locator("#found").inner_text() == "No node is called “nobody”."
        assert page.locator("#selection").is_hidden()
        assert page.get_attribute("#search", "aria-invalid") == "true"


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_circles_are_coloured_and_filtered_by_any_column(browser, firm, viewport):
    _, table, _, out = firm
    with opened(browser, out, viewport) as page:
        assert page.locator("#colour option").all_text_contents() == [
            "community",
            "influence",
            "share of answers missing",
            *table.columns,
            "nothing",
        ]
        page.select_option("#colour", label="office")
        chips = page.locator("#groups .chip")
        assert [text.strip() for text in chips.all_text_contents()] == ["Boston40", "Hartford20", "Providence11"]
        page.wait_for_timeout(100)
        name = page.evaluate("nashgraph.nodes.name[0]")
        swatch = chips.nth(["Boston", "Hartford", "Providence"].index(table.loc[name, "office"])).locator("i")
        assert pixel(page, 0) == swatch.evaluate("swatch => getComputedStyle(swatch).backgroundColor")
        chips.nth(1).click()
        assert "20 of 71 nodes are picked out" in page.locator("#groups-said").text_content()
        assert "15 of 20 shown" in page.locator("#rows-said").text_content()
        assert chips.nth(1).get_attribute("aria-pressed") == "true"
        page.select_option("#colour", label="age")
        assert chips.count() == 6  # five groups of years, and those of whom it is not known
        assert chips.last.text_content() == "not known1"
        drives = page.locator("#drives-list li").all_text_contents()
        assert drives[0].startswith("office")
        assert drives[-1].startswith("coin")
        page.locator("#drives-list button").first.click()
        assert chips.first.text_content() == "Boston40"


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_a_click_goes_to_the_neighbourhood_and_says_why_its_ties_are_there(browser, firm, viewport):
    model, table, _, out = firm
    with opened(browser, out, viewport) as page:
        page.evaluate("document.getElementById('network').scrollIntoView({behavior: 'instant'})")
        box = page.locator("#stage").bounding_box()
        spot = page.evaluate("({x: nashgraph.onScreen.x[70], y: nashgraph.onScreen.y[70]})")
        page.mouse.click(box["x"] + spot["x"], box["y"] + spot["y"])
        name = page.locator("#stage").get_attribute("data-selected")
        assert name == model.graph_.nodes()["name"].iloc[70]
        assert page.evaluate("nashgraph.camera.transform.k") > 1
        assert page.evaluate("getComputedStyle(document.getElementById('base')).opacity") == "0.16"
        other = names_listed(page)[0]
        page.locator(".why summary").first.click()
        mine, theirs = table.loc[name, "office"], table.loc[other, "office"]
        said = f"both {mine} (" if mine == theirs else f"{mine} and {theirs}"
        playwright.expect(page.locator(".why").first).to_contain_text(said)  # it is made when it opens
        page.fill("#search", "lawyer 7")
        page.locator(".why summary").first.click()
        playwright.expect(page.locator(".why").first).to_contain_text("of 1 answers; 2 not answered by both")
        page.click("#clear")
        assert page.evaluate("nashgraph.camera.transform.k") == 1


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_lines_are_right_wrong_or_missed(browser, firm, viewport):
    model, _, truth, out = firm
    shown = {frozenset(pair) for pair in model.edges()[["source", "target"]].to_numpy().tolist()}
    true = {frozenset(pair) for pair in truth.edges()}
    with opened(browser, out, viewport) as page:
        move_slider(page, "#threshold", 0)
        counts = {
            name: int(page.locator("#stage").get_attribute(f"data-{name}")) for name in ("right", "wrong", "missed")
        }
        assert counts == {"right": len(shown & true), "wrong": len(shown - true), "missed": len(true - shown)}
        assert f"Of 70 true ties {counts['right']} are shown" in page.locator("#checked-said").text_content()
        assert "missed" in page.locator("#legend").text_content()
        page.fill("#search", "lawyer 30")
        followers = page.locator("#selection-text .ties").last.locator("li")
        for name, note in zip(
            followers.locator("bdi").all_text_contents(), followers.locator("small").all_text_contents(), strict=True
        ):
            assert note == ("true" if truth.has_edge("lawyer 30", name) else "not true")
        page.keyboard.press("Escape")
        assert "AUC" in page.locator("#facts").inner_text()
        page.wait_for_timeout(100)
        checked = ink(page)
        page.uncheck("#checked")
        page.wait_for_timeout(100)
        assert ink(page) < checked  # without the lines that were missed


def test_all_nodes_are_in_a_table_to_sort_and_search(browser, firm):
    _, table, _, out = firm
    with opened(browser, out) as page:
        rows = page.locator("#nodes tbody tr")
        assert page.locator("#rows-said").text_content() == "15 of 71 shown."
        page.click("#more-rows")
        assert rows.count() == 71
        page.fill("#sift", "prov")
        assert rows.count() == 11
        assert {name.strip() for name in rows.locator("th").all_text_contents()} == {*PEOPLE[60:]}
        page.fill("#sift", "")
        page.locator("#nodes thead button", has_text="age").click()
        assert rows.first.locator("th").text_content() == table["age"].idxmax()
        page.locator("#nodes thead button", has_text="age").click()
        assert page.locator("#nodes th[aria-sort=ascending]").inner_text().startswith("age")
        page.locator("#nodes thead button", has_text="Missing").click()
        assert rows.first.locator("th").text_content() == "lawyer 7"


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_pictures_and_tables_are_saved(browser, firm, hostile, viewport, tmp_path):
    def saved(page, button):
        with page.expect_download() as waiting:
            page.click(button)
        file = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(file)
        return file

    with opened(browser, firm[-1], viewport) as page:
        picture = ElementTree.parse(saved(page, "#save-svg")).getroot()
        names = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
        assert names & {*PEOPLE}
        assert any("Boston" in name and name.endswith(")") for name in names)
        assert saved(page, "#save-png").read_bytes().startswith(b"\x89PNG")
        nodes = pd.read_csv(saved(page, "#save-nodes"), index_col="name")
        assert nodes.loc[PEOPLE, "office"].tolist() == firm[1]["office"].tolist()
        assert nodes["community"].min() == 1
        kept = pd.read_csv(saved(page, "#save-ties"))
        assert len({frozenset(pair) for pair in kept[["source", "target"]].to_numpy().tolist()}) == edges_shown(page)
    if viewport is DESKTOP:
        with opened(browser, hostile) as page:
            page.fill("#search", SCRIPT)
            drawn = ElementTree.parse(saved(page, "#save-svg")).getroot()
            assert not [part.tag for part in drawn.iter() if part.tag.endswith(("script", "img", "h1"))]
            assert any(SCRIPT[:20] in (part.text or "") for part in drawn.iter())
            assert SCRIPT in pd.read_csv(saved(page, "#save-nodes"))["name"].tolist()


def test_firefox_shows_the_same(driver, firm):
    """In Firefox where playwright has one; Debian's own cannot be driven by it."""
    if not Path(driver.firefox.executable_path).exists():
        pytest.skip("Firefox is not installed for playwright: playwright install firefox")
    firefox = driver.firefox.launch()
    with opened(firefox, firm[-1]) as page:
        page.fill("#search", "lawyer 7")
        assert page.locator("#selection-heading").text_content() == "lawyer 7"
        assert ink(page) > 20_000
    firefox.close()
