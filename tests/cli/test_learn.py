"""Tables in, networks out, as people run it."""

import html
import json
import os
import shutil
from dataclasses import replace

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest

from nashgraph import GLGP, ConsensusGL, LearnedGraph, SmoothGL, edge_auc, read_study
from nashgraph.cli.fitting import learned, part_to_write
from nashgraph.cli.messages import Voice
from nashgraph.cli.reading import signals_in
from nashgraph.datasets import smooth_signals
from nashgraph.estimators import METHODS
from nashgraph.io import Job, TableOptions
from nashgraph.smoothness import STORAGES

from ..commands import LAST_DIGIT, error_lines, report_data, run

MEMBERS = "members.npz"  # of a consensus
FILES = [
    "edges.csv",
    "graph.graphml",
    "graph.json",
    "layout.csv",
    "model.json",
    "nodes.csv",
    "plan.toml",
    "report.html",
]
GLGP_RAW = ("--method", "glgp", "--set", "standardize=no")  # for the library


@pytest.fixture
def club(tmp_path):
    """A table of the karate club: 34 rows, 30 columns, a name each."""
    graph = nx.karate_club_graph()
    table = pd.DataFrame(smooth_signals(graph, 30, "gmrf", random_state=0).T)
    table.columns = [f"q{k}" for k in range(30)]
    table.insert(0, "name", [f"m{node}" for node in graph])
    table.to_csv(tmp_path / "club.csv", index=False)
    edges = pd.DataFrame([(f"m{a}", f"m{b}") for a, b in graph.edges()], columns=["source", "target"])
    edges.to_csv(tmp_path / "truth.csv", index=False)
    return tmp_path


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def matrix(folder, order):
    """Return the adjacency in an edge list, our way round."""
    edges = pd.read_csv(folder / "edges.csv", keep_default_na=False)
    place = {name: k for k, name in enumerate(order)}
    weights = np.zeros((len(order), len(order)))
    for source, target, weight, *_ in edges.itertuples(index=False):
        weights[place[str(target)], place[str(source)]] = weight
    return weights


def test_the_graph_is_that_of_the_library_in_every_file(club):
    result = run("learn", club / "club.csv", *GLGP_RAW, "--set", "lam=0.5", "--degree", "6", "--out", club / "out")
    assert result.exit_code == 0, result.output
    assert names(club / "out") == FILES
    table = pd.read_csv(club / "club.csv").set_index("name")
    model = GLGP(lam=0.5, degree=6).fit(table.T)
    order = list(table.index)
    # The order of numbers in memory decides the last digits of sums.
    weights = matrix(club / "out", order)
    np.testing.assert_allclose(weights, model.adjacency_.toarray(), rtol=0, atol=1e-12)
    graph = nx.read_graphml(club / "out" / "graph.graphml")
    np.testing.assert_allclose(nx.to_numpy_array(graph, nodelist=order).T, weights, rtol=LAST_DIGIT, atol=0)
    other = igraph.Graph.Read_GraphML(str(club / "out" / "graph.graphml"))
    assert other.vs["name"] == order
    assert np.abs(igraph_matrix(other) - weights).max() <= 1e-12
    linked = nx.node_link_graph(json.loads((club / "out" / "graph.json").read_text()), edges="edges")
    np.testing.assert_allclose(nx.to_numpy_array(linked, nodelist=order).T, weights, rtol=LAST_DIGIT, atol=0)
    assert "m33" in (club / "out" / "report.html").read_text()


def igraph_matrix(graph):
    weights = np.zeros((graph.vcount(), graph.vcount()))
    for edge in graph.es:
        weights[edge.target, edge.source] = edge["weight"]
    return weights


def test_the_model_says_everything(club):
    result = run(
        "learn",
        club / "club.csv",
        *GLGP_RAW,
        "--truth",
        club / "truth.csv",
        "--out",
        club / "out",
        "--set",
        "title=The club",
        "--json",
    )
    assert result.exit_code == 0, result.output
    content = json.loads((club / "out" / "model.json").read_text())
    assert content["job"]["parameters"]["lam"] == "auto"
    off = any("do not support the prior" in note for note in content["notes"])
    assert (content["certificate"]["lam"] == 0) == off
    assert content["job"]["title"] == "The club"
    assert content["input"]["path"] == "../club.csv"
    assert len(content["input"]["sha256"]) == 64
    assert content["certificate"]["converged"] is True
    certificate = GLGP().fit(pd.read_csv(club / "club.csv").set_index("name").T).certificate_.as_dict()
    assert certificate.keys() < content["certificate"].keys()
    assert content["certificate"]["measure"] == "stationarity"
    assert content["certificate"]["value"] <= content["certificate"]["tol"] == 1e-6
    assert {"objective", "beta", "smoothness_cost", "welfare"} < content["certificate"].keys()
    assert {"python", "nashgraph", "numpy", "numba"} <= content["versions"].keys()
    answer = json.loads(result.stdout)
    assert answer["scores"] == content["scores"]
    assert answer["edges"] == content["edges"] == len(pd.read_csv(club / "out" / "edges.csv"))
    truth = nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"m{node}")
    table = pd.read_csv(club / "club.csv").set_index("name")
    assert answer["scores"]["auc"] == pytest.approx(edge_auc(truth, GLGP().fit(table.T), "mean"))
    assert "id name: a value of its own in every row" in answer["notes"]
    assert "note: id name: " in result.stderr


