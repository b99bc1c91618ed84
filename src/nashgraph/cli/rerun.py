"""``nashgraph rerun``: what a model.json says, done again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..estimators import METHODS
from ..tables import FileRecord, TableError, library_versions, read_record, sha256_of
from ._jobs import COMMANDS, Inputs, answer, code_of, run_job
from ._options import SpeechArguments
from ._running import UNFINISHED, Voice


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
    same = record.edges_sha256 == earlier.edges_sha256
    voice.say("the graph is the same, to the last digit" if same else "the graph is NOT the same as that of the model")
    voice.answer({**answer(record), "out": str(out), "same": same})
    return code_of(record) if same else UNFINISHED


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
