"""Bugs, interrupts, traces and help."""

import inspect
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import nashgraph
from nashgraph.cli import commands, learn, options
from nashgraph.cli.app import app
from nashgraph.cli.fitting import all_parameters
from nashgraph.estimators import METHODS, SmoothGL
from nashgraph.files import claimed
from nashgraph.games.interactions import INTERACTIONS
from nashgraph.games.welfares import WELFARES
from nashgraph.pairs.engines import ENGINES
from nashgraph.validation import InputError

from ..commands import error_lines, run

GOOD = "id,age,income\nann,31,5\nbob,45,7\ncat,28,6\ndan,60,4\n"
COMMANDS = ("learn", "path", "compare", "show", "act", "fit-game", "ask", "plan", "rerun", "demo", "datasets")


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    return tmp_path / "t.csv"


def fail_with(error):
    def work(*_, **__):
        raise error

    return work


def test_a_bug_says_that_it_is_one_and_shows_its_trace_when_asked(table, monkeypatch):
    monkeypatch.setattr(learn, "learned", fail_with(RuntimeError("boom")))
    result = run("learn", table, "--out", table.parent / "out")
    assert result.exit_code == 4
    assert "RuntimeError: boom; this is a bug" in error_lines(result)[-1]
    assert "Traceback" not in result.stderr
    result = run("learn", table, "--out", table.parent / "out", "--debug")
    assert result.exit_code == 4
    assert "Traceback" in result.stderr
    assert not (table.parent / "out").exists()


@pytest.fixture
def failing():
    """A method that raises a given error, registered while a test runs."""

    class Failing(SmoothGL):
        error = None

        def _learn(self, X):
            raise self.error

    METHODS.register("failing")(Failing)
    yield Failing
    METHODS.unregister("failing")


@pytest.mark.parametrize("error", [ValueError("boom"), TypeError("boom"), KeyError("boom"), ZeroDivisionError("boom")])
def test_an_error_inside_a_fit_is_a_bug_of_ours(table, failing, error):
    failing.error = error
    result = run("learn", table, "--method", "failing", "--out", table.parent / "out")
    assert result.exit_code == 4
    assert "boom" in error_lines(result)[-1]
    assert "this is a bug" in error_lines(result)[-1]
    compared = run("compare", table, "--methods", "smooth,failing")
    assert compared.exit_code == 3
    assert "boom" in compared.stderr
    assert "this is a bug" in compared.stderr


def test_what_a_fit_says_of_the_input_is_the_users(table, failing):
    failing.error = InputError("degree is too large: try 2")
    result = run("learn", table, "--method", "failing", "--out", table.parent / "out")
    assert result.exit_code == 1
    assert error_lines(result)[-1] == "nashgraph learn: degree is too large: try 2"
    assert "note: failing: degree is too large: try 2\n" in run("compare", table, "--methods", "smooth,failing").stderr


def test_an_interrupt_has_its_code(table, monkeypatch):
    monkeypatch.setattr(learn, "learned", fail_with(KeyboardInterrupt()))
    result = run("learn", table, "--out", table.parent / "out")
    assert result.exit_code == 130
    assert error_lines(result)[-1] == "nashgraph learn: interrupted: nothing was written"
    assert not (table.parent / "out").exists()


def test_an_interrupt_after_the_files_were_written_says_so(table, monkeypatch):
    monkeypatch.setattr(learn, "say_figures", fail_with(KeyboardInterrupt()))
    out = table.parent / "out"
    result = run("learn", table, "--method", "smooth", "--out", out)
    assert result.exit_code == 130
    assert error_lines(result)[-1] == f"nashgraph learn: interrupted: {out} had been written before"
    assert (out / "edges.csv").exists()


def test_a_folder_that_is_in_use_is_said(table):
    out = table.parent / "out"
    started, ended = threading.Event(), threading.Event()

    def hold():
        with claimed(out):
            started.set()
            ended.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    started.wait(60)
    results = [run(*command, "--out", out) for command in (("learn", table), ("compare", table), ("demo",))]
    ended.set()
    other.join()
    for result in results:
        assert result.exit_code == 1
        assert f"in use by another run of nashgraph (process {os.getpid()} on " in error_lines(result)[-1]


def test_too_little_memory_is_no_bug(table, monkeypatch):
    monkeypatch.setattr(learn, "learned", fail_with(MemoryError("Unable to allocate 9 TiB")))
    result = run("learn", table, "--out", table.parent / "out")
    assert result.exit_code == 1
    assert "not enough memory: Unable to allocate 9 TiB" in result.stderr


