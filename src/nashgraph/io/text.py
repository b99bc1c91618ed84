"""Text tables: the encoding, the separator and the shape are checked before any cell is read as a number."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..validation import listing
from .columns import is_code
from .errors import Problems, TableError, too_large
from .options import MAX_CELLS

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
KNOWN_BYTES = {
    b"PK\x03\x04": "it looks like an Excel file: name it .xlsx",
    b"PAR1": "it looks like a Parquet file: name it .parquet",
    b"\x93NUMPY": "it looks like a NumPy file: name it .npy",
    b"\x1f\x8b": "it looks compressed: name it .csv.gz",
}
COMMENTS = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*[ \t]*#[^\r\n]*(?:\r\n|\r|\n)")
SAMPLE = 50
TITLES = 10  # rows above the header that may be titles
UTF16 = (b"\xff\xfe", b"\xfe\xff")
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that no text has
# What pandas takes for a gap, written out so that columns of names can be spared. "None" is not among them: people
# answer it ("Which party do you support?").
GAPS = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
]


def read_text(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    header: bool = True,
    exact: Collection[str] = (),
    as_text: Collection[str] = (),
    max_cells: int = MAX_CELLS,
) -> tuple[pd.DataFrame, list[str]]:
    r"""Read a text table and say what was decided about it.

    Columns in ``exact`` are kept to the letter, including empty cells; those in ``as_text`` stay text, but may have
    gaps.
    """
    text, notes = decoded(path, encoding)
    text, more = without_comments(path.name, text)
    notes += more
    if (lines := text.count("\n") + text.count("\r")) > max_cells:
        raise too_large(path.name, f"it has {lines:,} lines", max_cells)
    if next(_Rows(text, ",", strict=False), None) is None:
        raise TableError(f"{path.name} is empty")
    if separator is None:
        separator = found_separator(text)
        if path.suffix.lower() in (".dat", ".txt") and (cut := _cut_at_blanks(text, separator)):
            text, separator = cut, "\t"
            notes.append(f"{path.name}: the columns are separated by blanks")
        elif separator != ("\t" if path.suffix.lower() == ".tsv" else ","):
            notes.append(f"{path.name}: the separator is {separator!r}")
    if (cells := lines + text.count(separator)) > max_cells:
        raise too_large(path.name, f"it has {cells:,} cells or more", max_cells)
    if header:
        text, more = _without_titles(path.name, text, separator)
        header, also = _has_names(path.name, text, separator)
        notes += more + also
    names = checked_shape(path.name, text, separator, header)
    kept = {*exact, *as_text} & {*names}
    read = functools.partial(_read_csv, path.name, text, separator, names, header, {*exact} & {*names})
    if re.search(rf'(?m)(?:^|["\s]|{re.escape(separator)})(?:0\d|\d{{16}})', text):
        letters = read(dtype=str)
        kept |= {name for name in names if is_code(letters[name])}
    return read(dtype=dict.fromkeys(kept, str), decimal=decimal), notes


def _read_csv(
    file: str, text: str, separator: str, names: list[str], header: bool, exact: Collection[str], **more: Any
) -> pd.DataFrame:
    # Only the slower engine knows separators beyond ASCII.
    engine: dict[str, Any] = {"engine": "c", "low_memory": False} if separator.isascii() else {"engine": "python"}
    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            names=names,
            header=0 if header else None,
            index_col=False,
            keep_default_na=False,
            na_values={name: GAPS for name in names if name not in exact} if exact else GAPS,
            skipinitialspace=True,
            **engine,
            **more,
        )
    except pd.errors.ParserError as error:
        raise TableError(f"{file} cannot be read as a table: {error}") from error


def without_comments(file: str, text: str) -> tuple[str, list[str]]:
    r"""Return a text with the comments on top emptied, so that lines keep their numbers, and a note of them."""
    if not (comments := COMMENTS.match(text)):
        return text, []
    lines, rest = comments[0].splitlines(), text[comments.end() :]
    if _is_heading(last := lines[-1].lstrip(" \t#"), rest):
        note = f"{file}: the last line on top that begins with '#' was taken as names"
        return "\n" * (len(lines) - 1) + f"{last}\n{rest}", [note]
    return "\n" * len(lines) + rest, [f"{file}: left out {len(lines)} line(s) on top that begin with '#'"]


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows above the header are titles: few cells filled in, and names of columns below them."""
    filled = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    width = max((len(cells) for cells in filled), default=0)
    for k, cells in enumerate(filled[: TITLES + 1]):
        if len(cells) > max(1, width // 3):
            # A single row of data, or a header with one name, must not be mistaken for a title.
            named = not any(_is_number(cell) for row in filled[: k + 1] for cell in row) and k + 1 < len(rows)
            return k if named and width > 1 and 2 * len(cells) > width else 0
    return 0


def _without_titles(file: str, text: str, separator: str) -> tuple[str, list[str]]:
    """Return a text with the titles above its header emptied, so that lines keep their numbers, and a note of them."""
    reader = _Rows(text, separator, strict=False)
    rows = [(row, reader.line) for row, _ in zip(reader, range(SAMPLE), strict=False)]
    if not (count := title_rows([row for row, _ in rows])):
        return text, []
    lines = text.splitlines(keepends=True)
    end = rows[count - 1][1]
    return "\n" * end + "".join(lines[end:]), [titles_note(file, [" ".join(row).strip() for row, _ in rows[:count]])]


def titles_note(file: str, titles: Sequence[str]) -> str:
    """Return what is said of titles that were left out."""
    return f"{file}: left out {len(titles)} line(s) above the names of the columns: {listing(map(repr, titles), 2)}"


def _has_names(file: str, text: str, separator: str) -> tuple[bool, list[str]]:
    """Tell whether the first line names the columns: numbers may, if all are different."""
    first = next(_Rows(text, separator, strict=False), [])
    if not all(map(_is_number, first)):
        return True, []
    if len({*first}) < len(first):
        return False, [f"{file}: the first line has numbers only, some of them twice, and was read as data"]
    return True, [f"{file}: the first line has numbers only and was read as names; --no-header reads it as data"]


def _cut_at_blanks(text: str, separator: str) -> str:
    """Return a text with tabs between what blanks separate, if all its lines then have as many fields, else nothing."""
    if '"' in text or len(next(_Rows(text, separator, strict=False), [])) > 1:
        return ""
    rows = [line.split() for line in text.splitlines()]
    widths = {len(row) for row in rows if row}
    return "\n".join("\t".join(row) for row in rows) if len(widths) == 1 and widths != {1} else ""


def _is_heading(comment: str, rest: str) -> bool:
    """Tell whether a comment names the columns of what follows: as many words, and there are numbers below them."""
    separator = found_separator(rest) if rest.strip() else ","
    names = next(_Rows(comment, separator, strict=False), [])
    first = next(_Rows(rest, separator, strict=False), [])
    return len(names) == len(first) > 1 and not any(map(_is_number, names)) and any(map(_is_number, first))


def decoded(path: Path, encoding: str | None = None) -> tuple[str, list[str]]:
    r"""Return a file's text and a note if its encoding was guessed, or say at which byte it stops being text.

    Without an encoding it is UTF-8, UTF-16 if it begins with its mark, or else Windows-1252, Latin-1 with a few more
    letters, which most programs of Western Europe and America wrote.
    """
    content, notes = path.read_bytes(), list[str]()
    hint = next((hint for start, hint in KNOWN_BYTES.items() if content.startswith(start)), "")
    if encoding is None:
        encoding = "utf-16" if content.startswith(UTF16) else "utf-8"
        if encoding == "utf-8" and not hint and not CONTROLS.search(content) and not _is_utf8(content):
            encoding = "latin-1" if {*content} & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else "cp1252"
            called = "Latin-1" if encoding == "latin-1" else "Windows-1252"
            notes = [f"{path.name} is not UTF-8 and was read as {called}; if letters are wrong, pass --encoding"]
    try:
        # The byte-order mark that spreadsheets put first is no part of the first name.
        text = content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except LookupError as error:
        raise TableError(f"encoding {encoding!r} is not known: try utf-8, latin-1, cp1252 or utf-16") from error
    except UnicodeDecodeError as error:
        advice = hint or "pass --encoding, for example latin-1 or cp1252"
        place = f"byte {error.start} (0x{content[error.start : error.start + 1].hex()})"
        raise TableError(f"{path.name} is not {encoding} text: {place} is not part of it; {advice}") from error
    except Exception as error:  # whatever an encoding meets that is not for files
        raise TableError(f"{path.name} cannot be read as {encoding}: try utf-8, latin-1, cp1252 or utf-16") from error
    if "\0" in text:
        advice = hint or "is it a table at all?"
        raise TableError(f"{path.name} is a binary file, not text (a zero at character {text.index(chr(0))}): {advice}")
    if not text.strip():
        raise TableError(f"{path.name} is empty")
    return text, notes


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def found_separator(text: str) -> str:
    r"""Return the separator that cuts the first lines into the most columns, all alike.

    Where none cuts them alike, the one that cuts the first line into most columns is returned, so that the line that
    differs can be named.
    """

    def columns(separator: str) -> tuple[int, int]:
        rows = [row for row, _ in zip(_Rows(text, separator, strict=False), range(SAMPLE), strict=False)]
        widths = [len(row) for row in rows[title_rows(rows) :]]
        return (widths[0] if len(set(widths)) == 1 and widths[0] > 1 else 0, widths[0]) if widths else (0, 0)

    return max(SEPARATORS, key=columns)


def checked_shape(name: str, text: str, separator: str, header: bool) -> list[str]:
    r"""Return the column names after checking that every line has as many fields as the first."""
    reader, problems = _Rows(text, separator), Problems()
    try:
        first = next(reader)
        other = max(SEPARATORS, key=lambda mark: len(next(_Rows(text, mark, strict=False))))
        width = len(next(_Rows(text, other, strict=False)))
        if len(first) == 1 and width > 1:
            raise TableError(
                f"{name} has one column only with the separator {separator!r}; {other!r} would give {width}: pass "
                f"--separator {other!r}"
            )
        widths = [(reader.line, len(row)) for row in reader]
    except csv.Error as error:
        raise TableError(f"{name}: line {reader.line} cannot be read: {error}") from error
    if header and not widths:
        raise TableError(f"{name} has a header and no rows below it")
    with problems.kept():
        _check_widths(name, widths, len(first))
    names = [f"column {k + 1}" for k in range(len(first))]
    if header:
        with problems.kept():
            names = checked_names(name, first)
    problems.refuse()
    return names


def _check_widths(name: str, widths: list[tuple[int, int]], wanted: int) -> None:
    """Refuse lines with more or fewer fields than the first, the first of them with its number of fields."""
    wrong = [(line, width) for line, width in widths if width != wanted]
    if wrong:
        line, width = wrong[0]
        fields = "1 field" if width == 1 else f"{width} fields"
        more = f"; so it is in {len(wrong)} lines: {listing(line for line, _ in wrong)}" if len(wrong) > 1 else ""
        raise TableError(f"{name}: line {line} has {fields} and the first line has {wanted}{more}")


def checked_names(file: str, names: list[str]) -> list[str]:
    """Return the column names: no two alike; a first one may be empty (row names), others get their number."""
    named = [name if name or k == 0 else f"column {k + 1}" for k, name in enumerate(names)]
    doubled = sorted({name for name in named if named.count(name) > 1}) if len(set(named)) < len(named) else []
    if doubled:
        places = listing([k + 1 for k, name in enumerate(named) if name == doubled[0]])
        raise TableError(f"{file} has the column name {doubled[0]!r} more than once (columns {places}): rename them")
    return named


class _Rows:
    """The rows of a text that are not blank, and the line of the last one read."""

    def __init__(self, text: str, separator: str, *, strict: bool = True) -> None:
        # The limit on a field is the whole program's, so it is only ever raised: one line may hold 20,000 sensors.
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))
        lines = io.StringIO(text, newline="")
        self.reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=strict)

    @property
    def line(self) -> int:
        return self.reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        row = next(self.reader)
        while row in ([], [""]):
            row = next(self.reader)
        return row


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
