"""Table 1: what random rewiring costs three networks in welfare, over what their members have alone.

The ratio is that of the paper's Example 1, (Wel - 1'b) after rewiring over (Wel - 1'b) before, with b = 1. The paper
leaves the scale of W open. With f(x) = x and W = 1.15 A / ||A||_F, and rewiring that deletes a share
of the edges and adds as many among the pairs then not joined, uniformly, its numbers come out.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse

from nashgraph.datasets import load_dolphins, load_karate, load_wiki_vote
from nashgraph.priors import welfare
from nashgraph.validation import Array

from .study import COLOURS, Check, Experiment, Row, Study, closeness, compared, new_figure, paper_numbers, where

NETWORKS = {"Karate": load_karate, "WikiVote": load_wiki_vote, "Dolphins": load_dolphins}
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
SCALE = 1.15
BATCH = 20  # draws that one task makes, and stores as one


def trials(quick: bool) -> list[Row]:
    """Return batches of draws, of every network."""
    draws = range(0, BATCH if quick else 500, BATCH)
    return [{"network": network, "first": first} for network in NETWORKS for first in draws]


def prepare() -> None:
    """Have the networks here before the trials ask for them at the same time."""
    for load in NETWORKS.values():
        load()


def measure(network: str, first: int, seed: int) -> list[Row]:
    """Return the share of the welfare left after rewiring, for a batch of draws and every share of edges."""
    graph = NETWORKS[network]().graph
    n = len(graph)
    edges = edge_array(graph)
    apart = pairs_apart(edges, n)
    whole = network_welfare(edges, n)
    rows = []
    for draw in range(first, first + BATCH):
        random = np.random.default_rng([seed, list(NETWORKS).index(network), draw])
        for share in SHARES:
            left = network_welfare(rewired(edges, apart, share, random), n) / whole
            rows.append({"network": network, "draw": draw, "rewired": share, "welfare_left": left})
    return rows


def edge_array(graph: nx.Graph[Any]) -> Array:
    """Return the edges as pairs of node numbers, the smaller first."""
    number = {node: k for k, node in enumerate(graph)}
    return np.array([sorted((number[i], number[j])) for i, j in graph.edges()])


def pairs_apart(edges: Array, n: int) -> Array:
    """Return the pairs that are not joined."""
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    return pairs[~np.isin(pairs @ [n, 1], edges @ [n, 1])]


def rewired(edges: Array, apart: Array, share: float, random: np.random.Generator) -> Array:
    """Return the edges with a share of them deleted, and as many added among the pairs that are then not joined.

    An edge just deleted may come back: so the paper's numbers come out, and not if it may not.
    """
    moved = round(share * len(edges))
    order = random.permutation(len(edges))
    free = np.concatenate([apart, edges[order[:moved]]])
    return np.concatenate([edges[order[moved:]], free[random.choice(len(free), moved, replace=False)]])


def network_welfare(edges: Array, n: int) -> float:
    """Return what the network adds to the welfare, Wel - 1'b, in the linear game with b = 1 on W = 1.15 A / ||A||_F."""
    weight = SCALE / np.sqrt(2 * len(edges))
    i, j = np.concatenate([edges, edges[:, ::-1]]).T
    W = sparse.csr_array((np.full(len(i), weight), (i, j)), shape=(n, n))
    return welfare(W, np.ones(n), "linear") - n


def study(frame: pd.DataFrame) -> Study:
    """Compare the fifteen numbers; the claim is that networks people built lose more than the dolphins do."""
    paper = paper_numbers()["table1"]
    comparisons = [
        compared(f"{network}, {100 * share:.0f} %", 100 * rows["welfare_left"], target)
        for network in NETWORKS
        for share, target in zip(SHARES, paper[network], strict=True)
        for rows in [where(frame, network=network, rewired=share)]
    ]
    left = frame.groupby(["network", "rewired"])["welfare_left"].mean().unstack("network")
    margin = float((left["Dolphins"] - left[["Karate", "WikiVote"]].max(axis=1)).min())
    detail = f"by at least {100 * margin:.2f} percentage points"
    checks = [
        Check("Karate and WikiVote lose more than Dolphins at every share", margin > 0, detail),
        closeness("all fifteen numbers, in percentage points,", comparisons, 1.0, digits=2),
    ]
    notes = [
        f"{frame['draw'].nunique()} draws of each rewiring. The scale of W is not in the paper: W = {SCALE} A / "
        "||A||_F, with f(x) = x and b = 1, is the reading under which the numbers come out; they depend on it, so what "
        "is reproduced is the fifteen numbers given one free constant."
    ]
    return Study(comparisons, checks, notes, unit="percent of the network's welfare left", digits=2)


def draw(frame: pd.DataFrame) -> Any:
    """Draw the welfare left against the share rewired, with the paper's numbers as crosses."""
    figure, axes = new_figure()
    paper = paper_numbers()["table1"]
    for colour, network in zip(COLOURS, NETWORKS, strict=False):
        mine = 100 * where(frame, network=network).groupby("rewired")["welfare_left"].agg(["mean", "std"])
        axes.errorbar(100 * mine.index, mine["mean"], mine["std"], color=colour, marker="o", capsize=3, label=network)
        axes.plot(paper["rewired_percent"], paper[network], "x", color="black", zorder=3)
    axes.plot([], [], "x", color="black", label="the paper")
    axes.set(xlabel="edges rewired (%)", ylabel="welfare left (%)", title="Bars: standard deviation over draws")
    axes.legend()
    return figure


TABLE1 = Experiment("table1", "Table 1: welfare under random rewiring", trials, measure, study, draw, prepare=prepare)
