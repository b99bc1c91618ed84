"""``nashgraph learn`` and ``nashgraph path``: a table in, a network out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ..estimators import GLGP
from ..tables import Job
from ._fitting import checked_parameters
from ._jobs import answer, code_of, run_job
from ._options import GameArguments, SpeechArguments, TableArguments, TruthArguments
from ._running import Voice


def run_learn(
    file: Path,
    out: Path,
    *,
    method: str,
    lam: float | None,
    settings: list[str],
    table: TableArguments,
    game: GameArguments,
    truth: TruthArguments,
    undirected: bool,
    title: str,
    speech: SpeechArguments,
) -> int:
    """Learn a network with one method."""
    given = {**({} if lam is None else {"lam": lam}), **game.parameters()}
    parameters = checked_parameters(method, given, settings)
    job = _job("learn", method, parameters, table, game, truth, undirected, title or file.stem)
    return _run(job, file, truth, out, speech)


def run_path(
    file: Path,
    out: Path,
    *,
    lams: str | None,
    n_lams: int,
    table: TableArguments,
    game: GameArguments,
    truth: TruthArguments,
    undirected: bool,
    title: str,
    speech: SpeechArguments,
) -> int:
    """Learn networks along a list of lambdas."""
    strengths: dict[str, Any] = {"n_lams": n_lams} if lams is None else {"lams": _numbers(lams)}
    defaults = {name: GLGP().get_params()[name] for name in ("degree", "beta", "c", "interaction", "benefit")}
    parameters = {**strengths, **defaults, **game.parameters()}
    job = _job("path", "glgp", parameters, table, game, truth, undirected, title or file.stem)
    return _run(job, file, truth, out, speech)


def _job(
    command: str,
    method: str,
    parameters: dict[str, Any],
    table: TableArguments,
    game: GameArguments,
    truth: TruthArguments,
    undirected: bool,
    title: str,
) -> Job:
    """Return the job; a benefit that is a column stands in the table's options alone."""
    options = table.options(game.benefit)
    if options.benefit is not None:
        parameters = {name: value for name, value in parameters.items() if name != "benefit"}
    return Job(
        command=command,
        method=method,
        parameters=parameters,
        table=options,
        directed=not undirected,
        truth_directed=truth.truth_directed,
        title=title,
    )


def _run(job: Job, file: Path, truth: TruthArguments, out: Path, speech: SpeechArguments) -> int:
    voice = Voice(quiet=speech.quiet, as_json=speech.json)
    record = run_job(job, file, truth.truth, out, voice)
    voice.answer(answer(record, out))
    return code_of(record)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise typer.BadParameter(f"--lams {text} must be numbers with commas between, for example 0.1,1,10") from error
