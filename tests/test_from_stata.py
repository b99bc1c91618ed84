"""The lines of docs/guide/from_stata.md on a file that pandas writes; Stata itself is not needed."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.commands import run

PAGE = (Path(__file__).parent.parent / "docs" / "guide" / "from_stata.md").read_text(encoding="utf-8")
COMMAND, PYTHON = re.findall(r"```stata\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def village(tmp_path, monkeypatch):
    """Return a folder with village.dta: 40 households whose ids begin with a zero."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    above = np.triu(random.random((40, 40)) < 0.15, 1)
    ties = above | above.T
    traits = (random.random((40, 2)) < 0.4).astype(int)
    households = pd.DataFrame({"hhid": [f"0{100 + number}" for number in range(40)]})
    households["weaver"] = traits[:, 0]
    households["tractor"] = traits[:, 1]
    households["n_ties"] = ties.sum(axis=1)
    households["n_weavers"] = ties @ traits[:, 0]
    households["n_tractors"] = ties @ traits[:, 1]
    households["income"] = random.normal(size=40)
    households.to_stata("village.dta", write_index=False)
    return households


def test_the_command_writes_nodes_that_merge(village):
    command = COMMAND.splitlines()[0].removeprefix("shell nashgraph ")
    result = run(*shlex.split(command))
    assert result.exit_code == 0, result.output
    nodes = pd.read_csv("graph/nodes.csv", dtype={0: str})
    assert nodes.columns[0] == "name"
    kept = re.search(r"(?m)^keep (.*)$", COMMAND)[1].split()
    merged = village.merge(nodes[kept].rename(columns={"name": "hhid"}), on="hhid", validate="1:1")
    assert len(merged) == len(village)
    assert merged["expected_ties"].between(merged["ties_low"], merged["ties_high"]).all()


def test_the_python_block_writes_files_that_merge(village):
    block = PYTHON.split("python:\n")[1].split("end\n")[0]
    exec(compile(block, "from_stata.md", "exec"), {})
    merged = village.merge(pd.read_stata("nodes.dta"), on="hhid", validate="1:1")
    assert len(merged) == len(village)
    assert merged["expected_ties"].corr(merged["n_ties"]) > 0.9
    assert {"source", "target", "probability"} <= set(pd.read_stata("edges.dta").columns)
