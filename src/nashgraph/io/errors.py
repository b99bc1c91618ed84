"""The one error of this package: a user's file or its contents cannot be used, and the message says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..validation import InputError

WRITTEN_AS_TEXT = (".json", ".jsonl", ".ndjson", ".por", ".graphml", ".xml", ".gml", ".net", ".paj", ".pajek", ".dl")


class TableError(InputError):
    """A file that cannot be used as it is; the message names the place and the remedy."""


def too_large(file: str, what: str, max_cells: int) -> TableError:
    """Return the error of a file that has more cells or bytes than are allowed, and how to allow more."""
    return TableError(
        f"{file} is too large: {what}, and tables of up to {max_cells:,} cells are read; for the table to learn from, "
        f"raise this limit if it is right, for example --set max_cells={10 * max_cells}"
    )


class Problems:
    """The problems of a file, collected so that all are reported at once."""

    def __init__(self) -> None:
        self.found: list[str] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Store errors raised inside, to report all of them later."""
        try:
            yield
        except InputError as error:
            self.found += [str(error)] if str(error) not in self.found else []

    def refuse(self) -> None:
        """Raise all stored problems as one error, if there are any."""
        listed = "; ".join(f"({k + 1}) {problem}" for k, problem in enumerate(self.found))
        if self.found:
            raise TableError(f"{len(self.found)} problems: {listed}" if len(self.found) > 1 else self.found[0])


def cannot_read(path: Path, kind: str) -> TableError:
    """Return the error of a file that its reader does not understand; what the reader says is for programmers."""
    start = path.read_bytes()[:1000]
    text = start.isascii() and b"\0" not in start and path.suffix.lower() not in WRITTEN_AS_TEXT
    if text:
        remedy = "it holds text: name it .csv"
    else:
        remedy = "it is damaged or named wrongly: save it again, or as .csv"
    return TableError(f"{path.name} cannot be read as {kind}; {remedy}")


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn any error of a parser into one that names the file."""
    try:
        yield
    except (ImportError, PermissionError, TableError):
        raise
    except MemoryError as error:
        raise TableError(f"{path.name} needs more memory than there is: drop long texts, or save a part") from error
    except Exception as error:
        raise cannot_read(path, kind) from error
