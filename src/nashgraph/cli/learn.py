"""A job from the options to the files written: what learn, path and rerun share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import typer

from .. import io
from ..certificate import exact
from ..estimators import ConsensusGL
from ..files import check_folder, claimed, in_bytes, written_together
from ..graph import NOT_CENTRAL, LearnedGraph
from ..io import GRAPH_FILES, Job, ModelRecord, TableError, file_record, plan_text, read_plan, sha256_of
from ..io.graphs import write_csv
from ..network_check import NetworkCheck
from ..plan import PlanError
from ..report import summarize, write_report
from ..report.drawing import check_layout
from ..report.prose import concentration_sentence, gaps_mark, leaders, speaking, verdicts
from ..report.reference import structure_of
from ..study import Study
from ..validation import InputError, listing
from .commands import DONE, UNFINISHED, meant
from .fitting import MODEL, Outcome, all_parameters, check_engine, check_given, learned, needs_complete, scores
from .messages import MEANT, MEASURED, Voice, counted, paired
from .options import ClusterArguments, GameArguments, JobArguments, LearnArguments, MethodArguments, PathArguments
from .reading import (
    KEY,
    NAMES,
    PLAN,
    Signals,
    data_file,
    is_plan,
    placed,
    plan_written,
    refuse_another,
    say_reading,
    signals_in,
    study_of,
    ties_noted,
    truth_noted,
    with_other_table,
    write_reading,
)
from .tie_options import AUTO, TIES, TieArguments

if TYPE_CHECKING:
    import networkx as nx


class Inputs(NamedTuple):
    """The files of a job (signals, a true network, known ties, another model, a layout), and what to write."""

    table: Path
    truth: Path | None = None
    known: Path | None = None
    model: Path | None = None
    layout: Path | None = None
    interventions: bool = False
    formats: str | None = None

    @property
    def files(self) -> list[Path]:
        """The files that are read, without a table of alters, which the job names."""
        return [file for file in (self.table, self.truth, self.known, self.model, self.layout) if file is not None]


@dataclass
class Run:
    """A job on signals that are read: the folder it writes to, what it prints, and what else it reads and writes."""

    job: Job
    inputs: Inputs
    out: Path
    voice: Voice
    signals: Signals
    study: Study
    truth: nx.Graph[str] | None = None
    known: pd.DataFrame | None = None
    layout: pd.DataFrame | None = None
    structure: NetworkCheck | None = None
    files: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Read the other inputs, and say how."""
        job, inputs, signals, voice = self.job, self.inputs, self.signals, self.voice
        say_reading(self.study, self.out / PLAN, voice)
        for warning in signals.warnings:
            voice.collect(warning, warning=True)
        key = self.study.key
        if job.method != TIES:
            self.structure = note_structure(signals, voice)
        self.truth = truth_noted(inputs.truth, signals, job, voice, key)
        self.known = None
        if inputs.known is not None:
            self.known = ties_noted(io.read_known, inputs.known, signals, job, voice, key)
        self.layout = layout_in(inputs.layout)
        if self.layout is not None:  # what is wrong with it is said before the fit
            check_layout(self.layout, signals.table.columns)

    def finish(self, outcome: Outcome) -> ModelRecord:
        """Score and write what was learned, and say what there is to say of it."""
        job, inputs, out, signals = self.job, self.inputs, self.out, self.signals
        note_left_out(outcome, job.least_frequency, self.voice)
        if said := concentration_sentence(outcome.graph):
            self.voice.note(said, warning=True)
        record = ModelRecord(
            job=replace(job, table=replace(job.table, standardize=signals.standardized)),
            input=file_record(inputs.table, out),
            truth=None if inputs.truth is None else file_record(inputs.truth, out),
            nodes=outcome.graph.n_nodes,
            signals=len(signals.table),
            edges=outcome.written.n_edges,
            edges_sha256="",
            certificate=outcome.certificate,
            scores={} if self.truth is None else {**scores(outcome.graph, self.truth)},
            notes=list(self.voice.notes),
            seconds=outcome.seconds,
            versions=io.library_versions(),
            known=None if inputs.known is None else file_record(inputs.known, out),
            alters=None if job.table.alters is None else file_record(Path(job.table.alters), out),
            signal_names=[str(name) for name in signals.table.index],
        )
        return self.write(record, outcome)

    def write(self, record: ModelRecord, outcome: Outcome) -> ModelRecord:
        """Write the files of a learned graph; return the record, with the hashes of its tables."""
        summary = summarize(
            outcome.model,
            title=record.job.title,
            source=Path(record.input.path).name,
            scores={SCORES.get(name, name): score for name, score in record.scores.items() if score is not None},
            notes=tuple(record.notes),
            path=outcome.path,
            columns=self.signals.columns,
            truth=self.truth,
            communities=outcome.written.node_columns["community"],
            layout=self.layout,
            interventions=self.inputs.interventions,
            graph=outcome.whole,
            signals=self.signals.table,
            structure=self.structure,
            spellings=self.study.names,
        )
        chips = [f"{words[0].upper()}{words[1:]}." for words, _ in verdicts(summary, leaders(outcome.graph))]
        self.voice.headline = [" ".join(chips), *most_influential(outcome.graph)]
        with written_together(self.out) as folder:
            for name in graph_files(self.inputs.formats, record.nodes):
                GRAPH_FILES[name](outcome.written, folder / name)
            edges, nodes = (sha256_of(folder / name) for name in (EDGES, NODES))
            record = replace(record, edges_sha256=edges, nodes_sha256=nodes)
            if outcome.resampled:
                whole = outcome.model.graph_
                io.write_members(folder / MEMBERS, whole.names, whole.weights, outcome.resampled)
                record = replace(record, members_sha256=sha256_of(folder / MEMBERS))
            (folder / MODEL).write_text(io.record_to_json(record), encoding="utf-8")
            write_reading(folder, self.study, [self.inputs.table, *alters_file(self.job.table)], self.out)
            write_csv(summary.layout, folder / LAYOUT, "name")
            if outcome.selection is not None:
                io.write_edges(outcome.selection.graph, folder / SELECTED)
            if outcome.path is not None:
                write_csv(outcome.path.table(), folder / PATH)
            write_report(summary, folder / REPORT)
            self.files = sorted(name for name in FILES if (folder / name).exists())
        return record


