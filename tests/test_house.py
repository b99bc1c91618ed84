"""What CONTRIBUTING.md asks of every file, checked: short functions, short files, no shadows, no printing, examples."""

import ast
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from statistics import median
from types import ModuleType

import pytest

import nashgraph

SOURCE = Path(nashgraph.__file__).parent
FILES = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
PACKAGES = sorted({Path(name).parent for name in FILES if name.endswith("__init__.py")})
MOST_LINES, MEDIAN_LINES = 60, 150


def bodies(text):
    """Yield each function of a file with the number of its lines, its docstring not counted."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, body[-1].end_lineno - body[0].lineno + 1 if body else 0


def statements(text):
    """Return the code of a file without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def test_no_function_is_long():
    lengths = {f"{file}:{name}": lines for file, text in FILES.items() for name, lines in bodies(text)}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_files_are_short():
    assert median(len(text.splitlines()) for text in FILES.values()) < MEDIAN_LINES


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_no_module_is_shadowed_by_what_its_package_exports(package):
    found = import_module(".".join(("nashgraph", *package.parts)))
    modules = {module.name for module in pkgutil.iter_modules([str(SOURCE / package)])}
    exported = modules & {*getattr(found, "__all__", ()), *vars(found)}
    assert [name for name in exported if not isinstance(getattr(found, name), ModuleType)] == []


@pytest.mark.parametrize("word", [r"\bprint\(", r"\bverbose\b"])
def test_the_library_does_not_print(word):
    outside = {file: statements(text) for file, text in FILES.items() if not file.startswith("cli")}
    assert [file for file, code in outside.items() if re.search(word, code)] == []


@pytest.mark.parametrize("name", nashgraph.__all__)
def test_every_public_name_has_an_example(name):
    thing = getattr(nashgraph, name)
    assert thing.__doc__
    assert ">>> " in thing.__doc__ or (isinstance(thing, type) and issubclass(thing, Exception))
