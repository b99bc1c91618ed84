"""Tables to the screen and to Markdown, with the machine and the code that they were measured with.

``python -m benchmarks.report`` lists the pages that were printed with other code than today's.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import platform
import re
import sys
import tokenize
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from joblib import cpu_count
from rich.console import Console
from rich.table import Table

import nashgraph
from nashgraph.files import written_whole

SOURCE = Path(nashgraph.__file__).parent
SHOWING = {"cli", "comparison", "report", "io", "files"}  # modules that no figure of a method depends on
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def installed(package: str) -> str:
    """Return a package with its version, or a note that it is missing."""
    if package == "nashgraph":  # this repository's, installed or not
        return f"nashgraph {nashgraph.__version__}"
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def code() -> str:
    """Return a digest of the code that figures depend on, without its comments and docstrings."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0].removesuffix(".py") not in SHOWING:
            text = path.read_text(encoding="utf-8")
            lines = text.splitlines()
            # By lines and not by the tree, because another Python prints the same tree in another way.
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.COMMENT:
                    lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
                    and ast.get_docstring(node) is not None
                ):
                    first, last = node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno
                    lines[first - 1 : last] = [""] * (last - first + 1)
            digest.update("\n".join(line.rstrip() for line in lines if line.strip()).encode())
    return digest.hexdigest()[:8]


def machine(packages: Sequence[str] = PACKAGES) -> str:
    """Describe this machine, and the code, in one line."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (
        f"{cpu_count()} cores ({cpu}), {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}, "
        + ", ".join(map(installed, packages))
        + f", code {code()}"
    )


class Report:
    """Sections of prose and tables: printed at once, written to a file at the end."""

    def __init__(self, title: str, command: str, packages: Sequence[str] = PACKAGES) -> None:
        self.console = Console(width=190)
        self.lines = [f"# {title}", "", f"Printed by `{command}` on: {machine(packages)}.", ""]
        self.console.rule(title)
        self.console.print(machine(packages))

    def section(self, title: str) -> None:
        """Open a section."""
        self.lines += [f"## {title}", ""]
        self.console.print(f"\n[bold]{title}[/bold]")

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.lines += [text, ""]
        self.console.print(text)

    def table(self, headings: list[str], rows: list[list[str]]) -> None:
        """Add a table, its first column left-aligned and the rest right."""
        shown = Table(box=None, pad_edge=False)
        for k, heading in enumerate(headings):
            shown.add_column(heading, justify="left" if k == 0 else "right")
        for row in rows:
            shown.add_row(*row)
        self.console.print(shown)
        self.lines += [
            "| " + " | ".join(headings) + " |",
            "|" + "|".join(["---"] + ["---:"] * (len(headings) - 1)) + "|",
            *("| " + " | ".join(row) + " |" for row in rows),
            "",
        ]

    def write(self, path: Path) -> None:
        """Write it all to a Markdown file."""
        with written_whole(path) as beside:
            beside.write_text("\n".join(self.lines))
        self.console.print(f"\nwrote {path}")


def main() -> None:
    """List the pages that are older than the code."""
    today = code()
    for page in sorted(Path(__file__).parent.glob("*.md")):
        found = re.search(r"^Printed by .*\bcode (\w{8})\b", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        if page.stem != "README" and (found is None or found[1] != today):
            sys.stdout.write(f"{page.name}: code {found[1] if found else 'not named'}, today's is {today}\n")


if __name__ == "__main__":
    main()
