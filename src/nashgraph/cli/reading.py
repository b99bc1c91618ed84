"""Reading a study for the command line: options into overrides of a plan, and decisions into lines."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd
import typer

from .. import io
from ..decisions import Decision
from ..files import written_together
from ..io import Job, ModelRecord, TableError, TableOptions, plan_text, read_plan, read_record, read_study
from ..io.anonymous import anonymised, coded_ties, read_key, write_key
from ..io.graphs import write_csv
from ..io.names import chosen_columns
from ..io.people import Register, named_people
from ..metrics import symmetrize_for
from ..plan import Plan, PlanError, TablePlan
from ..study import Study
from ..tie_survey import TieSurvey
from ..validation import Array, InputError, listing, silent_sentence
from .commands import DONE
from .messages import Voice, counted
from .phrases import as_typed, phrased
from .tie_options import AUTO, ReadArguments

if TYPE_CHECKING:
    import networkx as nx

PLAN = "plan.toml"
NAMES = "names.csv"
KEY = "key.csv"


@dataclass(frozen=True, eq=False)
class Signals:
    """A study as the methods take it.

    Attributes
    ----------
    table : DataFrame of shape (n_signals, n_nodes), the columns named by the nodes
    benefit : array of shape (n_nodes,), where a column of the file gives it
    notes : list of str, what was decided on the way
    standardized : bool, whether every signal was brought to mean 0 and spread 1
    missing : array of shape (n_nodes,), the share of signals that each node lacks in the file
    silent : array of shape (n_nodes,), which nodes have 0 in every signal, as several others have
    columns : DataFrame, what the file says of each node, one row for each, before it is coded or scaled; also columns
        that are not used as signals
    told : TieSurvey, optional, what people said about their ties
    warnings : list of str, those of the notes that everybody should read
    """

    table: pd.DataFrame
    benefit: Array | None
    notes: list[str]
    standardized: bool
    missing: Array
    silent: Array
    columns: pd.DataFrame
    told: TieSurvey | None = None
    warnings: list[str] = field(default_factory=list)


def overrides_of(options: TableOptions) -> dict[str, Any]:
    """Return the keyword arguments of ``read_study`` that options ask for."""
    for name in ("na", "categorical"):
        if "none" in getattr(options, name):
            raise typer.BadParameter(f"--set {name}=none: write a plan with 'nashgraph read', and change its lines")
    if options.gossip and options.benefit is not None:
        raise InputError("--set gossip and --set benefit both give benefits: leave one out", parameter="gossip")
    rows = None
    if options.nodes == "columns":
        rows = "columns"
    elif options.long:
        rows = "answers"
    given = {
        "id": options.id,
        "drop": (*options.drop, *options.gossip),
        "keep": options.keep,
        "categorical": options.categorical,
        "ordinal": options.ordinal,
        "missing": options.na,
        "counts": options.counts,
        "n_ties": options.ties,
        "names": options.names,
        "benefit": options.benefit,
        "rows": rows,
        "separator": options.separator,
        "encoding": options.encoding,
        "decimal": None if options.decimal == "." else options.decimal,
        "thousands": options.thousands,
        "header": None if options.header else 0,
        "sheet": options.sheet,
        "array": options.array,
    }
    used = {name: value for name, value in given.items() if value not in (None, ())}
    return {**used, "max_cells": options.max_cells}


def study_of(
    files: Sequence[Path], options: TableOptions, lines: Mapping[str, Any] = MappingProxyType({}), *, complete: bool
) -> Study:
    """Read files by a plan, or find one, with the user's options; ``complete`` fills gaps that may be left.

    A method that cannot compare people over what both answered needs them filled.
    """
    others = list(files[1:])
    if options.alters is not None:
        others.append(Path(options.alters))
    return read_study(files[0], *others, **arguments_of(options, lines, complete=complete))


def arguments_of(options: TableOptions, lines: Mapping[str, Any], *, complete: bool) -> dict[str, Any]:
    """Return the keyword arguments of ``read_study`` for a command's options."""
    gaps = None if options.missing == "auto" else options.missing
    if complete and gaps is None:
        gaps = "impute"
    return {"gaps": gaps, "standardize": options.standardize, **overrides_of(options), **lines}