def test_undirected_graphs_and_their_scores(club):
    arguments = [
        "learn",
        club / "club.csv",
        "--truth",
        club / "truth.csv",
        "--json",
        "--set",
        "undirected=yes",
        "--set",
        "standardize=no",
        "--method",
        "smooth",
    ]
    answer = json.loads(run(*arguments, "--out", club / "out").stdout)
    graph = nx.read_graphml(club / "out" / "graph.graphml")
    assert not graph.is_directed()
    weights = SmoothGL().fit(pd.read_csv(club / "club.csv").set_index("name").T).adjacency_.toarray()
    wanted = 0.5 * (weights + weights.T)
    found = nx.to_numpy_array(graph, nodelist=[f"m{k}" for k in range(34)])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    assert answer["scores"]["auc"] == pytest.approx(edge_auc(nx.karate_club_graph(), weights, "mean"))


def test_a_benefit_out_of_the_table_is_no_signal(club):
    result = run(
        "learn", club / "club.csv", "--set", "benefit=q0", "--method", "linear", "--out", club / "out", "--json"
    )
    assert result.exit_code == 1  # some Gaussian numbers are negative
    table = pd.read_csv(club / "club.csv").assign(q0=np.arange(34.0))
    table.to_csv(club / "club.csv", index=False)
    result = run("learn", club / "club.csv", *GLGP_RAW, "--set", "benefit=q0", "--out", club / "out", "--json")
    assert json.loads(result.stdout)["signals"] == 29
    data = table.set_index("name").drop(columns="q0").T
    model = GLGP(benefit=np.arange(34.0)).fit(data)
    np.testing.assert_allclose(matrix(club / "out", list(data.columns)), model.adjacency_.toarray(), rtol=0, atol=1e-9)


def test_not_converged_is_written_and_told(club):
    result = run("learn", club / "club.csv", *GLGP_RAW, "--set", "max_iter=1", "--set", "lam=50", "--out", club / "out")
    assert result.exit_code == 3
    assert "warning: GLGP has not converged: stationarity" in result.stderr
    assert "\nnot converged: stationarity" in result.stdout
    assert "Warning" not in result.stderr
    assert names(club / "out") == FILES
    content = json.loads((club / "out" / "model.json").read_text())
    assert any("GLGP has not converged" in note for note in content["notes"])
    assert content["certificate"]["converged"] is False


def test_degenerate_networks_are_said(club):
    table = pd.read_csv(club / "club.csv").assign(gain=[1000.0, 900.0, *[1.0] * 32])
    table.to_csv(club / "club.csv", index=False)
    drawn = ["learn", club / "club.csv", "--method", "linear", "--set", "benefit=gain", "--out", club / "out"]
    result = run(*drawn, "--set", "lam=100")
    assert "warning: m0 and m1 hold 100% of all influence among 34 nodes: check that this is meant" in result.stderr
    assert "hold 100% of all influence" in (club / "out" / "report.html").read_text()
    result = run(*drawn, "--degree", "100")
    assert "warning: the degree 100 is more than the 33 others" in result.stderr
    assert "of all influence" not in run(*drawn).stderr


def test_quiet_is_quiet(club):
    result = run("learn", club / "club.csv", "--quiet", "--out", club / "out")
    assert (result.exit_code, result.output) == (0, "")
    assert names(club / "out") == sorted([*FILES, MEMBERS])


def test_earlier_outputs_are_replaced_and_other_files_stay(club):
    (club / "out").mkdir()
    (club / "out" / "mine.txt").write_text("mine")
    run("learn", club / "club.csv", "--method", "smooth", "--degree", "3", "--out", club / "out")
    run("learn", club / "club.csv", "--method", "smooth", "--degree", "5", "--out", club / "out")
    assert names(club / "out") == sorted([*FILES, "mine.txt"])
    assert len(pd.read_csv(club / "out" / "edges.csv")) == 5 * 34


