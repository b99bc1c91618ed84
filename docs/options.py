"""The commands and their options in Markdown, out of the command line itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import typer

from nashgraph.cli.app import app
from nashgraph.cli.commands import EXIT_CODES

OURS_NOT = ("help", "install_completion", "show_completion")  # every command line made with typer has these


def option_reference() -> str:
    """Return the exit codes, and every command with what it takes."""
    return "\n\n".join([EXIT_CODES, *_described("nashgraph", typer.main.get_command(app))]) + "\n"


def _described(name: str, command: Any) -> Iterator[str]:
    """Yield the passages on a command and on those inside it."""
    inside = getattr(command, "commands", {})
    for word, child in inside.items():
        yield f"## nashgraph {word}" if name == "nashgraph" else f"### {name} {word}"
        yield from _said(child)
        yield from _described(f"{name} {word}", child)


def _said(command: Any) -> Iterator[str]:
    """Yield what a command says of itself, then its parameters by their groups."""
    for passage in command.help.split("\n\n"):
        head, _, example = passage.partition("Example: ")
        yield passage.replace("\n", " ").strip() if head or not example else f"```bash\n{example.strip()}\n```"
    parameters = command.get_params(typer.Context(command))
    arguments = [parameter for parameter in parameters if not _is_option(parameter)]
    if arguments:
        yield "\n".join(_line(parameter) for parameter in arguments)
    options = [parameter for parameter in parameters if _shown(parameter)]
    panels = list(dict.fromkeys(_panel(option) for option in options))
    for panel, members in itertools.groupby(sorted(options, key=lambda o: panels.index(_panel(o))), key=_panel):
        yield f"{panel}:"
        yield "\n".join(_line(parameter) for parameter in members)


def _is_option(parameter: Any) -> bool:
    return bool(parameter.opts[0].startswith("-"))


def _shown(parameter: Any) -> bool:
    return _is_option(parameter) and parameter.name not in OURS_NOT and not parameter.hidden


def _panel(option: Any) -> str:
    return option.rich_help_panel or "Options"


def _line(parameter: Any) -> str:
    """Return an item of a list: how a parameter is given, what it does, what it is if left out."""
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    value = parameter.metavar or parameter.opts[0].strip("-").upper().replace("-", "_")
    if not _is_option(parameter):
        names = value
    elif not parameter.is_flag:
        names = f"{names} {value}"
    shown, default = parameter.show_default, parameter.default
    if shown is True:
        shown = "" if default is None or default is False or parameter.secondary_opts else str(default)
    ends = f" (default: {shown})" if shown and _is_option(parameter) else ""
    return f"- `{names}`: {parameter.help}{ends}"
