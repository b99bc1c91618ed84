"""True networks from files."""

import gzip

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from nashgraph.io import (
    TableError,
    read_known,
    read_members,
    read_network,
    read_node_numbers,
    read_truth,
    ties,
    write_members,
)

NAMES = ["ann", "bob", "NA", "007"]
GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<key id="n" for="node" attr.name="name" attr.type="string"/>'
    '<key id="w" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="directed">{}</graph></graphml>'
)
SAME_NAME = (
    "".join(f'<node id="{node}"><data key="n">ann</data></node>' for node in "xy") + '<edge source="x" target="y"/>'
)


@pytest.fixture
def write(tmp_path):
    def make(content, name="truth.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return make


def test_edges_are_undirected_unless_told(write):
    path = write("Source;Target;Weight\nann;bob;1\n007;NA;2.5\nbob;007;0\n")
    truth, notes = read_truth(path, NAMES)
    assert list(truth) == NAMES
    assert {frozenset(edge) for edge in truth.edges()} == {frozenset(("ann", "bob")), frozenset(("007", "NA"))}
    assert notes == ["the truth has 2 undirected edge(s) on 4 of 4 nodes"]
    directed, notes = read_truth(path, NAMES, directed=True)
    assert list(directed.edges()) == [("ann", "bob"), ("007", "NA")]
    assert "2 directed" in notes[0]


def test_graphml_of_networkx_and_of_igraph(tmp_path):
    nx.write_graphml(nx.DiGraph([("ann", "bob")]), tmp_path / "a.graphml")
    truth, _ = read_truth(tmp_path / "a.graphml", NAMES)
    assert list(truth.edges()) == [("ann", "bob")]
    graph = igraph.Graph([(0, 1)])
    graph.vs["name"] = ["007", "ann"]
    graph.write_graphml(str(tmp_path / "b.graphml"))
    truth, _ = read_truth(tmp_path / "b.graphml", NAMES)
    assert not truth.is_directed()
    assert {frozenset(edge) for edge in truth.edges()} == {frozenset(("007", "ann"))}


@pytest.mark.parametrize("name", ["n.gml", "n.graphml", "n.net", "i.gml", "i.graphml", "l.gml"])
def test_nodes_called_by_numbers_keep_their_names(tmp_path, name):
    """A GML file of networkx numbers its nodes 0, 1, 2, and these numbers were taken for the names 3, 1, 0."""
    graph = nx.from_edgelist([(3, 1), (1, 0), (0, 2)])
    if name[0] == "n":
        write = {"gml": nx.write_gml, "graphml": nx.write_graphml, "net": nx.write_pajek}
        write[name[2:]](nx.relabel_nodes(graph, str) if name == "n.net" else graph, tmp_path / name)
    else:
        other = igraph.Graph([(0, 1), (1, 2), (2, 3)])
        other.vs["name" if name[0] == "i" else "label"] = ["3", "1", "0", "2"]
        other.write(str(tmp_path / name))
    names = ["0", "1", "2", "3"]
    wanted = {frozenset(map(str, edge)) for edge in graph.edges()}
    truth, _ = read_truth(tmp_path / name, names)
    assert {frozenset(edge) for edge in truth.edges()} == wanted
    known, _ = read_known(tmp_path / name, names)
    assert {frozenset(edge) for edge in known[["source", "target"]].to_numpy().tolist()} == wanted
    edges = read_network(tmp_path / name).edges()
    assert {frozenset(edge) for edge in edges[["source", "target"]].to_numpy().tolist()} == wanted


def test_names_of_graphs_are_taken_to_the_letter(tmp_path):
    nx.write_graphml(nx.Graph([("'=ann", "bob"), ("bob", "*")]), tmp_path / "a.graphml")
    edges = read_network(tmp_path / "a.graphml").edges()
    assert {*edges["source"], *edges["target"]} == {"'=ann", "bob", "*"}
    truth, _ = read_truth(tmp_path / "a.graphml", ["'=ann", "bob", "*"])
    assert truth.number_of_edges() == 2
    assert len(read_known(tmp_path / "a.graphml", ["'=ann", "bob", "*"])[0]) == 2


def test_where_a_person_is_called_star_complete_people_have_all_their_pairs(tmp_path):
    graph = nx.Graph([("bob", "*")])
    graph.add_node("ann", known=True)
    nx.write_graphml(graph, tmp_path / "a.graphml")
    known, _ = read_known(tmp_path / "a.graphml", ["ann", "bob", "*"])
    assert sorted(known.itertuples(index=False, name=None)) == [("ann", "*", 0), ("ann", "bob", 0), ("bob", "*", 1)]


def test_loops_are_left_out_and_said(write):
    truth, notes = read_truth(write("source,target\nann,ann\nann,bob\n"), NAMES)
    assert truth.number_of_edges() == 1
    assert "left 1 edge(s) from a node to itself" in notes[1]


def test_a_weight_of_zero_is_no_edge_in_a_graph_either(write):
    nodes = "".join(f'<node id="{name}"/>' for name in NAMES)
    edge = '<edge source="ann" target="{}"><data key="w">{}</data></edge>'
    truth, _ = read_truth(
        write(GRAPHML.format(nodes + edge.format("bob", 0) + edge.format("NA", 2)), "t.graphml"), NAMES
    )
    assert list(truth.edges()) == [("ann", "NA")]


def test_the_kinds_of_files_agree(tmp_path, write):
    graph = nx.DiGraph([("ann", "bob"), ("007", "NA"), ("NA", "007")])
    wanted = {("ann", "bob"), ("007", "NA"), ("NA", "007")}
    nx.write_gml(graph, tmp_path / "a.gml")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    nx.write_pajek(graph, tmp_path / "a.net")
    nx.to_pandas_adjacency(graph, dtype=int).to_csv(tmp_path / "a.csv")
    pd.DataFrame(graph.edges(), columns=["From", "To"]).to_csv(tmp_path / "b.csv", index=False)
    np.save(tmp_path / "a.npy", nx.to_numpy_array(graph, nodelist=NAMES))
    np.savetxt(tmp_path / "c.csv", nx.to_numpy_array(graph, nodelist=NAMES), delimiter=",")
    files = ["a.gml", "a.graphml", "a.net", "a.csv", "b.csv", "a.npy", "c.csv"]
    found = {file: {*read_truth(tmp_path / file, NAMES, directed=True)[0].edges()} for file in files}
    assert found == dict.fromkeys(files, wanted)
    pd.DataFrame([("ann", "bob")], columns=["source", "target"]).to_excel(tmp_path / "a.xlsx", index=False)
    assert list(read_truth(tmp_path / "a.xlsx", NAMES)[0].edges()) == [("ann", "bob")]
    assert "the matrix is not symmetric" in read_truth(tmp_path / "a.csv", NAMES)[1][0]
    assert "in the order of the nodes" in read_truth(tmp_path / "c.csv", NAMES)[1][0]


def test_names_in_a_packed_edge_list_stay_to_the_letter(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"source,target\n007,NA\n"))
    known, _ = read_known(tmp_path / "t.csv.gz", ["007", "NA"])
    assert known[["source", "target"]].to_numpy().tolist() == [["007", "NA"]]


