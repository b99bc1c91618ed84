"""A job from the user's file to the files written: what learn, path and rerun share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
from rich.table import Table

from ..files import check_writable
from ..tables import Job, ModelRecord, Signals, file_record, load_signals, read_truth
from ._fitting import Outcome, check_can_miss, learned, scores
from ._following import followed
from ._running import DONE, UNFINISHED, Voice, printable
from ._writing import names_of, write_outcome

HUBS = 5


def run_job(job: Job, file: Path, truth_file: Path | None, out: Path, voice: Voice) -> ModelRecord:
    """Read, learn, score and write; say what was decided on the way and what came of it."""
    check_can_miss(job.method, job.table.missing)
    with voice.noting_warnings():
        signals = load_noted(file, job, voice)
        truth = None if truth_file is None else truth_noted(truth_file, signals, job.truth_directed, voice)
        check_writable(out)
        outcome = followed(job, signals, voice) if job.command == "path" else learned(job, signals, voice)
        record = write_outcome(
            out,
            job,
            outcome,
            source=file_record(file, out),
            truth=None if truth_file is None else file_record(truth_file, out),
            scores={} if truth is None else scores(outcome.model, truth, directed=job.directed),
            notes=voice.notes,
        )
    tell(record, outcome, out, voice)
    return record


def load_noted(file: Path, job: Job, voice: Voice) -> Signals:
    """Read the signals and say how."""
    signals = load_signals(file, job.table)
    for note in signals.notes:
        voice.note(note)
    n_signals, n_nodes = signals.table.shape
    voice.say(f"{file.name}: {n_nodes} nodes, {n_signals} signals")
    return signals


def truth_noted(file: Path, signals: Signals, directed: bool, voice: Voice) -> nx.Graph[str]:
    """Read the true network and say how."""
    truth, notes = read_truth(file, [str(name) for name in signals.table.columns], directed=directed)
    for note in notes:
        voice.note(note)
    return truth


def tell(record: ModelRecord, outcome: Outcome, out: Path, voice: Voice) -> None:
    """Say what was learned and where it lies."""
    voice.say(figures(record))
    strengths = outcome.model.adjacency_.sum(axis=0)
    hubs = sorted(range(len(strengths)), key=lambda k: -strengths[k])[:HUBS]
    names = outcome.model.node_names_
    voice.say("strongest hubs: " + ", ".join(f"{names[k]} ({strengths[k]:.2f})" for k in hubs))
    voice.say(f"wrote {', '.join(names_of(outcome))} to {out}/")


def figures(record: ModelRecord) -> Table:
    """Return the figures of a learned graph as a table of two columns."""
    table = Table(box=None, pad_edge=False, show_header=False)
    rows: dict[str, Any] = {
        "method": record.job.method,
        "nodes": record.nodes,
        "signals": record.signals,
        "edges": record.edges,
        **record.certificate,
        **record.scores,
        "seconds": record.seconds,
    }
    for name, value in rows.items():
        table.add_row(name.replace("_", " "), f"{value:.4g}" if isinstance(value, float) else printable(str(value)))
    return table


def code_of(record: ModelRecord) -> int:
    """Return the exit code: not converged is no failure, but is told."""
    return DONE if record.certificate.get("converged", True) else UNFINISHED


def answer(record: ModelRecord, out: Path) -> dict[str, Any]:
    """Return the JSON object of a learned graph."""
    return {
        "command": record.job.command,
        "method": record.job.method,
        "nodes": record.nodes,
        "signals": record.signals,
        "edges": record.edges,
        "certificate": record.certificate,
        "scores": record.scores,
        "seconds": record.seconds,
        "notes": record.notes,
        "out": str(out),
    }