def study_read(
    file: Path, options: TableOptions, lines: Mapping[str, Any] = MappingProxyType({}), *, complete: bool
) -> Study:
    """Read a study for a command that writes no plan: a question that the table leaves open is answered in one."""
    try:
        return study_of([file], options, lines, complete=complete)
    except PlanError as error:
        if is_plan(file) or error.plan is None:
            raise
        raise InputError(
            f"{phrased(error)}; or write a plan with 'nashgraph read {file}', change it, and give that"
        ) from error


def data_file(file: Path) -> Path:
    """Return the file with the people: that of a plan, or the file itself."""
    if is_plan(file):
        return file.parent / read_plan(file).table.file
    return file


def with_other_table(options: TableOptions, file: Path) -> TableOptions:
    """Return the options with the second table of a plan, so that the record of a model names it."""
    tables = read_plan(file).tables if is_plan(file) else ()
    if len(tables) < 2 or options.alters is not None:
        return options
    if options.group is not None:
        raise InputError("--group reads one table, and the plan has two: give the two tables of one group")
    return replace(options, alters=str((file.parent / tables[1].file).resolve()))


def is_plan(file: Path) -> bool:
    """Return whether a file is a plan."""
    return file.suffix.lower() == ".toml"


def study_again(record: ModelRecord, model: Path, file: Path, alters: Path | None) -> Study:
    """Read a study by the plan of its model; models of earlier versions have none.

    People who have codes get those of the key next to the model.
    """
    plan_in_model = record.job.plan
    if not plan_in_model:
        raise TableError(
            f"{model.name} was written by an earlier nashgraph ({record.versions.get('nashgraph', 'unknown')}), which "
            f"stored no plan of how the table is read: learn again with 'nashgraph learn {file}'"
        )
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / PLAN
        text.write_text(plan_in_model, encoding="utf-8", errors="replace")
        plan = read_plan(text)
    # The files were compared with those of the model already, and --force takes others.
    tables = [replace(table, sha256="") for table in plan.tables]
    others = [] if alters is None else [alters]
    names = str(model.parent / plan.names) if plan.names else ""
    plan = replace(plan, tables=tuple(tables), names=names)
    study = read_study(file, *others, plan=plan, anonymous=False)
    if plan.anonymous:
        return anonymised(study, read_key(model.with_name(KEY)))
    return study


def times_named(study: Study, columns: Sequence[str]) -> Array:
    """Return how often each person is named in some columns."""
    block = study.people[chosen_columns(columns, list(map(str, study.people.columns)))]
    people = list(map(str, study.people.index))
    named, _, _ = named_people(block, people, Register(people), {})
    targets = pd.Series([person for names in named.values() for person in names], dtype=object)
    times: Array = targets.value_counts().reindex(study.signals.columns, fill_value=0).to_numpy(dtype=float)
    return times


def signals_in(study: Study, gossip: Sequence[str] = ()) -> Signals:
    """Return what the methods take of a study, with its decisions as sentences.

    How often a person is named in the columns ``gossip`` is the benefit.
    """
    benefit = None
    if gossip:
        benefit = 1.0 + times_named(study, gossip)
    elif study.benefit is not None:
        benefit = study.benefit.loc[study.signals.columns].to_numpy(dtype=float)
    notes = [sentence(decision) for decision in study.decisions]
    unsure = [sentence(decision) for decision in study.decisions if decision.unsure]
    people = study.signals.columns
    silent = study.silent.reindex(people).to_numpy(dtype=bool)
    if silent.any():
        notes.append(silent_sentence(people[silent].to_numpy()))
        unsure.append(notes[-1])
    return Signals(
        table=study.signals,
        benefit=benefit,
        notes=notes,
        standardized=study.standardized,
        missing=study.missing.reindex(people).to_numpy(dtype=float),
        silent=silent,
        columns=study.people.reindex(people).reset_index(drop=True),
        told=study.ties if study.tells_of_ties else None,
        warnings=unsure,
    )


