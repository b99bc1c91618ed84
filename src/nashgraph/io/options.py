"""How a file becomes signals: everything a user may choose about it, in one record that JSON can hold."""

from __future__ import annotations

from dataclasses import dataclass

from ..validation import InputError, check_choice

# a table of numbers in text has 5 to 20 bytes a cell
MAX_CELLS = 50_000_000
BYTES_A_CELL = 20
ID_NAMES = tuple(write(name) for name in ("id", "name", "node") for write in (str.lower, str.upper, str.title))


@dataclass(frozen=True)
class TableOptions:
    """Choices about a table of signals; the command line has an option for each.

    Attributes
    ----------
    nodes : "rows" (a survey, one person each) or "columns" (a recording, one sensor each)
    id : str, optional
        Column that names the rows; "none" takes row numbers. None takes a column called id, name or node, a first one
        without a name, or one that plainly names the rows.
    drop, keep : tuple of str
        Columns to leave out, and columns to take as the numbers they are, though they look like codes or are absurd.
    benefit : str, optional
        Column (with nodes in columns: row) of marginal benefits, one per node; it is not used as a signal then.
    categorical : tuple of str
        Columns to code as signals of 0 and 1, one per value, in addition to text; "none" takes only those named.
    ordinal : tuple of str
        Columns of levels to be numbered: a name, or names with levels from the lowest up, "q1,q2=never<rarely<often".
    na : tuple of str
        Codes for missing values, anywhere ("-99") or in one column ("q1=9"); "none" recognises no others.
    counts : tuple of str
        Columns that count ties with a trait, each with the trait's 0/1 column, "n_weavers=weaver", or with one value
        of a column, "n_weavers=job=weaver". These, ``ties`` and ``names`` are for TieModel, and never signals.
    ties, names : str, optional, and tuple of str
        Column with a node's own number of ties, and columns with names of those a node is tied to.
    gossip : tuple of str
        Columns with names of those who would spread news best; how often a node is named becomes its benefit.
    alters : str, optional
        A table with a row for every person that a node named (Network Canvas, egor), to be counted by its columns.
    group, only : str, optional
        Column that tells groups apart, each with a network of its own, and the one group that is meant.
    missing : "auto", "error", "pairwise" or "impute"
        Refuse gaps ("error"), leave them for a method that compares two nodes over what both have ("pairwise"), or fill
        them from the nearest nodes ("impute"). "auto" leaves them where the method allows it and else fills them.
    standardize : bool, optional
        Bring every signal to mean 0 and spread 1 over the nodes. None does so for nodes in rows, and for nodes in
        columns if the spreads of the signals are more than tenfold apart.
    long : bool
        Whether a row holds one answer: who, the question, the answer.
    separator, encoding, header, decimal, thousands
        Of text files; None detects the separator, the encoding and the mark between groups of three digits.
    sheet, array : str, optional
        Of an Excel file (None is the first), and of an NPZ file with several arrays.
    max_cells : int
        Tables of more cells, and files of more than 20 bytes for each of them, are refused before they use up the
        memory: a small packed file may hold far more than anybody has.
    """

    nodes: str = "rows"
    id: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    benefit: str | None = None
    categorical: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    ties: str | None = None
    names: tuple[str, ...] = ()
    gossip: tuple[str, ...] = ()
    alters: str | None = None
    group: str | None = None
    only: str | None = None
    missing: str = "auto"
    standardize: bool | None = None
    long: bool = False
    separator: str | None = None
    encoding: str | None = None
    decimal: str = "."
    thousands: str | None = None
    header: bool = True
    sheet: str | None = None
    array: str | None = None
    max_cells: int = MAX_CELLS

    def __post_init__(self) -> None:
        """Refuse unknown values."""
        check_choice("nodes", self.nodes, ("rows", "columns"))
        check_choice("missing", self.missing, ("auto", "error", "pairwise", "impute"))
        if self.max_cells < 1:
            raise InputError(f"max_cells must be at least 1, got {self.max_cells}")
        check_choice("decimal", self.decimal, (".", ","))
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '\n\r"'):
            what = "one character, no quote or end of line"
            raise InputError(f"separator must be {what}, got {self.separator!r}: for example ';'")
        if self.thousands is not None and (len(self.thousands) != 1 or self.thousands == self.decimal):
            what = "one character and not the decimal mark"
            raise InputError(f"thousands must be {what}, got {self.thousands!r}: for example ','")


def name_columns(options: TableOptions) -> list[str]:
    """Return the columns that may name the rows or ties: there 007 and NA stay what they are."""
    friends = [*options.names, *(name for names in options.names for name in names.split(","))]
    if options.id is not None:
        return [options.id, *friends]
    guessed = ["", *ID_NAMES] if options.nodes == "rows" else [""]
    return [*(name for name in guessed if name not in options.categorical), *friends]
