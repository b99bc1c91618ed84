"""The game that ``act`` advises on: out of what ``learn`` wrote, or of any file with ties."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from scipy import sparse

from ..games import Game
from ..graph import LearnedGraph
from ..io import (
    ModelRecord,
    TableError,
    read_edges,
    read_members,
    read_network,
    read_nodes,
    read_record,
    sha256_of,
)
from ..validation import Array, listing
from ._by_group import FOLDER as GROUPS
from ._running import Voice
from ._writing import EDGES, MEMBERS, MODEL, NODES

OPEN = "how sure this is remains open: only a consensus that was learned with resamples can say"


class Society(NamedTuple):
    """A game, and the community of each of its nodes, where the files say it."""

    game: Game
    communities: Array | None = None


def society_of(given: Path, rules: dict[str, str | None], *, directed: bool, voice: Voice) -> Society:
    """Return the game on a folder that ``learn`` wrote, on its model.json, or on a file of ties.

    Interaction and welfare that are not given are those the network was learned with.
    """
    if not given.is_dir() and given.name != MODEL:
        return Society(_noted(Game.on(read_network(given, directed=directed), **_given(rules)), [], voice))
    if given.is_dir() and not (given / MODEL).is_file() and (given / GROUPS).is_dir():
        raise TableError(f"{given} has a network for each group: give one of the folders in {given / GROUPS}")
    record, place = read_record(given)
    graph, members = learned_graph(record, place.parent)
    then = {name: record.job.parameters.get(name) for name in rules}
    game = Game.on(graph, **_given(then) | _given(rules))
    return Society(_noted(game, members, voice), graph.node_columns.get("community"))


def _given(rules: dict[str, Any]) -> dict[str, str]:
    return {name: value for name, value in rules.items() if value is not None}


def _noted(game: Game, members: list[Any], voice: Voice) -> Game:
    if not members:
        voice.note(OPEN)
    return replace(game, members=tuple(members))


def learned_graph(record: ModelRecord, folder: Path) -> tuple[LearnedGraph, list[Any]]:
    """Return a learned graph with its benefits and communities, and the graphs of its resamples.

    They are in the files beside model.json. Of a consensus the graph is the whole one, with its directions, and not
    only the ties in edges.csv.
    """
    checked = {NODES: record.nodes_sha256, EDGES: record.edges_sha256, MEMBERS: record.members_sha256}
    for name, expected in checked.items():
        if expected and not (folder / name).is_file():
            raise TableError(f"there is no {name} beside {MODEL}: learn the network again")
        if expected and sha256_of(folder / name) != expected:
            raise TableError(f"{name} is not as it was written beside {MODEL}: learn the network again")
    nodes = read_nodes(folder / NODES).set_index("name")
    if record.members_sha256:
        names, weights, members = read_members(folder / MEMBERS)
    else:
        names, members = nodes.index.tolist(), []
        edges = read_edges(folder / EDGES)
        if unknown := {*edges["source"], *edges["target"]} - {*names}:
            raise TableError(f"{NODES} is damaged (it lacks the nodes {listing(unknown)}): learn the network again")
        weights = weights_of(edges, names, directed=record.job.directed)
    if unknown := {*names} ^ {*nodes.index}:
        raise TableError(f"{NODES} is damaged (it has other nodes, {listing(unknown)}): learn the network again")
    columns = {name: nodes[name].loc[names].to_numpy() for name in ("benefit", "community") if name in nodes}
    return LearnedGraph.of(weights, names, node_columns=columns), members


def weights_of(edges: pd.DataFrame, names: list[str], *, directed: bool) -> Any:
    """Return the weights of an edge list, both ways where it has no directions."""
    places = {name: number for number, name in enumerate(names)}
    rows, columns = (edges[end].map(places).to_numpy() for end in ("target", "source"))
    found = sparse.csr_array((edges["weight"].to_numpy(dtype=float), (rows, columns)), shape=(len(names), len(names)))
    return found if directed else found + found.T
