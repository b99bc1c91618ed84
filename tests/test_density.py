"""The counts of tools/density.py, on a file whose counts are known."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "density.py"

FILE = '''"""A docstring, which is no comment and no code."""

import os  # why: a comment at the end of a line

# a comment of its own
LIMIT, _CAP = 1, 2
lower = 3  # noqa: this one is for tools


def f(known, other):
    """Unpacking a call is no parallel assignment."""
    one, two = os.path.split(other)
    found, rest = one, two
    given = [x if x else [y for y in known] for x in rest]
    return found if given else None
'''


@pytest.fixture
def tool():
    spec = spec_from_file_location("density", TOOL)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_counts_are_those_of_the_docstring(tool, tmp_path):
    (tmp_path / "module.py").write_text(FILE)
    figures = tool.measured(tmp_path)
    expected = {
        "files": 1,
        "lines": 15,
        "kB": len(FILE) / 1000,
        "comments in 100 code lines": 100 * 2 / 8,
        "module constants": 2,
        "constants in 1,000 code lines": 1000 * 2 / 8,
        "statements": 10,
        "parallel assignments": 1000 * 2 / 10,
        "comprehensions": 1000 * 2 / 10,
        "conditional expressions": 1000 * 2 / 10,
        "vague names": 3,
    }
    assert {name: figures[name] for name in expected} == pytest.approx(expected)
    assert [figures[name] for name in ("found", "known", "given", "kept")] == [1, 1, 1, 0]


def test_a_total_above_its_bound_fails(tool):
    assert tool.failures({"kB": 2.0, "comments in 100 code lines": 4.0}, {"kB": 1.9}, 3.0) == ["kB"]
    assert tool.failures({"kB": 2.0, "comments in 100 code lines": 4.0}, {"kB": 2.0}, 5.0) == [
        "comments in 100 code lines"
    ]
