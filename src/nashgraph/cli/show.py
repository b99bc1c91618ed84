"""``nashgraph show``: a model.json in the terminal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..tables import ModelRecord, read_nodes, read_record, sha256_of
from ._describing import OWN
from ._jobs import answer, say_figures
from ._options import SpeechArguments
from ._running import DONE
from ._showing import listed, paired
from ._writing import EDGES, NODES

LISTED = 10
SHOWN = ("name", "influence", "rank", "followers", "action", "missing", "community")


def run_show(model: Path, speech: SpeechArguments) -> int:
    """Print what a model.json holds, and the most influential nodes out of the file beside it."""
    voice = speech.voice()
    record, place = read_record(model)
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
        nodes = nodes[[name for name in nodes if name in OWN]]
        voice.say(listed(few_columns(nodes), "most influential"))
    if (edges := place.parent / EDGES).is_file() and sha256_of(edges) != record.edges_sha256:
        voice.note(f"{EDGES} is not as it was written: it is not the graph that this model certifies")
    for note in record.notes:
        voice.say(f"note: {note}")
    voice.answer(
        {
            **answer(record),
            "command": "show",
            "title": record.job.title,
            "parameters": record.job.parameters,
            "most_influential": None if nodes is None else nodes.to_dict("records"),
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
    return nodes[[name for name in SHOWN if name in nodes]]


def settings(record: ModelRecord) -> dict[str, str]:
    """Return what was asked for, without what was left alone."""
    given = {**record.job.parameters, **vars(record.job.table)}
    return {
        name: ",".join(value) if isinstance(value, tuple) else str(value)
        for name, value in given.items()
        if value not in (None, (), False)
    }
