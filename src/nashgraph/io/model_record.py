"""model.json: the job, its result and its certificate; enough to run it again.

The dataclasses are its schema: every field is checked by its type, and an unknown field is refused, because it may
change what a rerun does. A new field has a default, so that earlier files are read; another meaning is a new VERSION.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import msgspec

from .errors import TableError
from .options import TableOptions
from .read import check_file

FORMAT = "nashgraph model"
VERSION = 1
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Figure = bool | int | float | str | None
NO_MODEL = "give the model.json that nashgraph learn wrote, or its folder; for a table use nashgraph learn"


@dataclass(frozen=True)
class FileRecord:
    """An input file: its path relative to model.json, and a hash of its bytes."""

    path: str
    sha256: str
    bytes: Count


@dataclass(frozen=True)
class Job:
    """All that was asked for: the same job on the same file gives the same graph."""

    command: str  # "learn" or "path"
    method: str
    parameters: dict[str, Any] = field(default_factory=dict)  # all of the method's; ``table`` has a benefit column
    table: TableOptions = field(default_factory=TableOptions)
    directed: bool = True  # whether the graph is written with directions
    least_frequency: float | None = None  # share of a consensus's members that must have a tie for it to be written
    false_edges: float | None = None  # how many ties by chance a selection of a consensus's ties may have
    truth_directed: bool = False  # whether a truth given as text has directions
    title: str = ""  # of the report
    plan: str = ""  # how the study was read, as the text of a plan


@dataclass(frozen=True)
class ModelRecord:
    """The content of model.json."""

    job: Job
    input: FileRecord
    truth: FileRecord | None
    nodes: Count
    signals: Count
    edges: Count
    edges_sha256: str  # of edges.csv: tells whether two graphs are the same to the last digit
    nodes_sha256: str = ""
    certificate: dict[str, Figure] = field(default_factory=dict)  # with the method's own figures (lam, objective, ...)
    scores: dict[str, float | None] = field(default_factory=dict)  # against the truth
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0  # of the fit
    versions: dict[str, str] = field(default_factory=dict)  # of Python and the libraries
    known: FileRecord | None = None  # the known ties
    signal_names: list[str] = field(default_factory=list)  # of the signals that were used
    members_sha256: str = ""  # of members.npz
    alters: FileRecord | None = None  # the table of alters


def file_record(path: Path, seen_from: Path) -> FileRecord:
    """Return where a file lies, seen from a folder, and its hash."""
    place = path.resolve()
    with suppress(ValueError):  # on another drive
        place = Path(os.path.relpath(place, seen_from.resolve()))
    return FileRecord(place.as_posix(), sha256_of(path), path.stat().st_size)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def library_versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    found = {"python": platform.python_version()}
    for package in ("nashgraph", "numpy", "scipy", "numba", "scikit-learn", "pandas", "networkx"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a folder that was never installed
            found[package] = "unknown"
    return found


def record_to_json(record: ModelRecord) -> str:
    """Return model.json's text: strict JSON, numbers that are not finite as null."""
    finite = json.loads(json.dumps(asdict(record)), parse_constant=lambda name: None)
    content = {"format": FORMAT, "version": VERSION, **finite}
    return json.dumps(content, indent=2, allow_nan=False) + "\n"  # in ASCII: a path need not be proper text


def record_from_json(text: str, name: str = "model.json") -> ModelRecord:
    """Return the record in model.json's text, or raise an error that says what is wrong."""
    try:
        content = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except RecursionError as error:
        raise TableError(f"{name} is not a model of nashgraph: it is nested too deeply") from error
    except ValueError as error:  # JSONDecodeError, or a number of thousands of digits
        raise TableError(f"{name} is not JSON, so it is not a model of nashgraph: {NO_MODEL}") from error
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise TableError(f"{name} is not a model of nashgraph: {NO_MODEL}")
    if (found := content.pop("version", None)) != VERSION:
        raise TableError(f"{name} has version {found!r} and this nashgraph reads version {VERSION}: update one of them")
    # Of earlier versions: weights learned from known ties, and another name of the smoothness cost.
    content.pop("known_weights", None)
    if isinstance(figures := content.get("certificate"), dict) and "fidelity" in figures:
        figures["smoothness_cost"] = figures.pop("fidelity")
    try:
        record = msgspec.convert(content, ModelRecord)
    except (msgspec.ValidationError, UnicodeError, RecursionError) as error:
        what, _, place = str(error).partition(" - at `$.")
        raise TableError(
            f"{name} is damaged at {place.rstrip('`') or 'its top'}: {what[:1].lower()}{what[1:]}"
        ) from error
    for place in _unknown(content, record):
        raise TableError(f"{name} has a field {place!r} that this nashgraph does not know: update nashgraph")
    return record


def _finite(text: str) -> float | None:
    """Return a number, or None for one that is not finite, as it is written."""
    return number if math.isfinite(number := float(text)) else None


def _unknown(content: Any, record: Any, place: str = "") -> Iterator[str]:
    """Yield the fields of a file that the schema does not have."""
    if is_dataclass(record):
        known = {field.name for field in fields(record)}
        for name, value in content.items():
            if name not in known:
                yield f"{place}{name}"
            else:
                yield from _unknown(value, getattr(record, name), f"{place}{name}.")


def read_record(path: Path) -> tuple[ModelRecord, Path]:
    """Return the record in a model.json, or in the folder of one, and its path."""
    path = check_file(path / "model.json" if path.is_dir() else path)
    if not path.is_file():  # reading a pipe would wait for somebody to write
        raise TableError(f"{path.name} is not a file: {NO_MODEL}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TableError(f"{path.name} is not text, so it is not a model of nashgraph: {NO_MODEL}") from error
    return record_from_json(text, path.name), path
