"""A job from the options to the files written: what learn, path and rerun share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import pandas as pd

from ..certificate import exact
from ..consensus.checkpoint import remove_checkpoints
from ..files import STOPPED, claimed
from ..graph import LearnedGraph
from ..metrics import symmetrize_for
from ..report.drawing import check_layout
from ..report.prose import concentration_sentence, gaps_mark, leaders, speaking
from ..tables import (
    Group,
    Job,
    ModelRecord,
    NoTiesError,
    Signals,
    file_record,
    library_versions,
    load_signals,
    read_known,
    read_truth,
)
from ..validation import listing
from ._fitting import LEAST_EACH, Outcome, learned, scores
from ._running import DONE, UNFINISHED, Voice
from ._showing import MEANT, MEASURED, paired
from ._writing import check_inputs_kept, layout_in, write_outcome, written_files

COMMANDS = ("learn", "path")  # what a job can ask for
SYMMETRIC = "the truth has no directions: it is scored on weights made symmetric, the mean of both directions"
ORDERED = "the truth has directions: ordered pairs are scored, an edge from source to target as the source's influence"
NAMED, LISTED = 5, 40  # of the most influential nodes, of the signals
CERTIFIED = exact().as_dict().keys()  # what the certificate's sentence says already


class Inputs(NamedTuple):
    """What a job goes by: the table of signals, a true network, known ties, another model, the folder of a layout."""

    table: Path
    truth: Path | None = None
    known: Path | None = None
    model: Path | None = None
    layout: Path | None = None


def run_job(job: Job, inputs: Inputs, out: Path, voice: Voice) -> ModelRecord:
    """Read, learn, score and write; say what was decided on the way and what came of it."""
    check_inputs_kept(out, inputs)
    with voice.noting_warnings():
        signals = load_signals(inputs.table, job.table)
    record, outcome = run_signals(job, inputs, out, voice, signals)
    say_figures(record, voice)
    for sentence in most_influential(outcome.graph):
        voice.say(sentence)
    voice.say(f"wrote {', '.join(written_files(outcome))} to {out}/")
    return record


def run_signals(job: Job, inputs: Inputs, out: Path, voice: Voice, signals: Signals) -> tuple[ModelRecord, Outcome]:
    """Learn from signals that are read, score and write; say what was decided on the way."""
    with voice.noting_warnings(), claimed(out):
        begun = begin(job, inputs, out, voice, signals)
        outcome = learned(job, signals, voice, begun.known, out / STOPPED)
        return finish(begun, outcome), outcome


class Begun(NamedTuple):
    """A job with all that is read for it."""

    job: Job
    inputs: Inputs
    out: Path
    voice: Voice
    signals: Signals
    truth: nx.Graph[str] | None
    known: pd.DataFrame | None
    layout: pd.DataFrame | None


def begin(job: Job, inputs: Inputs, out: Path, voice: Voice, signals: Signals) -> Begun:
    """Read what a job needs besides signals, and say how."""
    note_signals(inputs.table, signals, voice)
    truth = truth_noted(inputs.truth, signals, job, voice)
    known = known_noted(inputs.known, signals, job, voice)
    layout = layout_in(inputs.layout)
    if layout is not None:  # what is wrong with it is said before the fit
        check_layout(layout, signals.table.columns)
    return Begun(job, inputs, out, voice, signals, truth, known, layout)


def finish(begun: Begun, outcome: Outcome) -> ModelRecord:
    """Score and write what was learned, and say what there is to say of it."""
    job, inputs, out, voice, signals, truth, _, layout = begun
    note_left_out(outcome, voice)
    if said := concentration_sentence(outcome.graph):
        voice.note(said)
    done = replace(job.table, standardize=signals.standardized)
    found = ModelRecord(
        job=replace(job, table=done, least_frequency=outcome.least_frequency),
        input=file_record(inputs.table, out),
        truth=None if inputs.truth is None else file_record(inputs.truth, out),
        nodes=outcome.graph.n_nodes,
        signals=outcome.n_signals,
        edges=outcome.written.n_edges,
        edges_sha256="",
        certificate=outcome.certificate,
        scores={} if truth is None else {**scores(outcome.graph, truth)},
        notes=list(voice.notes),
        seconds=outcome.seconds,
        versions=library_versions(),
        known=None if inputs.known is None else file_record(inputs.known, out),
        known_weights=getattr(outcome.model, "known_weights_", None),
        signal_names=[str(name) for name in signals.table.index],
    )
    found = write_outcome(out, found, outcome, truth, layout)
    remove_checkpoints(out / STOPPED)  # also those of a run with other settings
    return found


def note_signals(file: Path, signals: Signals, voice: Voice) -> None:
    """Say how the signals were read."""
    for note in signals.notes:
        voice.note(note)
    n_signals, n_nodes = signals.table.shape
    kind = "signal" if n_signals == 1 else "signals"
    voice.say(f"{file.name}: {n_nodes} nodes, {n_signals} {kind}: {listing(signals.table.index, LISTED)}")


def truth_noted(file: Path | None, signals: Signals, job: Job, voice: Voice) -> nx.Graph[str] | None:
    """Read the true network, where there is one, and say how."""
    if file is None:
        return None
    read = functools.partial(read_truth, directed=job.truth_directed)
    truth: nx.Graph[str] | None = ties_noted(read, file, signals, job, voice)
    if truth is not None:
        voice.note(SYMMETRIC if symmetrize_for(truth) == "mean" else ORDERED)
    return truth


def known_noted(file: Path | None, signals: Signals, job: Job, voice: Voice) -> pd.DataFrame | None:
    """Read the known ties, where there are some, and say what was left out."""
    return None if file is None else ties_noted(read_known, file, signals, job, voice)


def ties_noted(read: Callable[..., tuple[Any, list[str]]], file: Path, signals: Signals, job: Job, voice: Voice) -> Any:
    """Read ties between the nodes; a group, unlike a table, may have none."""
    group = None if job.table.only is None else Group(str(job.table.group), job.table.only)
    try:
        ties, notes = read(file, [str(name) for name in signals.table.columns], group=group)
    except NoTiesError as error:
        if group is None:
            raise
        ties, notes = None, [str(error)]
    for note in notes:
        voice.note(note)
    return ties


def say_figures(record: ModelRecord, voice: Voice) -> None:
    """Say what was learned: the certificate in a sentence, and the figures in a table, with what they mean."""
    words = MEASURED.get(str(record.certificate.get("measure", "")))
    voice.say(str(record.certificate.get("sentence", "")) + (f" ({words})" if words else ""))
    figures: dict[str, Any] = {
        "method": record.job.method,
        "nodes": record.nodes,
        "signals": record.signals,
        "edges": record.edges,
        **{name: value for name, value in record.certificate.items() if name not in CERTIFIED},
        **record.scores,
        "seconds": record.seconds,
    }
    voice.say(paired(figures, meant=MEANT))


def note_left_out(outcome: Outcome, voice: Voice) -> None:
    """Say how many ties are not written, and how to get them."""
    whole, written = outcome.graph.n_edges, outcome.written.n_edges
    if written < whole:
        probable = " or that are as probable," if "probability" in outcome.graph.edge_columns else ""
        voice.note(
            f"the files have the {written:,} ties that {outcome.least_frequency:.3g} of the members or more have,"
            f"{probable} {LEAST_EACH} a node at least; {whole - written:,} more are left out: "
            "--least-frequency 0 takes all in"
        )


def most_influential(graph: LearnedGraph) -> list[str]:
    """Return the first few nodes by influence, in a line, and how far that is settled, where it is known."""
    ranked, known = "rank_low" in graph.node_columns, graph.node_columns
    first = [
        f"{graph.names[k]} ({graph.influence[k]:.2f}"
        + (f", rank {known['rank_low'][k]} to {known['rank_high'][k]})" if ranked else ")")
        + gaps_mark(graph, k)
        for k in speaking(graph)[:NAMED]
    ]
    figures = ", ".join(first)
    return [f"influence: {figures}", leaders(graph).sentence] if ranked else [f"most influential: {figures}"]


def code_of(record: ModelRecord) -> int:
    """Return the exit code: not converged is no failure, but is told."""
    return DONE if record.certificate.get("converged", True) else UNFINISHED


def answer(record: ModelRecord) -> dict[str, Any]:
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
    }
