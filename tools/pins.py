"""Write constraints.txt from the environments of two Pythons: ``python tools/pins.py OLD/bin/python NEW/bin/python``.

Make both environments without constraints first (``make test-newest PYTHON=...``), see that the tests pass in them,
then run this. A version that both have is pinned for every Python; where they differ, each is pinned on its side of
3.12.
"""

import subprocess
import sys
from pathlib import Path

SPLIT = "3.12"  # today's newest NumPy and SciPy need it
HEAD = """\
# The versions that `make` installs, so that the tests do not change by themselves.
# `make test-newest` runs without them.
# Written by tools/pins.py.
"""


def frozen(python: str) -> dict[str, str]:
    """Return the version of every package in an environment, by normalised name."""
    command = [python, "-m", "pip", "freeze", "--exclude-editable"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {name.lower().replace("_", "-"): version for name, version in pairs}


def main() -> None:
    """Write the file."""
    older, newer = map(frozen, sys.argv[1:])
    lines = []
    for name in sorted(older | newer):
        if older.get(name) == newer.get(name):
            lines.append(f"{name}=={older[name]}")
            continue
        for versions, sign in ((older, "<"), (newer, ">=")):
            if name in versions:
                lines.append(f'{name}=={versions[name]} ; python_version {sign} "{SPLIT}"')
    Path("constraints.txt").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
