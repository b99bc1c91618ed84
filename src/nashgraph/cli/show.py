"""A saved model: ``nashgraph show`` prints a model.json, ``nashgraph rerun`` runs what it says again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..estimators import LEARNERS
from ..graph import NOT_CENTRAL
from ..io import (
    FileRecord,
    ModelRecord,
    TableError,
    library_versions,
    read_edges,
    read_nodes,
    read_record,
    sha256_of,
)
from ..report.prose import read_methods
from .commands import DONE, UNFINISHED
from .fitting import OWN
from .learn import COMMANDS, EDGES, NODES, REPORT, Inputs, answer, code_of, run_job, say_figures
from .messages import Voice, listed, paired
from .options import RerunArguments, ShowArguments
from .tie_options import TIES as TIE_MODEL

LISTED = 10
SHOWN = (
    *("name", "influence", "interval", "rank", "followers", "expected_ties", "ties", "action", "missing", "community"),
)
TIES = ("source", "target", "evidence", "weight", "interval", "frequency", "probability", "known")


def run_show(asked: ShowArguments) -> int:
    """Print what a model.json holds, and the most influential nodes and heaviest ties from the files in its folder."""
    voice = asked.speech.voice()
    record, place = read_record(asked.model)
    if asked.methods:
        paragraph = read_methods(place.parent / REPORT)
        voice.say(paragraph)
        voice.answer({"command": "show", "methods": paragraph})
        return DONE
    voice.say(f"{record.job.title} (from {Path(record.input.path).name})")
    say_figures(record, voice)
    voice.say(paired(settings(record), "settings"))
    nodes = None
    if record.certificate.get("influence_supported") is False:
        voice.say(NOT_CENTRAL)
    elif not (file := place.parent / NODES).is_file():
        voice.note(f"there is no {NODES} next to {place.name}, so the most influential nodes are not shown")
    elif sha256_of(file) != record.nodes_sha256:
        voice.note(f"{NODES} is not as it was written, so the most influential nodes are not shown")
    else:
        nodes = read_nodes(file, LISTED)
        if "silent" in nodes:  # such nodes are no hubs
            nodes = read_nodes(file).query("silent == 0").head(LISTED).drop(columns="silent")
        nodes = nodes[[name for name in nodes if name in OWN]]
        voice.say(listed(few_columns(nodes), "most influential"))
    ties = None
    if (edges := place.parent / EDGES).is_file() and sha256_of(edges) != record.edges_sha256:
        voice.note(f"{EDGES} is not as it was written: it is not the graph that this model certifies")
    elif edges.is_file():
        ties = read_edges(edges, LISTED)
        voice.say(listed(with_interval(ties, "low", "high", TIES), "strongest ties"))
    for note in record.notes:
        voice.say(f"note: {note}")
    voice.answer(
        {
            **answer(record),
            "command": "show",
            "title": record.job.title,
            "parameters": record.job.parameters,
            "most_influential": None if nodes is None else nodes.to_dict("records"),
            "strongest_ties": None if ties is None else records(ties),
            "versions": record.versions,
        }
    )
    return DONE


def few_columns(nodes: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of nodes that fit a terminal, an interval of ranks in one."""
    if "rank_low" in nodes:
        ends = zip(nodes["rank_low"], nodes["rank_high"], strict=True)
        nodes = nodes.assign(rank=[f"{low} to {high}" for low, high in ends])
    if "ties_low" in nodes:
        ends = zip(nodes["ties_low"], nodes["ties_high"], strict=True)
        nodes = nodes.assign(ties=[f"{low:.1f} to {high:.1f}" for low, high in ends])
    if "missing" in nodes:
        nodes = nodes.assign(missing=nodes["missing"].map("{:.0%}".format))
    return with_interval(nodes, "influence_low", "influence_high", SHOWN)


def with_interval(table: pd.DataFrame, low: str, high: str, shown: tuple[str, ...]) -> pd.DataFrame:
    """Return some columns of a table, an interval in one where there is one."""
    if low in table:
        ends = zip(table[low], table[high], strict=True)
        table = table.assign(interval=[f"{least:.2f} to {most:.2f}" for least, most in ends])
    return table[[name for name in shown if name in table]]


