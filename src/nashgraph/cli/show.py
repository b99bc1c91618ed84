"""``nashgraph show``: a model.json in the terminal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..report.methods import read_methods
from ..tables import ModelRecord, read_edges, read_nodes, read_record, sha256_of
from ._describing import OWN
from ._jobs import answer, say_figures
from ._options import SpeechArguments
from ._running import DONE
from ._showing import listed, paired
from ._writing import EDGES, NODES, REPORT

LISTED = 10
SHOWN = ("name", "influence", "interval", "rank", "followers", "action", "missing", "community")
TIES = ("source", "target", "weight", "interval", "frequency", "probability", "known")


def run_show(model: Path, speech: SpeechArguments, *, methods: bool = False) -> int:
    """Print what a model.json holds, and the most influential nodes and strongest ties out of the files beside it."""
    voice = speech.voice()
    record, place = read_record(model)
    if methods:
        paragraph = read_methods(place.parent / REPORT)
        voice.say(paragraph)
        voice.answer({"command": "show", "methods": paragraph})
        return DONE
    voice.say(f"{record.job.title} (from {Path(record.input.path).name})")
    say_figures(record, voice)
    voice.say(paired(settings(record), "settings"))
    nodes = None
    if not (file := place.parent / NODES).is_file():
        voice.note(f"there is no {NODES} beside {place.name}, so the most influential nodes are not shown")
    elif sha256_of(file) != record.nodes_sha256:
        voice.note(f"{NODES} is not as it was written, so the most influential nodes are not shown")
    else:
        nodes = read_nodes(file, LISTED)
        if "silent" in nodes:  # such nodes are no hubs
            nodes = read_nodes(file).query("silent == 0").head(LISTED).drop(columns="silent")
        nodes = nodes[[name for name in nodes if name in OWN]]
        voice.say(listed(few_columns(nodes), "most influential"))
    ties = None
    if (edges := place.parent / EDGES).is_file() and sha256_of(edges) != record.edges_sha256:
        voice.note(f"{EDGES} is not as it was written: it is not the graph that this model certifies")
    elif edges.is_file():
        ties = read_edges(edges, LISTED)
        voice.say(listed(with_interval(ties, "low", "high", TIES), "strongest ties"))
    for note in record.notes:
        voice.say(f"note: {note}")
    voice.answer(
        {
            **answer(record),
            "command": "show",
            "title": record.job.title,
            "parameters": record.job.parameters,
            "most_influential": None if nodes is None else nodes.to_dict("records"),
            "strongest_ties": None if ties is None else records(ties),
            "versions": record.versions,
        }
    )
    return DONE


def few_columns(nodes: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of nodes that fit a terminal, an interval of ranks in one."""
    if "rank_low" in nodes:
        ends = zip(nodes["rank_low"], nodes["rank_high"], strict=True)
        nodes = nodes.assign(rank=[f"{low} to {high}" for low, high in ends])
    if "missing" in nodes:
        nodes = nodes.assign(missing=nodes["missing"].map("{:.0%}".format))
    return with_interval(nodes, "influence_low", "influence_high", SHOWN)


def with_interval(table: pd.DataFrame, low: str, high: str, shown: tuple[str, ...]) -> pd.DataFrame:
    """Return some columns of a table, an interval in one where there is one.

    Examples
    --------
    >>> with_interval(pd.DataFrame({"weight": [0.5], "low": [0.25], "high": [0.75]}), "low", "high", ("interval",))
           interval
    0  0.25 to 0.75
    """
    if low in table:
        ends = zip(table[low], table[high], strict=True)
        table = table.assign(interval=[f"{least:.2f} to {most:.2f}" for least, most in ends])
    return table[[name for name in shown if name in table]]


def records(table: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows as JSON has them, empty cells as null."""
    return [
        {str(name): None if pd.isna(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def settings(record: ModelRecord) -> dict[str, str]:
    """Return what was asked for, without what was left alone."""
    given = {**record.job.parameters, **vars(record.job.table)}
    return {
        name: ",".join(value) if isinstance(value, tuple) else str(value)
        for name, value in given.items()
        if value not in (None, (), False)
    }
