"""Build and check a release, and try it in empty environments: ``make release-check``.

Builds wheel and sdist, and checks them with twine. Installs the wheel with the newest libraries on each supported
Python that is here, and on the oldest Python also with the oldest versions that pyproject.toml allows. The demo runs in
all of them. The tests of the unpacked sdist run with the oldest versions and on the newest Python; slow ones, and those
that need a browser, only with ``--tests all``. Pythons that are missing are named and left out.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# Long tests of things that neither versions nor packaging change.
LONG = (
    "fuzz",
    "reproduce",
    "report/test_browser.py",
    "report/test_bundle.py",
    "report/test_browser_act.py",
    "cli/test_faults.py",
    "test_recovery.py",
)


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command, and stop if it fails."""
    print("+", *command, flush=True)
    # Python must not import anything from this tree by accident.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([str(part) for part in command], cwd=cwd, env=env, check=True)


def found_pythons() -> dict[str, str]:
    """Return the supported Pythons that run here, by version, the oldest first."""
    found = {}
    for version in PYTHONS:
        command = next(filter(runs, candidates(version)), None)
        if command:
            found[version] = command
        else:
            print(f"Python {version} is not here: left out")
    return found


def candidates(version: str) -> list[str]:
    """Return the paths where a Python may be: the search path and pyenv's versions, newest first."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    installed = (root / "versions").glob(f"{version}.*/bin/python")
    newest_first = sorted(installed, key=lambda path: [int(part) for part in re.findall(r"\d+", path.parts[-3])])[::-1]
    on_path = shutil.which(f"python{version}")
    return [*([on_path] if on_path else []), *map(str, newest_first)]


def runs(command: str) -> bool:
    """Return whether a Python starts: a pyenv shim may belong to a version that is not active."""
    return subprocess.run([command, "--version"], capture_output=True, check=False).returncode == 0


def environment(python: str, folder: Path) -> Path:
    """Return the python of an empty environment."""
    run(python, "-m", "venv", folder)
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(inside, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
    return inside


def built(python: str, work: Path) -> tuple[Path, Path]:
    """Build and check both distributions; return the wheel and the sdist."""
    tool = environment(python, work / "build")
    run(tool, "-m", "pip", "install", "--quiet", "build", "twine")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(tool, "-m", "build", "--outdir", ROOT / "dist")
    [wheel], [sdist] = (ROOT / "dist").glob("*.whl"), (ROOT / "dist").glob("*.tar.gz")
    run(tool, "-m", "twine", "check", "--strict", wheel, sdist)
    return wheel, sdist


def least_versions(work: Path) -> Path:
    """Write constraints with the oldest allowed version of every library that the package itself needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["plot"], *extras["tables"]]
    pins = [re.sub(r"^([\w.-]+)>=([\w.]+).*$", r"\1==\2.*", item) for item in needed if ">=" in item]
    file = work / "least.txt"
    file.write_text("\n".join(pins) + "\n", encoding="utf-8")
    return file


def with_oracle(tests: Path) -> list[Path]:
    """Return the tests that compare with CVXPY: the CVXPY versions that support NumPy 1 miss optima that we reach."""
    return [file for file in sorted(tests.glob("tests/**/*.py")) if "cvxpy" in file.read_text(encoding="utf-8")]


def tried(
    python: str, wheel: Path, place: Path, *, tests: Path | None = None, chosen: str = "", least: Path | None = None
) -> None:
    """Install the wheel into an empty environment and run the demo there, and the tests of an unpacked sdist."""
    inside = environment(python, place / "venv")
    extra = "dev" if tests else "plot,tables"
    pins = ("--constraint", least) if least else ()
    run(inside, "-m", "pip", "install", "--quiet", *pins, f"{wheel}[{extra}]")
    run(inside, "-m", "nashgraph", "demo", "--out", "demo", cwd=place)
    if tests:
        left_out = [f"--ignore=tests/{name}" for name in LONG if chosen != "all"]
        workers = ["--numprocesses=logical", "--maxprocesses=4", "--dist=worksteal"]
        if least:  # old libraries and their newest dependencies warn about each other; the oracle is also old
            workers += ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
            left_out += [f"--ignore={file.relative_to(tests)}" for file in with_oracle(tests)]
        run(inside, "-m", "pytest", *workers, *left_out, *os.environ.get("PYTEST_ARGS", "").split(), "tests", cwd=tests)


def main() -> int:
    """Check all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", choices=("quick", "all", "none"), default="quick", help="which tests to run")
    asked = parser.parse_args()
    pythons = found_pythons() or {"this": sys.executable}
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        wheel, sdist = built(next(iter(pythons.values())), work)
        with tarfile.open(sdist) as archive:
            archive.extractall(work, filter="data")
        unpacked = None if asked.tests == "none" else work / sdist.name.removesuffix(".tar.gz")
        oldest, newest = next(iter(pythons)), list(pythons)[-1]
        for version, python in pythons.items():
            (place := work / version).mkdir()
            tried(python, wheel, place, tests=unpacked if version == newest else None, chosen=asked.tests)
        (place := work / "least").mkdir()
        tried(pythons[oldest], wheel, place, tests=unpacked, chosen=asked.tests, least=least_versions(work))
    print(f"fit to be released on Python {', '.join(pythons)}: {wheel.name}, {sdist.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
