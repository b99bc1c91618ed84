"""The README's code and commands run as they stand."""

import re
import shlex
import shutil
from pathlib import Path

import pandas as pd

from nashgraph.experiments.beyond import chosen, scored
from nashgraph.experiments.methods import CONSENSUS
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


def test_what_it_says_of_the_paper_is_what_came_out():
    results = HOME / "results"
    report = (results / "REPRODUCTION.md").read_text(encoding="utf-8")
    verdicts = [line for line in report.split("## ")[0].splitlines() if line.startswith("| ")]
    assert len(verdicts) == 9
    assert all(line in README for line in verdicts)
    figure, table, beyond = (pd.read_csv(results / f"{name}.csv") for name in ("fig1", "villages", "beyond"))
    drawn = figure[figure["solver"] != "more draws"]
    by_lam = drawn[(drawn["method"] == "GLGP f(x)=x") & (drawn["solver"] == "TTGD")].groupby("lam")["auc"].mean()
    without = drawn[drawn["method"] == "SmoothGL"]["auc"].mean()
    inner = drawn[drawn["method"] == "Inner products"]["auc"].mean()
    ours = drawn[drawn["method"] == CONSENSUS][["auc", "auc_symmetric"]].mean()
    better = scored(beyond, "linear", *chosen(beyond, "linear"))["auc"].mean()
    rows = [
        f"settings | {by_lam.max():.3f} | {_mean(table, 'GLGP f(x)=log(1+x)', 'paper'):.3f} |",
        f"SmoothGL | {without:.3f} | {_mean(table, 'SmoothGL', 'paper'):.3f} |",
        f"who was surveyed | {inner:.3f} | {_mean(table, 'control: hhSurveyed alone', 'control'):.3f} |",
        f"other villages | | {better:.3f} |",
        f"nothing set | {ours['auc']:.3f} | {_mean(table, CONSENSUS, 'ours'):.3f} |",
        f"the consensus has {ours['auc_symmetric']:.3f} on Figure 1",
    ]
    for row in rows:
        assert row in README, row


def test_what_it_says_of_recovery_is_what_came_out():
    report = (HOME / "benchmarks" / "RECOVERY.md").read_text(encoding="utf-8")
    (synthetic, real) = re.findall(r"all problems \(\d+\) \| ([\d.]+) of 11; next: \D* ([\d.]+) \|", report)
    assert f"| {synthetic[0]} | {synthetic[1]} (LinearGLGP)" in README
    assert f"| {real[0]} | {real[1]} (a control)" in README
    mean, cosine = re.search(r"best control's \| ([\d.]+) against ([\d.]+) \(cosine\)", report).groups()
    assert f"{mean}, the cosine's {cosine}" in README


def test_what_it_says_of_the_stress_grid_is_what_came_out():
    report = (HOME / "benchmarks" / "STRESS.md").read_text(encoding="utf-8")
    problems = re.search(r"## ([\d,]+) problems", report)[1]
    feasible = re.search(r"largest violation of S \| (\S+) \|", report)[1]
    reached = re.search(r"1e-6 reached \| ([\d.]+) %", report)[1]
    assert f"finite | {problems} of {problems} |" in report
    assert re.search(r"without saying so \| 0 \|", report)
    assert (
        f"`make stress`), {problems} problems | all finite, feasible to {feasible} and monotone; {reached} %" in README
    )


def _mean(table, method, setting):
    return table[(table["method"] == method) & (table["setting"] == setting)]["auc"].mean()