def test_nodes_outside_the_sample_are_counted_and_left_out(write):
    truth, notes = read_truth(write("from,to\nann,bob\nann,eve\nzoe,eve\n"), NAMES)
    assert list(truth.edges()) == [("ann", "bob")]
    assert notes[0] == "truth.csv: left out 2 tie(s) with 2 node(s) that the signals do not have: eve, zoe"


def test_known_ties_out_of_every_kind_of_file(tmp_path, write):
    wanted = [("ann", "bob", 1), ("ann", "NA", 0)]
    matrix = write(",ann,bob,NA\nann,,1,0\nbob,,,\nNA,,,\n", "m.csv")
    assert sorted(read_known(matrix, NAMES)[0].itertuples(index=False, name=None)) == sorted(wanted)
    table = write("from,to,tie\nann,bob,true\nann,NA,0\neve,*,\n")
    known, notes = read_known(table, NAMES)
    assert list(known.itertuples(index=False, name=None)) == wanted
    assert "1 node(s) that the signals do not have: eve" in notes[0]
    graph = nx.Graph([("ann", "bob")])
    graph.nodes["ann"]["known"] = True
    nx.write_graphml(graph, tmp_path / "k.graphml")
    known, _ = read_known(tmp_path / "k.graphml", NAMES)
    assert list(known.itertuples(index=False, name=None)) == [("ann", "bob", 1), ("ann", "*", 1)]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (
            "source,target\nann,eve\n",
            "t.csv",
            "no tie between two nodes of the signals: it names eve, and the nodes are ann, bob",
        ),
        ("a,b\nann,bob\n", "t.csv", "must have the columns source and target .*, or be a matrix .* the columns a, b"),
        ("weight\n\t\n", "t.csv", "must have the columns source and target .*; it has the columns weight"),
        ("source,target,Source\nann,bob,NA\n", "t.csv", "differ in capitals only: source; rename"),
        ("source,target\nann,\n", "t.csv", "an end is missing in row 1"),
        ("source,target,tie\nann,bob,2\n", "t.csv", "the tie in row 1 is neither 1 nor 0"),
        (",ann,bob\nann,0,x\nbob,1,0\n", "t.csv", "row 1, column 'bob': 'x' is not a number"),
        ("graph [", "t.gml", "cannot be read as GML"),
        (
            'graph [ node [ id 0 name "ann" ] node [ id 1 name "bob" ] edge [ source 0 target 1 weight 1 weight 2 ] ]',
            "t.gml",
            r"the weight between ann and bob is \[1, 2\], and not a number",
        ),
        ('*Vertices 2\n1 "ann"\n2 "ann"\n*Edges\n1 2\n', "t.net", "several nodes of one name"),
        (
            GRAPHML.format('<node id="a"/><node id="b"><graph edgedefault="directed"/></node>'),
            "t.graphml",
            "has 2 graphs",
        ),
        (GRAPHML.format(SAME_NAME), "t.graphml", "several nodes called ann: give each a name of its own"),
        ("source,target,weight\nann,bob,\n", "t.csv", "weight is missing in row 1"),
        ("source,target,weight\nann,bob,much\n", "t.csv", "row 1, column 'weight': 'much' is not a number"),
        ("source,target\nann,ann\n", "t.csv", "no edge between two different nodes"),
        ("<graphml", "t.graphml", "cannot be read as GraphML"),
    ],
)
def test_what_is_no_truth_is_said(write, content, name, message):
    with pytest.raises(TableError, match=message):
        read_truth(write(content, name), NAMES)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "members.npz is empty|damaged"),
        (b"PK\x03\x04 no", r"members.npz is damaged \(.*\): learn the network again"),
    ],
)
def test_damaged_members_are_refused(tmp_path, content, message):
    (tmp_path / "members.npz").write_bytes(content)
    with pytest.raises(TableError, match=message):
        read_members(tmp_path / "members.npz")


