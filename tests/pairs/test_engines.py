"""The choice of an engine, and the error if one is missing; no test needs PyTorch."""

import logging
import re
from pathlib import Path

import numpy as np
import pytest

import nashgraph
from nashgraph import SmoothGL
from nashgraph.pairs.cuda import search as cuda
from nashgraph.pairs.cuda import tensors
from nashgraph.validation import InputError

from ..commands import run


def test_without_pytorch_the_remedy_is_named(monkeypatch, signals):
    monkeypatch.setattr(tensors, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs PyTorch.*pip install 'nashgraph\[gpu\]'.*engine='threads'"):
        SmoothGL(engine="cuda").fit(signals)


def test_a_small_problem_does_not_look_for_a_gpu(monkeypatch, signals, caplog):
    monkeypatch.setattr(cuda, "has_gpu", lambda: pytest.fail("looked for a GPU"))
    with caplog.at_level(logging.INFO, "nashgraph"):
        found = SmoothGL(engine="auto").fit(signals).adjacency_.toarray()
    assert "engine: threads (30 nodes)" in caplog.text
    np.testing.assert_array_equal(found, SmoothGL().fit(signals).adjacency_.toarray())


def test_a_large_one_goes_without_where_there_is_none(monkeypatch, signals, caplog):
    monkeypatch.setattr(cuda, "FIRST_NODES", 10)
    monkeypatch.setattr(tensors, "find_spec", lambda name: None)
    with caplog.at_level(logging.INFO, "nashgraph"):
        SmoothGL(engine="auto").fit(signals)
    assert "engine: threads (gaps, or no GPU" in caplog.text


def test_the_command_says_which(tmp_path, random):
    table = tmp_path / "t.csv"
    rows = [",".join(f"{value:.6f}" for value in row) for row in random.normal(size=(30, 5))]
    table.write_text("\n".join(["a,b,c,d,e", *rows]))
    result = run("learn", table, "--method", "smooth", "--set", "engine=auto", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "note: engine: threads (30 nodes)" in result.stderr
    assert "engine:" not in run("learn", table, "--method", "smooth", "--out", tmp_path / "out2").stderr


def test_nothing_above_the_engine_knows_pytorch():
    source = Path(nashgraph.__file__).parent
    files = [file for file in source.rglob("*.py") if (source / "pairs" / "cuda") not in file.parents]
    assert len(files) > 100
    imports = re.compile(r"^\s*(import torch|from torch)|\btorch\.", re.MULTILINE)
    assert [file.name for file in files if imports.search(file.read_text(encoding="utf-8"))] == []
