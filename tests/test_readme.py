"""The code and commands of the README and of the cheat sheet run unchanged."""

import re
import shlex
import shutil
from pathlib import Path

from tests.commands import run, run_as_given

HOME = Path(__file__).parent.parent
README = (HOME / "README.md").read_text(encoding="utf-8")
CHEAT_SHEET = (HOME / "docs" / "cheat_sheet.md").read_text(encoding="utf-8")


def test_the_two_commands_are_in_the_first_ten_lines():
    first = "\n".join(README.splitlines()[:10])
    assert "make demo" in first
    assert "make test" in first


def test_the_lines_of_python_run(capsys):
    study, paper = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(study, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "60 people, 16 signals" in printed  # columns of words are coded, not dropped
    assert "source" in printed
    assert "weight" in printed
    exec(compile(paper, "README.md", "exec"), {})
    assert "converged" in capsys.readouterr().out


def test_it_is_short():
    assert len(re.findall(r"\b[A-Za-z][\w'-]*\b", README)) <= 450


def test_the_lines_of_shell_run(tmp_path, monkeypatch):
    shutil.copytree(HOME / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert [command[0] for command in commands] == ["pip", "nashgraph"]
    result = run(*commands[1][1:])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "village" / "report.html").is_file()


def test_the_cheat_sheet_runs(tmp_path, monkeypatch):
    shutil.copytree(HOME / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", CHEAT_SHEET, flags=re.DOTALL)
    exec(compile(block, "cheat_sheet.md", "exec"), {})
    assert (tmp_path / "report.html").is_file()


def test_the_cheat_sheet_s_options_exist():
    commands = ("read", "learn", "compare", "show", "act", "check", "ask", "rerun")
    helped = {name: run_as_given(name, "--help").output for name in commands}
    for command in re.findall(r"`nashgraph ([^`]*)`", CHEAT_SHEET):
        name, *words = command.split()
        assert all(word in helped[name] for word in words if word.startswith("-")), command
    alone = re.findall(r"\| `(--?[^`]*)` \|", CHEAT_SHEET)
    assert len(alone) > 5
    for options in alone:
        assert all(word in helped["learn"] for word in options.split() if word.startswith("-")), options
