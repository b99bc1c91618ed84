"""The app as a user sees it, in headless Chromium: from a file to the report, with three tables as people have them."""

import shlex
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ..commands import run

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
pytest.importorskip("starlette", reason="it is not installed: pip install 'nashgraph[ui]'")
pytest.importorskip("uvicorn", reason="it is not installed: pip install 'nashgraph[ui]'")

from .ui_server import opened

SURVEY = Path(__file__).parents[2] / "examples" / "survey.csv"
PATIENCE = 120_000  # milliseconds for a run on a busy machine


@pytest.fixture
def app():
    with opened() as running:
        yield running


@pytest.fixture
def page(app, browser):
    """A page with the app, without errors and without requests to other hosts."""
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.set_default_timeout(30_000)
    wrong, strangers = [], []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.on("request", lambda asked: strangers.append(asked.url) if app.host not in asked.url else None)
    tab.goto(app.address)
    assert "token" not in tab.url
    yield tab
    tab.close()
    assert wrong == []
    assert [url for url in strangers if not url.startswith(("data:", "blob:"))] == []


@pytest.fixture
def excel(tmp_path):
    """A sheet with a title above the table, and -99 for no answer."""
    random = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 10)
    table = pd.DataFrame(
        {
            "Person": [f"p{k + 1}" for k in range(30)],
            "age": 30 + 12 * group + random.integers(0, 8, 30),
            "income": np.where(random.random(30) < 0.1, -99, 900 + 400 * group + random.integers(0, 200, 30)),
            "trust": np.array(["never", "rarely", "often"])[group],
            "How often, if ever?": random.integers(1, 6, 30),
        }
    )
    table.to_excel(tmp_path / "wave 1.xlsx", startrow=2, index=False, sheet_name="Answers")
    from openpyxl import load_workbook

    book = load_workbook(tmp_path / "wave 1.xlsx")
    book["Answers"]["A1"] = "Survey of thirty people, wave 1"
    book.create_sheet("Notes", 0)["A1"] = "Read me"
    book.save(tmp_path / "wave 1.xlsx")
    return tmp_path / "wave 1.xlsx"


@pytest.fixture
def told(tmp_path):
    """Counts of ties and names, with a trait."""
    random = np.random.default_rng(1)
    names = [f"person {k + 1}" for k in range(24)]
    tied = np.triu(random.random((24, 24)) < 0.2, 1)
    tied = tied | tied.T
    weaver = (np.arange(24) % 3 == 0).astype(int)
    friends = [[names[j] for j in np.flatnonzero(row)][:2] + [""] * 2 for row in tied]
    table = pd.DataFrame(
        {
            "name": names,
            "weaver": weaver,
            "age": 20 + random.integers(0, 40, 24),
            "n_friends": tied.sum(1),
            "n_friends_weaver": tied @ weaver,
            "friend1": [each[0] for each in friends],
            "friend2": [each[1] for each in friends],
        }
    )
    table.to_csv(tmp_path / "told.csv", index=False)
    return tmp_path / "told.csv"


def drop(page, file):
    """Drop a file on the page, as from a folder."""
    transfer = page.evaluate_handle(
        "([name, text]) => { const held = new DataTransfer(); held.items.add(new File([text], name)); return held; }",
        [file.name, file.read_text()],
    )
    page.dispatch_event("#drop", "dragover", {"dataTransfer": transfer})
    assert "over" in page.get_attribute("#drop", "class")
    page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})


def command(page, wanted):
    """Wait until the command that is shown has some words in it, and return it."""
    page.wait_for_function("words => document.getElementById('typed')?.textContent.includes(words)", arg=wanted)
    return page.text_content("#typed")


def role(page, column):
    return page.get_by_label(f"Role of {column}", exact=True)


def learn(page, replicates="2"):
    page.get_by_text("The method", exact=True).click()
    page.get_by_label("--set n_replicates", exact=True).fill(replicates)
    command(page, f"--set n_replicates={replicates}")
    page.get_by_role("button", name="Learn the network").click()


def done(page):
    page.wait_for_selector("iframe", timeout=PATIENCE)
    report = page.frame_locator("iframe")
    report.locator("#stage canvas").first.wait_for()
    return report


def downloaded(page):
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download all (ZIP)").click()
    return zipfile.ZipFile(waiting.value.path())


def line(page, text):
    """Wait until the plan has a line."""
    page.wait_for_function(
        "async words => (await (await fetch('/plan.toml')).text()).includes(words)", arg=text, polling=200
    )


