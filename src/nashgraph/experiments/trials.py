"""Running the trials of an experiment: in parallel, each kept when it is done, so that a stopped run goes on.

A trial is a pure function of its arguments. Its rows are kept in a file of its own whose name carries a digest of the
arguments and of the library's source, so a kept trial is never of another seed or of older code. Every trial runs on
one thread, so the numbers are the same bits for any number of jobs.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from joblib import Parallel, delayed

from ..certificate import Certificate, Measure
from ..files import code_digest, written_whole
from ..pairs.threads import one_thread

Row = dict[str, Any]
Measurement = Callable[..., list[Row]]
# Called with the experiment, the trials done and all its trials: once at the start and after each trial.
Progress = Callable[[str, int, int], object]
KEPT = ".trials"


class Trial(NamedTuple):
    """One measurement: a readable name, unique in its experiment, and the arguments of the measuring function."""

    name: str
    arguments: Mapping[str, Any]


def run_trials(
    experiment: str,
    measure: Measurement,
    trials: Sequence[Trial],
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress = lambda *_: None,
) -> pd.DataFrame:
    """Run the trials that are not kept already, and return the rows of all, in their order.

    They are kept in a folder of ``out`` named after the experiment. ``measure`` takes a trial's arguments; it must be a
    function of a module, so that the processes of other ``jobs`` can import it.
    """
    kept = [(trial, kept_at(experiment, trial, out)) for trial in trials]
    missing = [(trial, path) for trial, path in kept if kept_rows(path) is None]
    tasks = (delayed(_run_one)(experiment, measure, trial, path) for trial, path in missing)
    before = len(kept) - len(missing)
    progress(experiment, before, len(kept))
    for done, _ in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), before + 1):
        progress(experiment, done, len(kept))
    return pd.DataFrame([row for _, path in kept for row in kept_rows(path) or []])


def kept_rows(path: Path) -> list[Row] | None:
    """Return the rows that a file keeps, or None where there is none, or one that is damaged: it is then run again."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else None


def kept_at(experiment: str, trial: Trial, out: Path) -> Path:
    """Return where a trial's rows are kept."""
    text = json.dumps([experiment, trial.arguments, code_digest()], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return out / KEPT / experiment / f"{trial.name}-{digest}.json"


def certified(certificate: Certificate | None = None) -> Row:
    """Return what a row says of a fit: whether it converged, and its stationarity where that is what was measured."""
    if certificate is None:
        return {"stationarity": None, "converged": True}
    measured = certificate.measure in (Measure.STATIONARITY, Measure.EXACT)
    return {"stationarity": certificate.value if measured else None, "converged": certificate.converged}


def _run_one(experiment: str, measure: Measurement, trial: Trial, path: Path) -> None:
    """Measure one trial and keep its rows: this runs in a worker."""
    try:
        with one_thread(), warnings.catch_warnings():
            # What a method warns of (not converged, constant signals) is in its rows, where the study counts it.
            warnings.simplefilter("ignore")
            rows = measure(**trial.arguments)
    except Exception as error:
        error.add_note(f"in trial {trial.name} of {experiment}")
        raise
    with written_whole(path) as partial:
        partial.write_text(json.dumps(rows), encoding="utf-8")
