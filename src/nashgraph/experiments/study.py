"""The result of an experiment: our numbers next to the paper's, the claims checked, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .figures import Figure
from .trials import Measurement, Trial

NUMBER, SHAPE = "number", "shape"
REPRODUCED, SHAPE_ONLY, PARTLY, NOT = "reproduced", "reproduced in shape only", "partly reproduced", "not reproduced"


@dataclass(frozen=True)
class Plan:
    """How much to run: the seed of all draws, and whether a quick look will do."""

    seed: int = 0
    quick: bool = False


@dataclass(frozen=True)
class Comparison:
    """One line of a table: our mean, its standard error, and the paper's number where there is one."""

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
    """A claim of the paper, whether it holds here, and by how much.

    ``kind`` is SHAPE for a sign, a trend or a ranking, and NUMBER for the size of a figure.
    """

    claim: str
    holds: bool
    detail: str
    kind: str = SHAPE


class Checked:
    """Claims that were checked: the verdict, and how many hold."""

    checks: Sequence[Check]

    @property
    def verdict(self) -> str:
        """One of the four verdicts; claims about shape decide unless only numbers differ."""
        if all(check.holds for check in self.checks):
            return REPRODUCED
        shapes = [check.holds for check in self.checks if check.kind == SHAPE]
        return SHAPE_ONLY if all(shapes) else PARTLY if any(shapes) else NOT

    @property
    def held(self) -> str:
        """How many of the claims hold."""
        return f"{sum(check.holds for check in self.checks)} of {len(self.checks)}"


@dataclass(frozen=True)
class Reading(Checked):
    """The same claims under another reading of something the paper does not state."""

    name: str
    checks: Sequence[Check]


@dataclass(frozen=True)
class Study(Checked):
    """Results of all trials of one experiment.

    The verdict is that of ``checks``, which read the paper literally; ``readings`` have verdicts of their own.

    Examples
    --------
    >>> study = Study([], [Check("GLGP is first", True, "by 0.1"), Check("AUC is 0.8", False, "it is 0.7", NUMBER)])
    >>> study.verdict, study.held
    ('reproduced in shape only', '1 of 2')
    """

    comparisons: Sequence[Comparison]
    checks: Sequence[Check]
    notes: Sequence[str] = ()
    unit: str = "AUC"
    digits: int = 3
    table: pd.DataFrame | None = None
    readings: Sequence[Reading] = ()


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
    shared : str, the name of the trials where other experiments read the same ones
    prepare : fetches the data, once, before the trials
    of_paper : bool, whether the paper has it, so that there is a verdict
    """

    name: str
    title: str
    trials: Callable[[Plan], list[Trial]]
    measure: Measurement
    study: Callable[[pd.DataFrame], Study]
    draw: Callable[[pd.DataFrame], Figure]
    shared: str = ""
    prepare: Callable[[], object] = lambda: None
    of_paper: bool = True

    @property
    def data(self) -> str:
        """The name of the trials' folder and of their CSV."""
        return self.shared or self.name

    def verdict(self, checked: Checked) -> str:
        """Return the verdict, or "not in the paper"."""
        return checked.verdict if self.of_paper else "not in the paper"


def where(frame: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows that have the given values in the columns named."""
    return frame[np.logical_and.reduce([frame[column] == value for column, value in values.items()])]


def mean_and_error(values: Iterable[float]) -> tuple[float, float | None]:
    """Return the mean and its standard error over draws, which one draw does not have."""
    array = np.asarray(list(values), dtype=float)
    mean = float(array.mean())
    return mean, float(array.std(ddof=1) / np.sqrt(array.size)) if array.size > 1 else None


def compared(what: str, values: Iterable[float], paper: float | None = None) -> Comparison:
    """Return the comparison of the mean of some values with the paper's number."""
    return Comparison(what, *mean_and_error(values), paper)


def closeness(name: str, comparisons: Sequence[Comparison], within: float, digits: int = 3) -> Check:
    """Return the check that every comparison lies within a distance of the paper's number."""
    differences = {line.what: line.difference for line in comparisons if line.difference is not None}
    worst, difference = max(differences.items(), key=lambda item: abs(item[1]))
    detail = f"largest difference {difference:+.{digits}f} ({worst})"
    return Check(f"{name} within {within:g} of the paper's", abs(difference) <= within, detail, NUMBER)


def same_ranking(claim: str, ours: Mapping[Any, float], paper: Mapping[str, float]) -> Check:
    """Return the check that the paper's methods rank here as they do there, the highest first."""
    here, there = sorted(paper, key=lambda name: -ours[name]), sorted(paper, key=lambda name: -paper[name])
    return Check(claim, here == there, f"here: {' > '.join(here)}; in the paper: {' > '.join(there)}")


def unfinished(fits: pd.DataFrame, what: str) -> list[str]:
    """Return a note on the methods that did not converge in some fits, where there are any."""
    counts = fits[~fits["converged"].astype(bool)]["method"].value_counts()
    short = ", ".join(f"{name} in {count}" for name, count in counts.items())
    return [f"Not converged: {short} {what}."] if short else []


def markdown(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    names = list(headings)
    lines = ["|" + "".join(f" {name} |" if name else " |" for name in names), "|" + "---|" * len(names)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def data_table(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a table of data in Markdown; what is missing is left blank."""

    def cell(value: Any) -> str:
        if value is None or (isinstance(value, float) and not np.isfinite(value)):
            return ""
        return f"{value:.{digits}f}" if isinstance(value, float) else str(value).replace("|", "\\|")

    return markdown(map(str, frame.columns), (map(cell, row) for row in frame.itertuples(index=False)))


def comparison_table(comparisons: Sequence[Comparison], digits: int = 3) -> str:
    """Return the comparisons as a table in Markdown.

    Examples
    --------
    >>> print(comparison_table([Comparison("SmoothGL", 0.734, 0.008, 0.730)]))
    | | ours | paper | difference |
    |---|---|---|---|
    | SmoothGL | 0.734 ± 0.008 | 0.730 | +0.004 |
    """

    def cells(line: Comparison) -> list[str]:
        ours = f"{line.ours:.{digits}f}" + ("" if line.error is None else f" ± {line.error:.{digits}f}")
        paper = "" if line.paper is None else f"{line.paper:.{digits}f}"
        return [line.what, ours, paper, "" if line.difference is None else f"{line.difference:+.{digits}f}"]

    return markdown(("", "ours", "paper", "difference"), map(cells, comparisons))
