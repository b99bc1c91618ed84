"""A job from the options to the files written: what learn, path and rerun share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import typer

from ..certificate import exact
from ..files import claimed
from ..graph import LearnedGraph
from ..report.prose import leaders
from ..tables import (
    Job,
    ModelRecord,
    Signals,
    TableError,
    TableOptions,
    file_record,
    library_versions,
    load_signals,
    read_known,
    read_record,
    read_truth,
)
from ._fitting import LEAST_EACH, Outcome, all_parameters, learned, scores
from ._options import GameArguments, JobArguments, KnownArguments, PathArguments
from ._running import DONE, UNFINISHED, Voice
from ._showing import paired
from ._writing import write_outcome

CONSENSUS = "consensus"  # the method that learns from known ties
COMMANDS = ("learn", "path")  # what a job can ask for
NAMED = 5  # of the most influential nodes
CERTIFIED = exact().as_dict().keys()  # what the certificate's sentence says already


def run_asked(
    command: str,
    method: str,
    game: GameArguments,
    asked: JobArguments,
    along: PathArguments | None = None,
    ties: KnownArguments | None = None,
) -> int:
    """Make a job of the options and carry it out."""
    table = asked.table.options(game.benefit)
    parameters = all_parameters(method, game.parameters(), asked.settings or [], table.missing)
    if table.benefit is not None:  # it is a column, and comes with the table
        del parameters["benefit"]
    if along is not None:
        del parameters["lam"]
        parameters |= along.parameters()
    voice, ties = asked.speech.voice(), ties or KnownArguments()
    parameters |= known_elsewhere(method, ties, voice)
    job = Job(
        command=command,
        method=method,
        parameters=parameters,
        table=table,
        directed=not asked.undirected,
        least_frequency=asked.least_frequency,
        truth_directed=asked.truth.truth_directed,
        title=asked.title or asked.file.stem,
    )
    record = run_job(job, asked.file, asked.truth.truth, asked.out, voice, ties.known)
    voice.answer({**answer(record), "out": str(asked.out)})
    return code_of(record)


def known_elsewhere(method: str, ties: KnownArguments, voice: Voice) -> dict[str, Any]:
    """Return the weights that known ties of another table taught, where they are asked for, as a parameter."""
    if (ties.known or ties.known_from) and method != CONSENSUS:
        raise typer.BadParameter(f"the method {method} does not learn from known ties: take --method {CONSENSUS}")
    if ties.known_from is None:
        return {}
    record, place = read_record(ties.known_from)
    if record.known_weights is None:
        raise TableError(f"{place} has learned nothing from known ties: give the model.json of a run with --known")
    voice.note(f"members count as the known ties of {Path(record.input.path).name} taught ({place})")
    return {"known_weights": record.known_weights}


def run_job(
    job: Job, file: Path, truth_file: Path | None, out: Path, voice: Voice, known_file: Path | None = None
) -> ModelRecord:
    """Read, learn, score and write; say what was decided on the way and what came of it."""
    with voice.noting_warnings(), claimed(out):
        signals = load_noted(file, job.table, voice)
        truth = truth_noted(truth_file, signals, job.truth_directed, voice)
        known = None if known_file is None else read_known(known_file)
        outcome = learned(job, signals, voice, known)
        note_left_out(outcome, voice)
        done = replace(job.table, standardize=signals.standardized)
        found = ModelRecord(
            job=replace(job, table=done, least_frequency=outcome.least_frequency),
            input=file_record(file, out),
            truth=None if truth_file is None else file_record(truth_file, out),
            nodes=outcome.graph.n_nodes,
            signals=outcome.n_signals,
            edges=outcome.written.n_edges,
            edges_sha256="",
            certificate=outcome.certificate,
            scores={} if truth is None else {**scores(outcome.graph, truth)},
            notes=list(voice.notes),
            seconds=outcome.seconds,
            versions=library_versions(),
            known=None if known_file is None else file_record(known_file, out),
            known_weights=getattr(outcome.model, "known_weights_", None),
        )
        record, written = write_outcome(out, found, outcome)
    say_figures(record, voice)
    for sentence in most_influential(outcome.graph):
        voice.say(sentence)
    voice.say(f"wrote {', '.join(written)} to {out}/")
    return record


def load_noted(file: Path, options: TableOptions, voice: Voice) -> Signals:
    """Read the signals and say how."""
    signals = load_signals(file, options)
    for note in signals.notes:
        voice.note(note)
    n_signals, n_nodes = signals.table.shape
    voice.say(f"{file.name}: {n_nodes} nodes, {n_signals} signals")
    return signals


def truth_noted(file: Path | None, signals: Signals, directed: bool, voice: Voice) -> nx.Graph[str] | None:
    """Read the true network, where there is one, and say how."""
    if file is None:
        return None
    truth, notes = read_truth(file, [str(name) for name in signals.table.columns], directed=directed)
    for note in notes:
        voice.note(note)
    return truth


def say_figures(record: ModelRecord, voice: Voice) -> None:
    """Say what was learned: the certificate in a sentence, and the figures in a table of two columns."""
    voice.say(record.certificate.get("sentence", ""))
    figures: dict[str, Any] = {
        "method": record.job.method,
        "nodes": record.nodes,
        "signals": record.signals,
        "edges": record.edges,
        **{name: value for name, value in record.certificate.items() if name not in CERTIFIED},
        **record.scores,
        "seconds": record.seconds,
    }
    voice.say(paired(figures))


def note_left_out(outcome: Outcome, voice: Voice) -> None:
    """Say how many ties are not written, and how to get them."""
    whole, written = outcome.graph.n_edges, outcome.written.n_edges
    if written < whole:
        voice.note(
            f"the files have the {written:,} ties that {outcome.least_frequency:.3g} of the members or more have, "
            f"{LEAST_EACH} a node at least; {whole - written:,} more are left out: --least-frequency 0 takes all in"
        )


def most_influential(graph: LearnedGraph) -> list[str]:
    """Return the first few nodes by influence, in a line, and how far that is settled, where it is known."""
    ranked, known = "rank_low" in graph.node_columns, graph.node_columns
    first = [
        f"{graph.names[k]} ({graph.influence[k]:.2f}"
        + (f", rank {known['rank_low'][k]} to {known['rank_high'][k]})" if ranked else ")")
        for k in graph.by_influence[:NAMED]
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
