"""``make reproduce``, or ``python -m reproduce fig1 --quick``: the paper's tables and figures again, and the verdicts.

Finished trials are stored, so the same command continues a run that was stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from nashgraph.datasets import DatasetError

from . import EXPERIMENTS, Study, reproduce
from .study import held

DONE, LEFT_OUT, INTERRUPTED = 0, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run experiments, write what came out, print the verdicts, and return the exit code."""
    options = parsed(arguments)
    folder = options.out or Path("results") / ("quick" if options.quick else "")
    names = list(EXPERIMENTS) if "all" in options.experiments else dict.fromkeys(options.experiments)
    studies: dict[str, Study] = {}
    left_out: dict[str, str] = {}
    try:
        for name in names:
            try:
                studies |= reproduce(
                    [name], folder, seed=options.seed, quick=options.quick, jobs=options.jobs, progress=tell
                )
            except DatasetError as error:
                left_out[name] = str(error)
                print(f"{name} is left out: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where it stopped", file=sys.stderr)
        return INTERRUPTED
    if not studies:
        print("nothing could be run: the data are not here", file=sys.stderr)
        return LEFT_OUT
    if options.json:
        print(json.dumps(answer(studies, left_out, folder)))
    else:
        show(studies, folder)
    return LEFT_OUT if left_out else DONE


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options; a wrong call ends with code 2."""
    parser = argparse.ArgumentParser(prog="reproduce", description=(__doc__ or "").partition(":\n")[0])
    parser.add_argument("experiments", nargs="+", metavar="experiment", help=f"{', '.join(EXPERIMENTS)}, or all")
    parser.add_argument("--quick", action="store_true", help="few trials, for a first look in under a minute")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random numbers")
    parser.add_argument("--jobs", type=int, default=-1, help="trials at the same time; -1 uses all cores")
    parser.add_argument("--out", type=Path, help="folder for the files (default: results, or results/quick)")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.experiments if name not in (*EXPERIMENTS, "all")]
    if unknown:
        parser.error(f"no such experiment: {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}, all")
    if options.jobs == 0:
        parser.error("--jobs 0 runs nothing: use 1, 2, ... or -1 for one per core")
    if not 0 <= options.seed < 2**32:
        parser.error("--seed must be between 0 and 4294967295")
    return options


def tell(name: str, done: int, total: int) -> None:
    """Print how far an experiment is, to the terminal's other stream."""
    print(f"\r{name}: {done} of {total} trials", end="\n" if done == total else "", file=sys.stderr, flush=True)


def show(studies: dict[str, Study], folder: Path) -> None:
    """Print each verdict, and below it the claims that do not hold."""
    for name, study in studies.items():
        print(f"{name:10}{study.verdict}: {held(study.checks)} claims hold")
        for check in study.checks:
            if not check.holds:
                print(f"{'':10}does not hold: {check.claim} ({check.detail})")
    print(f"Wrote CSV, SVG and Markdown of each, and REPRODUCTION.md, to {folder}/")


def answer(studies: dict[str, Study], left_out: dict[str, str], folder: Path) -> dict[str, object]:
    """Return the verdicts and the claims as JSON has them."""
    checks = {
        name: [{"claim": check.claim, "holds": check.holds, "detail": check.detail} for check in study.checks]
        for name, study in studies.items()
    }
    verdicts = {name: study.verdict for name, study in studies.items()}
    return {"out": str(folder), "verdicts": verdicts, "checks": checks, "left_out": left_out}


if __name__ == "__main__":
    sys.exit(main())
