"""Text tables: the encoding, the separator and the shape are checked before any cell is read as a number."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from ..validation import listing
from .columns import DEFAULT, is_code
from .errors import Problems, TableError, too_large
from .names import split_names
from .options import TableOptions
from .vocabulary import GAPS

SEPARATORS = (",", ";", "\t", "|")
KNOWN_BYTES = {
    b"PK\x03\x04": "it looks like an Excel file: name it .xlsx",
    b"PAR1": "it looks like a Parquet file: name it .parquet",
    b"\x93NUMPY": "it looks like a NumPy file: name it .npy",
    b"\x1f\x8b": "it looks compressed: name it .csv.gz",
    b"%PDF": "it is a PDF: copy the table into a spreadsheet and save that as .csv",
}
COMMENTS = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*[ \t]*#[^\r\n]*(?:\r\n|\r|\n)")
LONGEST = 50_000_000  # letters of a cell, or of a line that is cut at another separator
SAMPLE = 50  # rows on top that are looked at
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that no text has


def read_text(
    path: Path, options: TableOptions = DEFAULT, exact: Collection[str] = ()
) -> tuple[pd.DataFrame, list[str]]:
    """Read a text table and say what was decided about it.

    Columns in ``exact`` are kept to the letter, including empty cells. Categories and groups stay text, but may have
    gaps: 1, 01 and 1.0 are three groups.
    """
    file = path.name
    separator = options.separator
    header = options.header
    text, notes = decoded(path, options.encoding)
    text, more = _without_comments(file, text)
    notes += more
    if (lines := text.count("\n") + text.count("\r")) > options.max_cells:
        raise too_large(file, f"it has {lines:,} lines", options.max_cells)
    if not _first(text, ","):
        raise TableError(f"{file} is empty")
    if separator is None:
        separator = found_separator(text)
        if path.suffix.lower() in (".dat", ".txt") and (cut := _cut_at_blanks(text, separator)):
            text = cut
            separator = "\t"
            notes.append(f"{file}: the columns are separated by blanks")
        elif separator != ("\t" if path.suffix.lower() == ".tsv" else ","):
            notes.append(f"{file}: the separator is {separator!r}")
    if (cells := lines + text.count(separator)) > options.max_cells:
        raise too_large(file, f"it has {cells:,} cells or more", options.max_cells)
    if header:
        text, more = _without_titles(file, text, separator)
        header, also = _has_names(file, text, separator)
        notes += more + also
    names = _checked_shape(file, text, separator, header)
    kept = {*exact, *options.categorical, *split_names(options.categorical, ()), options.group} & {*names}
    reading: dict[str, Any] = {"separator": separator, "decimal": options.decimal, "header": header}
    read = functools.partial(_read_csv, file, text, separator, names, header, {*exact} & {*names})
    if re.search(rf'(?m)(?:^|["\s]|{re.escape(separator)})(?:0\d|\d{{16}})', text):
        letters = read(dtype=str)
        kept |= {name for name in names if is_code(letters[name])}
    table = read(dtype=dict.fromkeys(kept, str), decimal=options.decimal)
    table.attrs["reading"] = reading | {"encoding": options.encoding or encoding_of(path.read_bytes())}
    return table, notes


def _read_csv(
    file: str, text: str, separator: str, names: list[str], header: bool, exact: Collection[str], **more: Any
) -> pd.DataFrame:
    # Only the slower engine knows separators beyond ASCII.
    if separator.isascii():
        engine: dict[str, Any] = {"engine": "c", "low_memory": False}
    else:
        engine = {"engine": "python"}
    try:
        return pd.read_csv(
            _lines(text),
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


def _lines(text: str) -> io.TextIOWrapper:
    """Return a text as an open file, which takes a quarter of the memory that StringIO does."""
    coded = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    return io.TextIOWrapper(coded, encoding="utf-8", errors="surrogatepass", newline="")


def _rows(file: str, text: str, separator: str, *, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text that are not blank, each with the number of its last line."""
    # The limit on a field is the whole program's, so it is only ever raised: one line may hold 20,000 sensors. The
    # reader has four bytes for each letter of a field, so there has to be one.
    csv.field_size_limit(max(csv.field_size_limit(), min(len(text), LONGEST)))
    reader = csv.reader(_lines(text), delimiter=separator, skipinitialspace=True, strict=strict)
    try:
        start = 1
        for row in reader:
            start = reader.line_num + 1
            if row not in ([], [""]):
                yield reader.line_num, row
    except csv.Error as error:
        why: object = error
        if "field limit" in str(error):
            why = f"a cell has more than {LONGEST:,} letters: is the quotation mark missing that ends it?"
        elif "unexpected end" in str(error):
            why = f"a quotation mark in line {start} is never closed: remove it, or put one at the end of its cell"
        raise TableError(f"{file}: line {reader.line_num} cannot be read: {why}") from error