def ways(method):
    """Return the storages that a method has, each once."""
    return STORAGES if {"storage", "solver"} & {*METHODS[method]().get_params()} else ["auto"]


@pytest.mark.parametrize(("method", "storage"), [(method, way) for method in METHODS for way in ways(method)])
def test_every_method_storage_and_output(tmp_path, random, method, storage):
    """All files exist, agree, can be shown, and can be made again: from numbers, and from yes and no."""
    for values, more in (
        (random.normal(size=(12, 12)), []),
        (random.integers(0, 2, size=(12, 11)), ["--set", "undirected=yes"]),
    ):
        pd.DataFrame(values).add_prefix("q").to_csv(tmp_path / "t.csv", index=False)
        arguments = ["learn", tmp_path / "t.csv", "--method", method, "--out", tmp_path / "out", "--json", *more]
        result = run(*arguments, *([] if storage == "auto" else ["--set", f"storage={storage}"]))
        assert result.exit_code in (0, 3), result.output
        check_outputs(tmp_path / "out", json.loads(result.stdout), directed=not more)
    assert run("show", tmp_path / "out").exit_code == 0
    again = run("rerun", tmp_path / "out", "--out", tmp_path / "again", "--json")
    assert json.loads(again.stdout)["same"] is True


def check_outputs(out, answer, *, directed):
    assert names(out) == sorted([*FILES, *([MEMBERS] if answer["method"] == "consensus" else [])])
    edges, nodes = (pd.read_csv(out / name) for name in ("edges.csv", "nodes.csv"))
    graph = nx.read_graphml(out / "graph.graphml")
    linked = nx.node_link_graph(json.loads((out / "graph.json").read_text()), edges="edges")
    assert graph.is_directed() == linked.is_directed() == directed
    assert graph.number_of_edges() == linked.number_of_edges() == len(edges) == answer["edges"] > 0
    assert len(graph) == len(linked) == len(nodes) == answer["nodes"] == 12
    assert sum(weight for *_, weight in graph.edges(data="weight")) == pytest.approx(edges.weight.sum())
    assert (edges.weight > 0).all()
    assert answer["certificate"]["sentence"][1:] in html.unescape((out / "report.html").read_text())


def test_a_thousand_nodes_with_gaps_and_a_category(tmp_path, random):
    table = pd.DataFrame(random.normal(size=(1000, 28)), columns=[f"q{k}" for k in range(28)])
    table = table.mask(random.random(table.shape) < 0.05)
    table.insert(0, "household", [f"h{k:04d}" for k in range(1000)])
    table["region"] = random.choice(["north", "south", "east"], 1000)
    table.loc[::10, "region"] = None
    table.to_csv(tmp_path / "survey.csv", index=False)
    arguments = ("learn", tmp_path / "survey.csv", "--id", "household", "--method", "glgp", "--json")
    answers = {}
    for missing in ("pairwise", "impute"):
        result = run(*arguments, "--missing", missing, "--out", tmp_path / missing)
        assert result.exit_code == 0, result.output
        assert names(tmp_path / missing) == FILES
        answers[missing] = json.loads(result.stdout)
        assert (answers[missing]["nodes"], answers[missing]["signals"]) == (1000, 31)
        assert answers[missing]["certificate"]["value"] <= 1e-6
        assert any("answer region: category" in note for note in answers[missing]["notes"])
    assert any("are missing: two people are compared" in note for note in answers["pairwise"]["notes"])
    assert any("filled" in note for note in answers["impute"]["notes"])


