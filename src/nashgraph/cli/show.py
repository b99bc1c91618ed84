"""``nashgraph show``: a model.json in the terminal."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pandas as pd

from ..graph import as_graph
from ..tables import ModelRecord, read_record, sha256_of
from ._jobs import answer, say_figures
from ._options import SpeechArguments
from ._running import DONE
from ._showing import listed, paired
from ._writing import EDGES

LISTED = 10


def run_show(model: Path, speech: SpeechArguments) -> int:
    """Print what a model.json holds, and the most influential nodes out of the edges beside it."""
    voice = speech.voice()
    record, place = read_record(model)
    voice.say(f"{record.job.title} (from {Path(record.input.path).name})")
    say_figures(record, voice)
    voice.say(paired(settings(record), "settings"))
    nodes = None
    if not (edges := place.parent / EDGES).is_file():
        voice.note(f"there is no {EDGES} beside {place.name}, so the most influential nodes are not shown")
    elif sha256_of(edges) != record.edges_sha256:
        voice.note(f"{EDGES} is not as it was written, so the most influential nodes are not shown")
    else:
        nodes = nodes_in(edges, directed=record.job.directed).head(LISTED)
        voice.say(listed(nodes, "most influential"))
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


def nodes_in(edges: Path, *, directed: bool) -> pd.DataFrame:
    """Return the nodes that an edge list names, most influential first."""
    table = pd.read_csv(edges, converters={"source": str, "target": str})
    kind = nx.DiGraph if directed else nx.Graph
    return as_graph(nx.from_pandas_edgelist(table, edge_attr="weight", create_using=kind)).nodes()


def settings(record: ModelRecord) -> dict[str, str]:
    """Return what was asked for, without what was left alone."""
    given = {**record.job.parameters, **vars(record.job.table)}
    return {
        name: ",".join(value) if isinstance(value, tuple) else str(value)
        for name, value in given.items()
        if value not in (None, (), False)
    }
