"""``nashgraph show``: a model.json in the terminal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from rich.table import Table

from ..tables import ModelRecord, read_record
from ._jobs import figures
from ._options import SpeechArguments
from ._running import Voice, printable
from ._writing import EDGES

HUBS = 10


def run_show(model: Path, speech: SpeechArguments) -> int:
    """Print what a model.json holds, and the hubs out of the edges beside it."""
    voice = Voice(quiet=speech.quiet, as_json=speech.json)
    record, place = read_record(model)
    hubs = strongest(place.parent / EDGES)
    voice.say(f"{record.job.title} (from {Path(record.input.path).name})")
    voice.say(figures(record))
    voice.say(settings(record))
    if hubs is None:
        voice.note(f"there is no {EDGES} beside {place.name}, so hubs are not shown")
    else:
        voice.say(hub_table(hubs))
    for note in record.notes:
        voice.say(f"note: {note}")
    voice.answer(
        {
            "command": "show",
            "title": record.job.title,
            "method": record.job.method,
            "parameters": record.job.parameters,
            "nodes": record.nodes,
            "signals": record.signals,
            "edges": record.edges,
            "certificate": record.certificate,
            "scores": record.scores,
            "hubs": None if hubs is None else hubs.to_dict("records"),
            "notes": record.notes,
            "versions": record.versions,
        }
    )
    return 0


def strongest(edges: Path) -> pd.DataFrame | None:
    """Return the nodes with the most influence, out of an edge list."""
    if not edges.is_file():
        return None
    table = pd.read_csv(edges, converters={"source": str, "target": str})
    found = table.groupby("source").agg(influence=("weight", "sum"), followers=("target", "count"))
    found = found.sort_values("influence", ascending=False, kind="stable").head(HUBS)
    return found.reset_index(names="name")


def hub_table(hubs: pd.DataFrame) -> Table:
    """Return the hubs as a table for people."""
    table = Table(box=None, pad_edge=False, title="strongest hubs", title_justify="left")
    table.add_column("name", overflow="fold")
    table.add_column("influence", justify="right")
    table.add_column("followers", justify="right")
    for name, influence, followers in hubs.itertuples(index=False):
        table.add_row(printable(name), f"{influence:.3f}", str(followers))
    return table


def settings(record: ModelRecord) -> Table:
    """Return what was asked for, as a table of two columns."""
    table = Table(box=None, pad_edge=False, show_header=False, title="settings", title_justify="left")
    for name, value in [*record.job.parameters.items(), *vars(record.job.table).items()]:
        if value not in (None, (), False):
            table.add_row(name, printable(",".join(value) if isinstance(value, tuple) else str(value)))
    return table
