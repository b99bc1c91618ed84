"""CONTRIBUTING.md on every file: short functions and files, comments, examples, no printing, no fragments."""

import ast
import io
import pkgutil
import re
import tokenize
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from benchmarks.mutants import NAMED

import nashgraph

SOURCE = Path(nashgraph.__file__).parent
FILES = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
PACKAGES = sorted({Path(name).parent for name in FILES if name.endswith("__init__.py")})
MOST_LINES = {"function": 60, "file": 500}
LEAST_LINES = 80  # of a private module with one importer
COMMENTED = {"solvers": 3, "pairs": 3, "priors": 3}  # comments in 100 lines of code, at least


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


def imported(file, text):
    """Return the modules that a file may import, by their dotted names."""
    package = ("nashgraph", *Path(file).parent.parts)
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*start, *([node.module] if node.module else [])))
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names


def comments_in_100_lines(files):
    """Return the comments, without those that only tools read, for every 100 lines of code in some files."""
    comments, code = 0, set()
    for number, text in enumerate(files):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments += not re.match(r"#\s*(noqa|type:|pragma|fmt:)", token.string)
            elif token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER):  # a docstring is not code
                code.add((number, token.start[0]))
    return 100 * comments / len(code)


def test_no_function_is_long():
    lengths = {f"{file}:{name}": lines for file, text in FILES.items() for name, lines in bodies(text)}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES["function"]} == {}


def test_no_file_is_long():
    lengths = {file: len(text.splitlines()) for file, text in FILES.items()}
    assert {file: lines for file, lines in lengths.items() if lines > MOST_LINES["file"]} == {}


def test_no_private_module_is_a_fragment_of_its_only_importer():
    imports = {file: imported(file, text) for file, text in FILES.items()}
    found = {}
    for file, text in FILES.items():
        path = Path(file)
        if path.name.startswith("_") and not path.name.startswith("__") and len(text.splitlines()) < LEAST_LINES:
            module = ".".join(("nashgraph", *path.with_suffix("").parts))
            importers = [other for other, names in imports.items() if module in names]
            if len(importers) < 2:
                found[file] = importers
    assert found == {}


@pytest.mark.parametrize("package", [name for name in COMMENTED if (SOURCE / name).is_dir()])
def test_the_mathematics_has_comments(package):
    files = [text for file, text in FILES.items() if file.startswith(f"{package}/")]
    assert comments_in_100_lines(files) >= COMMENTED[package]


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


def test_every_named_mutant_still_has_a_place_in_the_source():
    assert [mutant.file for mutant in NAMED if mutant.before not in FILES[mutant.file]] == []


def test_no_message_is_taken_apart():
    """Errors and decisions are phrased from their fields; only names of columns and folders are rewritten."""
    rewriting = {"cli/groups.py", "report/prose.py"}
    for name, text in FILES.items():
        if name.startswith(("cli/", "report/")) and name not in rewriting:
            assert not re.search(r"\bre\.sub\(|[A-Z]\.sub\(", text), name