def run_job(job: Job, inputs: Inputs, out: Path, voice: Voice, study: Study) -> ModelRecord:
    """Learn, score and write; say what was decided on the way and what came of it."""
    check_inputs_kept(out, [*inputs.files, *alters_file(job.table)])
    with voice.noting_warnings():
        run = Run(job, inputs, out, voice, signals_in(study, job.table.gossip), study)
        with claimed(out):
            run.begin()
            outcome = learned(job, run.signals, voice, run.known)
            record = run.finish(outcome)
    if voice.brief:
        say_briefly(record, voice)
    else:
        say_figures(record, voice)
    for sentence in most_influential(outcome.graph):
        voice.say(sentence)
    size = sum((out / name).stat().st_size for name in run.files)
    if not voice.brief:
        voice.say(f"wrote {', '.join(run.files)} to {out}/ ({in_bytes(size)})")
    elif voice.collected:
        voice.say(f"{counted(len(voice.collected), 'note')} in the report (-v prints them)")
    voice.say(f"open {out / REPORT}" + (f" ({in_bytes(size)} of files are in {out}/)" if size > 20e6 else ""))
    return record


def say_briefly(record: ModelRecord, voice: Voice) -> None:
    """Print what was learned in a line or two: the ties, whether the run converged, and scores if there are some."""
    what = f"{counted(ties_of(record), 'tie')} by {record.job.method}"
    if record.job.method == TIES:
        what = f"about {counted(ties_of(record), 'tie')} among {record.nodes:,} people, by the tie model"
    voice.say(f"{what} in {record.seconds:.1f} s: {record.certificate.get('sentence', '')}")
    if record.scores:
        auc, precision, chance = (record.scores[name] for name in ("auc", "average_precision", "chance"))
        by_chance = f"average precision {precision:.3f} (chance: {chance:.3f})"
        voice.say(f"compared with the true network: AUC {auc:.3f} (chance: 0.5), {by_chance}")


