"""Fuzzing guided by coverage, if atheris installs: ``python -m tests.fuzz.guided csv -max_total_time=600``."""

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["nashgraph.io"]):
    from .targets import CORPUS, run_target


def main() -> None:
    """Run one target; inputs with new coverage go to a separate folder, and failing ones to this one."""
    target, *options = sys.argv[1:]
    folder, found = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp(prefix=f"{target}-"))
    warnings.simplefilter("ignore")
    atheris.Setup(
        [sys.argv[0], str(found), str(CORPUS / target), *options], lambda data: run_target(target, data, folder)
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
