"""The README's code and commands run as they stand."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd

from nashgraph.experiments.beyond import chosen, scored
from nashgraph.experiments.methods import CONSENSUS
from tests.commands import run

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_lines_of_python_run(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "source" in printed
    assert "weight" in printed


def test_the_lines_of_shell_run(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    answers = pd.DataFrame(random.normal(size=(25, 6)), columns=[f"q{k}" for k in range(6)])
    answers.insert(0, "household", [f"household {k}" for k in range(25)])
    answers.assign(village=[k % 2 for k in range(25)]).to_csv(tmp_path / "villages.csv", index=False)
    answers.loc[3, "q1"] = np.nan
    answers.to_csv(tmp_path / "survey.csv", index=False)
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert [command[1] for command in commands] == ["learn", "show", "path", "learn", "compare", "rerun"]
    for program, *arguments in commands:
        assert program == "nashgraph"
        result = run(*arguments)
        assert result.exit_code in (0, 3), (arguments, result.output)
    assert (tmp_path / "graph" / "report.html").is_file()


def test_what_it_says_of_the_paper_is_what_came_out():
    results = Path(__file__).parent.parent / "results"
    report = (results / "REPRODUCTION.md").read_text(encoding="utf-8")
    verdicts = [line for line in report.split("## ")[0].splitlines() if line.startswith("| ")]
    assert len(verdicts) == 8
    assert all(line in README for line in verdicts)
    figure, table, beyond = (pd.read_csv(results / f"{name}.csv") for name in ("fig1", "villages", "beyond"))
    drawn = figure[figure["solver"] != "more draws"]
    by_lam = drawn[(drawn["method"] == "GLGP f(x)=x") & (drawn["solver"] == "TTGD")].groupby("lam")["auc"].mean()
    scores = {
        "GLGP at its best λ has an AUC of": by_lam.max(),
        "against": drawn[drawn["method"] == "SmoothGL"]["auc"].mean(),
        "inner products of the signals have": drawn[drawn["method"] == "Inner products"]["auc"].mean(),
        "On 40 villages GLGP has": _mean(table, "GLGP f(x)=log(1+x)", "paper"),
        "which is GLGP's benefit there, has": _mean(table, "control: hhSurveyed alone", "control"),
        "nothing to set, has": drawn[drawn["method"] == CONSENSUS]["auc"].mean(),
        "on the villages": _mean(table, CONSENSUS, "ours"),
        "model has": scored(beyond, "linear", *chosen(beyond, "linear"))["auc"].mean(),
    }
    text = " ".join(README.split())
    for words, score in scores.items():
        assert np.isfinite(score)
        assert f"{words} {score:.3f}" in text, (words, score)


def _mean(table, method, setting):
    return table[(table["method"] == method) & (table["setting"] == setting)]["auc"].mean()
