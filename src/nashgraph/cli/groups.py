"""One network for each group of a table in one run: a folder each, and one page and one table of all."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from ..consensus.parallel import cluster_map, runs_whole_tasks
from ..files import claimed, written_together
from ..io import Job, ModelRecord, TableError, has_column, plan_text, read_groups
from ..io.graphs import write_csv
from ..network_check import NetworkCheck
from ..report.comparing import compared_groups
from ..report.html import still_picture, write_index
from ..report.prose import leaders
from ..study import Study
from ..validation import InputError, listing
from .commands import UNFINISHED
from .fitting import Outcome, learned, needs_complete
from .learn import EDGES, FILES, INDEX, LAYOUT, NODES, SCORES, Inputs, Run, check_inputs_kept, code_of, json_of, ties_of
from .messages import Note, Voice, counted, counting, engine_noted, listed
from .phrases import phrased
from .reading import Signals, arguments_of, placed, sentence, signals_in

FOLDER = "groups"
FOLDERS = "groups.csv"


def run_groups(
    job: Job,
    inputs: Inputs,
    out: Path,
    voice: Voice,
    lines: Mapping[str, Any],
    learn: Mapping[str, Any],
    plan: Path | None,
) -> int:
    """Learn a network for every group, and write all of them with a page over them.

    ``lines`` are lines of the plan of every group, ``learn`` is the method with the parameters given, and ``plan``
    the plan that all groups are read by, if one was given.
    """
    if job.table.nodes == "columns":
        raise typer.BadParameter(
            "--group tells rows apart, and with --set nodes=columns the rows are signals: leave it out"
        )
    check_inputs_kept(out, inputs.files, (*FILES, FOLDERS))
    with claimed(out):
        studies, left_out = studies_by_group(job, inputs, voice, lines, plan)
        return learn_groups(job, inputs, out, voice, studies, left_out, learn)


def learn_groups(
    job: Job,
    inputs: Inputs,
    out: Path,
    voice: Voice,
    studies: Mapping[str, Study],
    left_out: dict[str, str],
    learn: Mapping[str, Any],
) -> int:
    """Learn one network after the other, and write all."""
    column = str(job.table.group)
    folders = folder_names(studies)
    runs = {}
    for name, study in studies.items():
        folder = out / FOLDER / folders[name]
        plan = replace(study.plan, learn=learn)
        of_group = replace(
            job,
            table=replace(job.table, only=name),
            title=f"{job.title}, {column} {name}",
            plan=plan_text(placed(plan, [inputs.table], folder)),
        )
        layout = None if inputs.layout is None else inputs.layout / FOLDER / folders[name]
        signals = signals_in(study, job.table.gossip)
        runs[name] = Run(
            of_group,
            inputs._replace(layout=layout),
            folder,
            Voice(quiet=True),
            signals,
            study=replace(study, plan=plan),
        )
    for run in runs.values():
        check_inputs_kept(run.out, inputs.files)
    found: dict[str, tuple[ModelRecord, Outcome]] = {}
    with counting(voice, "learning", len(runs)) as progress:
        for name, outcome, notes in learned_groups(runs, voice):
            run = runs[name]
            for note in notes:
                run.voice.note(note.text, warning=note.warning)
            try:
                if isinstance(outcome, InputError):
                    raise outcome
                with run.voice.noting_warnings(), claimed(run.out):
                    found[name] = run.finish(outcome), outcome
            except InputError as error:
                left_out[name] = str(error)
            progress()
    said = Counter(note for run in runs.values() for note in run.voice.collected)
    for note, count in said.items():
        if count == len(runs):
            voice.note(note.text, warning=note.warning)
    if any(count < len(runs) for count in said.values()):
        voice.note("notes on single groups are in their reports")
    reasons: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        reasons.setdefault(reason, []).append(name)
    if not found:
        raise TableError(f"no {column} has a network: {'; '.join(reasons)}")
    for reason, names in reasons.items():
        voice.note(f"left out {column} {listing(names)}: {reason}", warning=True)
    return write_all(job, folders, found, left_out, out, voice, {name: runs[name] for name in found})


def learned_groups(runs: dict[str, Run], voice: Voice) -> Iterator[tuple[str, Outcome | InputError, list[Note]]]:
    """Yield what is learned of each group, or why nothing is, with notes; a cluster's workers learn a group each."""
    tasks = {}
    for name, run in runs.items():
        try:
            with run.voice.noting_warnings():
                run.begin()
            tasks[name] = (run.job, run.signals, run.known)
        except InputError as error:
            yield name, error, []
    largest = max((signals.table.shape[1] for _, signals, *_ in tasks.values()), default=0)
    whole = any(runs_whole_tasks(str(job.parameters.get("engine")), largest) for job, *_ in tasks.values())
    with engine_noted(voice) if whole else nullcontext():
        if whole:
            answers = cluster_map(learned_apart, None, list(tasks.values()), "groups")
        else:
            answers = (learned_apart(None, task) for task in tasks.values())
        for name, (outcome, notes) in zip(tasks, answers, strict=True):
            yield name, outcome, notes


