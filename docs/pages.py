"""What these pages show is run: their Python as doctests, the tutorial's commands as they stand."""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
REPRODUCTION = HERE.parent / "results" / "REPRODUCTION.md"
OPTIONS = "survey.csv --id household --benefit standing"
WIDTH = 80
COMMANDS = {
    "head": "head -4 survey.csv",
    "learn": f"nashgraph learn {OPTIONS} --out village",
    "path": f"nashgraph path {OPTIONS} --degree 6 --n-lams 6 --out front",
    "front": "cut -d, -f1-3 front/path.csv",
    "rerun": "nashgraph rerun village/model.json --out again",
}


def run_python_of(page: Path) -> int:
    """Run a page's Python blocks, in one session, and return how many lines gave something else than they show."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    return runner.run(test).failed


def run_tutorial(folder: Path) -> None:
    """Draw the tutorial's survey, run its commands and its Python in ``folder``, and keep what was printed."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, HERE / "tutorial" / "make_survey.py"], cwd=folder, check=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name, command in COMMANDS.items():
        done = subprocess.run(
            command.split(),
            cwd=folder,
            env=os.environ | {"PATH": path, "COLUMNS": "110", "NUMBA_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        shown = command.replace(" --", " \\\n    --", 1) if len(command) > WIDTH else command
        (folder / f"{name}.txt").write_text(f"$ {shown}\n{done.stdout}")
    with working_in(folder):
        if run_python_of(HERE / "tutorial.md"):
            raise RuntimeError("the tutorial's Python does not give what it shows; see above")


def methods_reference() -> str:
    """Return the reference of every registered method: a table of all, then each one's docstring."""
    from nashgraph.estimators import METHODS  # noqa: PLC0415 (run as a script, this file needs no library)

    classes = {name: kind.__name__ for name, kind in METHODS.items()}
    rows = "".join(f'   "{name}", :class:`{kind}`\n' for name, kind in classes.items())
    table = f".. csv-table::\n   :header: name, class\n\n{rows}"
    return "\n".join([table, *(f".. autoclass:: {kind}\n" for kind in classes.values())])


def write_reproduction(page: Path) -> None:
    """Write the page on the paper's experiments: what they wrote, or how to run them."""
    if REPRODUCTION.exists():
        included = os.path.relpath(REPRODUCTION, page.parent)
        page.write_text(f"```{{include}} {included}\n:relative-images:\n```\n")
    else:
        page.write_text(
            "# Does the paper hold?\n\nThe paper's tables and figures are run anew by `nashgraph reproduce`, which "
            "writes them beside\nthe paper's own numbers to `results/REPRODUCTION.md`. These pages were built before.\n"
        )


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder, and come back."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