def test_columns_as_nodes_and_excel(tmp_path, random):
    frame = pd.DataFrame(random.normal(size=(8, 12)), columns=[f"sensor {k}" for k in range(12)])
    frame.insert(0, "date", [f"2020-01-0{k + 1}" for k in range(8)])
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    arguments = ("learn", tmp_path / "t.xlsx", "--set", "nodes=columns", "--method", "smooth", "--degree", "3")
    result = run(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    model = SmoothGL(degree=3).fit(frame.drop(columns="date"))
    np.testing.assert_allclose(
        matrix(tmp_path / "out", list(frame.columns[1:])), model.adjacency_.toarray(), atol=1e-14
    )


def test_names_are_never_markup(tmp_path, random):
    table = pd.DataFrame(random.normal(size=(6, 5)), columns=list("abcde"))
    table.insert(
        0, "id", ["[bold]x[/bold]", ":smile:", "<script>alert(1)</script>", "[link=http://x]", "[/]", "\u202ertl"]
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run("learn", tmp_path / "t.csv", "--out", tmp_path / "out", "--method", "smooth", "--degree", "2")
    assert result.exit_code == 0, result.output
    shown = run("show", tmp_path / "out").stdout
    influential = set(pd.read_csv(tmp_path / "out" / "edges.csv")["source"])
    assert len(influential) >= 4
    for name in influential:
        assert name.replace("\u202e", r"\u202e") in shown
    assert "<script>alert(1)</script>" not in (tmp_path / "out" / "report.html").read_text()


def test_file_names_that_are_no_proper_text(club):
    odd = os.fsdecode(os.fsencode(str(club)) + b"/Zo\xeb.csv")
    shutil.copy(club / "club.csv", odd)
    result = run("learn", odd, "--out", club / "out", "--method", "smooth")
    assert result.exit_code == 0, result.output
    assert run("rerun", club / "out", "--out", club / "again").exit_code == 0
    assert run("show", club / "out", "--json").exit_code == 0


def test_the_default_is_the_consensus_with_a_seed(club):
    result = run("learn", club / "club.csv", "--truth", club / "truth.csv", "--out", club / "out", "--json")
    assert result.exit_code in (0, 3), result.output
    answer = json.loads(result.stdout)
    assert answer["method"] == "consensus"
    content = json.loads((club / "out" / "model.json").read_text())
    assert (content["job"]["parameters"]["random_state"], content["job"]["table"]["standardize"]) == (0, True)
    assert content["job"]["least_frequency"] is None
    table = pd.read_csv(club / "club.csv").set_index("name").T
    table = table.sub(table.mean(axis=1), axis=0).div(table.std(axis=1, ddof=0), axis=0)
    model = ConsensusGL(random_state=0).fit(table)
    written = pd.read_csv(club / "out" / "edges.csv")
    assert written.columns.tolist() == ["source", "target", "weight", "evidence", "frequency", "low", "high"]
    assert len(written) == model.suggested_.n_edges < model.graph_.n_edges
    ties = model.suggested_.undirected().n_edges
    assert answer["certificate"]["ties"] == ties == len({frozenset(pair) for pair in written.iloc[:, :2].to_numpy()})
    truth = nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"m{node}")
    assert answer["scores"]["auc"] == pytest.approx(edge_auc(truth, model, "mean"))  # of the whole graph
    nodes = pd.read_csv(club / "out" / "nodes.csv")
    assert nodes["influence"].tolist() == pytest.approx(sorted(model.graph_.influence, reverse=True))
    assert (nodes["rank_low"] <= nodes["rank_high"]).all()
    assert any(f"wrote the {ties} ties with most evidence" in note for note in answer["notes"])
    assert any("taken as samples" in note for note in answer["notes"])


def test_all_ties_or_only_the_sure_ones_are_written(club):
    fast = ("learn", club / "club.csv", "--set", "n_replicates=2", "--set", "benefit=none", "--seed", "7", "--json")
    counts = {}
    for level in ("0", "0.5", "1"):
        result = run(*fast, "--set", f"least_frequency={level}", "--out", club / "out")
        assert result.exit_code == 0, result.output
        table = pd.read_csv(club / "out" / "edges.csv")
        counts[level] = len(table)
        assert (table["frequency"] >= float(level)).all()
        assert ("of the member networks" in result.stderr) == (level != "0")
    assert counts["0"] > counts["0.5"] > counts["1"]
    known = run(*fast, "--degree", "3", "--out", club / "out")
    assert "wrote the 51 ties with most evidence, 3.0 per node on average (as --degree says)" in known.stderr
    content = json.loads((club / "out" / "model.json").read_text())["job"]["parameters"]
    assert (content["n_replicates"], content["random_state"], content["benefit"]) == (2, 7, None)
    mutual = run(*fast, "--set", "undirected=yes", "--out", club / "out")
    assert mutual.exit_code == 0, mutual.output
    assert (pd.read_csv(club / "out" / "edges.csv")["source"] != "").all()


def test_gaps_are_left_to_the_consensus(club):
    table = pd.read_csv(club / "club.csv")
    table.iloc[3, 5] = np.nan
    table.to_csv(club / "club.csv", index=False)
    result = run("learn", club / "club.csv", "--missing", "pairwise", "--set", "n_replicates=2", "--out", club / "out")
    assert result.exit_code in (0, 3), result.output
    assert "compared over what both answered" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "smooth", "--seed", "1"], "smooth has no --seed (consensus, glgp"),
        (["--method", "glgp", "--set", "n_replicates=1"], "glgp has no --set n_replicates (consensus have)"),
        (["--method", "smooth", "--set", "least_frequency=0.5"], "edges have no 'frequency'"),
    ],
)
def test_what_a_method_lacks_is_refused(club, options, message):
    result = run("learn", club / "club.csv", *options, "--out", club / "out")
    assert result.exit_code in (1, 2)
    assert message in error_lines(result)[-1]


