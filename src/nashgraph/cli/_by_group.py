"""One network for each group of a table in one run: a folder each, and one page and one table of all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import typer

from ..files import claimed, written_together
from ..pairs.cluster.whole import share_out, shared_whole
from ..report.index import write_index
from ..report.prose import leaders
from ..tables import Job, ModelRecord, Signals, TableError, group_names, has_column, of_group, read_table, signals_of
from ..tables.graphs import write_csv
from ..validation import InputError, listing
from ._fitting import Outcome, learned
from ._jobs import Begun, Inputs, answer, begin, code_of, finish, run_signals
from ._progress import counting
from ._running import DONE, UNFINISHED, Voice, engine_said
from ._showing import listed
from ._writing import EDGES, INDEX, NODES, SCORES, check_inputs_kept

FOLDER = "groups"
SHOWN_SCORES = ("auc", "average_precision")

Run = Callable[[], tuple[ModelRecord, Outcome]]


@dataclass
class Found:
    """What came of all groups."""

    records: dict[str, ModelRecord] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def run_groups(job: Job, inputs: Inputs, out: Path, voice: Voice) -> int:
    """Learn a network for every group, and write all of them with a page over them."""
    column = job.table.group
    assert column is not None
    if job.table.nodes == "columns":
        raise typer.BadParameter(
            "--group tells rows apart, and with --nodes columns the rows are signals: leave it out"
        )
    check_inputs_kept(out, inputs)
    with claimed(out):
        return learn_groups(job, column, inputs, out, voice)


def learn_groups(job: Job, column: str, inputs: Inputs, out: Path, voice: Voice) -> int:
    """Read, learn one network after the other, and write all."""
    found = Found()
    signals = signals_by_group(job, inputs, voice, found)
    folders = dict(zip(signals, folder_names(list(signals)), strict=True))
    asked = {name: asked_of(job, column, inputs, out, name, folders[name], each) for name, each in signals.items()}
    largest = max((each.table.shape[1] for each in signals.values()), default=0)
    whole = shared_whole(str(job.parameters.get("engine")), largest)
    said: Counter[str] = Counter()
    with counting(voice, "learning", len(signals)) as progress, engine_said(voice) if whole else nullcontext():
        for name, run in (over_cluster if whole else one_by_one)(asked):
            try:
                found.records[name], found.outcomes[name] = run()
            except InputError as error:
                found.left_out[name] = str(error)
            said.update(asked[name].voice.notes)
            progress()
    for note, count in said.items():
        if count == len(signals):
            voice.note(note)
    if any(count < len(signals) for count in said.values()):
        voice.note("what else was decided for single groups is in their reports")
    reasons: dict[str, list[str]] = {}
    for name, reason in found.left_out.items():
        reasons.setdefault(reason, []).append(name)
    if not found.records:
        raise TableError(f"no {column} has a network: {'; '.join(reasons)}")
    for reason, names in reasons.items():
        voice.note(f"left out {column} {listing(names)}: {reason}")
    return written(job, column, folders, found, out, voice)


class Asked(NamedTuple):
    """What is asked about one group."""

    job: Job
    inputs: Inputs
    out: Path
    voice: Voice
    signals: Signals


def asked_of(job: Job, column: str, inputs: Inputs, out: Path, name: str, folder: str, signals: Signals) -> Asked:
    """Return what is asked about a group: the same as about all, with a folder and a title of its own."""
    layout = None if inputs.layout is None else inputs.layout / FOLDER / folder
    one = replace(job, table=replace(job.table, only=name), title=f"{job.title}, {column} {name}")
    return Asked(one, inputs._replace(layout=layout), out / FOLDER / folder, Voice(quiet=True), signals)


def one_by_one(asked: dict[str, Asked]) -> Iterator[tuple[str, Run]]:
    """Yield what learns each group's network and writes it."""
    for name, each in asked.items():
        yield name, partial(run_signals, *each)


def over_cluster(asked: dict[str, Asked]) -> Iterator[tuple[str, Run]]:
    """Have the workers of the cluster learn, a group each, and yield what writes each network: they have no files."""
    begun = {name: begun_or_refused(each) for name, each in asked.items()}
    tasks = [(each.job, each.signals, each.known) for each in begun.values() if isinstance(each, Begun)]
    answers = share_out(learned_apart, None, tasks, "groups")
    for name, each in begun.items():
        yield name, partial(written_or_refused, each, *(next(answers) if isinstance(each, Begun) else (each, [])))


def begun_or_refused(asked: Asked) -> Begun | InputError:
    """Read what a group needs besides signals, or return why that cannot be."""
    try:
        with asked.voice.noting_warnings():
            return begin(*asked)
    except InputError as error:
        return error


def learned_apart(_: None, asked: tuple[Job, Signals, pd.DataFrame | None]) -> tuple[Outcome | InputError, list[str]]:
    """Return what is learned of a group, or why nothing is, and the notes: this runs in a worker."""
    job, signals, known = asked
    voice = Voice(quiet=True)
    with voice.noting_warnings():
        try:
            return learned(job, signals, voice, known), voice.notes
        except InputError as error:
            return InputError(str(error)), voice.notes


