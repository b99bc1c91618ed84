"""The report as a reader sees it, in headless Chromium: it works, it is safe, and it asks nothing of the network."""

import shutil
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from nashgraph.certificate import Measure, Watch
from nashgraph.report import summarize, write_report

from ..commands import run
from .models import HOSTILE, IMAGE, SCRIPT, held, karate, karate_consensus, popular_graph

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 800}
ARABIC, EMOJI = HOSTILE[5], HOSTILE[4]


@pytest.fixture(scope="module")
def browser():
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("Chromium is not installed: apt install chromium, and the report is tested in it")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def club(tmp_path_factory):
    model, path = karate()
    out = tmp_path_factory.mktemp("club") / "report.html"
    write_report(summarize(model, title="The karate club", source="club.csv", path=path, scores={"AUC": 0.79}), out)
    return out


@pytest.fixture(scope="module")
def consensus(tmp_path_factory):
    model, out = karate_consensus(), tmp_path_factory.mktemp("consensus") / "report.html"
    write_report(summarize(model, title="The karate club"), out)
    return model, out


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    names = [*HOSTILE, *(f"household {k}" for k in range(10_000 - len(HOSTILE)))]
    out = tmp_path_factory.mktemp("hostile") / "report.html"
    model = held(popular_graph(10_000), names)
    write_report(summarize(model, title=SCRIPT, source=IMAGE, notes=[SCRIPT, IMAGE], parameters={SCRIPT: IMAGE}), out)
    return out


@contextmanager
def opened(browser, file, viewport=DESKTOP, **options):
    """Open a report, and at the end hold against it every error and every request but the one for itself."""
    page = browser.new_page(viewport=viewport, **options)
    page.set_default_timeout(15_000)
    wrong = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url != file.as_uri() else None)
    page.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
    try:
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        yield page
        assert page.evaluate("window.__pwned") is None
    finally:
        page.close()
    assert wrong == []


def edges_shown(page):
    return int(page.locator("#stage").get_attribute("data-edges"))


def move_slider(page, slider, value):
    page.locator(slider).evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', {bubbles: true})); }", value
    )


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


def brightness(colour):
    """Return how bright an "rgb(r, g, b)" is, 1 for white."""
    return sum(map(int, colour[4:-1].split(","))) / (3 * 255)


def names_listed(page):
    return page.locator("#selection-text .ties bdi").all_text_contents()


def test_a_report_draws_the_network_and_every_chart(browser, club):
    with opened(browser, club) as page:
        assert page.title() == "The karate club"
        assert ink(page) > 20_000
        assert page.locator("[data-chart] svg rect").count() > 20
        assert page.locator("#history-chart svg path.curve").count() == 1
        assert page.locator("#front-chart svg circle.point").count() == 7
        assert page.locator("#hubs tbody tr").count() == 15


def test_what_the_demo_writes_works(browser, tmp_path):
    assert run("demo", "--out", tmp_path).exit_code == 0
    edges = pd.read_csv(tmp_path / "edges.csv")
    with opened(browser, tmp_path / "report.html") as page:
        assert ink(page) > 20_000
        frequency = edges["frequency"].round(4)
        assert edges_shown(page) == (frequency >= 0.5).sum()
        page.fill("#search", "member 34")
        followers = edges[edges["source"] == "member 34"]["target"].head(5).tolist()
        assert names_listed(page)[5:] == followers
        move_slider(page, "#threshold", 80)
        assert edges_shown(page) == (frequency >= 0.8).sum()


def test_search_selects_a_node_and_lists_its_strongest_ties(browser, club):
    model, _ = karate()
    ties = model.edges()
    with opened(browser, club) as page:
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
        assert ink(page, "overlay") == 0
        page.fill("#search", "MEMBER 3")
        page.keyboard.press("Enter")
        assert page.locator("#stage").get_attribute("data-selected").startswith("member 3")
        page.fill("#search", "nobody at all")
        page.keyboard.press("Enter")
        assert "No node has that name" in page.locator("#status").text_content()