def records(table: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows as JSON has them, empty cells as null."""
    return [
        {str(name): None if pd.isna(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def settings(record: ModelRecord) -> dict[str, str]:
    """Return what was asked for, without what was left alone."""
    given = {**vars(record.job.table), **record.job.parameters}
    return {
        name: ",".join(value) if isinstance(value, tuple) else str(value)
        for name, value in given.items()
        if value not in (None, (), False)
    }


TOLERANCE = 1e-9  # of the heaviest weight: what rounding alone may change


def run_rerun(asked: RerunArguments) -> int:
    """Run a job again, on files that are the same (or given, by option), and say whether the graph is."""
    voice, out = asked.speech.voice(brief=True), asked.out
    earlier, place = read_record(asked.model)
    if earlier.job.method not in LEARNERS or earlier.job.command not in COMMANDS:
        what = f"{earlier.job.command} with the method {earlier.job.method}"
        raise TableError(f"{place.name} asks for {what!r}, which this nashgraph cannot do")
    stacked = earlier.job.parameters.pop("known_weights", None)
    if stacked is not None or (earlier.known is not None and earlier.job.method != TIE_MODEL):
        raise TableError(
            f"{place.name} is of a consensus that learned from known ties, which this nashgraph does not do: learn it "
            "again with --known, which is the tie model now"
        )
    file, truth, known = (
        None if then is None else found_again(then, getattr(asked, name), f"--{name}", place, asked.force, voice)
        for name, then in (("input", earlier.input), ("truth", earlier.truth), ("known", earlier.known))
    )
    assert file is not None
    changed = {
        name: (version, earlier.versions.get(name))
        for name, version in library_versions().items()
        if version != earlier.versions.get(name)
    }
    for name, (now, before) in changed.items():
        voice.note(f"{name} is {now} here and was {before}")
    record = run_job(earlier.job, Inputs(file, truth, known, place), out, voice)
    verdict = compared(earlier, place.parent / EDGES, record, out / EDGES)
    voice.say(verdict.sentence)
    told = {"same": verdict.same, "bit_identical": verdict.identical, "largest_difference": verdict.difference}
    voice.answer({**answer(record), "out": str(out), **told})
    return code_of(record) if verdict.same else UNFINISHED


class Verdict(NamedTuple):
    """Whether two graphs are the same, to the last digit or within TOLERANCE, by how much they differ, and in words."""

    same: bool
    identical: bool
    difference: float | None
    sentence: str


def compared(earlier: ModelRecord, before: Path, record: ModelRecord, now: Path) -> Verdict:
    """Compare the edges of two runs: another processor, or another version of a library, rounds in its own way."""
    if record.edges_sha256 == earlier.edges_sha256:
        return Verdict(True, True, 0.0, "the graph is the same, to the last digit")
    differs = "the graph is NOT the same as that of the model"
    if not before.is_file() or sha256_of(before) != earlier.edges_sha256:
        why = f"its {EDGES} is missing or was changed, so the difference is unknown"
        return Verdict(False, False, None, f"{differs}, to the last digit at least; {why}")
    one, two = (read_edges(file).set_index(["source", "target"])["weight"] for file in (before, now))
    difference = float(one.sub(two, fill_value=0.0).abs().max() / one.max()) if len(one) and len(two) else math.inf
    by = f"its weights differ by {difference:.1e} of the heaviest at most"
    if difference <= TOLERANCE:
        return Verdict(True, False, difference, f"the graph is the same within {TOLERANCE:g}, not bit by bit: {by}")
    return Verdict(False, False, difference if math.isfinite(difference) else None, f"{differs}: {by}")


def found_again(then: FileRecord, given: Path | None, option: str, model: Path, force: bool, voice: Voice) -> Path:
    """Return the file that a model was learned from, if it still is that file."""
    file = given or model.parent / then.path
    if not file.is_file():
        raise TableError(f"the model's file {file} is not there: give it with {option}")
    if sha256_of(file) != then.sha256:
        message = f"{file} is not the file that the model was learned from (its SHA-256 differs)"
        if not force:
            raise TableError(f"{message}: give that one with {option}, or pass --force")
        voice.note(message)
    return file
