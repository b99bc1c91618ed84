"""The help, the settings that --set gives, and what learn prints if nothing more is asked for."""

import re

import pytest

from ..commands import error_lines, run_as_given

TABLE = "id,age,income\nann,31,5\nbob,45,7\ncat,28,6\ndan,60,4\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    "command", ["learn", "path", "compare", "show", "act", "fit-game", "ask", "plan", "rerun", "demo", "ui", "read"]
)
def test_the_help_is_short_and_has_an_example(command):
    result = run_as_given(command, "--help")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) <= 80
    assert lines[0].startswith(f"Usage: nashgraph {command} ")
    assert lines[-1].startswith(f"Example: nashgraph {command} ")
    assert len(re.findall(r"(?m)^  --", result.stdout)) <= 20
    assert run_as_given(command, "-h").stdout == result.stdout


def test_the_help_of_learn_fits_a_narrow_terminal():
    shown = run_as_given("learn", "--help", columns=80).stdout
    assert len(shown.splitlines()) <= 80
    options = re.findall(r"(?m)^  (--[a-z-]+)", shown)
    assert {"--id", "--names", "--counts", "--n-ties", "--weight", "--form", "--method", "--out", "--set"} <= {*options}
    assert len(options) < 20  # and --help
    assert "--set help" in shown


def test_settings_are_described_and_typed_with_set(table):
    described = run_as_given("learn", "--set", "help").stdout
    assert re.search(r"(?m)^  benefit=COLUMN\|spectral\|uniform\|none\n? +A prior favours networks", described)
    out = ("--out", table.parent / "out")
    assert run_as_given("learn", table, "--set", "n-replicates=0", "--set", "standardize=no", *out).exit_code == 0
    for given, message in {
        ("--lam", "1"): "--lam is a setting: write --set lam=VALUE",
        ("--set", "lamm=1"): "'lamm' is no setting of learn and no parameter of the method consensus",
        ("--set", "undirected=perhaps"): "undirected is true or false",
        ("--set", "undirected"): "--set undirected must read NAME=VALUE",
        ("--set", "max_cells=many"): "Invalid value for '--set max_cells'",
    }.items():
        refused = run_as_given("learn", table, *given, "--force", *out)
        assert refused.exit_code == 2
        assert message in error_lines(refused)[-1]
    refused = run_as_given("check", table, "--set", "nodez=rows")
    assert "'nodez' is not a setting of this command (did you mean 'nodes'?)" in error_lines(refused)[-1]


def test_learn_prints_how_it_read_in_three_lines_and_where_to_go_on(table):
    out = table.parent / "out"
    result = run_as_given("learn", table, "--out", out)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert len(lines) == 8
    assert lines[:3] == [
        "people: 4, identified by 'id': ann, bob, …",
        "used: 2 signals from age, income",
        "left out or unsure: nothing",
    ]
    assert lines[3].startswith(f"plan: {out / 'plan.toml'} ")
    assert re.match(r"\d+ ties by consensus in \d+\.\d s: ", lines[4])
    assert lines[-1] == f"open {out / 'report.html'}"
    # The first run after the kernels have changed says that it compiles.
    assert [line for line in result.stderr.splitlines() if not line.startswith("compiling ")] == []
    told = run_as_given("learn", table, "--out", out, "-v")
    assert "note: id id: " in told.stderr
    assert told.stdout.splitlines()[-1] == f"open {out / 'report.html'}"
    assert "a value of its own in every row" in (out / "report.html").read_text()


def test_warnings_are_printed_at_once(table):
    result = run_as_given("learn", table, "--method", "smooth", "--degree", "100", "--out", table.parent / "out")
    assert result.stderr.startswith("warning: ")
