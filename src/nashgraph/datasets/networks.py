"""Networks without signals: Zachary's karate club, Lusseau's dolphins, and the votes of Wikipedia."""

from __future__ import annotations

import io
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import mmread

from ..validation import check_choice
from .store import Dataset, Source, Table, csv_bytes, gunzip, load_tables, read_member


def load_karate() -> Dataset:
    """Return Zachary's karate club: 34 members, 78 friendships, unweighted; it comes with networkx.

    ``attributes["club"]`` is the club that a member joined after the split.

    Examples
    --------
    >>> load_karate()
    Dataset('karate': 34 nodes, 78 edges, no signals)
    """
    weighted = nx.karate_club_graph()
    club: nx.Graph[int] = nx.Graph()
    club.add_nodes_from(weighted)
    club.add_edges_from(weighted.edges())
    sides = pd.DataFrame({"club": [side for _, side in weighted.nodes(data="club")]}, index=list(club))
    citation = "W. W. Zachary, An information flow model for conflict and fission in small groups, 1977"
    return Dataset("karate", club, None, list(club), sides, "networkx.karate_club_graph", citation)


def load_dolphins(data_home: str | Path | None = None, *, download: bool = True) -> Dataset:
    """Return Lusseau's dolphins: 62 animals of Doubtful Sound, 159 frequent companionships.

    Parameters
    ----------
    data_home : path, optional
        Where to look first and where to put a download; else ``NASHGRAPH_DATA`` and the user's cache are looked in.
    download : bool
        Whether the file may be fetched where it is not found.

    Examples
    --------
    >>> load_dolphins()  # doctest: +SKIP
    Dataset('dolphins': 62 nodes, 159 edges, no signals)
    """
    return _load(DOLPHINS, nx.Graph(), data_home, download)


def load_wiki_vote(version: str = "889", data_home: str | Path | None = None, *, download: bool = True) -> Dataset:
    """Return the votes in the elections of Wikipedia's administrators.

    Parameters
    ----------
    version : {"889", "snap"}
        "889" is the Network Repository's undirected network of 889 nodes and 2,914 edges, the one of the paper;
        "snap" is the whole: 7,115 users and 103,689 directed votes, an edge from the voter to the candidate.
    data_home, download
        As for :func:`load_dolphins`.

    Examples
    --------
    >>> load_wiki_vote()  # doctest: +SKIP
    Dataset('wiki-vote-889': 889 nodes, 2914 edges, no signals)
    """
    version = check_choice("version", version, WIKI_VOTE)
    return _load(WIKI_VOTE[version], nx.DiGraph() if version == "snap" else nx.Graph(), data_home, download)


def _load(source: Source, graph: nx.Graph[int], data_home: str | Path | None, download: bool) -> Dataset:
    [edges] = load_tables(source, data_home, download)
    graph.add_nodes_from(np.unique(edges.to_numpy()).tolist())
    graph.add_edges_from(edges.itertuples(index=False, name=None))
    names = list(graph)
    return Dataset(source.name, graph, None, names, pd.DataFrame(index=names), source.page, source.citation)


def read_csv_edges(content: bytes) -> pd.DataFrame:
    """Read our own CSV of undirected edges."""
    return _sorted_pairs(pd.read_csv(io.BytesIO(content), usecols=["i", "j"], dtype=np.int64))


def read_matrix_market(content: bytes) -> pd.DataFrame:
    """Read a symmetric Matrix Market file; nodes count from 0."""
    matrix = sparse.coo_array(mmread(io.BytesIO(content), spmatrix=False))
    return _sorted_pairs(pd.DataFrame({"i": matrix.coords[0], "j": matrix.coords[1]}, dtype=np.int64))


def read_snap(content: bytes) -> pd.DataFrame:
    """Read SNAP's gzipped list of directed edges."""
    text = io.BytesIO(gunzip(content, "wiki-Vote"))
    edges = pd.read_csv(text, sep=r"\s+", comment="#", names=["i", "j"], dtype=np.int64)
    return edges.drop_duplicates().sort_values(["i", "j"], ignore_index=True)


def read_gml(content: bytes) -> pd.DataFrame:
    """Read the edges of a GML file by the numbers of its nodes."""
    graph = nx.parse_gml(content.decode().splitlines(), label="id")
    return _sorted_pairs(pd.DataFrame(list(graph.edges()), columns=["i", "j"], dtype=np.int64))


def _sorted_pairs(edges: pd.DataFrame) -> pd.DataFrame:
    """Return undirected edges once each, i < j, in order, so that equal networks are equal tables."""
    pairs = np.sort(edges[["i", "j"]].to_numpy(), axis=1)
    frame = pd.DataFrame(pairs[pairs[:, 0] < pairs[:, 1]], columns=["i", "j"])
    return frame.drop_duplicates().sort_values(["i", "j"], ignore_index=True)


DOLPHINS = Source(
    name="dolphins",
    title="Lusseau's dolphin network",
    size="62 nodes, 159 edges",
    page="https://websites.umich.edu/~mejn/netdata/",
    archive="dolphins.zip",
    address=lambda: "https://websites.umich.edu/~mejn/netdata/dolphins.zip",
    convert=lambda archive: [csv_bytes(read_gml(read_member(archive, "dolphins.gml")))],
    tables=(
        Table(
            "networks/dolphins_edges.csv",
            read_csv_edges,
            "c30b5be54ce2dc5e983b52a4f4a8d8fd35e4890e131cfd53192b44ec331516c4",
        ),
    ),
    citation="D. Lusseau et al., The bottlenose dolphin community of Doubtful Sound features a large proportion of "
    "long-lasting associations, Behavioral Ecology and Sociobiology 54, 2003",
)

WIKI_VOTE = {
    "889": Source(
        name="wiki-vote-889",
        title="the Network Repository's soc-wiki-Vote",
        size="889 nodes, 2,914 edges",
        page="https://networkrepository.com/soc-wiki-Vote.php",
        archive="soc-wiki-Vote.zip",
        address=lambda: "https://nrvis.com/download/data/soc/soc-wiki-Vote.zip",
        convert=lambda archive: [read_member(archive, "soc-wiki-Vote.mtx")],
        tables=(
            Table(
                "networks/soc-wiki-Vote.mtx",
                read_matrix_market,
                "8a8dc56c302975aac8867a9d5c807673a9d074062295307e58aa6b28d3cf31ec",
            ),
        ),
        citation="R. A. Rossi and N. K. Ahmed, The network data repository with interactive graph analytics and "
        "visualization, AAAI 2015",
    ),
    "snap": Source(
        name="wiki-vote-snap",
        title="SNAP's wiki-Vote",
        size="7,115 nodes, 103,689 directed edges",
        page="https://snap.stanford.edu/data/wiki-Vote.html",
        archive="wiki-Vote.txt.gz",
        address=lambda: "https://snap.stanford.edu/data/wiki-Vote.txt.gz",
        convert=lambda archive: [archive.read_bytes()],
        tables=(
            Table(
                "networks/wiki-Vote_SNAP.txt.gz",
                read_snap,
                "c8574d8789573a9c3885334b5c663754dd17b2bc6b5b76349bf33300706a031c",
            ),
        ),
        citation="J. Leskovec, D. Huttenlocher and J. Kleinberg, Signed networks in social media, CHI 2010",
    ),
}
