"""``nashgraph ask``: who to interview next; and ``nashgraph plan``: what a survey about ties would buy."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import typer

from ..estimators import TieModel
from ..files import written_together
from ..io import Job, TableError, read_known, read_network, read_record
from ..io.graphs import write_csv
from ..io.ties import read_exact
from ..study import Study
from ..survey_plan import plan_study, plot_plan
from .commands import DONE, load_matplotlib
from .fitting import MODEL, all_parameters, built, check_given, fitted
from .learn import alters_file, check_inputs_kept, note_signals, write_tables
from .messages import Voice, listed, records
from .options import TableArguments, numbers_of
from .reading import data_file, signals_in, study_again, study_read
from .saved import found_again, with_alters_at
from .tie_options import TIES, AskArguments, PlanArguments, TieArguments

PLAN = ("plan.csv", "plan.svg")


def run_ask(asked: AskArguments) -> int:
    """Fit the tie model and print those not asked yet whose ties are least certain."""
    voice = asked.speech.voice(brief=True)
    with voice.noting_warnings():
        job, study, file, known = what_to_fit(asked.file, asked.told, asked.table, voice)
        if asked.out is not None:
            check_inputs_kept(asked.out, (file, known, *alters_file(job.table)), ["ask.csv"])
        signals = signals_in(study)
        note_signals(file, signals, voice)
        model, _ = built(job, signals)
        assert isinstance(model, TieModel)
        if known is None:
            ties = None
        else:
            ties = read_known(known, [str(name) for name in signals.table.columns])[0]
        fitted(model, signals, voice, ties)
        people = model.ask(asked.best)
        questions = None
        flags = signals.columns.loc[:, [name for name in signals.columns if {*signals.columns[name]} == {0, 1}]]
        flags = flags.drop(columns=[name for name in model.survey_.traits.columns if name in flags])
        if flags.shape[1]:
            questions = model.ask_about(flags.set_axis(signals.table.columns, axis=0)).head(asked.best)
    voice.say(f"{int(model.asked_.sum())} of {signals.table.shape[1]} people were asked. Interview next:")
    voice.say(listed(people))
    voice.say("uncertainty is the variance of the number of ties; these people are expected to be central")
    if questions is not None:
        voice.say("Counting questions to add ('how many of your ties have it?'), those that teach most first:")
        voice.say(listed(questions))
        voice.say("removed is the share of the uncertainty about ties that the answers would remove")
    write_tables(asked.out, {"ask.csv": people}, voice)
    voice.answer(
        {
            "command": "ask",
            "interview": records(people),
            "questions": [] if questions is None else records(questions),
            "notes": voice.notes,
        }
    )
    return DONE


def what_to_fit(
    given: Path, told: TieArguments, table: TableArguments, voice: Voice
) -> tuple[Job, Study, Path, Path | None]:
    """Return the job, its study, the table and the known ties: those of a model, or those of a table."""
    if not given.is_dir() and given.name != MODEL:
        check_given(given)
        options = told.options(table.options(None))
        study = study_read(given, options, table.lines(), complete=False)
        method = told.method(TIES, tells=study.tells_of_ties)
        job = Job("ask", method, all_parameters(method, told.parameters(), [], options.missing), options)
        return job, study, data_file(given), None
    if told != TieArguments() or any(getattr(table, each.name) != each.default for each in fields(table)):
        raise typer.BadParameter("a model knows how its table was read: give options with a table only")
    record, place = read_record(given)
    if record.job.method != TIES:
        raise TableError(
            f"{given} was learned by {record.job.method}, not from answers about ties: give the survey with --n-ties, "
            "--counts or --names"
        )
    file, known, alters = (
        None if each is None else found_again(each, None, "nashgraph ask TABLE", place, False, voice)
        for each in (record.input, record.known, record.alters)
    )
    assert file is not None
    job = with_alters_at(record.job, alters)
    study = study_again(record, place, file, alters)
    return job, study, file, known


def run_plan(given: PlanArguments) -> int:
    """Print, and write if asked for, what asking some people some questions would buy."""
    voice = given.speech.voice(brief=True)
    if (given.like is None) != (given.traits is None):
        raise typer.BadParameter("--like and --traits belong together: a known network, and the traits of its people")
    like = None
    if given.like is not None and given.traits is not None:
        check_given(given.like, given.traits)
        if given.out is not None:
            check_inputs_kept(given.out, (given.like, given.traits), PLAN)
        table = read_exact(given.traits, ())
        table = read_exact(given.traits, [str(table.columns[0])])  # "007" is a name
        like = (read_network(given.like, directed=False), table.set_index(str(table.columns[0])))
    percents = numbers_of("--asked", given.asked, float)
    if not all(1 <= number <= 100 for number in percents):
        raise typer.BadParameter(f"--asked {given.asked} must be percentages from 1 to 100, for example 30,100")
    shares = [number / 100.0 for number in percents]
    counts = numbers_of("--questions", given.questions, int)
    with voice.noting_warnings():
        table = plan_study(
            given.people,
            given.ties,
            asked=shares,
            questions=counts,
            mixing=given.mixing,
            recall=given.recall,
            like=like,
            n_draws=given.draws,
            random_state=given.seed,
        )
    voice.say(listed(table.assign(asked=table["asked"].map("{:.0%}".format))))
    voice.say(
        f"average precision is 1 for a perfect list of ties and {table.attrs['chance']:.2f} by chance; seeding is the "
        "share of the possible gain if 5% of the people are told first: 0 is a random choice, 1 the best one"
    )
    if given.out is not None:
        load_matplotlib()
        from matplotlib.figure import Figure  # noqa: PLC0415 (drawn only if asked for)

        with written_together(given.out) as folder:
            write_csv(table, folder / PLAN[0])
            figure = Figure(figsize=(9, 4), layout="constrained")
            for ax, measure in zip(figure.subplots(1, 2), ("average_precision", "seeding"), strict=True):
                plot_plan(table, ax, measure=measure)
            figure.savefig(folder / PLAN[1])
        voice.say(f"wrote {' and '.join(PLAN)} to {given.out}/")
    voice.answer({"command": "plan", "plan": records(table), "chance": table.attrs["chance"], "notes": voice.notes})
    return DONE