def ties_of(record: ModelRecord) -> int:
    """Return the number of ties, each counted once whatever its directions; edges.csv may have a row for each."""
    return int(record.certificate.get("ties") or record.edges)


def note_signals(file: Path, signals: Signals, voice: Voice) -> None:
    """Say how the signals were read."""
    for note in signals.notes:
        voice.note(note, warning=note in signals.warnings)
    n_signals, n_nodes = signals.table.shape
    names = "" if voice.brief else f": {listing(signals.table.index, 40)}"
    voice.say(f"{file.name}: {counted(n_nodes, 'node')}, {counted(n_signals, 'signal')}{names}")


def note_structure(signals: Signals, voice: Voice) -> NetworkCheck | None:
    """Say whether columns go together, by a check on a sample that takes a tenth of a second."""
    check = structure_of(signals.table, signals.columns)
    if check is not None and check.verdict != "cannot tell":
        warned = "" if check.found else f" {check.sentences[1]}"
        voice.note(check.sentences[0] + warned, warning=not check.found)
    return check


def say_figures(record: ModelRecord, voice: Voice) -> None:
    """Say what was learned: the certificate in a sentence, and the figures in a table, with what they mean."""
    words = MEASURED.get(str(record.certificate.get("measure", "")))
    voice.say(str(record.certificate.get("sentence", "")) + (f" ({words})" if words else ""))
    said = {*exact().as_dict(), "ties"}  # what the certificate's sentence says already, or the number of ties here
    figures: dict[str, Any] = {
        "method": record.job.method,
        "nodes": record.nodes,
        "signals": record.signals,
        "ties": ties_of(record),
        **{name: value for name, value in record.certificate.items() if name not in said},
        **record.scores,
        "seconds": record.seconds,
    }
    voice.say(paired(figures, meant=MEANT))


def note_left_out(outcome: Outcome, asked: float | None, voice: Voice) -> None:
    """Say how many ties are not written, and how to get them."""
    model, pairs = outcome.model, outcome.written.undirected().n_edges
    if outcome.written.n_edges == outcome.graph.n_edges or not isinstance(model, ConsensusGL):
        return
    if asked is not None:
        voice.note(f"wrote the {counted(pairs, 'tie')} found in at least {asked:.0%} of the member networks")
        return
    if model.degree is None:
        guess = "a convention: --degree sets it"
    else:
        guess = "as --degree says"
    voice.note(
        f"wrote the {counted(pairs, 'tie')} with most evidence, {2 * pairs / outcome.graph.n_nodes:.1f} per node on "
        f"average ({guess})"
    )


def most_influential(graph: LearnedGraph) -> list[str]:
    """Return the first few nodes by influence and how far that is settled, or that the signals do not tell."""
    if "expected_ties" in graph.node_columns:
        expected, low, high = (graph.node_columns[name] for name in ("expected_ties", "ties_low", "ties_high"))
        most = np.argsort(-np.asarray(expected), kind="stable")[:5]
        shown = ", ".join(f"{graph.names[k]} ({expected[k]:.1f}, {low[k]:.1f} to {high[k]:.1f})" for k in most)
        return [f"most ties expected: {shown}"]
    if graph.influence_supported is False:
        return [NOT_CENTRAL]
    ranked, known = "rank_low" in graph.node_columns, graph.node_columns
    first = [
        f"{graph.names[k]} ({graph.influence[k]:.2f}"
        + (f", rank {known['rank_low'][k]} to {known['rank_high'][k]})" if ranked else ")")
        + gaps_mark(graph, k)
        for k in speaking(graph)[:5]
    ]
    figures = ", ".join(first)
    if ranked:
        return [f"influence: {figures}", leaders(graph).sentence]
    return [f"most influential: {figures}"]


def code_of(record: ModelRecord) -> int:
    """Return the exit code: not converged is reported, but is not a failure."""
    if record.certificate.get("converged", True):
        return DONE
    return UNFINISHED


