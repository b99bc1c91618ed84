"""The facts about a release are the same in all places that state them."""

import importlib.util
import re
import tomllib
from pathlib import Path

import nashgraph

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_recipe_needs_what_the_package_needs():
    needed = {re.sub(r"\s*#.*", "", item).replace(">=", " >=") for item in PROJECT["project"]["dependencies"]}
    recipe = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\ntest:")[0]
    assert {line.strip("- ").strip() for line in run.splitlines() if line.strip()} == {*needed, "python >=3.11"}


def test_the_changelog_begins_with_this_version():
    assert f"\n## {nashgraph.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_source_distribution_has_what_the_tests_read():
    include = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for name in ("/src", "/tests", "/tools", "/conda", "/SECURITY.md", "/Makefile", "/CONTRIBUTING.md"):
        assert name in include
        assert (ROOT / name[1:]).exists()


def test_what_the_release_check_leaves_out_is_there():
    spec = importlib.util.spec_from_file_location("release_check", ROOT / "tools" / "release_check.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert all((ROOT / "tests" / name).exists() for name in tool.LONG)
