"""The commands and their options in Markdown, out of the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from nashgraph.cli.app import app
from nashgraph.cli.commands import EXIT_CODES, SET, example_of

OURS_NOT = ("help", "install_completion", "show_completion")  # every command line made with typer has these


def option_reference() -> str:
    """Return the exit codes, every command with its arguments, and every option once."""
    commands = dict(_commands("nashgraph", typer.main.get_command(app)))
    parts = [EXIT_CODES]
    for name, command in commands.items():
        parts += [f"## {name}", *_described(command)]
    return "\n\n".join([*parts, "## All options", *_options(commands)]) + "\n"


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands inside a command by their full names."""
    for word, child in getattr(command, "commands", {}).items():
        yield f"{name} {word}", child
        yield from _commands(f"{name} {word}", child)


def _described(command: Any) -> Iterator[str]:
    """Yield the help of a command, its arguments, and the groups of its options."""
    for passage in command.help.split("\n\n"):
        head, _, example = passage.partition("Example: ")
        yield passage.replace("\n", " ").strip() if head or not example else f"```bash\n{example.strip()}\n```"
    arguments = [parameter for parameter in _parameters(command) if not _is_option(parameter)]
    if arguments:
        yield "\n".join(_entry(parameter) for parameter in arguments)
    panels = dict.fromkeys(_panel(option) for option in _parameters(command) if _is_option(option))
    if panels:
        yield f"Options: {', '.join(panels)}."


def _options(commands: dict[str, Any]) -> Iterator[str]:
    """Yield the options by their groups: each text once, with the commands that have it unless all of the group do."""
    panels: dict[str, dict[str, list[str]]] = {}
    for name, command in commands.items():
        for option in filter(_is_option, _parameters(command)):
            users = panels.setdefault(_panel(option), {}).setdefault(_entry(option), [])
            users.append(name.removeprefix("nashgraph "))
    for panel, entries in panels.items():
        everybody = set().union(*entries.values())
        lines = []
        for entry, users in entries.items():
            lines.append(entry if set(users) == everybody else f"{entry} ({', '.join(users)})")
        yield f"### {panel}"
        yield "\n".join(lines)


def _parameters(command: Any) -> list[Any]:
    """Return the arguments, options and settings of a command."""
    return [each for each in command.get_params(typer.Context(command)) if each.name not in OURS_NOT]


def _is_option(parameter: Any) -> bool:
    return bool(parameter.opts[0].startswith("-"))


def _panel(option: Any) -> str:
    return option.rich_help_panel or "Options"


def _entry(parameter: Any) -> str:
    """Return an item of a list: how a parameter is given, what it does, what it is if left out."""
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    value = parameter.metavar or parameter.opts[0].strip("-").upper().replace("-", "_")
    if not _is_option(parameter):
        names = value
    elif parameter.opts[0].startswith(SET):
        names = f"{parameter.opts[0]}={example_of(parameter)}"
    elif not parameter.is_flag:
        names = f"{names} {value}"
    shown, default = parameter.show_default, parameter.default
    if shown is True:
        shown = "" if default is None or default is False or parameter.secondary_opts else str(default)
    ends = f" (default: {shown})" if shown and _is_option(parameter) else ""
    return f"- `{names}`: {parameter.help}{ends}"
