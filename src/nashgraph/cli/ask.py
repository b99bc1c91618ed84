"""``nashgraph ask``: whom to interview next, from a survey or from a network that was learned from one."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import typer

from ..estimators import TieModel
from ..files import written_together
from ..io import Job, TableError, load_signals, read_known, read_record
from ..io.graphs import write_csv
from .commands import DONE
from .fitting import all_parameters, built, fitted
from .learn import MODEL, check_given, check_inputs_kept, note_signals
from .messages import Voice, listed
from .options import TableArguments
from .show import found_again, records
from .tie_options import TIES, AskArguments, TieArguments

FILE = "ask.csv"


def run_ask(given: Path, told: TieArguments, table: TableArguments, asked: AskArguments) -> int:
    """Fit the tie model and print those not asked yet whose ties are least certain."""
    voice = asked.speech.voice(brief=True)
    with voice.noting_warnings():
        job, file, known = what_to_fit(given, told, table, voice)
        if asked.out is not None:
            check_inputs_kept(asked.out, (file, known), [FILE])
        signals = load_signals(file, job.table, complete=True)
        note_signals(file, signals, voice)
        model, _ = built(job, signals)
        assert isinstance(model, TieModel)
        ties = {} if known is None else {"known": read_known(known, [str(name) for name in signals.table.columns])[0]}
        fitted(model, signals, voice, ties, None)
        people = model.ask(asked.best)
    voice.say(f"{int(model.asked_.sum())} of {signals.table.shape[1]} people were asked. Interview next:")
    voice.say(listed(people))
    voice.say("uncertainty is the variance of the number of ties; these people are expected to be central")
    if asked.out is not None:
        with written_together(asked.out) as folder:
            write_csv(people, folder / FILE, "name")
        voice.say(f"wrote {FILE} to {asked.out}/")
    voice.answer({"command": "ask", "interview": records(people), "notes": voice.notes})
    return DONE


def what_to_fit(given: Path, told: TieArguments, table: TableArguments, voice: Voice) -> tuple[Job, Path, Path | None]:
    """Return the job, the table and the known ties: those of a model, or those that the options declare."""
    if not given.is_dir() and given.name != MODEL:
        check_given(given)
        method = told.method(TIES)
        options = told.options(table.options(None))
        return Job("ask", method, all_parameters(method, told.parameters(), [], options.missing), options), given, None
    if told != TieArguments() or any(getattr(table, each.name) != each.default for each in fields(table)):
        raise typer.BadParameter("a model knows how its table was read: give options with a table only")
    record, place = read_record(given)
    if record.job.method != TIES:
        raise TableError(
            f"{given} was learned by {record.job.method}, not from answers about ties: give the survey with --ties, "
            "--counts or --names"
        )
    files = [
        None if each is None else found_again(each, None, "nashgraph ask TABLE", place, False, voice)
        for each in (record.input, record.known)
    ]
    assert files[0] is not None
    return record.job, files[0], files[1]
