"""Running experiments and writing what came out: CSV, figures, Markdown, and REPRODUCTION.md from the CSVs alone.

A trial is a pure function of its arguments. Its rows are stored in a file named by a digest of the arguments and of the
library's source, so a stored trial is never of another seed or of older code. Every trial runs on one thread, so the
numbers are the same bits for any number of jobs.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import nashgraph
from nashgraph.files import written_whole
from nashgraph.io.graphs import guarded_table, unguarded_table
from nashgraph.pairs.threads import one_thread
from nashgraph.validation import check_choice, check_integer

from . import EXPERIMENTS
from .study import Check, Comparison, Experiment, Row, Study, held, paper_numbers, verdict

# Called with the experiment, the trials done and all its trials: once at the start and after each trial.
Progress = Callable[[str, int, int], object]
# Parts of the library that show results and do not change them: a trial stays valid if they change.
INTERFACES = {"cli", "comparison", "report", "io", "files", "__main__"}


def reproduce(
    names: Iterable[str] | None = None,
    out: str | Path = "results",
    *,
    seed: int = 0,
    quick: bool = False,
    jobs: int = 1,
    progress: Progress = lambda *_: None,
) -> dict[str, Study]:
    """Run experiments of the paper and write their CSVs, figures and Markdown, and REPRODUCTION.md, to ``out``.

    Every trial is stored in ``out/.trials`` when it is done: a run that was stopped goes on where it was, and gives the
    same bits. Experiments that share their trials (Tables 2 and 3 share the villages) share one CSV, and running one
    of them writes the others too.

    Parameters
    ----------
    names : list of str, those of ``reproduce.EXPERIMENTS``, for example "table1"; None runs all
    out : path
    seed : int, of all draws
    quick : bool, few trials, for a look
    jobs : int, trials at the same time, in processes; -1 is one per core. The numbers do not depend on it
    progress : callable, called as ``progress(name, done, total)`` at the start and after each trial

    Returns
    -------
    studies : dict of name to Study: comparisons, checks and the verdict

    Examples
    --------
    >>> import tempfile
    >>> study = reproduce(["theorem1"], tempfile.mkdtemp(), quick=True)["theorem1"]
    >>> len(study.checks)
    5
    """
    wanted = list(EXPERIMENTS) if names is None else [check_choice("experiment", name, EXPERIMENTS) for name in names]
    check_integer("seed", seed, low=0, high=2**32 - 1, remedy="try 0")
    folder = Path(out)
    studies: dict[str, Study] = {}
    for name in wanted:
        if name in studies:
            continue  # written with another that shares its trials
        chosen = EXPERIMENTS[name]
        write_trials(chosen, folder, seed=seed, quick=quick, jobs=jobs, progress=progress)
        for each in EXPERIMENTS.values():
            if each.data == chosen.data:
                studies[each.name] = write_study(each, folder)
    write_verdicts(folder)
    return {name: studies[name] for name in wanted}


def write_trials(
    experiment: Experiment, folder: Path, *, seed: int = 0, quick: bool = False, jobs: int = 1, progress: Progress
) -> None:
    """Run all trials of an experiment and write their rows as CSV."""
    experiment.prepare()
    trials = [{**arguments, "seed": seed} for arguments in experiment.trials(quick)]
    frame = run_trials(experiment.data, experiment.measure, trials, folder, jobs=jobs, progress=progress)
    with written_whole(csv_of(experiment, folder)) as path:
        guarded_table(frame).to_csv(path, index=False)


def run_trials(
    experiment: str,
    measure: Callable[..., list[Row]],
    trials: Sequence[Row],
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress = lambda *_: None,
) -> pd.DataFrame:
    """Run the trials, given by their arguments, that are not stored already; return the rows of all, in their order."""
    stored = [(trial, stored_at(experiment, trial, out)) for trial in trials]
    missing = [(trial, path) for trial, path in stored if stored_rows(path) is None]
    tasks = (delayed(_run_one)(experiment, measure, trial, path) for trial, path in missing)
    before = len(stored) - len(missing)
    progress(experiment, before, len(stored))
    for done, _ in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), before + 1):
        progress(experiment, done, len(stored))
    return pd.DataFrame([row for _, path in stored for row in stored_rows(path) or []])


def stored_rows(path: Path) -> list[Row] | None:
    """Return the rows in a file, or None if there is none, or a damaged one: the trial is then run again."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else None


def stored_at(experiment: str, trial: Row, out: Path) -> Path:
    """Return where a trial's rows are stored."""
    text = json.dumps([experiment, trial, code_digest()], sort_keys=True)
    return out / ".trials" / experiment / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


