"""How the command line phrases an error, a warning or a remedy: from its fields, with options in place of arguments."""

from __future__ import annotations

from dataclasses import Field, fields, is_dataclass
from functools import cache
from typing import Any

from ..decisions import Remedy
from ..plan import PlanError
from ..validation import DataWarning, InputError
from . import act_options, options, tie_options
from .commands import SET

# Parameters of the library that are typed in another way.
RENAMED = {
    "random_state": "--seed",
    "ties": "--n-ties",
    "nominations": "--names",
    "reports": "--names",
    "gaps": "--missing",
}
# What the command line can do about a parameter where the library leaves it to the caller.
HERE = {"missing": Remedy("missing", "impute")}


@cache
def typed_as() -> dict[str, str]:
    """Return how each parameter that a command has is typed: as an option, or as a setting of ``--set``."""
    typed: dict[str, str] = {"n_ties": "--n-ties"}
    for module in (tie_options, options, act_options):
        for group in vars(module).values():
            if isinstance(group, type) and is_dataclass(group):
                typed |= {field.name: _typed(field) for field in fields(group) if field.name not in typed}
    # What act has as an option is a setting of learn, where most people need it.
    typed |= {field.name: _typed(field) for field in fields(options.LearnArguments)}
    return typed | RENAMED


def _typed(field: Field[Any]) -> str:
    if "setting" in field.metadata:
        return f"{SET}{field.name}"
    return f"--{field.name.replace('_', '-')}"


def option_of(parameter: str | None) -> str:
    """Return the option or the setting of a parameter, or nothing if no command has it."""
    return typed_as().get(parameter or "", "")


def as_typed(remedy: Remedy) -> str:
    """Return a remedy as the words to type."""
    option = option_of(remedy.parameter)
    value = remedy.value
    if remedy.parameter == "missing" and isinstance(value, tuple):  # codes for no answer, not what gaps become
        option = f"{SET}na"
    option = option or f"{SET}{remedy.parameter}"
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    if not option.startswith(SET):
        return option if value is None else f"{option} {value}"
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return option if value is None else f"{option}={value}"


def phrased(problem: Exception | Warning) -> str:
    """Return an error or a warning of the library as a sentence for somebody who types commands."""
    if not isinstance(problem, InputError | DataWarning):
        return str(problem)
    # Of a plan, missing are codes; of a method, what happens to gaps.
    codes = isinstance(problem, PlanError) and problem.parameter == "missing"
    parameter = "na" if codes else problem.parameter
    message = problem.message
    option = option_of(parameter)
    if option and option not in message:
        message = f"{option}: {message}"
    remedy = problem.remedy or HERE.get(parameter or "")
    if remedy is None:
        return message
    return f"{message}; try {as_typed(remedy)}"
