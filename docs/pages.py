"""What these pages show is run: their Python as doctests, the tutorial's commands as they stand.

``make pages`` updates the parts of the pages that come from the code: what the tutorial's commands
print, its picture, and the options of the command line. Tests compare.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
REPRODUCTION = HERE.parent / "results" / "REPRODUCTION.md"
SURVEY = HERE.parent / "examples" / "survey.csv"
TUTORIAL, COMMAND_LINE = HERE / "tutorial.md", HERE / "guide" / "command_line.md"
COMMAND = re.compile(r"(?<=```console\n)\$ (?P<command>(?:[^\n]*\\\n)*[^\n]*)\n.*?(?=```)", flags=re.DOTALL)
SECONDS = re.compile(r"((?:^seconds +)|(?: in (?=\d+\.\d s: )))\S+", flags=re.MULTILINE)
WRITTEN = "<!-- What follows is written by docs/pages.py, out of the command line itself. -->\n"


def run_python_of(page: Path) -> int:
    """Run a page's Python blocks, in one session, and return how many lines gave something else than they show."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    return runner.run(test).failed


def set_up(folder: Path) -> None:
    """Put into a folder the files that the tutorial finds in the repository."""
    (folder / "examples").mkdir(parents=True, exist_ok=True)
    shutil.copy(SURVEY, folder / "examples")


def printed_by(command: str) -> str:
    """Return what a command of the tutorial prints, where one works; how long it took is left out."""
    from typer.testing import CliRunner  # noqa: PLC0415 (as below)

    from nashgraph.cli.app import app  # noqa: PLC0415

    program, *arguments = shlex.split(command.replace("\\\n", ""))
    if program == "nashgraph":
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "118"})
        text, code = result.output, result.exit_code
    else:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        text, code = done.stdout, done.returncode
    if code:
        raise RuntimeError(f"{command} ended with {code}: {text}")
    return SECONDS.sub(r"\1...", "".join(f"{line.rstrip()}\n" for line in text.splitlines()))


def tutorial_rerun() -> str:
    """Return the tutorial as its commands make it, run in the folder where one works."""
    return COMMAND.sub(
        lambda found: f"$ {found['command']}\n{printed_by(found['command'])}", TUTORIAL.read_text(encoding="utf-8")
    )


def command_line_rewritten() -> str:
    """Return the page on the command line with the options as they are."""
    from options import option_reference  # noqa: PLC0415 (beside this file)

    return COMMAND_LINE.read_text(encoding="utf-8").partition(WRITTEN)[0] + WRITTEN + "\n" + option_reference()


def run_tutorial(folder: Path) -> None:
    """Run the tutorial's commands and its Python in ``folder``, which then has their files."""
    set_up(folder)
    with working_in(folder):
        tutorial_rerun()
        if run_python_of(TUTORIAL):
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


def main() -> None:
    """Write anew what comes from the code."""
    COMMAND_LINE.write_text(command_line_rewritten(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        set_up(Path(folder))
        with working_in(Path(folder)):
            TUTORIAL.write_text(tutorial_rerun(), encoding="utf-8")
            run_python_of(TUTORIAL)
            shutil.copy("village.png", HERE / "tutorial")


if __name__ == "__main__":
    main()
