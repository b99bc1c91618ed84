"""``nashgraph act``: interventions on a network that ``learn`` wrote, or on any file with ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import sparse

from ..files import claimed, written_together
from ..graph import NOT_CENTRAL, LearnedGraph
from ..interventions import Answer, Game, Questions, answer_questions
from ..interventions.driver import NO_REPLICATES, QUESTIONS, caution
from ..io import (
    ModelRecord,
    TableError,
    read_edges,
    read_members,
    read_network,
    read_node_numbers,
    read_nodes,
    read_record,
    sha256_of,
)
from ..io.graphs import write_csv
from ..validation import listing
from .commands import DONE
from .fitting import GOSSIP, MODEL, plain_number
from .groups import FOLDER as GROUPS
from .learn import EDGES, MEMBERS, NODES, check_inputs_kept
from .messages import Voice, listed
from .options import ActArguments
from .show import records, with_interval
from .tie_options import TIES

FOLDER = "act"
ENDS = ("name", "source", "target")
IN_FILES_ONLY = ("low", "high", "action_before", "action_after", "influence")  # too much for a terminal
SHARES = ("share", "among_best")


def run_act(asked: ActArguments) -> int:
    """Find interventions on a network, print the first rows of each table, and write the tables."""
    voice, given = asked.speech.voice(), asked.network
    out = asked.out or (given if given.is_dir() else given.parent) / FOLDER
    check_inputs_kept(out, (given, asked.benefit), [f"{name}.csv" for name in QUESTIONS])
    with voice.noting_warnings(), claimed(out):
        rules = {"interaction": asked.interaction, "welfare": asked.welfare}
        game, columns = read_game(given, rules, directed=not asked.undirected)
        if not game.replicate_weights:
            voice.note(NO_REPLICATES)
        voice.say(
            f"{given.name}: {game.n_nodes} nodes, {len(game.replicate_weights)} replicates; the game on its "
            f"{game.weights.nnz:,} weights has the welfare {game.value:.4g}. {caution(game)}"
        )
        answers = answer_questions(game, questions(asked, game, columns))
        with written_together(out) as folder:
            for answer in filter(written, answers):
                table = answer.table
                write_csv(table, folder / f"{answer.name}.csv", *(end for end in ENDS if end in table))
    print_answers(answers, voice)
    voice.say()
    voice.say(f"wrote {', '.join(f'{answer.name}.csv' for answer in filter(written, answers))} to {out}/")
    voice.answer(as_json(game, answers, out, voice))
    return DONE


def print_answers(answers: list[Answer], voice: Voice) -> None:
    """Print every table with its sentence; questions that the signals do not support share one sentence at the end."""
    unsupported = [answer.title.split(":")[0].lower() for answer in answers if answer.sentence == NOT_CENTRAL]
    for answer in answers:
        if answer.sentence != NOT_CENTRAL:
            voice.say()
            voice.say(answer.title)
            if written(answer):
                voice.say(listed(few_columns(answer.table.head(answer.shown))))
            voice.say(answer.sentence)
    if unsupported:
        voice.say()
        voice.say(f"{NOT_CENTRAL} Not shown for this reason: {', '.join(unsupported)}.")


def written(answer: Answer) -> bool:
    """Return whether an answer has a table to write; without anything to choose from there is none."""
    return len(answer.table) > 0


def read_game(given: Path, rules: dict[str, str | None], *, directed: bool) -> tuple[Game, Mapping[str, Any]]:
    """Return the game on a folder that ``learn`` wrote, its model.json, or a file of ties; and the nodes' columns.

    The interaction and welfare are those given, else those that the network was learned with.
    """
    wanted = {name: value for name, value in rules.items() if value is not None}
    if not given.is_dir() and given.name != MODEL:
        return Game.on(read_network(given, directed=directed), **wanted), {}
    if given.is_dir() and not (given / MODEL).is_file() and (given / GROUPS).is_dir():
        raise TableError(f"{given} has a network for each group: give one of the folders in {given / GROUPS}")
    record, place = read_record(given)
    graph, replicates = learned_graph(record, place.parent)
    learned = {name: record.job.parameters[name] for name in rules if record.job.parameters.get(name) is not None}
    return Game.on(graph, **learned | wanted, replicates=replicates), graph.node_columns


def learned_graph(record: ModelRecord, folder: Path) -> tuple[LearnedGraph, list[Any]]:
    """Return a learned graph with its benefits and communities, and the graphs of its replicates.

    For a consensus this is the whole graph, with directions, and not only the ties in edges.csv. The replicates of a
    tie model are draws of its network.
    """
    checked = {NODES: record.nodes_sha256, EDGES: record.edges_sha256, MEMBERS: record.members_sha256}
    for name, expected in checked.items():
        if expected and not (folder / name).is_file():
            raise TableError(f"{name} is missing in the folder of {MODEL}: learn the network again")
        if expected and sha256_of(folder / name) != expected:
            raise TableError(f"{name} was changed after {MODEL} was written: learn the network again")
    nodes = read_nodes(folder / NODES).set_index("name")
    if record.members_sha256:
        names, weights, replicates = read_members(folder / MEMBERS)
    else:
        names, replicates = nodes.index.tolist(), []
        edges = read_edges(folder / EDGES)
        if unknown := {*edges["source"], *edges["target"]} - {*names}:
            raise TableError(f"{NODES} is damaged (it lacks the nodes {listing(unknown)}): learn the network again")
        weights = weights_of(edges, names, directed=record.job.directed)
    if unknown := {*names} ^ {*nodes.index}:
        raise TableError(f"{NODES} is damaged (it has other nodes, {listing(unknown)}): learn the network again")
    columns = {name: nodes[name].loc[names].to_numpy() for name in ("benefit", "community", GOSSIP) if name in nodes}
    supported = record.certificate.get("influence_supported")
    known = supported if isinstance(supported, bool) else None
    graph = LearnedGraph.of(weights, names, node_columns=columns, influence_supported=known)
    if record.job.method == TIES:
        graph = replace(graph, directed=False, edge_columns={"probability": graph.weights.data})
    return graph, replicates


def weights_of(edges: pd.DataFrame, names: list[str], *, directed: bool) -> Any:
    """Return the weights of an edge list, both ways if it has no directions."""
    places = {name: number for number, name in enumerate(names)}
    rows, columns = (edges[end].map(places).to_numpy() for end in ("target", "source"))
    found = sparse.csr_array((edges["weight"].to_numpy(dtype=float), (rows, columns)), shape=(len(names), len(names)))
    return found if directed else found + found.T


def questions(asked: ActArguments, game: Game, columns: Mapping[str, Any]) -> Questions:
    """Return the questions that the options ask."""
    change: dict[str, Any] = {}
    if asked.changes:
        texts = asked.without or []  # each is one name, which may have a comma, or several with commas between
        without = [name for text in texts for name in ([text] if text in game.numbers else text.split(","))]
        change = {"without": without, "cap_influence": asked.cap_influence}
        if asked.benefit is not None:
            change["new_benefit"] = read_node_numbers(asked.benefit, "benefit", [str(name) for name in game.names])
    known = columns.get("community"), columns.get(GOSSIP)
    return Questions(asked.best, asked.budget, asked.cost, asked.cap, *known, change)


def few_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that fit a terminal, an interval in one, shares as percent."""
    table = table.assign(**{share: table[share].map("{:.0%}".format) for share in SHARES if share in table})
    shown = [str(name) for name in table.columns if name not in IN_FILES_ONLY]
    if "low" in table:
        shown.insert(shown.index("among_best"), "interval")
    return with_interval(table, "low", "high", tuple(shown))


def as_json(game: Game, answers: list[Answer], out: Path, voice: Voice) -> dict[str, object]:
    """Return the JSON object: the first rows of every table, and its figures; the files have all."""
    return {
        "command": "act",
        "out": str(out),
        "nodes": game.n_nodes,
        "weights": int(game.weights.nnz),
        "replicates": len(game.replicate_weights),
        "welfare": game.value,
        **{answer.name: records(answer.table.head(answer.shown)) for answer in answers},
        "figures": {
            answer.name: {str(figure): plain_number(value) for figure, value in answer.table.attrs.items()}
            for answer in answers
            if answer.table.attrs
        },
        "notes": voice.notes,
    }