def test_a_survey_from_drop_to_report_and_the_copied_command_gives_the_same(page, app, tmp_path, monkeypatch):
    drop(page, SURVEY)
    assert role(page, "household").input_value() == "id"
    assert page.get_by_label("Scale of water").input_value() == "category"
    assert command(page, "learn") == "nashgraph learn survey.csv"
    role(page, "village").select_option("ignore")
    page.get_by_label("Codes in market that mean missing").fill("5")
    line(page, 'missing = ["5"], why = "chosen in the app"')
    page.get_by_label("Scale of standing").select_option("category")
    page.get_by_label("Scale of standing").select_option("ordered")
    role(page, "land").select_option("benefit")
    line(page, 'land = {role = "benefit", why = "chosen in the app"}')
    role(page, "land").select_option("answer")
    page.get_by_label("Scale of land").select_option("number")
    assert command(page, "plan.toml").startswith("nashgraph learn plan.toml")
    learn(page)
    page.get_by_role("heading", name="Learning the network of survey.csv").wait_for()
    page.get_by_role("button", name="Cancel").wait_for()
    report = done(page)
    assert page.text_content(".standfirst").startswith("Answers go together (p = ")
    assert "survey" in report.locator("h1").text_content()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    archive = downloaded(page)
    (tmp_path / "survey.csv").write_bytes(SURVEY.read_bytes())
    (tmp_path / "plan.toml").write_bytes(archive.read("plan.toml"))
    monkeypatch.chdir(tmp_path)
    assert run(*shlex.split(copied)[1:]).exit_code == 0
    assert archive.read("edges.csv") == (tmp_path / "nashgraph-out" / "edges.csv").read_bytes()
    assert archive.read("command.txt").decode().strip() == copied


def test_an_excel_file_with_a_title_row_on_its_second_sheet(page, app, excel):
    page.set_input_files("#file", excel)
    page.get_by_role("alert").filter(has_text="wave 1.xlsx").wait_for()  # the first sheet holds no table
    page.get_by_label("--set sheet", exact=True).fill("Answers")
    page.keyboard.press("Tab")
    role(page, "Person").wait_for()
    assert role(page, "Person").input_value() == "id"
    assert page.get_by_label("Scale of trust").input_value() == "ordered"
    assert page.get_by_label("Levels of trust, lowest first").input_value() == "never < rarely < often"
    assert page.get_by_label("Codes in income that mean missing").input_value() == "-99"
    page.get_by_label("Scale of How often, if ever?").select_option("category")
    line(page, '"How often, if ever?" = {role = "answer", scale = "category"')
    assert command(page, "learn") == "nashgraph learn plan.toml"
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    learn(page)
    page.get_by_role("link", name="Open the report").wait_for(timeout=PATIENCE)
    with page.expect_popup() as waiting:
        page.get_by_role("link", name="Open the report").click()
    waiting.value.locator("#stage canvas").first.wait_for()
    assert waiting.value.evaluate("origin") == "null"  # a report cannot ask the app for anything
    waiting.value.close()
    page.get_by_role("button", name="Change settings").click()
    assert page.get_by_label("Scale of How often, if ever?").input_value() == "category"
    page.get_by_role("button", name="New file").click()
    page.once("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Delete wave 1.xlsx").click()
    page.get_by_text("Choose a file").wait_for()
    page.get_by_role("button", name="Delete wave 1.xlsx").wait_for(state="detached")
    assert [*app.session.folder.iterdir()] == []


def test_counts_of_ties_and_names_by_keyboard_with_known_ties_and_a_cancelled_run(page, app, told, tmp_path):
    for _ in range(2):  # past the link to the content
        page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.id") == "file"
    page.set_input_files("#file", told)
    assert role(page, "n_friends").input_value() == "n_ties"
    assert role(page, "friend1").input_value() == "names"
    assert page.get_by_label("What n_friends_weaver counts").input_value() == "weaver"
    page.get_by_role("button", name="Use these").focus()
    page.keyboard.press("Enter")
    page.get_by_text("They name them in").wait_for()
    (tmp_path / "ties.csv").write_text("source,target\nperson 1,person 2\n")
    page.get_by_label("Ties that are known --known").set_input_files(tmp_path / "ties.csv")
    assert command(page, "--known") == "nashgraph learn told.csv --known ties.csv"
    page.get_by_role("button", name="Learn the network").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("alert").filter(has_text="Cancelled").wait_for()
    page.get_by_role("button", name="Remove").click()
    page.wait_for_function("() => document.getElementById('typed')?.textContent.includes('--known') === false")
    page.get_by_role("button", name="Learn the network").click()
    report = done(page)
    assert "ties among 24 people, as they told" in page.text_content(".standfirst")
    assert "told" in report.locator("h1").text_content()


def test_the_example_and_a_new_file_afterwards(page, app):
    page.get_by_role("button", name="Try an example").click()
    page.get_by_role("button", name="Use these").click()
    page.get_by_text("They count them in").wait_for()
    page.get_by_role("button", name="New file").click()
    page.get_by_role("button", name="Back to example.csv").click()
    page.get_by_text("They count them in").wait_for()
    page.get_by_role("button", name="New file").click()
    page.set_input_files("#file", SURVEY)
    role(page, "household").wait_for()
    assert [file.name for file in app.session.folder.iterdir()] == ["survey.csv"]
