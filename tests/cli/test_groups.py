"""One network for each group of a table, in one run."""

import json
import unicodedata

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nashgraph import SmoothGL
from nashgraph.cli.groups import folder_names
from nashgraph.datasets import smooth_signals

from ..commands import error_lines, run


@pytest.fixture
def villages(tmp_path):
    """Three villages whose households are numbered from 1 in each, a household without a village, and a hermit."""
    tables, ties = [], []
    for seed, village in enumerate([10, 2, "A/b"]):
        graph = nx.connected_watts_strogatz_graph(20 + seed, 4, 0.2, seed=seed)
        table = pd.DataFrame(smooth_signals(graph, 12, "gmrf", random_state=seed).T).add_prefix("q")
        tables.append(table.assign(hh=range(1, len(graph) + 1), village=village))
        if village != 2:
            ties += [(village, a + 1, b + 1) for a, b in graph.edges()]
    tables.append(tables[0].head(1).assign(village=None))
    tables.append(tables[0].head(1).assign(village="alone"))
    pd.concat(tables).to_csv(tmp_path / "villages.csv", index=False)
    pd.DataFrame(ties, columns=["village", "from", "to"]).to_csv(tmp_path / "ties.csv", index=False)
    return tmp_path


def learn(folder, *more):
    arguments = ["learn", folder / "villages.csv", "--group", "village", "--id", "hh", "--method", "smooth"]
    return run(*arguments, "--set", "standardize=no", "--out", folder / "out", *more)


def test_every_group_has_its_network_and_all_are_in_one_page_and_one_table(villages):
    result = learn(villages, "--truth", villages / "ties.csv", "--json")
    assert result.exit_code == 3, result.output  # one group is left out, with a message
    answer = json.loads(result.stdout)
    assert {name: found["nodes"] for name, found in answer["groups"].items()} == {"10": 20, "2": 21, "A/b": 22}
    assert list(answer["left_out"]) == ["alone"]
    assert "left out 1 row(s) without a village" in answer["notes"]
    assert "left out village alone: one row only, and a network needs two nodes" in answer["notes"]
    assert answer["groups"]["10"]["scores"]["auc"] > 0.6
    assert not answer["groups"]["2"]["scores"]  # it has no ties
    assert "ties.csv has no ties in village 2" in answer["groups"]["2"]["notes"]
    out = villages / "out"
    assert sorted(file.name for file in out.iterdir()) == [
        "edges.csv",
        "groups",
        "groups.csv",
        "index.html",
        "nodes.csv",
    ]
    nodes = pd.read_csv(out / "nodes.csv", dtype=str)
    assert nodes.groupby("group").size().to_dict() == {"10": 20, "2": 21, "A/b": 22}
    assert not nodes.duplicated(["group", "name"]).any()
    table = pd.read_csv(villages / "villages.csv", dtype={"village": str})
    alone = table[table.village == "10"].set_index("hh").drop(columns="village")
    weights = SmoothGL().fit(alone.T).edges()
    edges = pd.read_csv(out / "edges.csv", dtype={"group": str})
    found = edges[edges.group == "10"]
    assert found.weight.tolist() == pytest.approx(weights.weight.tolist())
    assert found.source.tolist() == weights.source.tolist()
    page = (out / "index.html").read_text()
    assert page.count("<svg") == 3, "a picture of each network"
    for address in ("groups/10/report.html", "groups/A_b/report.html"):
        assert f'<a href="{address}">' in page
        assert (out / address).is_file()
    assert "village alone: one row only" in page


def test_a_group_runs_again_on_its_own(villages):
    learn(villages, "--truth", villages / "ties.csv")
    result = run("rerun", villages / "out" / "groups" / "A_b", "--out", villages / "again", "--json")
    assert json.loads(result.stdout)["same"] is True
    assert json.loads(result.stdout)["scores"]["auc"] > 0.6


