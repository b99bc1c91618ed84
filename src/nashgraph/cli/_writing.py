"""What a command leaves behind: the graph in three formats, the record, the report; all of them or none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..files import written_together
from ..graph import LearnedGraph
from ..report import summarize, write_report
from ..tables import ModelRecord, record_to_json, sha256_of, write_edges, write_graphml, write_node_link
from ._fitting import Outcome

EDGES, GRAPHML, NODE_LINK, MODEL, REPORT, PATH = (
    *("edges.csv", "graph.graphml", "graph.json", "model.json", "report.html", "path.csv"),
)
SCORES = {
    "auc": "AUC",
    "average_precision": "average precision",
    "precision": "precision at the true number of edges",
    "recall": "recall at the true number of edges",
}


def write_outcome(out: Path, record: ModelRecord, outcome: Outcome) -> ModelRecord:
    """Write all files of a learned graph into a folder, and return the record with the hash of its edges."""
    summary = summarize(
        outcome.model,
        title=record.job.title,
        source=Path(record.input.path).name,
        scores={SCORES.get(name, name): score for name, score in record.scores.items()},
        notes=tuple(record.notes),
        path=outcome.path,
        directed=record.job.directed,
    )
    with written_together(out) as folder:
        write_graph(outcome.graph, folder)
        record = replace(record, edges_sha256=sha256_of(folder / EDGES))
        (folder / MODEL).write_text(record_to_json(record), encoding="utf-8")
        if outcome.path is not None:
            outcome.path.table().to_csv(folder / PATH, index=False)
        write_report(summary, folder / REPORT)
    return record


def write_graph(graph: LearnedGraph, folder: Path) -> None:
    """Write the graph in its three formats."""
    write_edges(graph, folder / EDGES)
    write_graphml(graph, folder / GRAPHML)
    write_node_link(graph, folder / NODE_LINK)


def names_of(outcome: Outcome) -> list[str]:
    """Return the files that are written."""
    return [EDGES, GRAPHML, NODE_LINK, MODEL, REPORT, *([] if outcome.path is None else [PATH])]
