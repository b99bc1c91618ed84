"""What a command leaves behind: the graph in three formats, the record, the report; all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..files import written_together
from ..report import summarize, write_report
from ..solvers import Path as LambdaPath
from ..tables import (
    FileRecord,
    GraphTables,
    Job,
    ModelRecord,
    graph_tables,
    library_versions,
    record_to_json,
    sha256_of,
    write_edges,
    write_graphml,
    write_node_link,
)
from ._fitting import Outcome

EDGES, GRAPHML, NODE_LINK, MODEL, REPORT, PATH = (
    "edges.csv",
    "graph.graphml",
    "graph.json",
    "model.json",
    "report.html",
    "path.csv",
)
SCORES = {
    "auc": "AUC",
    "average_precision": "average precision",
    "precision": "precision at the true number of edges",
    "recall": "recall at the true number of edges",
}


def write_outcome(
    out: Path,
    job: Job,
    outcome: Outcome,
    *,
    source: FileRecord,
    truth: FileRecord | None,
    scores: dict[str, float],
    notes: Sequence[str],
) -> ModelRecord:
    """Write all files of a learned graph into a folder, and return the record."""
    graph = graph_tables(outcome.model, directed=job.directed)
    record = ModelRecord(
        job=job,
        input=source,
        truth=truth,
        nodes=len(graph.nodes),
        signals=outcome.n_signals,
        edges=len(graph.edges),
        edges_sha256="",
        certificate=outcome.certificate,
        scores=scores,
        notes=list(notes),
        seconds=outcome.seconds,
        versions=library_versions(),
    )
    with written_together(out) as folder:
        write_graph(graph, folder)
        record = replace(record, edges_sha256=sha256_of(folder / EDGES))
        (folder / MODEL).write_text(record_to_json(record), encoding="utf-8")
        if outcome.path is not None:
            path_table(outcome.path).to_csv(folder / PATH, index=False)
        summary = summarize(
            outcome.model,
            title=job.title,
            source=Path(source.path).name,
            scores={SCORES.get(name, name): score for name, score in scores.items()},
            notes=tuple(notes),
            path=outcome.path,
            directed=job.directed,
        )
        write_report(summary, folder / REPORT)
    return record


def write_graph(graph: GraphTables, folder: Path) -> None:
    """Write the graph in its three formats."""
    write_edges(graph, folder / EDGES)
    write_graphml(graph, folder / GRAPHML)
    write_node_link(graph, folder / NODE_LINK)


def path_table(path: LambdaPath) -> pd.DataFrame:
    """Return a lambda-path as a table, one row for each lambda."""
    return pd.DataFrame(
        {
            "lam": path.lams,
            "fidelity": path.fidelities,
            "welfare": path.welfares,
            "objective": path.objectives,
            "stationarity": path.stationarities,
            "edges": [int((result.coupling.matrix() > 0).sum()) for result in path.results],
            "converged": [result.converged for result in path.results],
        }
    )


def names_of(outcome: Outcome) -> list[str]:
    """Return the files that are written."""
    return [EDGES, GRAPHML, NODE_LINK, MODEL, REPORT, *([] if outcome.path is None else [PATH])]
