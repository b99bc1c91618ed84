"""From a job to a fitted model: the method with its parameters, the fit with its progress, the scores."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import networkx as nx
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..comparison import METHODS
from ..estimators import GraphEstimator
from ..metrics import edge_auc, edge_average_precision, edge_precision_recall
from ..solvers import Path as LambdaPath
from ..solvers import Record
from ..tables import Job, Signals
from ._running import InputError, Voice

RESERVED = ("callback", "verbose", "missing")  # set by other means
CERTIFICATE = (
    *("converged", "stationarity", "gap", "objective", "welfare", "lam", "beta", "n_iter", "n_components", "epsilon"),
)
ENOUGH = 3  # records before a time left is guessed


def checked_parameters(method: str, given: Mapping[str, Any], settings: list[str]) -> dict[str, Any]:
    """Return all parameters of a method, its defaults and those given; refuse those it does not have.

    ``settings`` are of the form name=value. All are kept, so that a model is learned alike where defaults have changed.

    Examples
    --------
    >>> checked_parameters("linear", {"lam": 2.0}, ["dtype=float32"])["dtype"]
    'float32'
    >>> checked_parameters("smooth", {"lam": 2.0}, [])
    Traceback (most recent call last):
    ...
    typer...BadParameter: the method smooth has no --lam: of these options it has --degree, --beta, --c
    """
    known = METHODS[method]().get_params()
    for name in given:
        if name not in known:
            has = [option for option in ("lam", "degree", "beta", "c", "interaction", "benefit") if option in known]
            options = ", ".join(f"--{option}" for option in has) or "none"
            raise typer.BadParameter(f"the method {method} has no --{name}: of these options it has {options}")
    defaults = {name: value for name, value in known.items() if name not in RESERVED}
    return {**defaults, **given, **dict(_setting(method, known, item) for item in settings)}


def _setting(method: str, known: Mapping[str, Any], item: str) -> tuple[str, Any]:
    name, mark, text = item.partition("=")
    if not mark:
        raise typer.BadParameter(f"--set {item} must read name=value, for example --set tol=1e-8")
    settable = sorted({*known} - {*RESERVED, "benefit"})
    if name not in settable:
        raise typer.BadParameter(f"the method {method} has no parameter {name!r} to set: it has {', '.join(settable)}")
    try:
        return name, json.loads(text)
    except json.JSONDecodeError:
        return name, text


def check_can_miss(method: str, missing: str) -> None:
    """Refuse ``--missing pairwise`` for a method that needs complete signals."""
    able = [name for name, make in METHODS.items() if "missing" in make().get_params()]
    if missing == "pairwise" and method not in able:
        raise typer.BadParameter(
            f"the method {method} needs complete signals: pass --missing impute, or take one of {', '.join(able)}"
        )


def built(method: str, parameters: Mapping[str, Any], signals: Signals, missing: str) -> GraphEstimator:
    """Return the estimator, with the benefit out of the table where there is one."""
    model = METHODS[method]()
    known = model.get_params()
    extra: dict[str, Any] = {}
    if signals.benefit is not None:
        if "benefit" not in known:
            raise typer.BadParameter(f"the method {method} has no --benefit")
        extra["benefit"] = signals.benefit
    if missing == "pairwise":
        extra["missing"] = "pairwise"
    return model.set_params(**{**parameters, **extra})


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model and what belongs to it."""

    model: Any
    n_signals: int
    seconds: float
    certificate: dict[str, Any]
    path: LambdaPath | None = None


def learned(job: Job, signals: Signals, voice: Voice) -> Outcome:
    """Fit the job's method to the signals."""
    with refusals():
        model = built(job.method, job.parameters, signals, job.table.missing)
    seconds = fit(model, signals, voice)
    return Outcome(model, len(signals.table), seconds, certificate(model))


def fit(model: GraphEstimator, signals: Signals, voice: Voice) -> float:
    """Fit with progress shown, and return the seconds it took."""
    start = time.perf_counter()
    with learning(voice) as progress, refusals():
        if "callback" in model.get_params():
            model.set_params(callback=lambda record: progress(record, float(model.get_params()["tol"])))
        model.fit(signals.table)
    if "callback" in model.get_params():
        model.set_params(callback=None)
    return time.perf_counter() - start


@contextmanager
def refusals() -> Iterator[None]:
    """Take what the library says of values and data for the user's to read."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from error


@contextmanager
def learning(voice: Voice, what: str = "learning") -> Iterator[Any]:
    """Show that work goes on, and how far it is; give a function to be told of every iterate."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(16), TimeElapsedColumn())
    left = TextColumn("{task.fields[left]}")
    # Where nobody watches, some versions of rich leave an empty line behind a bar that was not shown.
    console = voice.errors if voice.animated else Console(quiet=True)
    with Progress(*columns, left, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, left="")
        records: list[Record] = []

        def told(record: Record, tol: float) -> bool:
            records.append(record)
            share = share_done(records[0].stationarity, record.stationarity, tol)
            seconds = bar.tasks[task].elapsed or 0.0
            state = f"stationarity {record.stationarity:.0e} → {tol:.0e}"
            if len(records) >= ENOUGH and share > 0:
                state += f", about {seconds * (1 - share) / share:.0f} s left"
            bar.update(task, total=1.0, completed=share, left=state)
            return False

        yield told


def share_done(first: float, now: float, tol: float) -> float:
    """Return how much of the way to tol is behind, on the logarithmic scale on which solvers go about evenly.

    Examples
    --------
    >>> share_done(1.0, 1e-3, 1e-6)
    0.5
    """
    if not 0 < tol < first or now <= 0:
        return 1.0
    return min(1.0, max(0.0, math.log(first / now) / math.log(first / tol)))


def certificate(model: Any) -> dict[str, Any]:
    """Return what a fitted model says of its own answer, as plain numbers."""
    found = {name: getattr(model, f"{name}_") for name in CERTIFICATE if hasattr(model, f"{name}_")}
    return {name: plain_number(value) for name, value in found.items()}


def plain_number(value: Any) -> Any:
    """Return a number as JSON has it: None where it is not finite.

    Examples
    --------
    >>> plain_number(True), plain_number(3), plain_number(float("nan"))
    (True, 3, None)
    """
    if isinstance(value, bool | int):
        return value
    return float(value) if math.isfinite(value) else None


def scores(model: GraphEstimator, truth: nx.Graph[str], *, directed: bool) -> dict[str, float]:
    """Return how well the graph that is written matches the truth."""
    symmetrize = "none" if directed else "mean"
    with refusals():
        best = edge_precision_recall(model.adjacency_, truth, symmetrize)
        return {
            "auc": edge_auc(model.adjacency_, truth, symmetrize),
            "average_precision": edge_average_precision(model.adjacency_, truth, symmetrize),
            "precision": best.precision,
            "recall": best.recall,
        }
