"""Runs the experiments that are not in the paper: each writes its page, its CSV and its figure to this folder."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from reproduce.reproduction import csv_of, write_study, write_trials
from reproduce.study import Experiment, held


def run(name: str) -> None:
    """Run all trials, or with --quick a few in a separate folder, and write the results."""
    # Imported by its name, not from the script that runs: the processes of the trials import it too.
    experiment: Experiment = getattr(import_module(f"benchmarks.{name}"), name.upper())
    quick, here = "--quick" in sys.argv, Path(__file__).parent
    with TemporaryDirectory() as folder:
        write_trials(
            experiment,
            Path(folder),
            quick=quick,
            jobs=-1,
            progress=lambda name, done, total: sys.stdout.write(f"{name}: {done} of {total}\n"),
        )
        out = Path("results") / "quick" if quick else here
        out.mkdir(parents=True, exist_ok=True)
        csv_of(experiment, out).write_bytes(csv_of(experiment, Path(folder)).read_bytes())
    study = write_study(experiment, out, page_of(experiment))
    sys.stdout.write(f"{held(study.checks)} claims hold; wrote {out / page_of(experiment)}\n")


def page_of(experiment: Experiment) -> str:
    """Return the name of the page, in capitals like those of the other benchmarks."""
    return f"{experiment.name.upper()}.md"
