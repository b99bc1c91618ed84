"""From the options of learn and path to a job, on one table or on every group of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from ..io import Job, TableError, read_record
from ._by_group import run_groups
from ._fitting import all_parameters
from ._jobs import Inputs, answer, code_of, run_job
from ._options import GameArguments, JobArguments, KnownArguments, PathArguments
from ._running import Voice

CONSENSUS = "consensus"  # the method that learns from known ties, and that can select ties


def run_asked(
    command: str,
    method: str,
    game: GameArguments,
    asked: JobArguments,
    along: PathArguments | None = None,
    ties: KnownArguments | None = None,
) -> int:
    """Make a job of the options and carry it out."""
    game = asked.cluster.settled(game)
    table = replace(asked.table.options(game.benefit), group=asked.group)
    parameters = all_parameters(method, game.parameters(), asked.settings or [], table.missing)
    if table.benefit is not None:  # it is a column, and comes with the table
        del parameters["benefit"]
    if along is not None:
        del parameters["lam"]
        parameters |= along.parameters()
    if asked.false_edges is not None and method != CONSENSUS:
        raise typer.BadParameter(f"--false-edges selects ties of a consensus: take --method {CONSENSUS}")
    voice, ties = asked.speech.voice(), ties or KnownArguments()
    parameters |= known_elsewhere(method, ties, voice)
    job = Job(
        command=command,
        method=method,
        parameters=parameters,
        table=table,
        directed=not asked.undirected,
        least_frequency=asked.least_frequency,
        false_edges=asked.false_edges,
        truth_directed=asked.truth.truth_directed,
        title=asked.title or asked.file.stem,
    )
    model = None if ties.known_from is None else read_record(ties.known_from)[1]
    inputs = Inputs(asked.file, asked.truth.truth, ties.known, model, asked.layout_of)
    with asked.cluster.opened(game, voice):
        if table.group is not None:
            return run_groups(job, inputs, asked.out, voice)
        record = run_job(job, inputs, asked.out, voice)
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