def test_a_limit_on_threads_is_no_bug(table, monkeypatch):
    monkeypatch.setattr(learn, "learned", fail_with(RuntimeError("can't start new thread")))
    result = run("learn", table, "--out", table.parent / "out")
    assert result.exit_code == 1
    assert "ulimit" in error_lines(result)[-1]
    assert "bug" not in result.stderr


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "nashgraph", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("nashgraph ")


STARTED = """
import sys
from joblib import Parallel, delayed
from nashgraph.cli import main

if __name__ == "__main__":
    try:
        main()
    except SystemExit:
        import nashgraph
        nashgraph.SmoothGL
        {}
"""
JOBLIB = "Parallel(n_jobs=2)(delayed(abs)(k) for k in range(4))"
DASK = "from nashgraph.pairs.cluster.client import started; started(1).close()"


@pytest.mark.slow
@pytest.mark.parametrize("workers", [JOBLIB, DASK], ids=["joblib", "dask"])
def test_nothing_in_the_current_folder_is_run_by_the_command_or_its_workers(tmp_path, workers):
    if workers == DASK:
        pytest.importorskip("distributed")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nashgraph").write_text(STARTED.format(workers))
    (tmp_path / "here").mkdir()
    for name in ("random", "json", "pickle", "numpy", "joblib", "distributed", "psutil"):
        (tmp_path / "here" / f"{name}.py").write_text(f"open({str(tmp_path / 'was_run')!r}, 'w').close()\n")
    (tmp_path / "here" / ".numba_config.yaml").write_text("cache_dir: kernels_of_a_stranger\n")
    source = str(Path(nashgraph.__file__).parents[1])
    env = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONSAFEPATH")}
    command = [sys.executable, tmp_path / "bin" / "nashgraph", "--version"]
    subprocess.run(command, cwd=tmp_path / "here", env={**env, "PYTHONPATH": source}, check=True)
    assert not (tmp_path / "was_run").exists()
    assert not (tmp_path / "here" / "kernels_of_a_stranger").exists()


@pytest.mark.slow
@pytest.mark.parametrize("settings", [b"text.usetex: True\n", b"\xff"])
def test_settings_of_matplotlib_in_the_current_folder_are_not_obeyed(tmp_path, settings):
    pytest.importorskip("matplotlib")
    (tmp_path / "matplotlibrc").write_bytes(settings)
    size = ["--people", "10", "--ties", "2", "--asked", "100", "--questions", "0", "--draws", "1"]
    command = [sys.executable, "-P", "-m", "nashgraph", "plan", *size, "--out", "plan"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "plan" / "plan.svg").is_file()


@pytest.mark.parametrize(("word", "meant"), [("no", False), ("false", False), ("0", False), ("Yes", True), ("1", True)])
def test_a_flag_is_set_by_any_word_for_it(word, meant):
    assert all_parameters("spectemp", {}, [f"assume_centered={word}"], "error")["assume_centered"] is meant


def test_a_flag_is_set_by_nothing_else(table):
    result = run("learn", table, "--method", "spectemp", "--set", "assume_centered=nope", "--out", table.parent / "out")
    assert result.exit_code == 2
    assert "assume_centered is true or false or yes or no" in result.stderr
    with pytest.raises(InputError, match="assume_centered must be True or False"):
        METHODS["spectemp"](assume_centered="no").fit([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0], [1.0, 1.0, 2.0]])


def test_a_missing_package_is_no_bug(table, monkeypatch):
    monkeypatch.setattr(learn, "learned", fail_with(ImportError("drawing needs matplotlib: pip install ...")))
    assert run("learn", table, "--out", table.parent / "out").exit_code == 1