def test_what_cannot_be_told_apart_is_refused(villages):
    pd.read_csv(villages / "ties.csv").drop(columns="village").to_csv(villages / "bare.csv", index=False)
    result = learn(villages, "--truth", villages / "bare.csv")
    assert result.exit_code == 1
    assert "several groups have nodes of one name (1, 2, 3, 4, 5" in error_lines(result)[0]
    assert "--truth bare.csv does not say which are meant: add the column village" in error_lines(result)[0]
    result = run("learn", villages / "villages.csv", "--drop", "village", "--id", "hh", "--out", villages / "out")
    assert "'hh' seems to identify people, but its values repeat: 22 of them in 65 rows" in error_lines(result)[0]
    out = ["--out", villages / "other"]
    assert "no column 'town'" in run("learn", villages / "villages.csv", "--group", "town", *out).stderr
    result = run("learn", villages / "villages.csv", "--group", "village", "--set", "nodes=columns", *out)
    assert result.exit_code == 2


def test_known_ties_are_those_of_the_group(villages):
    table = pd.read_csv(villages / "ties.csv")
    known = table[table["from"] <= 12]
    whole = pd.DataFrame([(village, k, "*") for village in (10, "A/b") for k in range(1, 13)], columns=table.columns)
    pd.concat([known, whole]).to_csv(villages / "known.csv", index=False)
    arguments = ["learn", villages / "villages.csv", "--group", "village", "--id", "hh"]
    result = run(*arguments, "--known", villages / "known.csv", "--out", villages / "out", "--json")
    answer = json.loads(result.stdout)
    assert any("known ties, 12 people whose ties are all known" in note for note in answer["groups"]["10"]["notes"])
    assert any("left out village 2: nobody was asked" in note for note in answer["notes"])
    edges = pd.read_csv(villages / "out" / "edges.csv", dtype={"group": str})
    asked = edges[(edges.probability == 1) & (edges.group == "10")]
    assert {*asked.source, *asked.target} & {*range(1, 13)}


def test_a_column_that_makes_no_groups_is_told_in_one_line(villages):
    result = run("learn", villages / "villages.csv", "--group", "q0", "--drop", "village", "--out", villages / "out")
    (line,) = error_lines(result)
    assert line.startswith("nashgraph learn: no q0 has a network: one row only, and a network needs two nodes")
    assert result.stderr.count("one row only") == 1


def test_every_group_takes_its_own_layout(villages):
    assert learn(villages).exit_code == 3
    layout = villages / "out"
    again = run(
        *("learn", villages / "villages.csv", "--group", "village", "--id", "hh", "--method", "smooth"),
        *("--degree", "3", "--set", f"layout_of={layout}", "--out", villages / "again"),
    )
    assert again.exit_code == 3, again.output
    for group in ("10", "2", "A_b"):
        tables = [
            pd.read_csv(out / "groups" / group / "layout.csv").sort_values("name", ignore_index=True)
            for out in (layout, villages / "again")
        ]
        pd.testing.assert_frame_equal(*(table[["name", "x", "y"]] for table in tables))


# ----------------------------------------------------------------------------------------------- folders

RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in "123456789")}
COLLIDING = (
    ["x", "x-2", "x!"],
    ["North", "north-2", "north"],
    ["a-3", "a", "a/", "a:", "a-2"],
    ["1", "01", "1.0"],
    ["CON", "con", "con.txt", "a.", "a", "a..", "..", "."],
)
FEW_LETTERS = st.text("aAxX12-_./ !éÉß", max_size=4) | st.text(max_size=80) | st.sampled_from([*RESERVED, "CON.csv"])


