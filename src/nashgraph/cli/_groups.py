"""How commands take options: groups of them as one argument, and names out of a registry, looked up when needed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand


def registered(where: str) -> Mapping[str, Any]:
    """Return the registry at "module:attribute"."""
    module, _, attribute = where.partition(":")
    found: Mapping[str, Any] = getattr(import_module(module), attribute)
    return found


def choice(where: str, **more: Any) -> Any:
    """Return an option that takes a name out of a registry: any that is registered when the command runs."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in registered(where):
            raise typer.BadParameter(f"{value!r} is not known: there are {', '.join(registered(where))}")
        return value

    return typer.Option(metavar=where, callback=check, autocompletion=completing(where), **more)


def completing(names: str | tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return what completes a name, of a registry or of a few."""

    def complete(incomplete: str) -> list[str]:
        known = registered(names) if isinstance(names, str) else names
        return [name for name in known if name.startswith(incomplete)]

    return complete


class Command(TyperCommand):
    """A command whose help lists the names that are registered when it is asked for."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, with names in place of the registry that holds them."""
        for parameter in self.params:
            if ":" in (parameter.metavar or ""):
                parameter.metavar = f"[{'|'.join(registered(str(parameter.metavar)))}]"
        return super().get_params(ctx)


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take groups of options: typer sees their fields, the command gets the groups."""
    hints = get_type_hints(command, include_extras=True)
    defaults = {name: given.default for name, given in inspect.signature(command).parameters.items()}
    parameters = [item for name, default in defaults.items() for item in _flat(name, hints[name], default)]

    @functools.wraps(command)
    def flat(**given: Any) -> int:
        return command(**{name: _gathered(name, hints[name], given) for name in defaults})

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _flat(name: str, kind: Any, default: Any) -> list[inspect.Parameter]:
    """Return the parameters that an argument stands for: itself, or the fields of its group."""
    if not is_dataclass(kind):
        return [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)]
    hints = get_type_hints(kind, include_extras=True)
    return [
        item
        for field in fields(kind)
        for item in _flat(
            field.name, hints[field.name], inspect.Parameter.empty if field.default is MISSING else field.default
        )
    ]


def _gathered(name: str, kind: Any, given: Mapping[str, Any]) -> Any:
    """Return an argument out of the flat ones: a group from its fields."""
    if not is_dataclass(kind):
        return given[name]
    hints = get_type_hints(kind, include_extras=True)
    made: Any = kind
    return made(**{field.name: _gathered(field.name, hints[field.name], given) for field in fields(kind)})
