"""Tables to the screen and to Markdown, with the machine they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from joblib import cpu_count
from rich.console import Console
from rich.table import Table

import nashgraph
from nashgraph.files import written_whole

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def installed(package: str) -> str:
    """Return a package with its version, or that it is not here."""
    if package == "nashgraph":  # this repository's, installed or not
        return f"nashgraph {nashgraph.__version__}"
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def machine(packages: Sequence[str] = PACKAGES) -> str:
    """Describe this machine in one line."""
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
    )


class Report:
    """Sections of prose and tables: printed as they come, written whole at the end."""

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