def sentence(decision: Decision) -> str:
    """Return a decision in one line, with what to type if it was a guess."""
    columns = f" {listing(decision.columns)}" if decision.columns else ""
    text = f"{decision.kind}{columns}: {decision.reason}"
    if not decision.unsure or decision.remedy is None or decision.remedy.parameter == "columns":
        return text
    return f"{text}; {as_typed(decision.remedy)} changes it"


def three_lines(study: Study) -> list[str]:
    """Return who the people are, what was used, and what was left out or is unsure."""
    table = study.plan.table
    by = [column.name for column in table.of_role("id")]
    examples = ", ".join(map(str, study.signals.columns[:2]))
    if by:
        named = f"identified by {listing(map(repr, by))}"
    else:
        named = f"named as in the file ({table.rows})"
    return [
        f"people: {len(study.signals.columns):,}, {named}: {examples}, …",
        f"used: {used_of(study)}",
        f"left out or unsure: {unused_of(study)}",
    ]


def used_of(study: Study) -> str:
    """Return in a line which columns are used, and for what."""
    ties = study.ties
    if len(study.signals):
        parts = [counted(len(study.signals), "signal")]
    else:
        parts = []
    questions = list(dict.fromkeys(study.questions.values()))
    if questions:
        parts[-1] += f" from {listing(questions, 4)}"
    if len(ties.reports):
        columns = columns_of(study, "names")
        parts.append(f"{counted(len(ties.reports), 'tie')} named" + (f" in {listing(columns, 3)}" if columns else ""))
    if ties.counts.size:
        parts.append(f"counts of ties: {listing(columns_of(study, 'count'), 3)}")
    if ties.n_ties.notna().any():
        parts.append(f"numbers of ties: {listing(columns_of(study, 'n_ties'))}")
    for role, words in (("place", "places"), ("group", "groups"), ("weight", "weights")):
        if columns := columns_of(study, role):
            parts.append(f"{words}: {listing(columns, 3)}")
    return "; ".join(parts) or "nothing"


def columns_of(study: Study, role: str) -> list[str]:
    """Return the columns of a role in all files of the study."""
    return [column.name for table in study.plan.tables for column in table.of_role(role)]


def unused_of(study: Study) -> str:
    """Return in a line which columns are not used, and which readings are guesses."""
    left = columns_of(study, "ignore")
    guesses = [decision for decision in study.decisions if decision.unsure]
    parts = []
    if left:
        parts.append(f"{counted(len(left), 'column')} left out ({listing(left, 4)})")
    dropping = {"no answers": "people without any answer", "constant": "the same for everybody"}
    for decision in study.decisions:
        if decision.kind in dropping:
            parts.append(f"{dropping[decision.kind]}: {listing(decision.columns, 4)}")
    if len(study.names):
        unmatched = int((~study.names["sure"].astype(bool)).sum())
        parts.append(f"{counted(unmatched, 'name')} not spelt as in the table ({NAMES})")
    for guess in guesses[:3]:
        parts.append(f"unsure: {sentence(guess)}")
    if len(guesses) > 3:
        parts.append(f"{len(guesses) - 3} more guesses")
    return "; ".join(parts) or "nothing"


def say_reading(study: Study, plan: Path, voice: Voice) -> None:
    """Say in three lines how a study was read, and where its plan is."""
    for line in three_lines(study):
        voice.say(line)
    voice.say(f"plan: {plan} (change a line and run 'nashgraph learn {plan}')")
    if study.key is not None:
        voice.say(f"people have codes: {plan.with_name(KEY)} says who they are, so keep it to yourself")
    for decision in study.decisions:
        voice.collect(sentence(decision), warning=decision.unsure)


def placed(plan: Plan, sources: Sequence[Path], folder: Path) -> Plan:
    """Return a plan with the paths of its files as seen from the folder that it is written to."""
    tables = [_placed(table, source, folder) for table, source in zip(plan.tables, sources, strict=False)]
    return replace(plan, tables=(*tables, *plan.tables[len(tables) :]))