def json_of(record: ModelRecord) -> dict[str, Any]:
    """Return the JSON object of a learned graph."""
    names = ("nodes", "signals", "edges", "certificate", "scores", "seconds", "notes")
    same = {name: getattr(record, name) for name in names}
    return {"command": record.job.command, "method": record.job.method, **same}


EDGES, NODES, REPORT, INDEX = "edges.csv", "nodes.csv", "report.html", "index.html"
PATH, SELECTED, MEMBERS, LAYOUT = "path.csv", "selected.csv", "members.npz", "layout.csv"
FILES = (
    *GRAPH_FILES,
    MODEL,
    LAYOUT,
    PATH,
    SELECTED,
    MEMBERS,
    PLAN,
    NAMES,
    KEY,
    REPORT,
    INDEX,
)  # all that may be written
SCORES = {
    "auc": "AUC",
    "average_precision": "average precision",
    "chance": "average precision of a random order",
    "precision": "precision at the true number of edges",
    "recall": "recall at the true number of edges",
}


def check_inputs_kept(out: Path, inputs: Iterable[Path | None], files: Iterable[str] = FILES) -> None:
    """Refuse to write over a file that is read in the same run, or where no folder can be."""
    check_folder(out)
    for given in filter(None, inputs):
        for name in files:
            file = out / name
            if file.exists() and given.exists() and file.samefile(given):
                raise InputError(f"{given} is read in this run, and {out}/{name} is to be written: give another --out")


def alters_file(table: io.TableOptions) -> list[Path]:
    """Return the file with a table of alters, if there is one."""
    return [] if table.alters is None else [Path(table.alters)]


def write_tables(out: Path | None, tables: Mapping[str, pd.DataFrame], voice: Voice) -> None:
    """Write tables to a folder, if one is named, and say so; names in them are guarded against spreadsheets."""
    if out is not None:
        with written_together(out) as folder:
            for file, table in tables.items():
                write_csv(table, folder / file, *table.columns.intersection(["method", "name", "source", "target"]))
        voice.say(f"wrote {', '.join(tables)} to {out}/")


def graph_files(formats: str | None, n_nodes: int) -> list[str]:
    """Return the names of the graph files to write: the tables, and those asked for."""
    known = [Path(name).suffix[1:] for name in GRAPH_FILES if name not in (EDGES, NODES)]
    if formats is None and n_nodes <= 2000:
        asked = known
    else:
        asked = [*filter(None, (formats or "none").split(","))]
    for name in asked:
        if name not in (*known, "none"):
            raise typer.BadParameter(
                f"--set formats={name}{meant(name, known)}: give some of {', '.join(known)}, or none"
            )
    return [EDGES, NODES, *(name for name in GRAPH_FILES if Path(name).suffix[1:] in asked)]


def layout_in(folder: Path | None) -> pd.DataFrame | None:
    """Read where the nodes of another run's report are drawn, out of its folder."""
    if folder is None:
        return None
    if not (file := folder / LAYOUT).is_file():
        raise TableError(f"{folder} has no {LAYOUT}: --set layout_of takes the folder that another run wrote")
    try:
        return io.read_nodes(file, number="x")
    except ValueError as error:  # no such column, no CSV, no text
        raise TableError(f"{file} is not as it was written: {error}") from error


def run_learn(
    chosen: MethodArguments, game: LearnArguments, told: TieArguments, cluster: ClusterArguments, asked: JobArguments
) -> int:
    """Learn from one table, or from every group of it."""
    return run("learn", game, cluster, asked, chosen, told)


def run_path(along: PathArguments, game: GameArguments, cluster: ClusterArguments, asked: JobArguments) -> int:
    """Learn along a path of strengths of the prior."""
    return run("path", game, cluster, asked, MethodArguments(method="glgp"), TieArguments(), along)