@cache
def code_digest() -> str:
    """Return a digest of the source that the numbers depend on: the library without its interfaces, and this folder."""
    digest = hashlib.sha256()
    for package in (Path(nashgraph.__file__).parent, Path(__file__).parent):
        for path in sorted(package.rglob("*.py")):
            place = path.relative_to(package)
            if place.parts[0].removesuffix(".py") not in INTERFACES:
                digest.update(place.as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _run_one(experiment: str, measure: Callable[..., list[Row]], trial: Row, path: Path) -> None:
    """Measure one trial and store its rows: this runs in a worker."""
    try:
        with one_thread(), warnings.catch_warnings():
            # A method's warnings (not converged, constant signals) are in its rows, and the study counts them.
            warnings.simplefilter("ignore")
            rows = measure(**trial)
    except Exception as error:
        error.add_note(f"in trial {trial} of {experiment}")
        raise
    with written_whole(path) as partial:
        partial.write_text(json.dumps(rows), encoding="utf-8")


def csv_of(experiment: Experiment, folder: Path) -> Path:
    """Return where the trials of an experiment are written."""
    return folder / f"{experiment.data}.csv"


def read_trials(experiment: Experiment, folder: Path) -> pd.DataFrame:
    """Return the trials of an experiment as they are written; text is guarded against spreadsheets."""
    return unguarded_table(pd.read_csv(csv_of(experiment, folder)))


def write_study(experiment: Experiment, folder: Path, page: str | None = None) -> Study:
    """Write figure and Markdown of an experiment from its CSV."""
    import matplotlib  # noqa: PLC0415

    frame = read_trials(experiment, folder)
    study, figure = experiment.study(frame), experiment.draw(frame)
    # The salt and the missing date make the SVG the same bytes each time.
    with matplotlib.rc_context({"svg.hashsalt": "nashgraph"}), written_whole(folder / f"{experiment.name}.svg") as path:
        figure.savefig(path, format="svg", metadata={"Date": None})
    with written_whole(folder / (page or f"{experiment.name}.md")) as path:
        path.write_text(section(experiment, study), encoding="utf-8")
    return study


def write_verdicts(folder: Path) -> None:
    """Write REPRODUCTION.md from the CSVs that are there."""
    found = {
        experiment: experiment.study(read_trials(experiment, folder))
        for experiment in EXPERIMENTS.values()
        if csv_of(experiment, folder).exists()
    }
    missing = [name for name, experiment in EXPERIMENTS.items() if experiment not in found]
    rows = []
    for experiment, study in found.items():
        checked = {experiment.title: study.checks}
        checked |= {f"*reading*: {name}": checks for name, checks in study.readings.items()}
        rows += [(name, verdict(checks), held(checks)) for name, checks in checked.items()]
    parts = [
        "# Does the paper hold?",
        "Zhang, Liu, Wai, So, *Network Games Induced Prior for Graph Topology Learning*, every table and figure, run "
        "by `make reproduce`. This file is generated from the CSV files in this folder; the paper's numbers "
        "are in `reproduce/paper.toml`, with the place each comes from. Ours are means ± standard "
        "errors.",
        "The verdict follows from the claims checked in each section. *Reproduced*: all hold. *Reproduced in shape "
        "only*: signs, trends and rankings hold, but some numbers differ. *Partly reproduced*: some signs, trends or "
        "rankings hold and others do not. *Not reproduced*: none of them holds. A *reading* departs from the literal "
        "text in one named way, with nothing fitted, and is checked in addition to it.",
        markdown(pd.DataFrame(rows, columns=["", "verdict", "claims that hold"])),
        *([f"Not run: {', '.join(missing)}."] if missing else []),
        *(section(experiment, study) for experiment, study in found.items()),
    ]
    with written_whole(folder / "REPRODUCTION.md") as path:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def section(experiment: Experiment, study: Study) -> str:
    """Return the results of an experiment, in Markdown; one that is not of the paper is a page without a verdict."""
    of_paper = experiment.name in paper_numbers()
    parts = [f"{'##' if of_paper else '#'} {experiment.title}"]
    if of_paper:
        parts.append(f"**Verdict: {study.verdict}.** The paper: {paper_numbers()[experiment.name]['place']}.")
    parts.append(checked_list(study.checks))
    for name, checks in study.readings.items():
        parts += [f"**Reading: {name}: {verdict(checks)}.**", checked_list(checks)]
    parts += [f"![{experiment.title}]({experiment.name}.svg)", *study.notes]
    if study.table is not None:
        parts.append(markdown(study.table, study.digits))
    if study.comparisons:
        parts += [f"In {study.unit}:", markdown(comparison_table(study.comparisons, study.digits))]
    return "\n\n".join(parts)


def checked_list(checks: Iterable[Check]) -> str:
    """Return the claims as a list in Markdown."""
    return "\n".join(f"- {'holds' if c.holds else '**does not hold**'}: {c.claim}: {c.detail}." for c in checks)


def comparison_table(comparisons: Sequence[Comparison], digits: int = 3) -> pd.DataFrame:
    """Return the comparisons as a table of text."""
    lines = [
        {
            "": line.what,
            "ours": f"{line.ours:.{digits}f}" + ("" if line.error is None else f" ± {line.error:.{digits}f}"),
            "paper": None if line.paper is None else f"{line.paper:.{digits}f}",
            "difference": None if line.difference is None else f"{line.difference:+.{digits}f}",
        }
        for line in comparisons
    ]
    return pd.DataFrame(lines)


def markdown(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a table in Markdown; what is missing is left blank."""

    def cell(value: Any) -> str:
        if value is None or (isinstance(value, float) and not np.isfinite(value)):
            return ""
        return f"{value:.{digits}f}" if isinstance(value, float) else str(value).replace("|", "\\|")

    heading = "".join(f" {name} |" if name else " |" for name in map(str, frame.columns))
    rows = [" | ".join(map(cell, row)) for row in frame.itertuples(index=False)]
    return "\n".join([f"|{heading}", "|" + "---|" * frame.shape[1], *(f"| {row} |" for row in rows)])
