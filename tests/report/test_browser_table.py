"""The report of a table with answers, in headless Chromium: colours, reasons for ties, checks, the table of nodes."""

from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph.report import summarize, write_report

from .browsing import DESKTOP, PHONE, edges_shown, ink, move_slider, names_listed, opened, pixel
from .models import SCRIPT, held

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

PEOPLE = [f"lawyer {k + 1}" for k in range(71)]


@pytest.fixture(scope="module")
def firm(tmp_path_factory):
    """A firm of 71 with a table, two answers that follow the ties and one that does not, and its true ties."""
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
        assert chips.count() == 6  # five age groups, and unknown
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
            assert note.split(" · ")[0] == ("true" if truth.has_edge("lawyer 30", name) else "not true")
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
