"""The short help and the full one, and what learn prints if nothing more is asked for."""

import re

import pytest

from nashgraph.cli.options import PANELS

from ..commands import run_as_given

TABLE = "id,age,income\nann,31,5\nbob,45,7\ncat,28,6\ndan,60,4\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    "command", ["learn", "path", "compare", "show", "act", "fit-game", "ask", "plan", "rerun", "demo", "ui"]
)
def test_the_short_help_is_short_and_has_an_example(command):
    result = run_as_given(command, "-h")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) <= 40
    assert lines[0].startswith(f"Usage: nashgraph {command} ")
    assert any(line.startswith(f"Example: nashgraph {command} ") for line in lines)
    assert lines[-1] == f"All options: nashgraph {command} --help"
    assert 0 < len(re.findall(r"(?m)^  --", result.stdout)) <= 12 or command == "show"


def test_the_short_help_of_learn_has_the_options_people_use():
    found = re.findall(r"(?m)^  (--[a-z-]+)", run_as_given("learn", "-h").stdout)
    about_ties = ["--counts", "--ties", "--names"]
    assert found == [
        "--id",
        "--drop",
        "--missing",
        "--group",
        *about_ties,
        "--method",
        "--truth",
        "--known",
        "--force",
        "--out",
    ]


def test_the_full_help_is_grouped_by_task():
    shown = run_as_given("learn", "--help").stdout
    places = [shown.index(f"─ {panel} ") for panel in PANELS if panel not in ("Interventions", "What if")]
    assert places == sorted(places)
    single = shown[shown.index("─ Options of single methods") : shown.index("─ Known ties")]
    for option in ("--lam", "--beta", "--benefit", "--interaction", "--welfare"):
        assert option in single
    assert "[default: log1p]" in single


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
