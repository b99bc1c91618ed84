"""Running experiments and writing what came out: CSV, figures, Markdown, and REPRODUCTION.md from the CSVs alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from ..files import written_whole
from ..validation import check_choice, check_integer
from .beyond import BEYOND
from .fig1 import FIG1
from .fig2 import FIG2
from .figures import save_figure
from .paper import paper_numbers
from .study import Experiment, Plan, Study, comparison_table, markdown_table
from .table1 import TABLE1
from .table2 import TABLE2
from .table3 import TABLE3
from .theorem1 import THEOREM1
from .trials import run_trials

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment for experiment in (TABLE1, FIG1, FIG2, TABLE2, TABLE3, THEOREM1, BEYOND)
}
REPORT = "REPRODUCTION.md"


def reproduce(
    names: Iterable[str] | None = None,
    out: str | Path = "results",
    *,
    seed: int = 0,
    quick: bool = False,
    jobs: int = 1,
    progress: bool = True,
) -> dict[str, Study]:
    """Run experiments of the paper and write their CSVs, figures and Markdown, and REPRODUCTION.md, to ``out``.

    Every trial is kept in ``out/.trials`` when it is done: a run that was stopped goes on where it was, and gives the
    same bits. Kept trials of other seeds or of older code are not used.

    Parameters
    ----------
    names : list of str, optional
        "table1", "fig1", "fig2", "table2", "table3", "theorem1", "beyond"; None takes all.
    out : path
    seed : int
        Of all draws.
    quick : bool
        Few trials, for a look.
    jobs : int
        Trials at the same time, in processes; -1 is one per core. The numbers do not depend on it.
    progress : bool
        Show progress bars on standard error.

    Returns
    -------
    studies : dict of name to Study: comparisons, checks and the verdict

    Examples
    --------
    >>> import tempfile
    >>> study = reproduce(["theorem1"], tempfile.mkdtemp(), quick=True, progress=False)["theorem1"]
    >>> len(study.checks)
    5
    """
    wanted = list(EXPERIMENTS) if names is None else [check_choice("experiment", name, EXPERIMENTS) for name in names]
    plan = Plan(check_integer("seed", seed, low=0, remedy="try 0"), quick)
    folder = Path(out)
    studies = {}
    for name in wanted:
        experiment = EXPERIMENTS[name]
        experiment.prepare()
        trials = experiment.trials(plan)
        frame = run_trials(experiment.kept, experiment.measure, trials, folder, jobs=jobs, progress=progress)
        with written_whole(folder / f"{name}.csv") as path:
            frame.to_csv(path, index=False)
        studies[name] = write_study(experiment, folder)
    write_report(folder)
    return studies


def read_results(name: str, folder: Path) -> pd.DataFrame:
    """Read the trials of an experiment from its CSV."""
    return pd.read_csv(folder / f"{name}.csv")


def write_study(experiment: Experiment, folder: Path) -> Study:
    """Write figure and Markdown of an experiment from its CSV."""
    frame = read_results(experiment.name, folder)
    study = experiment.study(frame)
    save_figure(experiment.draw(frame), folder / f"{experiment.name}.png")
    with written_whole(folder / f"{experiment.name}.md") as path:
        path.write_text(section(experiment, study), encoding="utf-8")
    return study


def write_report(folder: Path) -> None:
    """Write REPRODUCTION.md from the CSVs that are there."""
    found = {
        name: experiment.study(read_results(name, folder))
        for name, experiment in EXPERIMENTS.items()
        if (folder / f"{name}.csv").exists()
    }
    missing = [name for name in EXPERIMENTS if name not in found]
    parts = [
        "# Does the paper hold?",
        "Zhang, Liu, Wai, So, *Network Games Induced Prior for Graph Topology Learning*, every table and figure, run "
        "by `nashgraph reproduce all`. This file is generated from the CSVs beside it; the paper's numbers are in "
        "`src/nashgraph/experiments/paper.toml`, with the place each comes from. Ours are means ± standard errors.",
        "A verdict follows from the claims checked below it: *reproduced* if all hold, *reproduced in shape only* if "
        "all hold but those that compare numbers, *not reproduced* otherwise.",
        summary_table(found),
    ]
    if missing:
        parts.append(f"Not run: {', '.join(missing)}.")
    parts += [section(EXPERIMENTS[name], study) for name, study in found.items()]
    with written_whole(folder / REPORT) as path:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def summary_table(studies: Mapping[str, Study]) -> str:
    """Return the verdicts in one table."""
    lines = ["| | verdict | claims that hold |", "|---|---|---|"]
    for name, study in studies.items():
        held = sum(check.holds for check in study.checks)
        verdict = study.verdict if EXPERIMENTS[name].of_paper else "not in the paper"
        lines.append(f"| {EXPERIMENTS[name].title} | {verdict} | {held} of {len(study.checks)} |")
    return "\n".join(lines)


def section(experiment: Experiment, study: Study) -> str:
    """Return what an experiment says, in Markdown."""
    parts = [f"## {experiment.title}"]
    if experiment.of_paper:
        parts.append(f"**Verdict: {study.verdict}.** The paper: {paper_numbers()[experiment.name]['place']}.")
    parts.append(
        "\n".join(f"- {'holds' if c.holds else '**does not hold**'}: {c.claim}: {c.detail}." for c in study.checks)
    )
    parts.append(f"![{experiment.title}]({experiment.name}.png)")
    parts += list(study.notes)
    for heading, table in study.tables:
        parts += [heading] * bool(heading) + [markdown_table(table, study.digits)]
    if study.comparisons:
        parts += [f"In {study.unit}:", comparison_table(study.comparisons, study.digits)]
    return "\n\n".join(parts)
