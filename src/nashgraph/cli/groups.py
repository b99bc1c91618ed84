"""One network for each group of a table in one run: a folder each, and one page and one table of all."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import typer

from ..consensus.parallel import cluster_map, runs_whole_tasks
from ..files import claimed, written_together
from ..io import Job, ModelRecord, Signals, TableError, group_names, has_column, of_group, read_table, signals_of
from ..io.graphs import unguarded_table, write_csv
from ..io.text import read_text
from ..report.html import still_picture, write_index
from ..report.prose import leaders
from ..validation import InputError, listing
from .commands import DONE, UNFINISHED
from .fitting import Outcome, learned, needs_complete
from .learn import (
    EDGES,
    INDEX,
    LAYOUT,
    NODES,
    SCORES,
    Begun,
    Inputs,
    answer,
    begin,
    check_inputs_kept,
    code_of,
    finish,
    run_signals,
    ties_of,
)
from .messages import Note, Voice, engine_noted, listed
from .progress import counting

FOLDER, FOLDERS = "groups", "groups.csv"
THUMBNAIL = 240  # pixels, of a network on the page of all
LONGEST = 60  # characters of a folder's name; the longest take four bytes, and systems allow 255
# Windows keeps these for devices, with any ending.
RESERVED = re.compile(r"^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.IGNORECASE)
SHOWN_SCORES = ("auc", "average_precision")

Run = Callable[[], tuple[ModelRecord, Outcome]]


@dataclass
class Found:
    """The results of all groups."""

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
    check_inputs_kept(out, inputs.files)
    with claimed(out):
        return learn_groups(job, column, inputs, out, voice)


def learn_groups(job: Job, column: str, inputs: Inputs, out: Path, voice: Voice) -> int:
    """Read, learn one network after the other, and write all."""
    found = Found()
    signals = signals_by_group(job, inputs, voice, found)
    folders, drawn = folder_names(signals), folders_in(inputs.layout)
    asked = {
        name: asked_of(job, column, inputs, out / FOLDER / folders[name], name, drawn.get(name, folders[name]), each)
        for name, each in signals.items()
    }
    largest = max((each.table.shape[1] for each in signals.values()), default=0)
    whole = runs_whole_tasks(str(job.parameters.get("engine")), largest)
    said: Counter[Note] = Counter()
    with counting(voice, "learning", len(signals)) as progress, engine_noted(voice) if whole else nullcontext():
        for name, run in (over_cluster if whole else one_by_one)(asked):
            try:
                found.records[name], found.outcomes[name] = run()
            except InputError as error:
                found.left_out[name] = str(error)
            said.update(asked[name].voice.collected)
            progress()
    for note, count in said.items():
        if count == len(signals):
            voice.note(note.text, warning=note.warning)
    if any(count < len(signals) for count in said.values()):
        voice.note("notes on single groups are in their reports")
    reasons: dict[str, list[str]] = {}
    for name, reason in found.left_out.items():
        reasons.setdefault(reason, []).append(name)
    if not found.records:
        raise TableError(f"no {column} has a network: {'; '.join(reasons)}")
    for reason, names in reasons.items():
        voice.note(f"left out {column} {listing(names)}: {reason}", warning=True)
    return written(job, column, folders, found, out, voice)


class Asked(NamedTuple):
    """The job of one group."""

    job: Job
    inputs: Inputs
    out: Path
    voice: Voice
    signals: Signals


def asked_of(job: Job, column: str, inputs: Inputs, out: Path, name: str, drawn: str, signals: Signals) -> Asked:
    """Return what is asked about a group: the same as about all, with a folder and a title of its own."""
    layout = None if inputs.layout is None else inputs.layout / FOLDER / drawn
    one = replace(job, table=replace(job.table, only=name), title=f"{job.title}, {column} {name}")
    return Asked(one, inputs._replace(layout=layout), out, Voice(quiet=True), signals)


def one_by_one(asked: dict[str, Asked]) -> Iterator[tuple[str, Run]]:
    """Yield what learns each group's network and writes it."""
    for name, each in asked.items():
        yield name, partial(run_signals, *each)


def over_cluster(asked: dict[str, Asked]) -> Iterator[tuple[str, Run]]:
    """Have the workers of the cluster learn, a group each, and yield what writes each network: they have no files."""
    begun = {name: begun_or_refused(each) for name, each in asked.items()}
    tasks = [(each.job, each.signals, each.known) for each in begun.values() if isinstance(each, Begun)]
    answers = cluster_map(learned_apart, None, tasks, "groups")
    for name, each in begun.items():
        yield name, partial(written_or_refused, each, *(next(answers) if isinstance(each, Begun) else (each, [])))


def begun_or_refused(asked: Asked) -> Begun | InputError:
    """Read the other inputs of a group, or return why that is impossible."""
    try:
        with asked.voice.noting_warnings():
            return begin(*asked)
    except InputError as error:
        return error


