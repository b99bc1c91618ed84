"""How the command line phrases an error, a warning or a remedy: from its fields, with options in place of arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from ..decisions import Remedy
from ..plan import PlanError
from ..validation import DataWarning, InputError
from . import options, tie_options

# Parameters of the library whose option has another name.
RENAMED = {
    "random_state": "--seed",
    "n_replicates": "--replicates",
    "n_ties": "--ties",
    "nominations": "--names",
    "reports": "--names",
    "gaps": "--missing",
}
# What the command line can do about a parameter where the library leaves it to the caller.
HERE = {"missing": Remedy("missing", "impute")}


@cache
def with_option() -> frozenset[str]:
    """Return the parameters that have an option of their own in some command."""
    return frozenset([*RENAMED, *_fields_in(options), *_fields_in(tie_options)])


def _fields_in(module: Any) -> Iterator[str]:
    for group in vars(module).values():
        if isinstance(group, type) and is_dataclass(group):
            yield from (field.name for field in fields(group))


def option_of(parameter: str | None) -> str:
    """Return the option that sets a parameter, or nothing if none does."""
    if parameter is None or parameter not in with_option():
        return ""
    return RENAMED.get(parameter, f"--{parameter.replace('_', '-')}")


def as_typed(remedy: Remedy) -> str:
    """Return a remedy as the words to type."""
    option = option_of(remedy.parameter)
    value = remedy.value
    if remedy.parameter == "missing" and isinstance(value, tuple):  # codes for no answer, not what gaps become
        option = "--na"
    if not option:
        return f"--set {remedy.parameter}={value}"
    if value is None or value is True:
        return option
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    return f"{option} {value}"


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
    return message if remedy is None else f"{message}; try {as_typed(remedy)}"
