"""Silent nodes, such as users who never post: reported, marked, and never named as hubs."""

import json

import numpy as np
import pandas as pd
import pytest

from nashgraph import SmoothGL
from nashgraph.report import summarize
from nashgraph.report.prose import speaking

from ..commands import run

SILENT = [f"user {k}" for k in range(6)]


@pytest.fixture
def counts(random):
    """Posts of 60 users on 20 days, each on one of them; six never post, and are nearer to all than others are."""
    posts = np.zeros((60, 20), dtype=int)
    posts[np.arange(6, 60), np.arange(54) % 20] = 1 + random.integers(1, 5, size=54)
    return pd.DataFrame(posts, columns=[f"day {k}" for k in range(20)], index=[f"user {k}" for k in range(60)])


def test_who_is_silent_is_told_marked_and_no_hub(counts, tmp_path):
    counts.rename_axis("user").to_csv(tmp_path / "t.csv")
    for method in ("consensus", "smooth"):
        out = tmp_path / method
        result = run("learn", tmp_path / "t.csv", "--id", "user", "--method", method, "--out", out)
        assert result.exit_code == 0, result.output
        assert "6 node(s) have 0 in every signal (user 0, user 1, " in result.stderr
        nodes = pd.read_csv(out / "nodes.csv")
        assert {*nodes.loc[nodes["silent"] == 1, "name"]} == {*SILENT}
        assert nodes["silent"].head(5).any(), "the case is made so that they would be hubs"
        if method == "consensus":
            assert "These answers do not tell who is central" in result.stdout
            continue
        [named] = [line for line in result.stdout.splitlines() if line.startswith(("influence:", "most influential:"))]
        assert not [name for name in SILENT if f"{name} (" in named]
        shown = json.loads(run("show", out, "--json").stdout)
        assert not {node["name"] for node in shown["most_influential"]} & {*SILENT}
        assert any("6 node(s) have 0 in every signal" in note for note in shown["notes"])
        page = (out / "report.html").read_text()
        assert "6 node(s) have 0 in every signal" in page


@pytest.mark.filterwarnings("ignore:.*exactly the signals of another")
def test_a_fit_warns_and_its_graph_knows(counts):
    with pytest.warns(UserWarning, match=r"6 node\(s\) have 0 in every signal \(user 0, "):
        model = SmoothGL(beta=1.0).fit(counts.T)
    assert model.graph_.nodes().set_index("name")["silent"].sum() == 6
    assert not {*model.graph_.names[speaking(model.graph_)]} & {*SILENT}
    assert "silent" in summarize(model).hubs


@pytest.mark.filterwarnings("ignore")
def test_an_answer_of_no_is_a_signal(counts, random):
    answers = (counts > 0).astype(float)
    assert not SmoothGL(beta=1.0).fit(answers.T).silent_.any()
    counts.iloc[2:6] = random.integers(1, 9, size=(4, 20))
    assert not SmoothGL(beta=1.0).fit(counts.T).silent_.any(), "two are no crowd"
    assert not hasattr(SmoothGL(beta=1.0), "silent_"), "known after a fit only"
