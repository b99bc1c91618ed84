"""What these pages show is run: their Python as doctests, the tutorial's commands as they stand.

``make pages`` updates the parts of the pages that come from the code: what the tutorial's commands
print, its picture, the options of the command line, tables from the benchmarks, and the notebook. Tests compare.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import doctest
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REPRODUCTION = HERE.parent / "results" / "REPRODUCTION.md"
SURVEY, NOTEBOOK = (HERE.parent / "examples" / name for name in ("survey.csv", "notebook.ipynb"))
TABLES = ("survey.csv", "village.csv", "ties.csv")  # what the tutorial reads
TUTORIAL, CASES, COMMAND_LINE = HERE / "tutorial.md", HERE / "cases.md", HERE / "guide" / "command_line.md"
COMMAND = re.compile(r"(?<=```console\n)\$ (?P<command>(?:[^\n]*\\\n)*[^\n]*)\n.*?(?=```)", flags=re.DOTALL)
PROGRESS = re.compile(r": \d+ s so far, ")  # printed on a busy machine only
SECONDS = re.compile(r"((?:^seconds +)|(?: in (?=\d+\.\d s: )))\S+", flags=re.MULTILINE)
TABLE = re.compile(
    r"(?P<start><!-- table from (?P<file>\S+), (?P<section>[^\n]*?) -->)\n.*?(?P<end><!-- end of table -->)", re.DOTALL
)
BENCHMARKS = HERE.parent / "benchmarks"
FROM_REPOSITORY = {
    "generated/reproduction": REPRODUCTION,
    **{f"generated/{name.lower()}": HERE.parent / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")},
    **{f"generated/benchmarks/{file.stem}": file for file in sorted(BENCHMARKS.glob("*.md"))},
}
PAGES = [*HERE.glob("*.md"), *HERE.glob("guide/*.md")]
GROUPS = {
    "Start": ["generated/readme", "five_minutes", "install", "tutorial", "cases", "cheat_sheet", "gallery/index"],
    "How to": ["guide/what_to_ask", "guide/tables", "guide/missing", "guide/choosing", "guide/known", "guide/act"],
    "Understand": ["guide/sure", "guide/prior", "mathematics", "glossary", "faq"],
    "Look up": [
        "guide/command_line",
        "guide/messages",
        "guide/limits",
        "api/index",
        "extending",
        "generated/contributing",
        "generated/changelog",
    ],
    "Measured": ["generated/reproduction", "generated/benchmarks/README"],
}
WRITTEN = "<!-- What follows is written by docs/pages.py, out of the command line itself. -->\n"
MESSAGES = HERE / "guide" / "messages.md"
EXTRACTED = "<!-- What follows is written by docs/pages.py, out of the source. -->\n"


def contents() -> str:
    """Return the site's contents: the groups, with every other page of the guide among the how-to pages."""
    named = {name for names in GROUPS.values() for name in names}
    others = sorted(f"guide/{page.stem}" for page in HERE.glob("guide/*.md"))
    groups = GROUPS | {"How to": GROUPS["How to"] + [name for name in others if name not in named]}
    trees = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {name}", "", *pages, "```"])
        for name, pages in groups.items()
    ]
    return "\n\n" + "\n\n".join(trees) + "\n"


def run_python_of(page: Path) -> int:
    """Run a page's Python blocks, in one session, and return how many lines gave something else than they show."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    return runner.run(test).failed


def set_up(folder: Path) -> None:
    """Put into a folder the files that the tutorial finds in the repository."""
    (folder / "examples").mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        shutil.copy(SURVEY.parent / name, folder / "examples")


def printed_by(command: str) -> str:
    """Return what a command of the tutorial prints, where one works; how long it took is left out."""
    from typer.testing import CliRunner  # noqa: PLC0415 (as below)

    from nashgraph.cli.app import app  # noqa: PLC0415

    program, *arguments = shlex.split(command.replace("\\\n", ""))
    if "|" in arguments:  # only the files' first rows or columns are piped
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
        return done.stdout
    if program == "nashgraph":
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "118"})
        text, code = result.output, result.exit_code
    else:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        text, code = done.stdout, done.returncode
    if code:
        raise RuntimeError(f"{command} ended with {code}: {text}")
    lines = [line for line in text.splitlines() if not PROGRESS.search(line)]
    return SECONDS.sub(r"\1...", "".join(f"{line.rstrip()}\n" for line in lines))


def rerun(page: Path) -> str:
    """Return a page as its commands make it, run in the folder where one works."""
    return COMMAND.sub(
        lambda found: f"$ {found['command']}\n{printed_by(found['command'])}", page.read_text(encoding="utf-8")
    )


def set_up_cases(folder: Path) -> bool:
    """Put the tables of the real cases into a folder; return whether their data are here (NASHGRAPH_DATA)."""
    if not (Path(os.environ.get("NASHGRAPH_DATA", "")) / "recovery" / "lazega_advice").is_dir():
        return False
    subprocess.run([sys.executable, HERE / "tutorial" / "real_cases.py", folder], check=True)
    return True


def command_line_rewritten() -> str:
    """Return the page on the command line with the options as they are."""
    from options import option_reference  # noqa: PLC0415 (beside this file)

    return COMMAND_LINE.read_text(encoding="utf-8").partition(WRITTEN)[0] + WRITTEN + "\n" + option_reference()


def messages_rewritten() -> str:
    """Return the page of messages with those of the source as they are."""
    from messages import message_reference  # noqa: PLC0415 (beside this file)

    return MESSAGES.read_text(encoding="utf-8").partition(EXTRACTED)[0] + EXTRACTED + "\n" + message_reference()


def run_tutorial(folder: Path) -> None:
    """Run the tutorial's commands and its Python in ``folder``, which then has their files."""
    set_up(folder)
    with working_in(folder):
        rerun(TUTORIAL)
        if run_python_of(TUTORIAL):
            raise RuntimeError("the tutorial's Python does not give what it shows; see above")


def methods_reference(folder: Path) -> str:
    """Write a page of every registered method, with the examples that use it; return a table of all that links them."""
    from nashgraph.estimators import METHODS  # noqa: PLC0415 (run as a script, this file needs no library)

    def summary(kind: Any) -> str:
        return (kind.__doc__ or "").split("\n")[0].replace('"', '""')

    examples = "".join(file.read_text(encoding="utf-8") for file in SURVEY.parent.glob("plot_*.py"))
    folder.mkdir(parents=True, exist_ok=True)
    kinds = sorted({kind.__name__ for kind in METHODS.values()})
    for name in kinds:
        page = f"{name}\n{'=' * len(name)}\n\n.. currentmodule:: nashgraph\n\n.. autoclass:: {name}\n"
        if re.search(rf"\b{name}\b", examples):
            page += f"\n.. minigallery:: nashgraph.{name}\n   :add-heading: Examples with pictures\n"
        (folder / f"{name}.rst").write_text(page, encoding="utf-8")
    rows = "".join(f'   "{name}", :class:`{kind.__name__}`, "{summary(kind)}"\n' for name, kind in METHODS.items())
    table = f".. csv-table::\n   :header: name, class, what it does\n\n{rows}"
    tree = ".. toctree::\n   :hidden:\n\n" + "".join(f"   ../generated/classes/{name}\n" for name in kinds)
    return f"{table}\n{tree}"


def write_generated(folder: Path) -> None:
    """Write the pages of the site that are files of the repository: results, benchmarks, the changes."""
    (folder / "benchmarks").mkdir(parents=True, exist_ok=True)
    for picture in BENCHMARKS.glob("*.svg"):
        shutil.copy(picture, folder / "benchmarks")
    for name, file in FROM_REPOSITORY.items():
        page = HERE / f"{name}.md"
        if file == REPRODUCTION:
            page.write_text(f"```{{include}} {os.path.relpath(file, page.parent)}\n:relative-images:\n```\n")
        else:
            page.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")


def tables_rewritten(page: Path) -> str:
    """Return a page with the tables that it takes from printed files as they are printed there."""

    def printed(found: re.Match[str]) -> str:
        text = (HERE.parent / found["file"]).read_text(encoding="utf-8")
        section = text.split(f"## {found['section']}\n", 1)[1].split("\n## ", 1)[0]
        rows = [line for line in section.splitlines() if line.startswith("|")]
        return "\n".join([found["start"], "", *rows, "", found["end"]])

    return TABLE.sub(printed, page.read_text(encoding="utf-8"))


def notebook_rerun(file: Path) -> str:
    """Return a notebook with the output of its cells, run in the folder where one works."""
    book, names = json.loads(file.read_text(encoding="utf-8")), dict[str, Any]()
    for count, cell in enumerate((cell for cell in book["cells"] if cell["cell_type"] == "code"), start=1):
        *lines, last = ast.parse("".join(cell["source"])).body
        printed, value = io.StringIO(), None
        with contextlib.redirect_stdout(printed):
            exec(compile(ast.Module(lines, []), str(file), "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), str(file), "eval"), names)
            else:
                exec(compile(ast.Module([last], []), str(file), "exec"), names)
        shown = [{"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}]
        result = {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": _shown(value)}
        cell["outputs"] = (shown if printed.getvalue() else []) + ([] if value is None else [result])
        cell["execution_count"] = count
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _shown(value: Any) -> dict[str, Any]:
    """Return a value as a notebook holds it: a figure as a picture, a table also in HTML."""
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=70)
        return {"text/plain": ["a figure"], "image/png": base64.b64encode(picture.getvalue()).decode()}
    page = {"text/html": value.to_html().splitlines(keepends=True)} if hasattr(value, "to_html") else {}
    return {"text/plain": repr(value).splitlines(keepends=True), **page}


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder, and come back."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def main() -> None:
    """Update what comes from the code."""
    COMMAND_LINE.write_text(command_line_rewritten(), encoding="utf-8")
    MESSAGES.write_text(messages_rewritten(), encoding="utf-8")
    for page in PAGES:
        page.write_text(tables_rewritten(page), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        set_up(Path(folder))
        with working_in(Path(folder)):
            TUTORIAL.write_text(rerun(TUTORIAL), encoding="utf-8")
            run_python_of(TUTORIAL)
        with working_in(Path(folder) / "examples"):
            NOTEBOOK.write_text(notebook_rerun(NOTEBOOK), encoding="utf-8")
        with working_in(Path(folder)):
            if set_up_cases(Path(folder)):
                CASES.write_text(rerun(CASES), encoding="utf-8")
                run_python_of(CASES)
            shutil.copy("village.png", HERE / "tutorial")


if __name__ == "__main__":
    main()