def _first(text: str, separator: str) -> list[str]:
    """Return the first row that is not blank, if there is one."""
    return next(_rows("the text", text, separator, strict=False), (0, []))[1]


def _without_comments(file: str, text: str) -> tuple[str, list[str]]:
    """Return a text with the comments on top emptied, so that lines keep their numbers, and a note of them.

    The last of them may name the columns: it has as many words as the first row below has cells, some of them numbers.
    """
    if not (comments := COMMENTS.match(text)):
        return text, []
    lines = comments[0].splitlines()
    rest = text[comments.end() :]
    last = lines[-1].lstrip(" \t#")
    separator = found_separator(rest) if rest.strip() else ","
    names = _first(last, separator)
    first = _first(rest, separator)
    if len(names) == len(first) > 1 and not any(map(_is_number, names)) and any(map(_is_number, first)):
        note = f"{file}: the last line on top that begins with '#' was taken as names"
        return "\n" * (len(lines) - 1) + f"{last}\n{rest}", [note]
    return "\n" * len(lines) + rest, [f"{file}: left out {len(lines)} line(s) on top that begin with '#'"]


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows above the header are titles: at most ten, few cells filled in, and names below them."""
    filled = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    width = max((len(cells) for cells in filled), default=0)
    for k, cells in enumerate(filled[:11]):
        if len(cells) > max(1, width // 3):
            # A single row of data, or a header with one name, must not be mistaken for a title.
            named = not any(_is_number(cell) for row in filled[: k + 1] for cell in row) and k + 1 < len(rows)
            return k if named and width > 1 and 2 * len(cells) > width else 0
    return 0


def _without_titles(file: str, text: str, separator: str) -> tuple[str, list[str]]:
    """Return a text with the titles above its header emptied, so that lines keep their numbers, and a note of them."""
    rows = list(islice(_rows(file, text, separator, strict=False), SAMPLE))
    if not (count := title_rows([row for _, row in rows])):
        return text, []
    end = rows[count - 1][0]
    note = titles_note(file, [row for _, row in rows[:count]])
    return "\n" * end + "".join(text.splitlines(keepends=True)[end:]), [note]


def titles_note(file: str, rows: Sequence[Sequence[str]]) -> str:
    """Return what is said of rows of titles that were left out."""
    titles = [repr(" ".join(row).strip()) for row in rows]
    return f"{file}: left out {len(titles)} line(s) above the names of the columns: {listing(titles, 2)}"


def _has_names(file: str, text: str, separator: str) -> tuple[bool, list[str]]:
    """Tell whether the first line names the columns: numbers may, if all are different."""
    first = _first(text, separator)
    if not all(map(_is_number, first)):
        return True, []
    if len({*first}) < len(first):
        return False, [f"{file}: the first line has numbers only, some of them twice, and was read as data"]
    return True, [f"{file}: the first line has numbers only and was read as names; --set header=no reads it as data"]


def _cut_at_blanks(text: str, separator: str) -> str:
    """Return a text with tabs between what blanks separate, if all its lines then have as many fields, else nothing."""
    if '"' in text or len(_first(text, separator)) > 1:
        return ""
    rows = [line.split() for line in text.splitlines()]
    widths = {len(row) for row in rows if row}
    if len(widths) == 1 and widths != {1}:
        return "\n".join("\t".join(row) for row in rows)
    return ""


def decoded(path: Path, encoding: str | None = None) -> tuple[str, list[str]]:
    """Return a file's text and a note if its encoding was guessed, or say at which byte it stops being text.

    Without an encoding it is UTF-8, UTF-16 if it begins with its mark, or else Windows-1252, Latin-1 with a few more
    letters, which most programs of Western Europe and America wrote.
    """
    content = path.read_bytes()
    notes = list[str]()
    hint = next((hint for start, hint in KNOWN_BYTES.items() if content.startswith(start)), "")
    if encoding is None:
        encoding = "utf-8" if hint else encoding_of(content)
        if encoding in ("latin-1", "cp1252"):
            called = "Latin-1" if encoding == "latin-1" else "Windows-1252"
            notes = [
                f"{path.name} is not UTF-8 and was read as {called}; if letters are wrong, pass --set encoding=NAME"
            ]
    try:
        # The byte-order mark that spreadsheets put first is not part of the first name.
        text = content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except LookupError as error:
        raise TableError(f"encoding {encoding!r} is not known: try utf-8, latin-1, cp1252 or utf-16") from error
    except UnicodeDecodeError as error:
        advice = hint or "pass --set encoding=latin-1, or cp1252"
        place = f"byte {error.start} (0x{content[error.start : error.start + 1].hex()})"
        raise TableError(f"{path.name} is not {encoding} text: {place} is not part of it; {advice}") from error
    except Exception as error:  # whatever an encoding meets that is not for files
        raise TableError(f"{path.name} cannot be read as {encoding}: try utf-8, latin-1, cp1252 or utf-16") from error
    if "\0" in text:
        first = text.index("\0")
        advice = hint or "is it a table at all?"
        if set(text[1:200:2]) == {"\0"}:
            advice = "pass --set encoding=utf-16-le"
        elif text.count("\0") == 1:
            advice = f"remove the character NUL in line {text.count(chr(10), 0, first) + 1}"
        raise TableError(f"{path.name} is a binary file, not text (a zero at character {first}): {advice}")
    if not text.strip():
        raise TableError(f"{path.name} is empty")
    return text, notes


def encoding_of(content: bytes) -> str:
    """Return the encoding of text: by its first bytes, or UTF-8 if it can be that, or Windows-1252 and its relative."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if CONTROLS.search(content) or _is_utf8(content):
        return "utf-8"
    if {*content} & {0x81, 0x8D, 0x8F, 0x90, 0x9D}:
        return "latin-1"
    return "cp1252"


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def found_separator(text: str) -> str:
    """Return the separator that cuts the first lines into the most columns, all alike.

    Where none cuts them alike, the one that cuts the first line into most columns is returned, so that the line that
    differs can be named.
    """

    def columns(separator: str) -> tuple[int, int]:
        rows = [row for _, row in islice(_rows("the text", text, separator, strict=False), SAMPLE)]
        widths = [len(row) for row in rows[title_rows(rows) :]]
        if widths:
            return (widths[0] if len(set(widths)) == 1 and widths[0] > 1 else 0, widths[0])
        return (0, 0)

    return max(SEPARATORS, key=columns)


