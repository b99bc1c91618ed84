"""A run never overwrites a file that it reads."""

import pandas as pd
import pytest

from ..commands import error_lines, run


@pytest.fixture
def folder(tmp_path, random, monkeypatch):
    table = pd.DataFrame(random.normal(size=(12, 5)), columns=list("abcde"))
    table["g"] = ["a", "b"] * 6
    for name in ("o/groups/a", "o/groups/b"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("edges.csv", "nodes.csv", "compare.csv", "t.csv", "groups.csv", "o/groups/a/nodes.csv"):
        table.to_csv(tmp_path / name, index_label="person")
    ties = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4], "tie": [1, 1, 0]})
    for name in ("truth.csv", "path.csv"):
        ties.to_csv(tmp_path / name, index=False)
    (tmp_path / "kept").mkdir()
    for name in ("kept", "o/groups/b"):
        ties.to_csv(tmp_path / name / "edges.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (("learn", "edges.csv", "--out", "."), "edges.csv"),
        (("learn", "t.csv", "--truth", "kept/edges.csv", "--out", "kept"), "kept/edges.csv"),
        (("learn", "t.csv", "--known", "path.csv", "--out", "."), "path.csv"),
        (("learn", "nodes.csv", "--group", "a", "--out", "../" + "{name}"), "nodes.csv"),
        (("learn", "groups.csv", "--group", "g", "--method", "smooth", "--out", "."), "groups.csv"),
        (
            ("learn", "o/groups/a/nodes.csv", "--group", "g", "--method", "smooth", "--out", "o"),
            "o/groups/a/nodes.csv",
        ),
        (
            ("learn", "t.csv", "--group", "g", "--method", "smooth", "--truth", "o/groups/b/edges.csv", "--out", "o"),
            "o/groups/b/edges.csv",
        ),
        (("compare", "compare.csv", "--methods", "smooth", "--out", "."), "compare.csv"),
    ],
)
def test_inputs_are_never_written_over(folder, arguments, file):
    before = (folder / file).read_bytes()
    result = run(*(argument.format(name=folder.name) for argument in arguments))
    assert result.exit_code == 1
    assert "is read in this run" in error_lines(result)[0]
    assert "give another --out" in error_lines(result)[0]
    assert (folder / file).read_bytes() == before


def test_a_model_that_is_read_is_kept(folder):
    run("learn", "t.csv", "--out", "out")
    before = (folder / "out" / "model.json").read_bytes()
    result = run("rerun", "out", "--out", "out")
    assert "model.json is read in this run" in error_lines(result)[0]
    assert (folder / "out" / "model.json").read_bytes() == before
    assert run("learn", "t.csv", "--out", "out").exit_code == 0  # files of an earlier run may be replaced
