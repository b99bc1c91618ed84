"""Running the trials of an experiment: in parallel, each kept when it is done, so that a stopped run goes on.

A trial is a pure function of its arguments. Its rows are kept in a file of its own whose name carries a digest of the
arguments and of the library's source, so a kept trial is never of another seed or of older code. Every trial runs on
one thread, so the numbers are the same bits for any number of jobs.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numba
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from ..files import written_whole

Row = dict[str, Any]
Measure = Callable[..., list[Row]]
KEPT = ".trials"
# What the numbers depend on: not the command line, the reports, nor the way results are drawn.
SOURCES = ("couplings", "games", "solvers", "estimators", "metrics.py", "validation.py", "datasets", "experiments")


@dataclass(frozen=True)
class Trial:
    """One measurement: a readable name, unique in its experiment, and the arguments of the measuring function.

    Examples
    --------
    >>> Trial("village-10", {"village": 10}).arguments
    {'village': 10}
    """

    name: str
    arguments: Mapping[str, Any]


def run_trials(
    experiment: str,
    measure: Measure,
    trials: Sequence[Trial],
    out: Path,
    *,
    jobs: int = 1,
    progress: bool = True,
) -> pd.DataFrame:
    """Run the trials that are not kept already, and return the rows of all, in their order.

    Parameters
    ----------
    experiment : str
        Names the folder in which trials are kept, under ``out``.
    measure : function of a trial's arguments that returns rows of numbers and texts
        A function of a module, so that other processes can import it.
    trials : list of Trial
    out : Path
    jobs : int
        Trials run at the same time, in processes; -1 is one per core.
    progress : bool
        Show a progress bar on standard error.

    Examples
    --------
    >>> import tempfile
    >>> def square(x):
    ...     return [{"x": x, "square": x * x}]
    >>> trials = [Trial(f"x-{x}", {"x": x}) for x in (2, 3)]
    >>> run_trials("squares", square, trials, Path(tempfile.mkdtemp()), progress=False)
       x  square
    0  2       4
    1  3       9
    """
    kept = [(trial, kept_at(experiment, trial, out)) for trial in trials]
    missing = [(trial, path) for trial, path in kept if not path.exists()]
    tasks = (delayed(_run_one)(experiment, measure, trial, path) for trial, path in missing)
    with _bar(progress) as bar:
        task = bar.add_task(experiment, total=len(kept), completed=len(kept) - len(missing))
        for _ in Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks):
            bar.advance(task)
    rows = [row for _, path in kept for row in json.loads(path.read_text(encoding="utf-8"))]
    return pd.DataFrame(rows)


def kept_at(experiment: str, trial: Trial, out: Path) -> Path:
    """Return where a trial's rows are kept.

    Examples
    --------
    >>> kept_at("fig1", Trial("trial-3", {"seed": 0}), Path("results")).parent.as_posix()
    'results/.trials/fig1'
    """
    text = json.dumps([experiment, trial.arguments, code_digest()], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return out / KEPT / experiment / f"{trial.name}-{digest}.json"


@cache
def code_digest() -> str:
    """Return a digest of the source that the numbers depend on.

    Examples
    --------
    >>> len(code_digest())
    64
    """
    digest = hashlib.sha256()
    package = Path(str(files(__package__.rpartition(".")[0])))
    for source in SOURCES:
        place = package / source
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _run_one(experiment: str, measure: Measure, trial: Trial, path: Path) -> None:
    """Measure one trial and keep its rows: this runs in a worker."""
    try:
        with _one_thread(), warnings.catch_warnings():
            # What a method warns of (not converged, constant signals) is in its rows, where the study counts it.
            warnings.simplefilter("ignore")
            rows = measure(**trial.arguments)
    except Exception as error:
        error.add_note(f"in trial {trial.name} of {experiment}")
        raise
    with written_whole(path) as beside:
        beside.write_text(json.dumps(rows), encoding="utf-8")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Hold BLAS and the kernels to one thread: sums over several threads differ in their last bits."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(threads)


def _bar(shown: bool) -> Progress:
    columns = (
        TextColumn("{task.description:>9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), disable=not shown)