def learned_apart(_: None, task: tuple[Job, Signals, pd.DataFrame | None]) -> tuple[Outcome | InputError, list[Note]]:
    """Return what is learned of a group, or why nothing is, and the notes: this runs here or in a worker."""
    job, signals, known = task
    voice = Voice(quiet=True)
    with voice.noting_warnings():
        try:
            return learned(job, signals, voice, known), voice.collected
        except InputError as error:
            return InputError(str(error)), voice.collected


def studies_by_group(
    job: Job, inputs: Inputs, voice: Voice, lines: Mapping[str, Any], plan: Path | None
) -> tuple[dict[str, Study], dict[str, str]]:
    """Read the table once and return the study of every group that has one, and why others have none."""
    column = str(job.table.group)
    given = arguments_of(job.table, lines, complete=needs_complete(job))
    of_groups, without_group = read_groups(inputs.table if plan is None else plan, column, **given)
    studies = {name: study for name, study in of_groups.items() if isinstance(study, Study)}
    left_out = {name: phrased(error) for name, error in of_groups.items() if isinstance(error, InputError)}
    if without_group:
        voice.note(f"left out {without_group} row(s) without a {column}")
    # A note about every group is printed once, after they are learned.
    guesses = {}
    for name, study in studies.items():
        guesses[name] = [sentence(decision) for decision in study.decisions if decision.unsure]
    same = set.intersection(*map(set, guesses.values())) if guesses else set()
    for name, notes in guesses.items():
        for note in notes:
            if note not in same:
                voice.note(f"{column} {name}: {note}", warning=True)
    people = Counter(person for study in studies.values() for person in study.signals.columns)
    voice.say(f"{inputs.table.name}: {len(of_groups)} groups by {column}, {counted(people.total(), 'node')}")
    shared = [person for person, count in people.items() if count > 1]
    for option, file in (("--truth", inputs.truth), ("--known", inputs.known)):
        if shared and file is not None and not has_column(file, column):
            raise TableError(
                f"several groups have nodes of one name ({listing(shared)}), and {option} {file.name} does not say "
                f"which are meant: add the column {column}"
            )
    return studies, left_out