@given(st.lists(FEW_LETTERS, unique=True, max_size=12))
@example(["-rf", "rf", "--", "-"])
@example(["é", "e\u0301", "É", "ß", "ss", "SS", "\u2160", "i"])
@example(["I", "ı", "i", "İ"])
def test_folders_are_unique_and_allowed_on_every_file_system(groups):
    folders = folder_names(groups)
    assert folders.keys() == {*groups}
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for fold in (str.casefold, str.upper):  # a Turkish "ı" is an "I" in capitals only
            assert len({fold(unicodedata.normalize(form, name)) for name in folders.values()}) == len(groups)
    for name in folders.values():
        assert name.split(".")[0].casefold() not in RESERVED
        assert name
        assert name[-1] not in ". "
        assert name[0] != "-"  # an option for other programs, and a formula for a spreadsheet
        assert not {*name} & {*'<>:"/\\|?*'}
        assert name.isprintable()
        assert len(name.encode()) <= 255


def test_a_group_keeps_its_name_where_it_can():
    assert folder_names(["b!", "b_", "b", "north"]) == {"b": "b", "north": "north", "b!": "b-2", "b_": "b-3"}


@pytest.mark.parametrize("groups", COLLIDING, ids=lambda groups: groups[0])
def test_no_network_overwrites_another(tmp_path, groups):
    draws = np.random.default_rng(0)
    tables = [
        pd.DataFrame(draws.normal(size=(5 + k, 4)), columns=list("pqrs")).assign(hh=range(5 + k), place=group)
        for k, group in enumerate(groups)
    ]
    pd.concat(tables).to_csv(tmp_path / "places.csv", index=False)
    ties = pd.DataFrame({"from": 0, "to": [1 + k for k in range(len(groups))], "place": groups})
    ties.to_csv(tmp_path / "ties.csv", index=False)
    arguments = ["learn", tmp_path / "places.csv", "--group", "place", "--id", "hh", "--method", "smooth"]
    arguments += ["--degree", "2", "--truth", tmp_path / "ties.csv"]
    result = run(*arguments, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert {name: found["nodes"] for name, found in answer["groups"].items()} == {
        group: 5 + k for k, group in enumerate(groups)
    }
    index = pd.read_csv(tmp_path / "out" / "groups.csv", dtype={"group": str, "folder": str})
    assert sorted(index["group"]) == sorted(groups)
    page = (tmp_path / "out" / "index.html").read_text()
    for group, folder, nodes in zip(index["group"], index["folder"], index["nodes"], strict=True):
        assert answer["groups"][group]["folder"] == folder
        assert f'href="groups/{folder}/report.html"' in page
        model = json.loads((tmp_path / "out" / "groups" / folder / "model.json").read_text())
        assert model["job"]["table"]["only"] == group
        assert model["nodes"] == nodes == 5 + groups.index(group)
    again = run(*arguments, "--set", f"layout_of={tmp_path / 'out'}", "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output


def test_a_group_with_a_cell_that_is_no_number_is_left_out_until_the_cell_is_missing(villages):
    table = pd.read_csv(villages / "villages.csv", dtype={"q0": object})
    table.loc[3, "q0"] = "abt 3"
    table.to_csv(villages / "villages.csv", index=False)
    result = learn(villages, "--json")
    answer = json.loads(result.stdout)
    assert sorted(answer["left_out"]) == ["10", "alone"]
    assert "--set na: column 'q0' is read as number, and 'abt 3' (row 4) is not" in answer["left_out"]["10"]
    answer = json.loads(learn(villages, "--set", "na=q0=abt 3", "--json").stdout)
    assert sorted(answer["left_out"]) == ["alone"]


def test_groups_count_ties_as_single_networks_do(villages):
    answer = json.loads(
        run(
            "learn",
            villages / "villages.csv",
            "--group",
            "village",
            "--id",
            "hh",
            "--set",
            "n_replicates=0",
            "--out",
            villages / "all",
            "--json",
        ).stdout
    )
    folders = pd.read_csv(villages / "all" / "groups.csv").set_index("group")
    for name, found in answer["groups"].items():
        assert folders.ties[name] == found["certificate"]["ties"] == found["edges"] / 2