def run(
    command: str,
    game: GameArguments,
    cluster: ClusterArguments,
    asked: JobArguments,
    chosen: MethodArguments,
    told: TieArguments,
    along: PathArguments | None = None,
) -> int:
    """Make a job of the options and carry it out, on one table or on every group of it."""
    from .groups import run_groups  # noqa: PLC0415 (it imports this module)

    game = cluster.settled(game)
    check_given(asked.file, asked.truth, chosen.known)
    check_engine(game.engine)
    graph_files(asked.formats, 0)  # what is wrong with it is said before the table is read
    options = told.options(replace(asked.table.options(game.benefit), group=asked.group))
    options = with_other_table(options, asked.file)
    voice = asked.speech.voice(brief=True)
    study = None
    plan = read_plan(asked.file) if is_plan(asked.file) else None
    if asked.anonymous and options.gossip:
        raise typer.BadParameter("--set gossip needs the names that --anonymous leaves out: leave one out")
    file = data_file(asked.file)
    if options.group is None:
        refuse_another(asked.out, file, force=asked.force)
        study = study_for(asked, options, voice, method=chosen.method)
    settings = {} if plan is None else dict(plan.learn)
    if chosen.method != AUTO:
        settings["method"] = chosen.method
    if study is None:
        tells = plan is not None and bool(plan.table.of_role("names", "count", "n_ties"))
    else:
        tells = study.tells_of_ties
    method = told.method(str(settings.pop("method", AUTO)), chosen.known, tells=tells)
    if method == AUTO:
        method = "consensus"
    given = {**settings, **game.parameters(), **told.parameters()}
    job = job_of(command, method, given, options, asked, along)
    learn = {"method": method, **{name: value for name, value in given.items() if name != "benefit"}}
    if study is not None:
        study = replace(study, plan=replace(study.plan, learn=learn))
        job = replace(job, plan=plan_text(placed(study.plan, [file, *alters_file(options)], asked.out)))
    inputs = Inputs(file, asked.truth, chosen.known, None, asked.layout_of, asked.interventions, asked.formats)
    with cluster.opened(game, voice):
        if study is None:
            plan_given = None if plan is None else asked.file
            return run_groups(job, inputs, asked.out, voice, lines_of(asked), learn, plan_given)
        record = run_job(job, inputs, asked.out, voice, study)
    voice.answer({**json_of(record), "headline": voice.headline, "out": str(asked.out)})
    return code_of(record)


def lines_of(asked: JobArguments) -> dict[str, Any]:
    """Return the lines of the plan that the options give."""
    return {**asked.table.lines(), **({"anonymous": True} if asked.anonymous else {})}


def study_for(asked: JobArguments, options: io.TableOptions, voice: Voice, method: str) -> Study:
    """Read the study of a job; a question that the table leaves open is asked with a plan to change."""
    complete = method not in (AUTO, TIES) and needs_complete(Job("learn", method))
    with voice.noting_warnings():
        try:
            study = study_of([asked.file], options, lines_of(asked), complete=complete)
        except PlanError as error:
            if is_plan(asked.file):
                raise
            raise plan_written(error, [asked.file], asked.out) from error
    if study.key is not None:
        voice.hide({person: code for code, person in study.key.items()})
    table = study.plan.table
    has_ties = table.rows in ("network", "matrix") or (table.rows == "reports" and not len(study.signals))
    if method == AUTO and has_ties:
        raise InputError(
            f"{table.file} has the ties themselves, so there is nothing to learn: find interventions on this network "
            f"with 'nashgraph act {asked.file}', or learn another one from what it says of people, with --method"
        )
    return study


def job_of(
    command: str,
    method: str,
    given: Mapping[str, Any],
    options: io.TableOptions,
    asked: JobArguments,
    along: PathArguments | None,
) -> Job:
    """Return the job that the options ask for."""
    parameters = all_parameters(method, given, asked.settings or [], options.missing)
    if options.benefit is not None:  # it is a column, and comes with the table
        del parameters["benefit"]
    if along is not None:
        del parameters["lam"]
        parameters |= along.parameters()
    if asked.false_edges is not None and method != "consensus":
        raise typer.BadParameter("--set false_edges selects ties of a consensus: take --method consensus")
    return Job(
        command=command,
        method=method,
        parameters=parameters,
        table=options,
        directed=not asked.undirected and method != TIES,
        least_frequency=asked.least_frequency,
        false_edges=asked.false_edges,
        truth_directed=asked.truth_directed,
        title=asked.title or data_file(asked.file).stem,
    )
