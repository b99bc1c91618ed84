"""The README's code and commands run as they stand."""

import re
import shlex
import shutil
from pathlib import Path

from tests.commands import run

HOME = Path(__file__).parent.parent
README = (HOME / "README.md").read_text(encoding="utf-8")


def test_the_lines_of_python_run(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "source" in printed
    assert "weight" in printed


def test_the_lines_of_shell_run(tmp_path, monkeypatch):
    shutil.copytree(HOME / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert [command[1] for command in commands] == [
        "learn",
        "show",
        "act",
        "learn",
        "learn",
        "path",
        "compare",
        "rerun",
    ]
    for program, *arguments in commands:
        assert program == "nashgraph"
        result = run(*arguments)
        assert result.exit_code == 0, (arguments, result.output)
    assert (tmp_path / "village" / "report.html").is_file()
    assert (tmp_path / "villages" / "index.html").is_file()
