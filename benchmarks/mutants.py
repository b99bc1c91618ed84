"""How many small mistakes the tests find: mutants of the mathematics, and those that tests once missed.

Each mutant is a copy of the source with one operator, comparison, constant or condition changed; it is killed when the
tests of its package fail. Files are changed, because tools that switch mutants on at run time do not reach into
compiled kernels.

    python -m benchmarks.mutants --count 60 --seed 0 --jobs 2
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/nashgraph")
PACKAGES = {
    "pairs": "tests/pairs tests/solvers",
    "games": "tests/games tests/solvers",
    "priors": "tests/priors",
    "solvers": "tests/solvers",
    "consensus": "tests/consensus",
    "ties": "tests/ties",
}
SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.GtE,  # including or excluding a bound changes nothing for continuous numbers
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


class Mutant(NamedTuple):
    """A change to a file, and the tests that should notice."""

    file: str
    before: str
    after: str
    tests: str


# Mutants that survived once.
NAMED = [
    Mutant("graph.py", 'zip(table["source"].tolist(), table["target"]', 'zip(table["target"].tolist(), table["source"]',
           "tests/test_graph.py"),
    Mutant("io/read.py", "name_columns(options) if exact is None", "() if exact is None", "tests/io/test_units.py"),
    Mutant("io/missing.py", "scaled = (values - centre) / spread", "scaled = values",
           "tests/io/test_units.py"),
    Mutant("smoothness/degree.py", "2.0**-30 * abs", "0.0 * abs", "tests/smoothness/test_degree.py"),
    Mutant("smoothness/degree.py", "2.0**-30 * abs", "2.0**-20 * abs", "tests/smoothness/test_degree.py"),
    Mutant("pairs/points.py", "eps ** 0.3", "eps ** 9", "tests/pairs/test_search.py"),
    Mutant("pairs/candidates.py", "self.pairs.cut + self._increase(bonus)", "self.pairs.cut",
           "tests/pairs/test_candidates.py"),
    Mutant("pairs/_kernels.py", "values[size - 2 - k] + eta", "values[size - 1 - k] + eta",
           "tests/pairs/test_simplex.py"),
]  # fmt: skip


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield the nodes that can be changed, outside of decorators and annotations."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in SWAPS:
            yield node, "op"
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield node, "ops"
        elif isinstance(node, ast.BoolOp):
            yield node, "op"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "value"


def changed(source: str, random: Random) -> tuple[str, str]:
    """Return the source with one change, and its description."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = [place for function in functions for statement in function.body for place in places(statement)]
    node, what = random.choice(found)
    before = ast.unparse(node)
    if what == "value":
        node.value = node.value + 1 if node.value != 1 else 2 * node.value  # type: ignore[attr-defined]
    elif what == "ops":
        node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[attr-defined]
    else:
        node.op = SWAPS[type(node.op)]()  # type: ignore[attr-defined]
    return ast.unparse(tree), f"{node.lineno}: {before}  ->  {ast.unparse(node)}"  # type: ignore[attr-defined]


def sampled(count: int, random: Random) -> Iterator[tuple[Mutant, str]]:
    """Yield mutants of the packages in turn, and the change in words."""
    for package in islice(cycle(PACKAGES), count):
        files = [path for path in sorted((ROOT / SOURCE / package).glob("*.py")) if path.stem != "__init__"]
        while True:
            path = random.choices(files, [path.stat().st_size for path in files])[0]
            source = path.read_text(encoding="utf-8")
            try:
                after, words = changed(source, random)
            except IndexError:  # nothing in it to change
                continue
            yield Mutant(path.relative_to(ROOT / SOURCE).as_posix(), source, after, PACKAGES[package]), words
            break


def killed(mutant: Mutant, limit: float = 900.0) -> bool:
    """Run the tests on a copy with the change; a mutant that takes longer than ``limit`` seconds is also killed."""
    with tempfile.TemporaryDirectory() as name:
        copy, source = Path(name), (ROOT / SOURCE / mutant.file).read_text(encoding="utf-8")
        for part in ("src", "tests", "pyproject.toml"):
            if (ROOT / part).is_dir():
                # Compiled kernels would still call the old version of a changed one: only other changes keep the cache.
                kernels = shutil.ignore_patterns("*.nbi", "*.nbc") if "@kernel" in source else None
                shutil.copytree(ROOT / part, copy / part, ignore=kernels)
            else:
                shutil.copy2(ROOT / part, copy / part)
        file = copy / SOURCE / mutant.file
        assert mutant.before in source, f"{mutant.file} has no {mutant.before!r} any more: write the mutant again"
        file.write_text(source.replace(mutant.before, mutant.after), encoding="utf-8")
        env = {**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "PYTHONDONTWRITEBYTECODE": "1"}
        options = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow")
        command = [sys.executable, "-m", "pytest", *options, *mutant.tests.split()]
        try:
            done = subprocess.run(command, cwd=copy, env=env, capture_output=True, timeout=limit, check=False)
            return done.returncode != 0
        except subprocess.TimeoutExpired:
            return True


def limit_of(package: str, tests: str) -> tuple[str, float]:
    """Return the tests of a package and how many seconds they may take, after a run without any change."""
    file = f"{package}/__init__.py"
    same, start = (ROOT / SOURCE / file).read_text(encoding="utf-8"), time.perf_counter()
    assert not killed(Mutant(file, same, same, tests)), f"{tests} fail without any change: nothing can be counted"
    return tests, 90.0 + 3.0 * (time.perf_counter() - start)  # a changed kernel is compiled again


def main() -> int:
    """Print the mutants that live, and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="how many copies are tested at a time")
    asked = parser.parse_args()
    with ThreadPoolExecutor(asked.jobs) as pool:
        limits = dict(pool.map(limit_of, PACKAGES, PACKAGES.values()))
        alive = 0
        for mutant, found in zip(NAMED, pool.map(killed, NAMED), strict=True):
            if not found:
                alive += 1
                print(f"LIVES {mutant.file}: {mutant.before}  ->  {mutant.after}")
        print(f"{len(NAMED) - alive} of {len(NAMED)} named mutants killed", flush=True)
        dead, mutants = 0, list(sampled(asked.count, Random(asked.seed)))
        outcomes = pool.map(lambda each: killed(each[0], limits[each[0].tests]), mutants)
        for (mutant, words), found in zip(mutants, outcomes, strict=True):
            dead += found
            print(f"{'killed' if found else 'LIVES'} {mutant.file}:{words}", flush=True)
    print(f"{dead} of {asked.count} sampled mutants killed")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