def test_help_lists_commands_and_codes():
    result = run("--help")
    assert result.exit_code == 0
    for word in (*COMMANDS, "Exit codes: 0 done", "130 interrupted", "--version", "--install-completion"):
        assert word in result.output
    assert "learn" in run().output


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "datasets"])
def test_every_command_has_an_example_and_the_codes(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: nashgraph {command}" in result.output
    assert "Exit codes" in result.output
    assert "NAME=VALUE" in result.output or command != "learn"


def test_data_sets_are_listed_through_the_command():
    result = run("datasets")
    assert result.exit_code == 0, result.output
    assert "karate" in result.output
    assert run("datasets", "--help").exit_code == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("nashgraph learn t.csv --method s", {"smooth", "spectemp", "sigrep"}),
        ("nashgraph learn t.csv --set interaction=l", {"interaction=linear", "interaction=log1p"}),
        ("nashgraph learn t.csv --set welfare=u", {"welfare=utilitarian"}),
        ("nashgraph learn t.csv --set engi", {"engine="}),
        ("nashgraph compare t.csv --methods glg", {"glgp"}),
        ("nashgraph learn t.csv --set benefit=s", {"benefit=spectral"}),
        ("nashgraph learn t.csv --missing ", {"auto", "error", "pairwise", "impute"}),
    ],
)
def test_values_are_completed(words, expected):
    env = {
        "_NASHGRAPH_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    result = CliRunner().invoke(app, [], prog_name="nashgraph", env=env)
    assert set(result.stdout.split()) == expected


def test_the_installed_command_prints_completion_and_is_quick_to_load():
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-c", "from nashgraph.cli import main; main()"]
    shown = subprocess.run([*command, "--show-completion", "bash"], capture_output=True, text=True, env=env, check=True)
    assert "complete" in shown.stdout
    # The commands' other dependencies are loaded when a command runs.
    listed = (
        "import sys, nashgraph; before = set(sys.modules); import nashgraph.cli.app; print(*set(sys.modules) - before)"
    )
    loaded = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True).stdout.split()
    assert "nashgraph.cli.options" in loaded
    for heavy in (
        "numpy",
        "nashgraph.games",
        "nashgraph.pairs",
        "nashgraph.io",
        "nashgraph.report",
        "nashgraph.datasets",
        "matplotlib",
        "pyarrow",
    ):
        assert heavy not in loaded


def test_groups_of_options_keep_their_defaults():
    def described(asked: options.DemoArguments) -> None:
        pass

    command = commands.flat(described, "builtins:repr")
    parameters = inspect.signature(command).parameters
    assert list(parameters) == ["quiet", "json", "verbose", "debug", "out", "seed"]
    given = {name: parameter.default for name, parameter in parameters.items()}
    speech = options.SpeechArguments(quiet=True)
    assert command(**given | {"quiet": True, "seed": 1}) == repr(options.DemoArguments(speech, seed=1))


def test_groups_may_hold_groups():
    def described(asked: options.JobArguments) -> None:
        pass

    command = commands.flat(described, "builtins:repr")
    given = {name: item.default for name, item in inspect.signature(command).parameters.items()}
    assert {"file", "missing", "truth", "quiet", "settings", "out"} < given.keys()
    assert given["file"] is inspect.Parameter.empty
    assert "SpeechArguments(quiet=True" in command(**{**given, "file": Path("t.csv"), "quiet": True})


def test_the_help_says_what_its_words_mean():
    shown = " ".join(run("learn", "--set", "help").output.split())
    for words in (
        "every node chooses an action",
        "at the equilibrium nobody gains",
        "welfare is what all actions are worth",
    ):
        assert words in shown


def test_what_is_registered_is_in_the_help(table):
    shown = run("learn", "--set", "help").output
    for names in (INTERACTIONS, WELFARES, ENGINES):
        assert f"[{'|'.join(names)}]" in "".join(shown.split())
    shown = run("learn", "--help").output
    assert ",".join([*METHODS, "ties"]) in re.sub(r"[\s│]", "", shown)
    listed = (
        "import sys; from nashgraph.cli.app import app; sys.argv[1:] = ['learn', '--help']\n"
        "try: app()\nexcept SystemExit: print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True).stdout.split()
    for heavy in ("scipy.sparse", "pandas", "numba", "sklearn", "networkx"):
        assert heavy not in loaded


def test_an_output_folder_that_is_a_link_to_nowhere_or_below_a_file_is_refused_before_the_run(tmp_path, random):
    pd.DataFrame(random.normal(size=(9, 3)), columns=list("abc")).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for out, said in (
        ("link", "link is a link to a folder that is not there: make it, or give another folder"),
        ("link/sub", "link is a link to a folder that is not there"),
        ("t.csv/sub", "t.csv is a file, and a folder is needed"),
    ):
        result = run("learn", tmp_path / "t.csv", "--out", tmp_path / out)
        assert result.exit_code == 1
        assert said in " ".join(error_lines(result))
    assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("words", [["show", "nosuch", "--json"], ["datasets"]])
def test_output_that_cannot_be_written_ends_with_one_line(words):
    with Path("/dev/full").open("w") as full:
        line = [sys.executable, "-m", "nashgraph", *words]
        ended = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith("nashgraph ")
