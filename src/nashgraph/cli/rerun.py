"""``nashgraph rerun``: what a model.json says, done again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..estimators import METHODS
from ..io import FileRecord, ModelRecord, TableError, library_versions, read_edges, read_record, sha256_of
from ._jobs import COMMANDS, Inputs, answer, code_of, run_job
from ._options import SpeechArguments
from ._running import UNFINISHED, Voice
from ._writing import EDGES

TOLERANCE = 1e-9  # of the heaviest weight: what rounding alone may change


def run_rerun(model: Path, out: Path, *, given: Mapping[str, Path | None], force: bool, speech: SpeechArguments) -> int:
    """Run a job again, on files that are the same (or given, by option), and say whether the graph is."""
    voice = speech.voice()
    earlier, place = read_record(model)
    if earlier.job.method not in METHODS or earlier.job.command not in COMMANDS:
        asked = f"{earlier.job.command} with the method {earlier.job.method}"
        raise TableError(f"{place.name} asks for {asked!r}, which this nashgraph cannot do")
    then = {"--input": earlier.input, "--truth": earlier.truth, "--known": earlier.known}
    file, truth, known = (
        None if record is None else _found(record, given[option], option, place, force, voice)
        for option, record in then.items()
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
        why = f"its {EDGES} is not beside the model as it was written, so nobody knows by how much"
        return Verdict(False, False, None, f"{differs}, to the last digit at least; {why}")
    one, two = (read_edges(file).set_index(["source", "target"])["weight"] for file in (before, now))
    difference = float(one.sub(two, fill_value=0.0).abs().max() / one.max()) if len(one) and len(two) else math.inf
    by = f"its weights differ by {difference:.1e} of the heaviest at most"
    if difference <= TOLERANCE:
        return Verdict(True, False, difference, f"the graph is the same within {TOLERANCE:g}, not bit by bit: {by}")
    return Verdict(False, False, difference if math.isfinite(difference) else None, f"{differs}: {by}")


def _found(then: FileRecord, given: Path | None, option: str, model: Path, force: bool, voice: Voice) -> Path:
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
