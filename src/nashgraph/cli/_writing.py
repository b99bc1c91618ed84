"""What a command leaves behind: the graph in every format, the record, the report; all of them or none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..files import written_together
from ..report import summarize, write_report
from ..tables import GRAPH_FILES, ModelRecord, record_to_json, sha256_of
from ._fitting import Outcome

EDGES, NODES = "edges.csv", "nodes.csv"
SCORES = {
    "auc": "AUC",
    "average_precision": "average precision",
    "precision": "precision at the true number of edges",
    "recall": "recall at the true number of edges",
}


def write_outcome(out: Path, record: ModelRecord, outcome: Outcome) -> tuple[ModelRecord, list[str]]:
    """Write all files of a learned graph; return the record, with the hashes of its tables, and the files' names."""
    summary = summarize(
        outcome.model,
        title=record.job.title,
        source=Path(record.input.path).name,
        scores={SCORES.get(name, name): score for name, score in record.scores.items() if score is not None},
        notes=tuple(record.notes),
        path=outcome.path,
        directed=record.job.directed,
    )
    with written_together(out) as folder:
        for name, write in GRAPH_FILES.items():
            write(outcome.written, folder / name)
        edges, nodes = (sha256_of(folder / name) for name in (EDGES, NODES))
        record = replace(record, edges_sha256=edges, nodes_sha256=nodes)
        (folder / "model.json").write_text(record_to_json(record), encoding="utf-8")
        if outcome.path is not None:
            outcome.path.table().to_csv(folder / "path.csv", index=False)
        write_report(summary, folder / "report.html")
        return record, sorted(file.name for file in folder.iterdir())
