"""``make recovery``: every method at its defaults, and controls, on networks whose ties are known.

``python -m benchmarks.recovery --short`` writes benchmarks/RECOVERY.md and, with a row for each method and problem,
benchmarks/recovery.csv. Methods and controls get the same signals; a truth has no direction, so weights are
symmetrised before they are scored. Without ``--short`` there are twice the seeds, larger networks, and the slow methods
on every problem: an hour. Real networks are read from the folder in NASHGRAPH_DATA.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed, parallel_config
from rich.progress import track

from nashgraph.files import written_whole

from .recovery_problems import QUICK, SHORT, Grid, has_slow_methods, settings
from .recovery_report import write_report
from .recovery_trials import CONTROLS, trial

HERE = Path(__file__).parent
ROWS = HERE / "recovery.csv"


def run(grid: Grid, n_jobs: int = -1) -> pd.DataFrame:
    """Return the rows of all problems, rounded as in the file."""
    asked = settings(grid)
    with parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1):
        tasks = (delayed(trial)(each, has_slow_methods(grid, number, each)) for number, each in enumerate(asked))
        found = Parallel(return_as="generator", batch_size=1)(tasks)
        rows = [row for part in track(found, "recovering", len(asked)) for row in part]
    digits = {"auc": 5, "ap": 5, "precision": 5, "seconds": 4, "gmse": 5, "auc_ordered": 5}
    return pd.DataFrame(rows).round(digits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed, small networks; prints, and writes nothing")
    parser.add_argument(
        "--short", action="store_true", help="two seeds, 60 nodes, ten draws, slow methods on every fifth problem"
    )
    parser.add_argument("--kept", action="store_true", help="make the report anew from the rows that are kept")
    options = parser.parse_args()
    if options.kept:
        frame = pd.read_csv(ROWS, keep_default_na=False, dtype={"name": str})
        frame["auc_ordered"] = pd.to_numeric(frame["auc_ordered"])
    else:
        frame = run(QUICK if options.quick else SHORT if options.short else Grid())
    if not (options.quick or options.kept):
        with written_whole(ROWS) as path:
            frame.to_csv(path, index=False)
    write_report(frame, list(CONTROLS), None if options.quick else HERE / "RECOVERY.md")


if __name__ == "__main__":
    main()
