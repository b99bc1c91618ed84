"""The documentation's pages show the output of their Python and their commands, and the reference is complete."""

import json
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from pkgutil import resolve_name

import pandas as pd
import pytest

import nashgraph
from nashgraph import DataWarning

DOCS = Path(__file__).parent.parent / "docs"
SURVEY = DOCS.parent / "examples" / "survey.csv"
NOTEBOOK = DOCS.parent / "examples" / "notebook.ipynb"
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
TINY = 1e-5  # how far a run went below its tolerance is a matter of rounding
PAGES = {str(page.relative_to(DOCS)): page for page in [*DOCS.glob("*.md"), *DOCS.glob("guide/*.md")]}


@pytest.mark.parametrize(
    "name", sorted(name for name, page in PAGES.items() if "```python\n>>>" in page.read_text() and name != "cases.md")
)
def test_what_a_page_shows_is_what_its_code_gives(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = runpy.run_path(str(DOCS / "pages.py"))
    pages["set_up"](tmp_path)  # for the tutorial
    assert pages["run_python_of"](PAGES[name]) == 0


def test_the_tutorial_shows_what_its_commands_print(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = runpy.run_path(str(DOCS / "pages.py"))
    pages["set_up"](tmp_path)
    shown, printed = PAGES["tutorial.md"].read_text(), pages["rerun"](PAGES["tutorial.md"])
    assert shown.count("```console\n$ nashgraph ") >= 4
    _assert_alike(shown, printed)


def test_the_real_cases_show_what_their_commands_and_python_give(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = runpy.run_path(str(DOCS / "pages.py"))
    if not pages["set_up_cases"](tmp_path):
        pytest.skip("NASHGRAPH_DATA has no lawyers")
    shown, printed = PAGES["cases.md"].read_text(), pages["rerun"](PAGES["cases.md"])
    _assert_alike(shown, printed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # households with equal answers
        assert pages["run_python_of"](PAGES["cases.md"]) == 0


def _assert_alike(shown, printed):
    assert re.sub(NUMBER, "#", shown).splitlines() == re.sub(NUMBER, "#", printed).splitlines()
    assert _numbers(shown) == pytest.approx(_numbers(printed), rel=0.02, abs=TINY)


def _numbers(text):
    return [float(number.replace(",", "")) for line in text.splitlines() for number in re.findall(NUMBER, line)]


@pytest.mark.parametrize("name", sorted(name for name, page in PAGES.items() if "<!-- table" in page.read_text()))
def test_tables_from_benchmarks_are_as_printed(name):
    pages = runpy.run_path(str(DOCS / "pages.py"))
    assert pages["tables_rewritten"](PAGES[name]) == PAGES[name].read_text(), "make pages updates it"


def test_the_pages_can_be_read_on_a_code_host():
    for page in PAGES.values():
        assert not re.search(r"\{\w+\}`|^```\{|^\(.*\)=$|^: ", page.read_text(), flags=re.MULTILINE), page


def test_links_between_files_lead_somewhere():
    pages = [*PAGES.values(), DOCS.parent / "README.md", DOCS.parent / "benchmarks" / "README.md"]
    for page in pages:
        for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)", re.sub(r"(?s)```.*?```", "", page.read_text())):
            assert link.startswith("http") or (page.parent / link).exists(), (page, link)


def test_the_page_of_messages_has_those_of_the_source(monkeypatch):
    """Most sentences of the page are in the source; a reworded one may wait for the next ``make pages``."""
    monkeypatch.syspath_prepend(str(DOCS))
    written = runpy.run_path(str(DOCS / "pages.py"))["messages_rewritten"]()
    rows = [line for line in PAGES["guide/messages.md"].read_text().splitlines() if line.startswith("| warning")]
    assert len(rows) > 20
    assert sum(row in written for row in rows) >= 0.8 * len(rows)


def test_the_page_on_the_command_line_has_the_options_as_they_are(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    written = runpy.run_path(str(DOCS / "pages.py"))["command_line_rewritten"]()
    assert PAGES["guide/command_line.md"].read_text() == written, "make pages updates it"
    assert "- `--group COLUMN`: " in written


@pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="pandas 2 sets the columns of tables farther apart")
def test_the_notebook_shows_what_its_cells_give(tmp_path, monkeypatch):
    pages = runpy.run_path(str(DOCS / "pages.py"))
    pages["set_up"](tmp_path)
    monkeypatch.chdir(tmp_path / "examples")
    shown, printed = (_plain_output(text) for text in (NOTEBOOK.read_text(), pages["notebook_rerun"](NOTEBOOK)))
    assert len(printed) > 5
    _assert_alike("\n".join(shown), "\n".join(printed))


def _plain_output(notebook):
    """Return the lines that the cells of a notebook print or show, without pictures."""
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    texts = [output.get("text") or output["data"]["text/plain"] for output in outputs]
    return [line.rstrip() for text in texts for line in text]


def test_the_survey_that_is_shipped_is_the_one_that_its_program_draws(tmp_path):
    subprocess.run([sys.executable, DOCS / "tutorial" / "make_survey.py", tmp_path / "survey.csv"], check=True)
    assert (tmp_path / "survey.csv").read_bytes() == SURVEY.read_bytes()
    subprocess.run([sys.executable, DOCS / "tutorial" / "make_village.py", tmp_path], check=True)
    for name in ("village.csv", "ties.csv"):
        assert (tmp_path / name).read_bytes() == (SURVEY.parent / name).read_bytes()


def test_every_public_name_is_in_the_reference(tmp_path):
    runpy.run_path(str(DOCS / "pages.py"))["methods_reference"](tmp_path)
    classes = [page.read_text() for page in tmp_path.glob("*.rst")]
    reference = "\n".join([*classes, *(page.read_text() for page in DOCS.glob("api/*.rst"))])
    described = {
        line.split(":: ")[1] for line in reference.splitlines() if line.startswith(".. auto") and ":: " in line
    }
    assert set(nashgraph.__all__) <= described


@pytest.mark.parametrize("page", sorted(DOCS.glob("api/*.rst")), ids=lambda page: page.stem)
def test_every_name_in_the_reference_exists(page):
    module = "nashgraph"
    for kind, name in re.findall(r"^\.\. (currentmodule|auto\w+):: (\S+)$", page.read_text(), flags=re.MULTILINE):
        whole = name if name.split(".")[0] == "nashgraph" else f"{module}.{name}"
        if kind == "currentmodule":
            module = name
        assert resolve_name(whole) is not None


def test_every_example_has_a_title_a_figure_and_a_place_in_the_order():
    examples = sorted((DOCS.parent / "examples").glob("*.py"))
    assert [example.name.split("_")[:2] for example in examples] == [
        ["plot", f"{k + 1:02}"] for k in range(len(examples))
    ]
    for example in examples:
        title, underline = example.read_text().splitlines()[1:3]
        assert underline == "=" * len(title)
        assert "plt.show()" in example.read_text()