def written_or_refused(
    begun: Begun | InputError, outcome: Outcome | InputError, notes: list[str]
) -> tuple[ModelRecord, Outcome]:
    """Write what a worker learned, or raise what it, or reading, raised."""
    if isinstance(begun, InputError):
        raise begun
    with begun.voice.noting_warnings(), claimed(begun.out):
        for note in notes:
            begun.voice.note(note)
        if isinstance(outcome, InputError):
            raise outcome
        return finish(begun, outcome), outcome


def signals_by_group(job: Job, inputs: Inputs, voice: Voice, found: Found) -> dict[str, Signals]:
    """Read the table once and return the signals of every group that has some."""
    column = str(job.table.group)
    table, notes = read_table(inputs.table, job.table)
    names, none = group_names(table, column)
    if none:
        notes.append(f"left out {none} row(s) without a {column}")
    signals = dict[str, Signals]()
    for name in names:
        options = replace(job.table, only=name)
        try:
            rows = of_group(table, options)
            if len(rows) == 1 and not options.long and options.nodes == "rows":
                raise TableError("one row only, and a network needs two nodes")
            signals[name] = signals_of(rows, options)
        except InputError as error:
            found.left_out[name] = str(error)
    for note in notes:
        voice.note(note)
    voice.say(f"{inputs.table.name}: {len(names)} groups by {column}, {len(table) - none} nodes")
    often = Counter(node for each in signals.values() for node in each.table.columns)
    if shared := [node for node, count in often.items() if count > 1]:
        for option, file in (("--truth", inputs.truth), ("--known", inputs.known)):
            if file is not None and not has_column(file, column):
                raise TableError(
                    f"several groups have nodes of one name ({listing(shared)}), and {option} {file.name} does not say "
                    f"which are meant: add the column {column}"
                )
    return signals


def folder_names(groups: list[str]) -> list[str]:
    """Return a folder for every group: its name, as far as any system can hold it.

    Examples
    --------
    >>> folder_names(["1", "Nord/Ost", "Nord:Ost", ".."])
    ['1', 'Nord_Ost', 'Nord_Ost-2', 'group']
    """
    taken: Counter[str] = Counter()
    names = []
    for group in groups:
        plain = re.sub(r"[^\w.-]+", "_", group).strip("._")[:60] or "group"
        taken[plain.lower()] += 1
        count = taken[plain.lower()]
        names.append(plain if count == 1 else f"{plain}-{count}")
    return names


def written(job: Job, column: str, folders: dict[str, str], found: Found, out: Path, voice: Voice) -> int:
    """Write what all groups have in one: nodes, edges and the page; say what came of it."""
    graphs = {name: outcome.written for name, outcome in found.outcomes.items()}
    nodes = pd.concat([graph.nodes().assign(group=name) for name, graph in graphs.items()], ignore_index=True)
    edges = pd.concat([graph.edges().assign(group=name) for name, graph in graphs.items()], ignore_index=True)
    scores = [score for score in SHOWN_SCORES if any(score in record.scores for record in found.records.values())]
    rows = {
        name: {
            column: name,
            "nodes": record.nodes,
            "signals": record.signals,
            "edges": record.edges,
            "converged": bool(record.certificate.get("converged", True)),
            **{score: record.scores.get(score, float("nan")) for score in scores},
        }
        for name, record in found.records.items()
    }
    with written_together(out) as folder:
        write_csv(first_column(nodes, "group"), folder / NODES, "group", "name")
        write_csv(first_column(edges, "group"), folder / EDGES, "group", "source", "target")
        write_index(
            folder / INDEX,
            job.title,
            [*(SCORES.get(heading, heading) for heading in next(iter(rows.values()))), "who leads"],
            [
                (
                    f"{FOLDER}/{folders[name]}/report.html",
                    [*map(shown, row.values()), leaders(found.outcomes[name].graph).sentence],
                )
                for name, row in rows.items()
            ],
            [f"{column} {name}: {reason}" for name, reason in found.left_out.items()],
        )
    voice.say(listed(pd.DataFrame(rows.values())))
    voice.say(f"wrote {INDEX}, {NODES}, {EDGES} and {FOLDER}/ to {out}/")
    voice.answer(
        {
            "command": job.command,
            "out": str(out),
            "groups": {name: {**answer(record), "folder": folders[name]} for name, record in found.records.items()},
            "left_out": found.left_out,
            "notes": voice.notes,
        }
    )
    codes = {code_of(record) for record in found.records.values()}
    return UNFINISHED if found.left_out or codes != {DONE} else DONE


def first_column(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a table with one of its columns first."""
    return table[[name, *table.columns.drop(name)]]


def shown(value: Any) -> str:
    """Write a cell of the page."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