def _placed(table: TablePlan, source: Path, folder: Path) -> TablePlan:
    try:
        file = Path(os.path.relpath(source.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        file = source.resolve().as_posix()
    return replace(table, file=file)


def write_reading(folder: Path, study: Study, sources: Sequence[Path], out: Path) -> None:
    """Write the plan, and the spellings to confirm; ``out`` is where the files of the folder will be."""
    (folder / PLAN).write_text(plan_text(placed(study.plan, sources, out)), encoding="utf-8", errors="replace")
    if len(study.names):
        write_csv(study.names, folder / NAMES, *study.names.columns.intersection(["written", "matched"]))
    if study.key is not None:
        write_key(study.key, folder / KEY)


def plan_written(error: PlanError, sources: Sequence[Path], out: Path) -> InputError:
    """Write the plan of a question that a table leaves open, and return the error that says where it is."""
    if error.plan is None:
        return error
    out.mkdir(parents=True, exist_ok=True)
    (out / PLAN).write_text(plan_text(placed(error.plan, sources, out)), encoding="utf-8", errors="replace")
    return InputError(f"{phrased(error)}; or change it in {out / PLAN} and run 'nashgraph learn {out / PLAN}'")


def run_read(asked: ReadArguments) -> int:
    """Read files, print how, and write the plan."""
    voice = asked.speech.voice(brief=True)
    files = asked.files
    options = asked.told.options(asked.table.options(None))
    sources = [data_file(files[0]), *files[1:]]
    with voice.noting_warnings():
        try:
            study = study_of(files, options, asked.table.lines(), complete=False)
        except PlanError as error:
            raise plan_written(error, sources, asked.out) from error
    asked.told.method(AUTO, tells=study.tells_of_ties)  # refuses a recall without any column about ties
    with written_together(asked.out) as folder:
        write_reading(folder, study, sources, asked.out)
    say_reading(study, asked.out / PLAN, voice)
    for decision in sorted(study.decisions, key=lambda decision: not decision.unsure):
        voice.say(f"  {'?' if decision.unsure else '-'} {sentence(decision)}")
    voice.answer(
        {
            "command": "read",
            "plan": str(asked.out / PLAN),
            "people": len(study.signals.columns),
            "signals": len(study.signals),
            "tells_of_ties": study.tells_of_ties,
            "lines": three_lines(study),
            "decisions": [asdict(decision) for decision in study.decisions],
        }
    )
    return DONE


def truth_noted(
    file: Path | None, signals: Signals, job: Job, voice: Voice, key: Mapping[str, str] | None = None
) -> nx.Graph[str] | None:
    """Read the true network, where there is one, and say how."""
    if file is None:
        return None
    read = functools.partial(io.read_truth, directed=job.truth_directed)
    truth: nx.Graph[str] | None = ties_noted(read, file, signals, job, voice, key)
    if truth is not None:
        voice.note(
            "the truth has no directions: it is scored on weights made symmetric, the mean of both directions"
            if symmetrize_for(truth) == "mean"
            else "the truth has directions: ordered pairs are scored, an edge as the influence of its source"
        )
    return truth


def ties_noted(
    read: Callable[..., tuple[Any, list[str]]],
    file: Path,
    signals: Signals,
    job: Job,
    voice: Voice,
    key: Mapping[str, str] | None = None,
) -> Any:
    """Read ties between the nodes; a group, unlike a table, may have none. The file has ids where nodes have codes."""
    if job.table.only is None:
        group = None
    else:
        group = io.Group(str(job.table.group), job.table.only)
    try:
        names = [str(name) for name in signals.table.columns]
        ties, notes = read(file, names if key is None else [key[code] for code in names], group=group)
        if key is not None:
            ties = coded_ties(ties, {person: code for code, person in key.items()})
    except io.NoTiesError as error:
        if group is None:
            raise
        ties, notes = None, [str(error)]
    for note in notes:
        voice.note(note)
    return ties


def refuse_another(out: Path, file: Path, *, force: bool) -> None:
    """Refuse to write over the network of another table."""
    model = out / "model.json"
    if force or not model.is_file():
        return
    try:
        record, _ = read_record(model)
    except InputError:  # not ours, or damaged: nothing that could be lost
        return
    before = out / record.input.path
    if before.resolve() != file.resolve():
        raise InputError(f"{out} has the network of another table, {before.name}: give another --out, or --force")