def test_columns_of_edges_and_nodes_stand_beside_the_ties_and_the_node(browser, tmp_path):
    weights = np.array([[0.0, 0.4, 0.2], [0.6, 0.0, 0.0], [0.0, 0.6, 0.0]])
    frequency = np.array([0.9, 0.1, 0.7, 0.5])  # of 1 -> 0, 2 -> 0, 0 -> 1, 1 -> 2
    district = np.array([SCRIPT, "north", "south"], dtype=object)
    columns = {"node_columns": {"district": district}, "edge_columns": {"frequency": frequency}}
    out = tmp_path / "report.html"
    write_report(summarize(held(weights, ["ann", "bob", "eve"], **columns)), out)
    with opened(browser, out) as page:
        page.fill("#search", "ann")
        assert f"district{SCRIPT}" in page.locator("#selection-text dl").text_content()
        ties = page.locator("#selection-text .ties .figure")
        assert ties.all_text_contents() == ["0.4", "frequency 0.9", "0.2", "frequency 0.1", "0.6", "frequency 0.7"]
        page.uncheck("#directed")
        assert ties.all_text_contents() == ["0.5", "frequency 0.8", "0.1", "frequency 0.05"]


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_a_slider_shows_the_ties_that_are_sure_enough(browser, consensus, viewport):
    model, out = consensus
    frequency = model.edges()["frequency"].round(4)
    with opened(browser, out, viewport) as page:
        assert "Show ties at least this sure: 50 %" in page.locator(".controls").inner_text()
        for percent in (50, 80, 0, 100):
            move_slider(page, "#threshold", percent)
            count = (frequency >= percent / 100).sum()
            assert edges_shown(page) == count
            said = page.locator("#shown").text_content()
            if percent:
                assert (
                    f"Shown: {count} of {len(frequency):,} lines, those that at least {percent} % of the members"
                    in said
                )
                assert page.locator("#sure").text_content() == f"{percent} %"
            else:
                assert f"all of {len(frequency):,} lines" in said
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
        headings = page.locator("#hubs thead th").all_text_contents()
        assert headings[:4] == ["Node", "Influence", "90 % interval", "Rank"]
        row = page.locator("#hubs tbody tr").first.locator("td").all_text_contents()
        assert row[1].strip() == f"{first.influence_low:.2f} to {first.influence_high:.2f}"
        assert row[2].strip() == f"{first.rank_low} to {first.rank_high}"
        page.fill("#search", str(first["name"]))
        facts = page.locator("#selection-text dl").inner_text().split("\n")
        assert f"{first.influence_low:.3g} to {first.influence_high:.3g}" in facts[1]
        assert facts[3] == f"1, {first.rank_low} to {first.rank_high}"
        note = page.locator("#selection-text .ties small").first.text_content()
        assert " to " in note
        assert "frequency" in note
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_curve_begins_at_its_first_known_value(browser, tmp_path):
    watch = Watch(Measure.GAP, tol=1e-3, max_iter=5)
    watch.ends(0, 3.0, np.inf)
    watch.ends(1, 2.0, 0.5)
    out = tmp_path / "report.html"
    write_report(summarize(held(popular_graph(12), certificate=watch.certificate(watch.ends(2, 2.0, 5e-4)))), out)
    with opened(browser, out) as page:
        chart = page.locator("#history-chart svg")
        assert "duality gap" in chart.text_content()
        assert chart.locator("path.curve").get_attribute("d").count("L") == 1


def test_hub_buttons_and_listed_neighbours_select_too(browser, club):
    with opened(browser, club) as page:
        button = page.locator("#hubs button.node").nth(2)
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
        box = page.locator("#overlay").bounding_box()
        spot = page.evaluate("onScreen.places[0]")
        page.mouse.move(box["x"] + spot["x"], box["y"] + spot["y"])
        assert page.locator("#tooltip").is_visible()
        name = page.locator("#tooltip").text_content()
        page.mouse.down()
        page.mouse.up()
        assert page.locator("#stage").get_attribute("data-selected") == name
        assert name == page.locator("#hubs button.node").first.text_content()


def test_the_threshold_hides_weak_lines_and_says_how_many_are_left(browser, club):
    with opened(browser, club) as page:
        whole = edges_shown(page)
        assert whole == len(karate()[0].edges())
        move_slider(page, "#threshold", 80)
        fewer = edges_shown(page)
        assert fewer == pytest.approx(0.2 * whole, abs=2)
        assert f"Shown: {fewer} of {whole} lines, those of weight" in page.locator("#shown").text_content()
        page.uncheck("#directed")
        assert "pairs" in page.locator("#shown").text_content()
        move_slider(page, "#threshold", 0)
        assert 0 < edges_shown(page) < whole