def test_members_packed_in_an_unknown_way_are_refused(tmp_path):
    file = tmp_path / "members.npz"
    write_members(file, "abc", sparse.csr_array((3, 3)), [])
    content = file.read_bytes()
    place = content.index(b"PK\x01\x02") + 10  # the method of compression, in the archive's list
    file.write_bytes(content[:place] + b"\x63" + content[place + 1 :])
    with pytest.raises(TableError, match=r"members\.npz is damaged .*: learn the network again"):
        read_members(file)


@pytest.mark.parametrize(("weight", "shown"), [("1" + 400 * "0", "inf"), ("-1", "-1"), ("1e999", "inf")])
def test_a_weight_that_no_network_has_is_named(write, weight, shown):
    for name, text in (
        ("t.json", f'[{{"source": "ann", "target": "bob", "weight": {weight}}}]'),
        ("t.csv", f"source,target,weight\nann,bob,{weight}\n"),
    ):
        said = (
            f"{name}: (the weight from ann to bob is {shown}, and it must be|row 1, .* is not a number)"  # pandas 2.1
        )
        for read in (read_network, lambda file: read_truth(file, NAMES), lambda file: read_known(file, NAMES)):
            with pytest.raises(TableError, match=said):
                read(write(text, name))


@pytest.mark.parametrize("weight", [-1.0, 2.0, np.nan, np.inf])
def test_members_with_weights_that_cannot_be_are_refused(tmp_path, weight):
    file, graph = tmp_path / "members.npz", sparse.csr_array(np.array([[0.0, 0.5], [0.5, 0.0]]))
    write_members(file, "ab", graph, [graph * weight * 2])
    with pytest.raises(TableError, match=r"its weights are not between 0 and 1\): learn the network again"):
        read_members(file)


