"""The Python on the documentation's pages gives what it shows, and the reference leaves nothing out."""

import runpy
from pathlib import Path

import pytest

import nashgraph

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {str(page.relative_to(DOCS)): page for page in [*DOCS.glob("*.md"), *DOCS.glob("guide/*.md")]}


@pytest.mark.parametrize("name", sorted(name for name, page in PAGES.items() if "```python\n" in page.read_text()))
def test_what_a_page_shows_is_what_its_code_gives(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(DOCS / "tutorial" / "make_survey.py"))  # for the tutorial
    run_python_of = runpy.run_path(str(DOCS / "pages.py"))["run_python_of"]
    assert run_python_of(PAGES[name]) == 0


def test_every_public_name_is_in_the_reference():
    written = runpy.run_path(str(DOCS / "pages.py"))["methods_reference"]()
    reference = "\n".join([written, *(page.read_text() for page in DOCS.glob("api/*.rst"))])
    described = {
        line.split(":: ")[1] for line in reference.splitlines() if line.startswith(".. auto") and ":: " in line
    }
    assert set(nashgraph.__all__) <= described


def test_every_example_has_a_title_a_figure_and_a_place_in_the_order():
    examples = sorted((DOCS.parent / "examples").glob("*.py"))
    assert [example.name.split("_")[:2] for example in examples] == [
        ["plot", f"{k + 1:02}"] for k in range(len(examples))
    ]
    for example in examples:
        title, underline = example.read_text().splitlines()[1:3]
        assert underline == "=" * len(title)
        assert "plt.show()" in example.read_text()