def test_the_lambda_slider_redraws_the_network_on_the_same_places(browser, club):
    with opened(browser, club) as page:
        before, places = edges_shown(page), page.evaluate("onScreen.places.map(({x, y}) => [x, y])")
        marker = page.locator("#front-chart .marker").get_attribute("cx")
        assert "λ = 0.3: the graph of this report" in page.locator("#lam-said").text_content()
        page.locator("#lam").focus()
        page.keyboard.press("End")
        page.wait_for_selector("#stage[data-view='6']")
        path = karate()[1]
        assert edges_shown(page) == path.models[-1].graph_.n_edges != before
        assert float(page.locator("#stage").get_attribute("data-lam")) == pytest.approx(path.lams[-1], rel=1e-5)
        assert page.locator("#front-chart .marker").get_attribute("cx") != marker
        assert page.evaluate("onScreen.places.map(({x, y}) => [x, y])") == places


def test_light_and_dark_follow_the_system_and_the_button(browser, club):
    background = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, club, color_scheme="dark") as page:
        dark = page.evaluate(background)
        assert page.locator("#theme").text_content() == "Light page"
        page.click("#theme")
        light = page.evaluate(background)
        assert brightness(light) > 0.9
        assert brightness(dark) < 0.2
        assert page.evaluate("onScreen.colours.paper") == "#fcfbf8"
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
        for _ in range(14):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
        wanted = ["skip", "theme", "search", "threshold", "directed", "nearer", "farther", "whole", "lam"]
        assert reached[: len(wanted)] == wanted
        assert "node" in reached
        for control in ("search", "threshold", "directed", "lam"):
            assert page.locator(f"label[for={control}]").count() == 1


def test_zoom_buttons_move_nearer_and_back(browser, club):
    with opened(browser, club, reduced_motion="reduce") as page:
        page.click("#nearer")
        assert page.evaluate("transform.k") == pytest.approx(1.5)
        page.click("#whole")
        assert page.evaluate("transform.k") == 1


def test_paper_is_light_has_the_drawing_and_no_controls(browser, club):
    with opened(browser, club, color_scheme="dark") as page:
        page.wait_for_selector("#printed[width='2160']", state="attached")
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator(".controls").is_hidden()
        assert page.locator("#theme").is_hidden()
        assert page.locator("#printed").is_visible()
        assert page.locator("#base").is_hidden()
        assert ink(page, "printed") > 20_000
        assert page.evaluate("onPaper.colours.ink") == "#1f252b"
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
        page.fill("#search", SCRIPT)
        page.locator("#hubs button.node").nth(3).click()
        assert page.locator("#hubs bdi").nth(3).text_content() == page.locator("#selection-heading").text_content()
        page.fill("#search", "long long")
        page.keyboard.press("Enter")
        assert len(page.locator("#selection-heading").text_content()) == 200


def test_ten_thousand_nodes_are_drawn_in_part_and_found_in_whole(browser, hostile):
    with opened(browser, hostile) as page:
        assert "the 2,000 most influential of the 10,000 nodes" in page.locator("#left-out").text_content()
        assert page.locator("#stage").get_attribute("data-nodes") == "2000"
        assert 4_500 < edges_shown(page) < 5_500
        assert page.input_value("#threshold") != "0"
        move_slider(page, "#threshold", 0)
        assert 5_500 < edges_shown(page) <= 20_000
        assert ink(page) > 50_000
        page.fill("#search", "household 9")
        assert page.locator("#names option").count() == 20
        page.fill("#search", "household 9980")
        assert page.locator("#selection-heading").text_content() == "household 9980"
        assert "no, too little influence" in page.locator("#selection-text").text_content()
        assert len(names_listed(page)) >= 5
        move_slider(page, "#threshold", 90)
        assert edges_shown(page) < 2_100


@pytest.mark.parametrize("weights", [np.zeros((4, 4)), np.ones((5, 5)) - np.eye(5)], ids=["no edges", "mutual"])
def test_odd_graphs_open_without_an_error(browser, tmp_path, weights):
    out = tmp_path / "report.html"
    write_report(summarize(held(weights), directed=False), out)
    with opened(browser, out) as page:
        assert edges_shown(page) == np.count_nonzero(weights) // 2
        assert not page.is_checked("#directed")
        page.locator("#hubs button.node").first.click()
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