def test_the_part_that_is_written():
    columns = {"frequency": np.array([0.9, 0.2, 0.3, 0.8]), "evidence": np.array([1.0, 3.0, 1.0, 3.0])}
    graph = LearnedGraph.of(np.array([[0, 0.4, 0.2], [0.5, 0, 0], [0.1, 0, 0]]), edge_columns=columns)
    assert part_to_write(graph, 0.8).edges()["frequency"].tolist() == [0.8, 0.9]
    one = part_to_write(replace(graph, degree=0.6), None)  # the tie with most evidence
    assert one.edges()["weight"].tolist() == [0.2, 0.1]
    plain = LearnedGraph.of(np.ones((3, 3)))
    assert part_to_write(plain, None) is plain


def test_who_is_central_is_not_said_of_answers(tmp_path, random):
    table = pd.DataFrame(random.integers(1, 6, size=(40, 12)), columns=[f"q{k}" for k in range(12)])
    table.insert(0, "name", [f"p{k}" for k in range(40)])
    table.to_csv(tmp_path / "survey.csv", index=False)
    result = run("learn", tmp_path / "survey.csv", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    central = "These answers do not tell who is central. Ask everybody how many ties they have."
    assert central in result.stdout
    assert "rank 1" not in result.stdout
    shown = run("show", tmp_path / "out")
    assert central in shown.stdout
    assert "most influential" not in shown.stdout
    acted = run("act", tmp_path / "out")
    assert central in acted.stdout
    assert not (tmp_path / "out" / "act" / "players.csv").exists()


def test_a_report_takes_the_layout_of_another(club):
    first, second = club / "first", club / "second"
    smooth = ("learn", club / "club.csv", "--method", "smooth", "--out")
    assert run(*smooth, first).exit_code == 0
    assert run(*smooth, second, "--degree", "3", "--set", f"layout_of={first}").exit_code == 0
    one, other = (pd.read_csv(folder / "layout.csv").set_index("name")[["x", "y"]] for folder in (first, second))
    pd.testing.assert_frame_equal(one, other.loc[one.index])
    assert (
        run(*smooth, first, "--degree", "4", "--set", f"layout_of={first}").exit_code == 0
    )  # again, in the same folder
    again = pd.read_csv(first / "layout.csv").set_index("name")[["x", "y"]]
    pd.testing.assert_frame_equal(one, again.loc[one.index])
    assert run(*smooth, club / "third", "--degree", "3").exit_code == 0
    assert not pd.read_csv(club / "third" / "layout.csv").set_index("name").loc[one.index, "x"].equals(one["x"])

    (first / "layout.csv").write_text("name,x,y\nm0,0,0\n")
    wrong = run(*smooth, club / "fourth", "--set", f"layout_of={first}")
    assert wrong.exit_code == 1
    assert "layout has no place for 33 of 34 nodes" in error_lines(wrong)[0]
    (first / "layout.csv").write_text("nothing")
    assert "is not as it was written" in error_lines(run(*smooth, club / "fourth", "--set", f"layout_of={first}"))[0]
    absent = run(*smooth, club / "fourth", "--set", f"layout_of={club}")
    assert "has no layout.csv: --set layout_of takes the folder that another run wrote" in error_lines(absent)[0]
    assert not (club / "fourth" / "report.html").exists()


def test_the_fitted_model_is_left_as_it_was_fitted(tmp_path):
    (tmp_path / "t.csv").write_text("id,age,pay\nann,31,5\nbob,,7\ncat,28,6\ndan,60,4\n")
    job = Job("learn", "smooth", {"degree": 2}, TableOptions(missing="impute"))
    outcome = learned(job, signals_in(read_study(tmp_path / "t.csv", gaps="impute")), Voice(quiet=True))
    assert not outcome.model.missing_share_.any()  # it was fitted to a table without gaps
    assert "missing" not in outcome.model.graph_.node_columns
    for graph in (outcome.whole, outcome.graph, outcome.written):
        assert graph.node_columns["missing"].tolist() == [0.0, 0.5, 0.0, 0.0]


def test_interventions_are_found_only_when_asked_for(club):
    arguments = ["learn", club / "club.csv", "--method", "glgp", "--degree", "4", "--out", club / "out"]
    run(*arguments)
    assert '"loss":' not in report_data(club / "out")
    assert run(*arguments, "--set", "interventions=yes").exit_code == 0
    assert '"loss":' in report_data(club / "out")
