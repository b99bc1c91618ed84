"""The networks, from small files in the layout of the real ones, and from the real ones if they are here."""

import gzip
import io
import zipfile
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from nashgraph.datasets import DatasetError, load_dolphins, load_karate, load_wiki_vote, networks
from nashgraph.datasets.networks import DOLPHINS, WIKI_VOTE
from nashgraph.datasets.store import csv_bytes, digest, load_tables

from ..servers import serving

GML = """Creator "Mark Newman on Wed Jul 26 15:04:20 2006"
graph
[
  directed 0
  node
  [
    id 0
    label "Beak"
  ]
  node
  [
    id 1
    label "Bumper"
  ]
  node
  [
    id 2
    label "Fish"
  ]
  edge
  [
    source 2
    target 1
  ]
  edge
  [
    source 1
    target 0
  ]
]
"""
MATRIX = b"%%MatrixMarket matrix coordinate pattern symmetric \n3 3 2\n3 2\n2 1\n"
SNAP = b"# Directed graph\r\n# FromNodeId\tToNodeId\r\n30\t1412\r\n3\t30\r\n30\t3\r\n"


def zipped(name, content):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("readme.html", "<html>")
        archive.writestr(name, content)
    return held.getvalue()


def pinned_to(source, content, address=None):
    """Return the source pinned to these bytes of its table."""
    [table] = source.tables
    table = replace(table, sha256=digest(table.read(content)))
    return replace(source, tables=(table,), address=lambda: address)


def test_the_karate_club_is_unweighted():
    club = load_karate()
    assert club.names == list(range(34)) == list(club.graph) == list(club.attributes.index)
    assert club.graph.number_of_edges() == 78
    assert nx.is_isomorphic(club.graph, nx.karate_club_graph())
    assert all(not data for *_, data in club.graph.edges(data=True))
    assert club.signals is None
    assert club.attributes["club"].value_counts().to_dict() == {"Mr. Hi": 17, "Officer": 17}


def test_dolphins_are_fetched_from_newman_and_then_found(tmp_path, monkeypatch):
    with serving({"/dolphins.zip": zipped("dolphins.gml", GML)}) as server:
        monkeypatch.setattr(
            networks, "DOLPHINS", pinned_to(DOLPHINS, b"i,j\n0,1\n1,2\n", f"{server.address}/dolphins.zip")
        )
        for _ in range(2):
            dolphins = load_dolphins(tmp_path)
            assert sorted(dolphins.graph.edges()) == [(0, 1), (1, 2)]
            assert dolphins.names == [0, 1, 2]
    assert len(server.requests) == 1
    assert (tmp_path / "networks" / "dolphins_edges.csv").read_bytes() == b"i,j\n0,1\n1,2\n"


def test_a_broken_gml_file_is_said(tmp_path, monkeypatch):
    with serving({"/dolphins.zip": zipped("dolphins.gml", "graph [ node")}) as server:
        monkeypatch.setattr(networks, "DOLPHINS", replace(DOLPHINS, address=lambda: f"{server.address}/dolphins.zip"))
        with pytest.raises(DatasetError, match=r"dolphins\.zip cannot be read: expected an int"):
            load_dolphins(tmp_path)


def test_wiki_vote_is_fetched_from_the_network_repository(tmp_path, monkeypatch):
    with serving({"/a.zip": zipped("soc-wiki-Vote/soc-wiki-Vote.mtx", MATRIX)}) as server:
        monkeypatch.setitem(WIKI_VOTE, "889", pinned_to(WIKI_VOTE["889"], MATRIX, f"{server.address}/a.zip"))
        votes = load_wiki_vote(data_home=tmp_path)
    assert not votes.graph.is_directed()
    assert sorted(votes.graph.edges()) == [(0, 1), (1, 2)]
    assert (tmp_path / "networks" / "soc-wiki-Vote.mtx").read_bytes() == MATRIX


def test_snap_has_directions_and_its_own_numbers(tmp_path, monkeypatch):
    with serving({"/a.gz": gzip.compress(SNAP)}) as server:
        monkeypatch.setitem(
            WIKI_VOTE, "snap", pinned_to(WIKI_VOTE["snap"], gzip.compress(SNAP), f"{server.address}/a.gz")
        )
        votes = load_wiki_vote("snap", tmp_path)
    assert votes.names == [3, 30, 1412]
    assert sorted(votes.graph.edges()) == [(3, 30), (30, 3), (30, 1412)]
    assert repr(votes) == "Dataset('wiki-vote-snap': 3 nodes, 3 directed edges, no signals)"


def test_headings_order_and_line_ends_do_not_change_what_is_pinned():
    other = b"# Nodes: 3 Edges: 3\n#FromNodeId\tToNodeId\n3\t30\n30\t1412\n30\t3\n"
    assert digest(networks.read_snap(gzip.compress(SNAP))) == digest(networks.read_snap(gzip.compress(other)))
    pairs = [networks.read_csv_edges(csv) for csv in (b"i,j\n0,1\n1,2\n", b"i,j\n2,1\n1,0\n0,1\n")]
    assert digest(pairs[0]) == digest(pairs[1]) == digest(networks.read_gml(GML.encode()))
    assert digest(pairs[0]) == digest(networks.read_matrix_market(MATRIX))


def test_an_unknown_version_is_refused():
    with pytest.raises(ValueError, match=r"version='890' is not known: choose one of '889', 'snap'"):
        load_wiki_vote("890")


# ------------------------------------------------------------------------------------------------- the real files


def test_the_real_networks_have_their_published_sizes(real_home):
    for loaded, nodes, edges in (
        (load_dolphins(real_home, download=False), 62, 159),
        (load_wiki_vote("889", real_home, download=False), 889, 2914),
        (load_wiki_vote("snap", real_home, download=False), 7115, 103_689),
    ):
        assert (loaded.graph.number_of_nodes(), loaded.graph.number_of_edges()) == (nodes, edges)
        assert loaded.names == list(loaded.graph)
        assert not any(nx.selfloop_edges(loaded.graph))
    assert load_dolphins(real_home).names == list(range(62))
    assert load_wiki_vote("889", real_home).names == list(range(889))


def test_the_real_dolphins_survive_a_change_of_wrapping(real_home, tmp_path, monkeypatch):
    """Newman's archive, rebuilt from the real edges in another order, gives the pinned content."""
    [edges] = load_tables(DOLPHINS, real_home, download=False)
    turned = edges.to_numpy()[np.random.default_rng(0).permutation(len(edges))][:, ::-1]
    graph = nx.Graph()
    graph.add_nodes_from(range(62))
    graph.add_edges_from(turned.tolist())
    gml = "\n".join(nx.generate_gml(graph))
    with serving({"/dolphins.zip": zipped("dolphins.gml", gml)}) as server:
        monkeypatch.setattr(networks, "DOLPHINS", replace(DOLPHINS, address=lambda: f"{server.address}/dolphins.zip"))
        load_dolphins(tmp_path)
    assert (tmp_path / "networks" / "dolphins_edges.csv").read_bytes() == csv_bytes(edges)