def learned_apart(_: None, asked: tuple[Job, Signals, pd.DataFrame | None]) -> tuple[Outcome | InputError, list[Note]]:
    """Return what is learned of a group, or why nothing is, and the notes: this runs in a worker."""
    job, signals, known = asked
    voice = Voice(quiet=True)
    with voice.noting_warnings():
        try:
            return learned(job, signals, voice, known), voice.collected
        except InputError as error:
            return InputError(str(error)), voice.collected


def written_or_refused(
    begun: Begun | InputError, outcome: Outcome | InputError, notes: list[Note]
) -> tuple[ModelRecord, Outcome]:
    """Write what a worker learned, or raise what it, or reading, raised."""
    if isinstance(begun, InputError):
        raise begun
    with begun.voice.noting_warnings(), claimed(begun.out):
        for note in notes:
            begun.voice.note(note.text, warning=note.warning)
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
            signals[name] = signals_of(rows, options, complete=needs_complete(job))
        except InputError as error:
            found.left_out[name] = str(error)
    for note in notes:
        voice.note(note)
    # What is said of every group is said once, after they are learned.
    same = set.intersection(*({*each.warnings} for each in signals.values())) if signals else set()
    for name, each in signals.items():
        for note in each.warnings:
            if note not in same:
                voice.note(f"{column} {name}: {note}", warning=True)
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


def folder_names(groups: Iterable[str]) -> dict[str, str]:
    """Return a folder for every group: its name where every file system can hold it, and no two of them alike.

    Folders differ even where capitals and the ways to write an accent count as the same.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    # Groups that can keep their name come first, so that no other group gets it.
    for group in sorted(groups, key=lambda group: portable(group) != group):
        name, count = portable(group), 1
        while same_folder(name) in taken:
            count += 1
            name = f"{portable(group)}-{count}"
        taken.add(same_folder(name))
        names[group] = name
    return names


def portable(group: str) -> str:
    """Return a name that every system can hold: no marks, no reserved word, no dot or blank at an end."""
    plain = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", group))[:LONGEST].strip("._")
    return RESERVED.sub(r"\1_", plain) or "group"


def same_folder(name: str) -> str:
    """Return what names share that some file system takes for one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def folders_in(folder: Path | None) -> dict[str, str]:
    """Return the folder of every group of another run, where it has written them."""
    file = None if folder is None else folder / FOLDERS
    if file is None or not file.is_file():
        return {}
    table = unguarded_table(read_text(file, exact=["group", "folder"])[0])
    if not {"group", "folder"} <= {*table.columns}:
        raise TableError(f"{file} has no columns group and folder: --layout-of needs a folder that nashgraph wrote")
    return dict(zip(table["group"], table["folder"], strict=True))


def written(job: Job, column: str, folders: dict[str, str], found: Found, out: Path, voice: Voice) -> int:
    """Write what all groups have in one: nodes, edges and the page; say what came of it."""
    graphs = {name: outcome.written for name, outcome in found.outcomes.items()}
    nodes = pd.concat([graph.nodes().assign(group=name) for name, graph in graphs.items()], ignore_index=True)
    edges = pd.concat([graph.edges().assign(group=name) for name, graph in graphs.items()], ignore_index=True)
    scores = [score for score in SHOWN_SCORES if any(score in record.scores for record in found.records.values())]
    rows = {
        name: {
            "group": name,
            "folder": folders[name],
            "nodes": record.nodes,
            "signals": record.signals,
            "ties": ties_of(record),
            "converged": bool(record.certificate.get("converged", True)),
            **{score: record.scores.get(score, float("nan")) for score in scores},
        }
        for name, record in found.records.items()
    }
    table = pd.DataFrame(rows.values())
    with written_together(out) as folder:
        write_csv(first_column(nodes, "group"), folder / NODES, "group", "name")
        write_csv(first_column(edges, "group"), folder / EDGES, "group", "source", "target")
        write_csv(table, folder / FOLDERS, "group", "folder")
        write_index(
            folder / INDEX,
            job.title,
            [column, *(SCORES.get(heading, heading) for heading in table.columns[1:]), "who leads"],
            [
                (
                    f"{FOLDER}/{folders[name]}/report.html",
                    [*map(shown, row.values()), leaders(found.outcomes[name].graph).sentence],
                )
                for name, row in rows.items()
            ],
            [f"{column} {name}: {reason}" for name, reason in found.left_out.items()],
            [
                still_picture(found.outcomes[name].model.graph_, pd.read_csv(file), width=THUMBNAIL, names=0)
                for name in rows
                if (file := out / FOLDER / folders[name] / LAYOUT).is_file()
            ],
        )
    voice.say(listed(table.drop(columns="folder") if (table["folder"] == table["group"]).all() else table))
    if not voice.brief:
        voice.say(f"wrote {INDEX}, {FOLDERS}, {NODES}, {EDGES} and {FOLDER}/ to {out}/")
    voice.say(f"open {out / INDEX}")
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
