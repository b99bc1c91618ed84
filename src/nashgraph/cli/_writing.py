"""What a command leaves behind: the graph in every format, the record, the report; all of them or none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..files import written_together
from ..io import (
    GRAPH_FILES,
    ModelRecord,
    TableError,
    read_nodes,
    record_to_json,
    sha256_of,
    write_edges,
    write_members,
)
from ..io.graphs import write_csv
from ..report import summarize, write_report
from ..validation import InputError
from ._fitting import Outcome

EDGES, NODES, MODEL, REPORT, INDEX = "edges.csv", "nodes.csv", "model.json", "report.html", "index.html"
PATH, SELECTED, MEMBERS, LAYOUT = "path.csv", "selected.csv", "members.npz", "layout.csv"
FILES = (*GRAPH_FILES, MODEL, LAYOUT, PATH, SELECTED, MEMBERS, REPORT, INDEX)  # all that may be written
SCORES = {
    "auc": "AUC",
    "average_precision": "average precision",
    "precision": "precision at the true number of edges",
    "recall": "recall at the true number of edges",
}


def check_inputs_kept(out: Path, inputs: Iterable[Path | None], files: Iterable[str] = FILES) -> None:
    """Refuse to write over a file that is read in the same run."""
    for given in filter(None, inputs):
        for name in files:
            file = out / name
            if file.exists() and given.exists() and file.samefile(given):
                raise InputError(f"{given} is read in this run, and {out}/{name} is to be written: give another --out")


def written_files(outcome: Outcome) -> list[str]:
    """Return the names of the files of a learned graph."""
    there = {PATH: outcome.path, SELECTED: outcome.selection, MEMBERS: outcome.resampled or None}
    return sorted({*FILES} - {INDEX, *(name for name, what in there.items() if what is None)})


def layout_in(folder: Path | None) -> pd.DataFrame | None:
    """Read where the nodes of another run's report are drawn, out of its folder."""
    if folder is None:
        return None
    if not (file := folder / LAYOUT).is_file():
        raise TableError(f"{folder} has no {LAYOUT}: --layout-of takes the folder that another run wrote")
    try:
        return read_nodes(file, number="x")
    except ValueError as error:  # no such column, no CSV, no text
        raise TableError(f"{file} is not as it was written: {error}") from error


def write_outcome(
    out: Path, record: ModelRecord, outcome: Outcome, truth: Any = None, layout: pd.DataFrame | None = None
) -> ModelRecord:
    """Write all files of a learned graph; return the record, with the hashes of its tables."""
    summary = summarize(
        outcome.model,
        title=record.job.title,
        source=Path(record.input.path).name,
        scores={SCORES.get(name, name): score for name, score in record.scores.items() if score is not None},
        notes=tuple(record.notes),
        path=outcome.path,
        directed=record.job.directed,
        columns=outcome.columns,
        truth=truth,
        communities=outcome.written.node_columns["community"],
        layout=layout,
    )
    with written_together(out) as folder:
        for name, write in GRAPH_FILES.items():
            write(outcome.written, folder / name)
        edges, nodes = (sha256_of(folder / name) for name in (EDGES, NODES))
        record = replace(record, edges_sha256=edges, nodes_sha256=nodes)
        if outcome.resampled:
            whole = outcome.model.graph_
            write_members(folder / MEMBERS, whole.names, whole.weights, outcome.resampled)
            record = replace(record, members_sha256=sha256_of(folder / MEMBERS))
        (folder / MODEL).write_text(record_to_json(record), encoding="utf-8")
        write_csv(summary.layout, folder / LAYOUT, "name")
        if outcome.selection is not None:
            write_edges(outcome.selection.graph, folder / SELECTED)
        if outcome.path is not None:
            write_csv(outcome.path.table(), folder / PATH)
        write_report(summary, folder / REPORT)
    return record
