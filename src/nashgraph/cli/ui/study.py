"""A file as the page shows it: the plan by which the command reads it, the result of reading, and how columns look.

A large file is read in a process of its own, which can be ended: Python code cannot be stopped from outside.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pandas as pd

from ...decisions import Decision
from ...io import read_plan, read_study
from ...io.load import load
from ...plan import Plan, PlanError
from ...validation import InputError, listing
from ..commands import HINT, message_of
from ..reading import three_lines
from .columns import Look, looks_of


@dataclass(frozen=True, eq=False)
class Reading:
    """How a file is read: its plan, the problem if it cannot be read, and the result.

    ``settings`` are those that would solve the problem, ``lines`` the first two of the command, ``unsure`` guesses to
    look at, ``notes`` all decisions, and ``spellings`` the names that are not spelt as in the table.
    """

    plan: Plan | None = None
    problem: str = ""
    settings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    looks: Mapping[str, Look] = field(default_factory=dict)
    spellings: pd.DataFrame = field(default_factory=pd.DataFrame)
    most_columns: int = 400  # that the page lists

    @property
    def likely(self) -> list[tuple[str, str]]:
        """The names that are not used yet, each with the person who is probably meant."""
        if self.spellings.empty:
            return []
        open_ = self.spellings[~self.spellings["sure"].astype(bool) & (self.spellings["matched"] != "")]
        return list(zip(open_["written"], open_["matched"], strict=True))


def read(path: Path, others: Sequence[Path], arguments: Mapping[str, Any]) -> Reading:
    """Read a file, or a plan, as the command does; a question that it leaves open comes with the plan to change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each is also a decision
        try:
            study = read_study(path, *others, **arguments)
        except PlanError as error:
            plan = error.plan
            if plan is None and path.suffix == ".toml":
                plan = read_plan(path)
            if plan is None:
                raise
            table = load(path.parent / plan.table.file, plan.table.reading).table
            remedy = () if error.remedy is None else (error.remedy.parameter,)
            settings = (error.parameter or "", *remedy)
            looks = looks_of(table, plan.table.columns[: Reading.most_columns])
            return Reading(plan, error.message, settings, looks=looks)
    unsure = [decision for decision in study.decisions if decision.unsure and decision.kind != "misspelt"]
    return Reading(
        study.plan,
        lines=tuple(three_lines(study)[:2]),
        unsure=tuple(map(in_words, unsure)),
        notes=tuple(map(in_words, study.decisions)),
        looks=looks_of(study.people, study.plan.table.columns[: Reading.most_columns]),
        spellings=study.names,
    )


def in_words(decision: Decision) -> str:
    """Return a decision in one line; what would change it is a menu of the page."""
    columns = f"{listing(decision.columns)}: " if decision.columns else ""
    if decision.reason:
        return f"{columns}{decision.kind}, {decision.reason}"
    return f"{columns}{decision.kind}"


def explained(error: Exception) -> Reading:
    """Return an error as the sentence that the command would print."""
    return Reading(problem=message_of(error)[0].removesuffix(HINT))


def answer_with_reading(path: Path, others: Sequence[Path], arguments: Mapping[str, Any], answer: Connection) -> None:
    """Read a file in a process of its own, and send the parent what came of it."""
    try:
        answer.send(read(path, others, arguments))
    except Exception as error:
        answer.send(explained(error))


class Reader:
    """A process that reads a file, and can be ended."""

    def __init__(self, path: Path, others: Sequence[Path], arguments: Mapping[str, Any]) -> None:
        processes = multiprocessing.get_context("spawn")  # a fork would copy the server's threads in any state
        self.result, answer = processes.Pipe(duplex=False)
        work = (path, others, dict(arguments), answer)
        self.process = processes.Process(target=answer_with_reading, args=work, daemon=True)
        self.process.start()
        answer.close()

    def reading(self) -> Reading:
        """Wait for what was read."""
        try:
            reading: Reading = self.result.recv()
        except EOFError as error:
            raise InputError("reading was cancelled: choose a file") from error
        finally:
            self.process.join()
        return reading

    def cancel(self) -> None:
        """End the process."""
        self.process.kill()


def confirmed(reading: Reading, chosen: Sequence[int]) -> pd.DataFrame:
    """Return the table of spellings in which some of the likely ones are sure."""
    likely = reading.likely
    written = {likely[place][0] for place in chosen if place < len(likely)}
    table = reading.spellings
    return table.assign(sure=table["sure"].astype(bool) | table["written"].isin(written))