def folder_names(groups: Iterable[str]) -> dict[str, str]:
    """Return a folder for every group: its name where every file system can hold it, and no two of them alike.

    Folders differ even where capitals and the ways to write an accent count as the same.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    # Groups that can keep their name come first, so that no other group gets it.
    for group in sorted(groups, key=lambda group: portable(group) != group):
        name = portable(group)
        count = 1
        while (same := unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).upper().casefold())) in taken:
            count += 1
            name = f"{portable(group)}-{count}"
        taken.add(same)
        names[group] = name
    return names


def portable(group: str) -> str:
    """Return a name that every system can hold: no marks, no reserved word, no hyphen first, no dot at an end."""
    # At most 60 characters: the longest take four bytes, and systems allow 255.
    plain = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", group))[:60].lstrip("-._").rstrip("._")
    # Windows keeps these for devices, with any ending.
    reserved = r"^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)"
    return re.sub(reserved, r"\1_", plain, flags=re.IGNORECASE) or "group"


def write_all(
    job: Job,
    folders: dict[str, str],
    found: dict[str, tuple[ModelRecord, Outcome]],
    left_out: dict[str, str],
    out: Path,
    voice: Voice,
    runs: Mapping[str, Run],
) -> int:
    """Write what all groups have in one: nodes, edges and the page; say what came of it."""
    column = str(job.table.group)
    records = {name: record for name, (record, _) in found.items()}
    graphs = {name: outcome.written for name, (_, outcome) in found.items()}
    nodes, edges = (
        pd.concat({name: getattr(graph, what)() for name, graph in graphs.items()}, names=["group"])
        .reset_index("group")
        .reset_index(drop=True)
        for what in ("nodes", "edges")
    )
    table = pd.DataFrame(
        {
            "group": name,
            "folder": folders[name],
            "nodes": record.nodes,
            "signals": record.signals,
            "ties": ties_of(record),
            "converged": bool(record.certificate.get("converged", True)),
            **{score: record.scores[score] for score in ("auc", "average_precision") if score in record.scores},
        }
        for name, record in records.items()
    )
    figures = table.drop(columns="folder") if (table["folder"] == table["group"]).all() else table
    figures = figures.assign(**structure_column({name: runs[name].structure for name in records}))
    with written_together(out) as folder:
        write_csv(nodes, folder / NODES, "group", "name")
        write_csv(edges, folder / EDGES, "group", "source", "target")
        write_csv(table, folder / FOLDERS, "group", "folder")
        write_index(
            folder / INDEX,
            job.title,
            [column, *(SCORES.get(heading, heading) for heading in figures.columns[1:]), "who leads"],
            [
                (f"{FOLDER}/{folders[name]}/report.html", [*map(shown, row), leaders(found[name][1].graph).sentence])
                for name, row in zip(found, figures.itertuples(index=False), strict=True)
            ],
            [f"{column} {name}: {reason}" for name, reason in left_out.items()],
            [
                still_picture(outcome.model.graph_, pd.read_csv(file), width=240, names=0)
                for name, (_, outcome) in found.items()
                if (file := out / FOLDER / folders[name] / LAYOUT).is_file()
            ],
            comparison=compared_groups({name: run.signals.table for name, run in runs.items()}),
        )
    voice.say(listed(figures.drop(columns="answers go together", errors="ignore")))
    if not voice.brief:
        voice.say(f"wrote {INDEX}, {FOLDERS}, {NODES}, {EDGES} and {FOLDER}/ to {out}/")
    voice.say(f"open {out / INDEX}")
    voice.answer(
        {
            "command": job.command,
            "out": str(out),
            "groups": {name: {**json_of(record), "folder": folders[name]} for name, record in records.items()},
            "left_out": left_out,
            "notes": voice.notes,
        }
    )
    return UNFINISHED if left_out else max(code_of(record) for record in records.values())


def structure_column(checks: Mapping[str, NetworkCheck | None]) -> dict[str, list[str]]:
    """Return for each group whether its answers go together, as one column; none if no group was tested."""
    words = []
    for check in checks.values():
        if check is None or check.verdict == "cannot tell":
            words.append("not tested")
        elif check.found:
            words.append(f"yes (p = {check.p_value:.2g})")
        else:
            words.append(f"no, as in shuffled answers (p = {check.p_value:.2g})")
    return {} if set(words) == {"not tested"} else {"answers go together": words}


def shown(value: Any) -> str:
    """Write a cell of the page."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
