"""The command line as a module: ``python -m nashgraph``."""

import sys
from pathlib import Path

# "python -m" searches the current folder first: a numpy.py or pyreadstat.py next to the user's table would be run.
if not sys.flags.safe_path and Path(sys.path[0]) == Path.cwd() and Path.cwd() not in Path(__file__).parents:
    del sys.path[0]

from .cli import main

if __name__ == "__main__":
    main()