def test_members_come_back_as_they_were(tmp_path, random):
    graphs = [sparse.csr_array(random.random((9, 9)) * (random.random((9, 9)) < 0.4)) for _ in range(3)]
    for name in ("one.npz", "two.npz"):
        write_members(tmp_path / name, "abcdefghi", graphs[0], graphs[1:])
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    names, weights, members = read_members(tmp_path / "one.npz")
    assert names == list("abcdefghi")
    np.testing.assert_allclose(weights.toarray(), graphs[0].toarray(), rtol=1e-6)
    for found, graph in zip(members, graphs[1:], strict=True):
        np.testing.assert_allclose(found.toarray(), graph.toarray(), rtol=1e-3)


def test_a_graph_file_that_is_too_large_is_refused_before_it_is_read(write, monkeypatch):
    monkeypatch.setattr(ties, "MAX_CELLS", 1)
    with pytest.raises(TableError, match=r"t\.graphml is too large: it has 30 bytes"):
        read_network(write("<graphml>" + 21 * " ", "t.graphml"))


def test_a_network_has_its_weights(write):
    edges = read_network(write("source,target,weight\n007,NA,2.5\nbob,007,0\nbob,bob,1\n"))
    assert edges.edges().values.tolist() == [["007", "NA", 2.5]]
    matrix = read_network(write(",ann,bob\nann,0,0.5\nbob,0,0\n", "matrix.csv"))
    assert matrix.edges().values.tolist() == [["ann", "bob", 0.5]]
    with pytest.raises(TableError, match="no tie between two different nodes"):
        read_network(write("source,target\nann,ann\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,a,b\nann,1,2\n", "must have a column of names and one called benefit; it has id, a, b"),
        ("id,benefit\nann,1\nann,2\n", "names nodes more than once: ann"),
        ("id,benefit\nann,\nbob,1\n", "the benefit of ann is missing"),
        ("id,benefit\nann,x\n", "is not a number"),
    ],
)
def test_numbers_of_nodes_that_cannot_be_read(write, content, message):
    with pytest.raises(TableError, match=message):
        read_node_numbers(write(content), "benefit", NAMES)


def test_numbers_of_nodes_go_by_name(write):
    assert read_node_numbers(write("node;Benefit;x\n007;1;2\n"), "benefit", NAMES).to_dict() == {"007": 1.0}


@pytest.mark.parametrize("odd", ["weights", "columns", "counts"])
def test_members_without_numbers_or_with_too_many_are_refused(tmp_path, monkeypatch, odd):
    graph = sparse.csr_array([[0.0, 0.5], [0.5, 0.0]])
    graph.data[:] = np.nan if odd == "weights" else 0.5
    write_members(tmp_path / "members.npz", ["a", "b"], graph, [])
    if odd == "counts":
        kept = dict(np.load(tmp_path / "members.npz"))
        np.savez(tmp_path / "members.npz", **{**kept, "columns": kept["columns"] * np.nan})
    if odd == "columns":
        monkeypatch.setattr("nashgraph.io.graphs.MAX_CELLS", 10)
    with pytest.raises(TableError, match=r"members\.npz is damaged"):
        read_members(tmp_path / "members.npz")


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("names", np.array([["a"], ["b"]]), "names is not as it was written"),
        ("names", np.array(["a", "a"]), "a name occurs twice"),
        ("columns", np.array([1.0, 0.0]), "columns is not as it was written"),
        ("weights", np.array([1, 1], dtype="datetime64[s]"), "weights is not as it was written"),
    ],
)
def test_members_of_another_kind_are_refused(tmp_path, part, value, said):
    file = tmp_path / "members.npz"
    write_members(file, "ab", sparse.csr_array([[0.0, 0.5], [0.5, 0.0]]), [])
    np.savez(file, **{**np.load(file), part: value})
    with pytest.raises(TableError, match=rf"members\.npz is damaged \({said}\)"):
        read_members(file)
