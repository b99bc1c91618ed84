"""What a stranger learns from the first screen of a page, on the data of tools/report_pages.py."""

import gzip
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from nashgraph.report import summarize, write_report
from nashgraph.report.comparing import GroupComparison
from nashgraph.report.html import write_index

from .browsing import DESKTOP, PHONE, edges_shown, opened

AXE = Path(__file__).parent / "axe.min.js.gz"
TOOL = Path(__file__).parents[2] / "tools" / "report_pages.py"


@pytest.fixture(scope="module")
def tool():
    spec = spec_from_file_location("report_pages", TOOL)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page_of(tool, case, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # misspelt names are the point of two pages
        about = tool.CASES[case]()
    model = about.pop("model")
    out = folder / "report.html"
    write_report(summarize(model, **about), out)
    return model, out


@pytest.fixture(scope="module")
def shuffled(tool, tmp_path_factory):
    return page_of(tool, "shuffled", tmp_path_factory.mktemp("shuffled"))[1]


@pytest.fixture(scope="module")
def counts(tool, tmp_path_factory):
    return page_of(tool, "counts", tmp_path_factory.mktemp("counts"))


@pytest.fixture(scope="module")
def places(tool, tmp_path_factory):
    return page_of(tool, "places", tmp_path_factory.mktemp("places"))


def bottom(page, selector):
    """Return how far down an element ends, on the page."""
    box = page.locator(selector).first.bounding_box()
    return box["y"] + box["height"]


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_shuffled_answers_say_nothing_found_on_the_first_screen(browser, shuffled, viewport):
    with opened(browser, shuffled, viewport) as page:
        first = page.locator(".verdicts li").first
        assert first.get_attribute("class") == "red"
        assert first.text_content().startswith("nothing found")
        assert bottom(page, "#nothing-found") < viewport["height"] / 2
        assert not page.locator("#profile details").evaluate("fold => fold.open")
        assert page.locator("#groups bdi").all_text_contents() == ["all"]
        assert page.locator(".next").count() == 0


def test_no_cell_of_the_table_of_communities_is_hard_to_read(browser, shuffled):
    """The contrast of every cell with its words is at least 4.5, light and dark. Drawn: axe does not mix colours."""
    script = """() => {
        const at = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        const drawn = (colours) => {
            for (const colour of colours) { at.fillStyle = colour; at.fillRect(0, 0, 1, 1); }
            const light = [...at.getImageData(0, 0, 1, 1).data].slice(0, 3)
                .map((value) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4));
            return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
        };
        const style = getComputedStyle(document.body);
        const ink = drawn([style.color]);
        return [...document.querySelectorAll("#profile-table td.more, #profile-table td.less")].map((cell) => {
            cell.style.setProperty("--share", 1);
            const paper = drawn([style.backgroundColor, getComputedStyle(cell).backgroundColor]);
            const [low, high] = [ink, paper].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        });
    }"""
    for scheme in ("light", "dark"):
        with opened(browser, shuffled, color_scheme=scheme) as page:
            page.evaluate("document.querySelector('#profile details').open = true")
            contrasts = page.evaluate(script)
            assert len(contrasts) > 10
            assert min(contrasts) >= 4.5, scheme


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_a_page_of_counts_says_who_has_most_ties_and_whom_to_ask(browser, counts, viewport):
    model, out = counts
    expected = model.expected_ties_["expected_ties"]
    most = expected.idxmax()
    with opened(browser, out, viewport) as page:
        chips = page.locator(".verdicts li").all_text_contents()
        assert any(chip.startswith(f"{most} has most ties: {expected.max():.0f} (") for chip in chips)
        assert bottom(page, ".verdicts") < viewport["height"] / 2
        count = page.evaluate("nashgraph.data.cut.n_ties")
        assert abs(count - expected.sum() / 2) <= 1
        assert edges_shown(page) == count
        assert f"{count} likeliest pairs" in page.locator("#standfirst").text_content()
        assert page.locator("#directed").is_hidden()
        heads = page.locator("#nodes thead bdi").all_text_contents()
        assert heads[:3] == ["Node", "Expected ties", "90% interval"]
        assert "Influence" not in heads
        order = page.locator("#unchosen h3").all_text_contents()
        assert order[:3] == ["Ask these 10 next", "Tell these 5 first", "Expected ties, with 90% intervals"]
        if viewport == DESKTOP:
            assert bottom(page, ".next") < viewport["height"]
        page.locator(".next button").first.click()
        person = model.ask(1)["name"].iloc[0]
        assert page.locator("#selection-heading").text_content() == str(person)
        facts = page.locator("#selection-text dl").first.inner_text().split("\n")
        low, high = model.expected_ties_.loc[person, ["ties_low", "ties_high"]]
        assert facts[facts.index("expected ties") + 1].endswith(f", {low:.3g} to {high:.3g}")
        assert "weight" not in page.locator("#selection-text .ties").inner_text()


def test_names_that_match_nobody_are_on_the_first_screen(browser, places):
    with opened(browser, places[1], PHONE) as page:
        chip = page.locator(".verdicts li.amber", has_text="names are not used")
        assert "with a likely spelling" in chip.text_content()
        assert bottom(page, ".verdicts") < PHONE["height"] / 2
        page.locator("#unmatched summary").click()
        written = page.locator("#unmatched li bdi").all_text_contents()
        assert len(written) == 2 * int(chip.text_content().split()[0])  # each with its likely spelling


def test_a_map_tells_people_apart_and_moves_them_a_little(browser, places, tool):
    _, out = places
    table = tool.named().set_index("name")
    with opened(browser, out) as page:
        assert page.locator("#map-tab").text_content() == "Map"
        page.click("#map-tab")
        page.wait_for_timeout(100)
        names = page.evaluate("nashgraph.nodes.name")
        x, y = (np.array(page.evaluate(f"[...nashgraph.onScreen.{axis}]"), dtype=float) for axis in "xy")
        true = table.loc[names]
        assert len({*zip(x.round(), y.round(), strict=True)}) > 0.9 * len(names)
        for drawn, degrees, direction in ((x, true["longitude"], 1), (y, true["latitude"], -1)):
            assert 0.9 < direction * np.corrcoef(drawn, degrees)[0, 1] < 0.9999
        east = np.polyfit(true["longitude"], x, 1)[0] / np.cos(np.radians(12.9))
        north = -np.polyfit(true["latitude"], y, 1)[0]
        assert east == pytest.approx(north, rel=0.2)
        assert "moved at random" in page.locator("#rough").text_content()
        assert "latitude" not in page.locator("#drives-list").text_content()


def test_the_page_shows_what_ties_rest_on(browser, places):
    model, out = places
    with opened(browser, out) as page:
        assert page.locator("#respondents circle").count() == len(model.respondents_)
        assert page.locator("#weights li").count() == min(12, len(model.weights_))
        first = model.weights_.sort_values("weight", key=abs, ascending=False).iloc[0]
        assert page.locator("#weights li bdi").first.text_content() == first["name"]
        bars = page.locator("#degrees-chart rect").count()
        assert page.locator("#degrees-chart .interval-line").count() == bars > 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_of_a_tie_model_and_of_groups(browser, places, scheme, tmp_path):
    groups = tmp_path / "index.html"
    comparison = GroupComparison("Tests of waves.", [("2019 and 2021", "0.01", "not tested", "3 of 9")])
    write_index(
        groups, "waves", ["wave", "ties"], [("a", ["2019", "9"]), ("b", ["2021", "8"])], [], comparison=comparison
    )
    for file in (places[1], groups):
        page = browser.new_page(viewport=DESKTOP, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True)
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready], body.index")
        page.evaluate(gzip.decompress(AXE.read_bytes()).decode())
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        violations = page.evaluate("axe.run()")["violations"]
        page.close()
        assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in violations] == []


def test_stability_is_in_the_page_without_being_asked_for(browser, shuffled):
    with opened(browser, shuffled) as page:
        assert page.locator("#stability-chart path.curve").count() == 1  # no second one: nobody is known to be central
        assert "CS coefficient" not in page.locator("#stability").text_content()
