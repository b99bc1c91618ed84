"""What an experiment says: our numbers beside the paper's, the claims checked, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .trials import Measure, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBER, SHAPE = "number", "shape"
VERDICTS = ("reproduced", "reproduced in shape only", "not reproduced")


@dataclass(frozen=True)
class Plan:
    """How much to run: the seed of all draws, and whether a quick look will do.

    Examples
    --------
    >>> Plan(seed=1).quick
    False
    """

    seed: int = 0
    quick: bool = False


@dataclass(frozen=True)
class Comparison:
    """One line of a table: our mean, its standard error, and the paper's number where there is one.

    Examples
    --------
    >>> round(Comparison("SmoothGL", 0.734, 0.008, 0.730).difference, 3)
    0.004
    """

    what: str
    ours: float
    error: float | None = None
    paper: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None else self.ours - self.paper


@dataclass(frozen=True)
class Check:
    """A claim of the paper, whether it holds here, and by how much; it is of a number or of a shape.

    Examples
    --------
    >>> Check("welfare grows with lambda", True, "least step 0.1", SHAPE).holds
    True
    """

    claim: str
    holds: bool
    detail: str
    kind: str = SHAPE


@dataclass(frozen=True)
class Study:
    """What the trials of one experiment amount to.

    Examples
    --------
    >>> Study([], [Check("a", True, ""), Check("b", False, "", NUMBER)]).verdict
    'reproduced in shape only'
    """

    comparisons: Sequence[Comparison]
    checks: Sequence[Check]
    notes: Sequence[str] = ()
    unit: str = "AUC"
    digits: int = 3
    tables: Sequence[tuple[str, pd.DataFrame]] = ()

    @property
    def verdict(self) -> str:
        """Whether all claims hold, all but those of numbers, or neither."""
        if all(check.holds for check in self.checks):
            return VERDICTS[0]
        return VERDICTS[1] if all(check.holds for check in self.checks if check.kind == SHAPE) else VERDICTS[2]


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper: what to measure, how to draw it, what to make of it.

    Attributes
    ----------
    name, title : str
    trials : the trials of a plan
    measure : the rows of one trial
    study : what all rows amount to
    draw : a figure of all rows
    kept : str, the name under which trials are kept; experiments that share it share their trials
    prepare : fetches the data, once, before the trials
    of_paper : bool, whether the paper has it, so that there is a verdict
    """

    name: str
    title: str
    trials: Callable[[Plan], list[Trial]]
    measure: Measure
    study: Callable[[pd.DataFrame], Study]
    draw: Callable[[pd.DataFrame], Figure]
    kept: str
    prepare: Callable[[], object] = lambda: None
    of_paper: bool = True


def mean_and_error(values: Iterable[float]) -> tuple[float, float | None]:
    """Return the mean and its standard error over draws, which one draw does not have.

    Examples
    --------
    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    array = np.asarray(list(values), dtype=float)
    mean = float(array.mean())
    return mean, float(array.std(ddof=1) / np.sqrt(array.size)) if array.size > 1 else None


def compared(what: str, values: Iterable[float], paper: float | None = None) -> Comparison:
    """Return the comparison of the mean of some values with the paper's number.

    Examples
    --------
    >>> compared("SmoothGL", [0.5, 0.7], 0.73).ours
    0.6
    """
    return Comparison(what, *mean_and_error(values), paper)


def closeness(name: str, comparisons: Sequence[Comparison], within: float, digits: int = 3) -> Check:
    """Return the check that every comparison lies within a distance of the paper's number.

    Examples
    --------
    >>> closeness("AUC", [Comparison("SmoothGL", 0.734, 0.008, 0.730)], 0.02).detail
    'largest difference +0.004 (SmoothGL)'
    """
    given = [line for line in comparisons if line.difference is not None]
    worst = max(given, key=lambda line: abs(line.difference or 0.0))
    difference = worst.difference or 0.0
    detail = f"largest difference {difference:+.{digits}f} ({worst.what})"
    return Check(f"{name} within {within:g} of the paper's", abs(difference) <= within, detail, NUMBER)


def markdown_table(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a table in Markdown; what is missing is left blank.

    Examples
    --------
    >>> print(markdown_table(pd.DataFrame({"a": ["x"], "b": [0.12345]})))
    | a | b |
    |---|---|
    | x | 0.123 |
    """

    def cell(value: Any) -> str:
        if value is None or (isinstance(value, float) and not np.isfinite(value)):
            return ""
        return f"{value:.{digits}f}" if isinstance(value, float) else str(value).replace("|", "\\|")

    lines = ["| " + " | ".join(map(str, frame.columns)) + " |", "|" + "---|" * frame.shape[1]]
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in frame.itertuples(index=False)]
    return "\n".join(lines)


def comparison_table(comparisons: Sequence[Comparison], digits: int = 3) -> str:
    """Return the comparisons as a table in Markdown.

    Examples
    --------
    >>> print(comparison_table([Comparison("SmoothGL", 0.734, 0.008, 0.730)]))
    | | ours | paper | difference |
    |---|---|---|---|
    | SmoothGL | 0.734 ± 0.008 | 0.730 | +0.004 |
    """
    lines = ["| | ours | paper | difference |", "|---|---|---|---|"]
    for line in comparisons:
        ours = f"{line.ours:.{digits}f}" + ("" if line.error is None else f" ± {line.error:.{digits}f}")
        paper = "" if line.paper is None else f"{line.paper:.{digits}f}"
        difference = "" if line.difference is None else f"{line.difference:+.{digits}f}"
        lines.append(f"| {line.what} | {ours} | {paper} | {difference} |")
    return "\n".join(lines)