def _checked_shape(file: str, text: str, separator: str, header: bool) -> list[str]:
    """Return the column names after checking that every line has as many fields as the first."""
    rows = _rows(file, text, separator)
    problems = Problems()
    first = next(rows)[1]
    other = max(SEPARATORS, key=lambda mark: len(_first(text, mark)))
    if len(first) == 1 and (width := len(_first(text, other))) > 1:
        raise TableError(
            f"{file} has one column only with the separator {separator!r}; {other!r} would give {width}: pass "
            f"--set separator={other!r}"
        )
    widths = [(line, len(row)) for line, row in rows]
    # Notes below a table have fewer cells than it: they are read, and left out later.
    few = max(1, len(first) // 3)
    while len(widths) > 1 and len(first) > 2 and widths[-1][1] <= few and widths[0][1] == len(first):
        widths.pop()
    if header and not widths:
        raise TableError(f"{file} has a header and no rows below it")
    if wrong := [(line, width) for line, width in widths if width != len(first)]:
        line, width = wrong[0]
        fields = "1 field" if width == 1 else f"{width} fields"
        if len(wrong) > 1:
            more = f"; so it is in {len(wrong)} lines: {listing(line for line, _ in wrong)}"
        else:
            more = ""
        problems.found.append(f"{file}: line {line} has {fields} and the first line has {len(first)}{more}")
    names = [f"column {k + 1}" for k in range(len(first))]
    if header:
        with problems.kept():
            names = checked_names(file, first)
    problems.refuse()
    return names


def checked_names(file: str, names: list[str]) -> list[str]:
    """Return the column names: no two alike; a first one may be empty (row names), others get their number."""
    named = [name if name or k == 0 else f"column {k + 1}" for k, name in enumerate(names)]
    if len(set(named)) < len(named):
        doubled = sorted({name for name in named if named.count(name) > 1})
    else:
        doubled = []
    if doubled:
        places = listing([k + 1 for k, name in enumerate(named) if name == doubled[0]])
        raise TableError(f"{file} has the column name {doubled[0]!r} more than once (columns {places}): rename them")
    return named


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
