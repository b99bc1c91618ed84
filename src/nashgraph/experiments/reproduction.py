"""Running experiments and writing what came out: CSV, figures, Markdown, and REPRODUCTION.md from the CSVs alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ..files import written_whole
from ..io.graphs import guarded_table, unguarded_table
from ..validation import check_choice, check_integer
from . import EXPERIMENTS
from .figures import save_figure
from .paper import paper_numbers
from .study import Check, Experiment, Plan, Study, comparison_table, data_table, markdown
from .trials import Progress, run_trials

PAGE = "REPRODUCTION.md"


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

    Every trial is kept in ``out/.trials`` when it is done: a run that was stopped goes on where it was, and gives the
    same bits. Kept trials of other seeds or of older code are not used. Experiments that share their trials (Tables 2
    and 3 share the villages) share one CSV, and running one of them writes the others too.

    Parameters
    ----------
    names : list of str, optional
        Those of ``nashgraph.experiments.EXPERIMENTS``, for example "table1" or "fig2"; None takes all.
    out : path
    seed : int
        Of all draws.
    quick : bool
        Few trials, for a look.
    jobs : int
        Trials at the same time, in processes; -1 is one per core. The numbers do not depend on it.
    progress : callable, optional
        Called as ``progress(name, done, total)`` when an experiment starts and after each of its trials.

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
    plan = Plan(check_integer("seed", seed, low=0, remedy="try 0"), quick)
    folder = Path(out)
    studies: dict[str, Study] = {}
    for name in wanted:
        if name in studies:
            continue  # written with another that shares its trials
        chosen = EXPERIMENTS[name]
        chosen.prepare()
        frame = run_trials(chosen.data, chosen.measure, chosen.trials(plan), folder, jobs=jobs, progress=progress)
        with written_whole(csv_of(chosen, folder)) as path:
            guarded_table(frame).to_csv(path, index=False)
        for each in EXPERIMENTS.values():
            if each.data == chosen.data:
                studies[each.name] = write_study(each, folder)
    write_verdicts(folder)
    return {name: studies[name] for name in wanted}


def csv_of(experiment: Experiment, folder: Path) -> Path:
    """Return where the trials of an experiment are written."""
    return folder / f"{experiment.data}.csv"


def read_trials(experiment: Experiment, folder: Path) -> pd.DataFrame:
    """Return the trials of an experiment as they are written; text is guarded against spreadsheets."""
    return unguarded_table(pd.read_csv(csv_of(experiment, folder)))


def write_study(experiment: Experiment, folder: Path) -> Study:
    """Write figure and Markdown of an experiment from its CSV."""
    frame = read_trials(experiment, folder)
    study = experiment.study(frame)
    save_figure(experiment.draw(frame), folder / f"{experiment.name}.svg")
    with written_whole(folder / f"{experiment.name}.md") as path:
        path.write_text(section(experiment, study), encoding="utf-8")
    return study


def write_verdicts(folder: Path) -> None:
    """Write REPRODUCTION.md from the CSVs that are there."""
    found = {
        name: experiment.study(read_trials(experiment, folder))
        for name, experiment in EXPERIMENTS.items()
        if csv_of(experiment, folder).exists()
    }
    missing = [name for name in EXPERIMENTS if name not in found]
    rows = [row for name, study in found.items() for row in verdict_rows(EXPERIMENTS[name], study)]
    parts = [
        "# Does the paper hold?",
        "Zhang, Liu, Wai, So, *Network Games Induced Prior for Graph Topology Learning*, every table and figure, run "
        "by `nashgraph reproduce all`. This file is generated from the CSV files in this folder; the paper's numbers "
        "are in `src/nashgraph/experiments/paper.toml`, with the place each comes from. Ours are means ± standard "
        "errors.",
        "The verdict follows from the claims checked in each section. *Reproduced*: all hold. *Reproduced in shape "
        "only*: signs, trends and rankings hold, but some numbers differ. *Partly reproduced*: some signs, trends or "
        "rankings hold and others do not. *Not reproduced*: none of them holds. A *reading* departs from the literal "
        "text in one named way, with nothing fitted, and is checked in addition to it.",
        markdown(("", "verdict", "claims that hold"), rows),
    ]
    if missing:
        parts.append(f"Not run: {', '.join(missing)}.")
    parts += [section(EXPERIMENTS[name], study) for name, study in found.items()]
    with written_whole(folder / PAGE) as path:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def verdict_rows(experiment: Experiment, study: Study) -> list[tuple[str, str, str]]:
    """Return title, verdict and number of claims that hold, for the literal text and then for every reading."""
    rows = [(experiment.title, experiment.verdict(study), study.held)]
    return rows + [(f"*reading*: {each.name}", experiment.verdict(each), each.held) for each in study.readings]


def checked_list(checks: Iterable[Check]) -> str:
    """Return the claims as a list in Markdown."""
    return "\n".join(f"- {'holds' if c.holds else '**does not hold**'}: {c.claim}: {c.detail}." for c in checks)


def section(experiment: Experiment, study: Study) -> str:
    """Return the results of an experiment, in Markdown."""
    parts = [f"## {experiment.title}"]
    if experiment.of_paper:
        parts.append(f"**Verdict: {study.verdict}.** The paper: {paper_numbers()[experiment.name]['place']}.")
    parts.append(checked_list(study.checks))
    for each in study.readings:
        parts += [f"**Reading: {each.name}: {experiment.verdict(each)}.**", checked_list(each.checks)]
    parts.append(f"![{experiment.title}]({experiment.name}.svg)")
    parts += study.notes
    if study.table is not None:
        parts.append(data_table(study.table, study.digits))
    if study.comparisons:
        parts += [f"In {study.unit}:", comparison_table(study.comparisons, study.digits)]
    return "\n\n".join(parts)
