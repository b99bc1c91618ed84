"""The parts every experiment shares: trials, claims and their verdict, the paper's numbers, statistics, figures."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from nashgraph.certificate import Certificate, Measure

Row = dict[str, Any]
# Okabe and Ito's colours, which all eyes can tell apart, the dark ones first.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f", "#8c510a", "#66a61e")


@dataclass(frozen=True)
class Comparison:
    """One line of a table: our mean, its standard error, and the paper's number if there is one."""

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

    ``shape`` is true for a sign, a trend or a ranking, and false for the size of a number.
    """

    claim: str
    holds: bool
    detail: str
    shape: bool = True


def verdict(checks: Sequence[Check]) -> str:
    """Return one of the four verdicts; claims about shape decide unless only numbers differ."""
    if all(check.holds for check in checks):
        return "reproduced"
    shapes = [check.holds for check in checks if check.shape]
    return "reproduced in shape only" if all(shapes) else "partly reproduced" if any(shapes) else "not reproduced"


def held(checks: Sequence[Check]) -> str:
    """Return how many of the claims hold."""
    return f"{sum(check.holds for check in checks)} of {len(checks)}"


@dataclass(frozen=True)
class Study:
    """Results of all trials of one experiment.

    The verdict is that of ``checks``, which read the paper literally. ``readings`` has the same claims under other
    readings of something that the paper does not state, by name; each has a verdict of its own.

    Examples
    --------
    >>> checks = [Check("GLGP is first", True, "by 0.1"), Check("AUC is 0.8", False, "it is 0.7", shape=False)]
    >>> Study([Comparison("GLGP", 0.7, 0.01, paper=0.8)], checks).verdict
    'reproduced in shape only'
    """

    comparisons: Sequence[Comparison]
    checks: Sequence[Check]
    notes: Sequence[str] = ()
    unit: str = "AUC"
    digits: int = 3
    table: pd.DataFrame | None = None
    readings: Mapping[str, Sequence[Check]] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The verdict on the literal text."""
        return verdict(self.checks)


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    ``trials`` lists the arguments of each trial, fewer if quick; ``measure`` returns the rows of one, from these and
    the seed; ``study`` says what all rows amount to, and ``draw`` draws them. ``prepare`` fetches the data before the
    trials. Experiments with the same ``shared`` name read the same trials.
    """

    name: str
    title: str
    trials: Callable[[bool], list[Row]]
    measure: Callable[..., list[Row]]
    study: Callable[[pd.DataFrame], Study]
    draw: Callable[[pd.DataFrame], Any]  # a figure of matplotlib's, which is an extra
    shared: str = ""
    prepare: Callable[[], object] = lambda: None

    @property
    def data(self) -> str:
        """The name of the trials' folder and of their CSV."""
        return self.shared or self.name


@cache
def paper_numbers() -> dict[str, Any]:
    """Return all of the paper's numbers, by table or figure; ``paper.toml`` is the one place they are written."""
    return tomllib.loads(files(__package__).joinpath("paper.toml").read_text(encoding="utf-8"))


def certified(certificate: Certificate | None = None) -> Row:
    """Return what a row says of a fit: whether it converged, and its stationarity if that is what was measured."""
    if certificate is None:
        return {"stationarity": None, "converged": True}
    measured = certificate.measure in (Measure.STATIONARITY, Measure.EXACT)
    return {"stationarity": certificate.value if measured else None, "converged": certificate.converged}


def where(frame: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows that have the given values in the columns named."""
    return frame[np.logical_and.reduce([frame[column] == value for column, value in values.items()])]


def mean_and_error(values: Iterable[float]) -> tuple[float, float | None]:
    """Return the mean and its standard error over draws, which one draw does not have."""
    array = np.asarray(list(values), dtype=float)
    error = float(array.std(ddof=1) / np.sqrt(array.size)) if array.size > 1 else None
    return float(array.mean()), error


def compared(what: str, values: Iterable[float], paper: float | None = None) -> Comparison:
    """Return the comparison of the mean of some values with the paper's number."""
    return Comparison(what, *mean_and_error(values), paper)


def closeness(name: str, comparisons: Sequence[Comparison], within: float, digits: int = 3) -> Check:
    """Return the check that every comparison lies within a distance of the paper's number."""
    differences = {line.what: line.difference for line in comparisons if line.difference is not None}
    worst, difference = max(differences.items(), key=lambda item: abs(item[1]))
    detail = f"largest difference {difference:+.{digits}f} ({worst})"
    return Check(f"{name} within {within:g} of the paper's", abs(difference) <= within, detail, shape=False)


def same_ranking(claim: str, ours: Mapping[Any, float], paper: Mapping[str, float]) -> Check:
    """Return the check that the paper's methods rank here as they do there, the highest first."""
    here, there = sorted(paper, key=lambda name: -ours[name]), sorted(paper, key=lambda name: -paper[name])
    return Check(claim, here == there, f"here: {' > '.join(here)}; in the paper: {' > '.join(there)}")


def unfinished(fits: pd.DataFrame, what: str) -> list[str]:
    """Return a note on the methods that did not converge in some fits, if there are any."""
    counts = fits[~fits["converged"].astype(bool)]["method"].value_counts()
    short = ", ".join(f"{name} in {count}" for name, count in counts.items())
    return [f"Not converged: {short} {what}."] if short else []


def new_figure(columns: int = 1, width: float = 5.4, height: float = 4.0, **options: Any) -> tuple[Any, Any]:
    """Return an empty figure and its axes, with a light grid."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'nashgraph[plot]'") from error
    figure = Figure(figsize=(width * columns, height), layout="constrained")
    axes = figure.subplots(1, columns, **options)
    for each in figure.axes:
        each.grid(alpha=0.3)
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes
