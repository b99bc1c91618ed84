"""How a file becomes signals: everything a user may choose about it, in one record that JSON can hold."""

from __future__ import annotations

from dataclasses import dataclass

from ..validation import InputError, check_choice

NODES = ("rows", "columns")
MISSING = ("auto", "error", "pairwise", "impute")
MAX_CELLS, BYTES_A_CELL = 50_000_000, 20  # a table of numbers in text has 5 to 20 bytes a cell
ID_NAMES = tuple(write(name) for name in ("id", "name", "node") for write in (str.lower, str.upper, str.title))


@dataclass(frozen=True)
class TableOptions:
    """Choices about a table of signals.

    Attributes
    ----------
    nodes : "rows" or "columns"
        What a node is in the file: a row (a survey, one person each), or a column (a recording, one sensor each).
    id : str, optional
        Column that names the rows. None takes a column called id, name or node, a first one without a name, or one that
        plainly names the rows (:func:`nashgraph.io.names.plain_id`), and row numbers where there is none;
        "none" takes row numbers.
    drop : tuple of str
        Columns to leave out.
    keep : tuple of str
        Columns to take as the numbers they are, though they look like identifiers or have absurd values or codes.
    benefit : str, optional
        Column (with nodes in columns: row) of marginal benefits, one per node; it is not used as a signal then.
    categorical : tuple of str
        Columns to code as signals of 0 and 1, one per value, in addition to text and truth values; "none" takes only
        those that are named.
    ordinal : tuple of str
        Columns of levels that have an order, to be numbered in it: a name, or names with the levels from the lowest up,
        "q1,q2=never<rarely<often".
    na : tuple of str
        What stands for a missing value, anywhere ("-99") or in one column ("q1=9"), in addition to empty cells, NA, NaN
        and the like, and what plainly is a code (:mod:`nashgraph.io.missing`); "none" takes only these and those given.
    counts : tuple of str
        Columns that count ties with a trait, each with the trait's 0/1 column, "n_weavers=weaver", or with one value
        of a column, "n_weavers=job=weaver". These, ``ties`` and ``names`` are for TieModel, and never signals.
    ties : str, optional
        Column with a node's own number of ties.
    names : tuple of str
        Columns with names of those a node is tied to.
    gossip : tuple of str
        Columns with names of those who would spread news best; how often a node is named becomes its benefit.
    alters : str, optional
        A table with a row for every person that a node named (Network Canvas, egor), to be counted by its columns.
    group : str, optional
        Column that tells groups apart, each with a network of its own.
    only : str, optional
        The group of it that is meant; None where the groups have not been told apart yet.
    missing : "auto", "error", "pairwise" or "impute"
        Refuse gaps ("error"), leave them for a method that compares two nodes over what both have ("pairwise"), or fill
        them from the nearest nodes ("impute"). "auto" leaves them where the method allows it and else fills them; in
        long tables of counts, a pair without a row counts 0.
    standardize : bool, optional
        Bring every signal, a coded one too, to mean 0 and spread 1 over the nodes. None does so where nodes are rows (a
        survey, each column in a unit of its own), and where they are columns (recordings) if the spreads of the signals
        are more than tenfold apart.
    long : bool
        Whether a row holds one answer: who, the question, the answer.
    separator, encoding, header
        Of text files. A separator of None is found; an encoding of None is UTF-8, or guessed where it is not.
    decimal : "." or ","
    thousands : str, optional
        Mark between groups of three digits; None understands them where they can mean nothing else.
    sheet : str, optional
        Of an Excel file; None is the first.
    array : str, optional
        Of an NPZ file with several arrays.
    max_cells : int
        Tables of more cells are refused, as are files of more than BYTES_A_CELL times as many bytes, before they use up
        the memory: a small packed file may hold far more than anybody has.
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
        check_choice("nodes", self.nodes, NODES)
        check_choice("missing", self.missing, MISSING)
        if self.max_cells < 1:
            raise InputError(f"max_cells must be at least 1, got {self.max_cells}")
        check_choice("decimal", self.decimal, (".", ","))
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '\n\r"'):
            raise InputError(
                f"separator must be one character, no quote or end of line, got {self.separator!r}: for example ';'"
            )
        if self.thousands is not None and (len(self.thousands) != 1 or self.thousands == self.decimal):
            raise InputError(
                f"thousands must be one character and not the decimal mark, got {self.thousands!r}: for example ','"
            )


def name_columns(options: TableOptions) -> list[str]:
    """Return the columns that may name the rows or ties: there 007 and NA stay what they are."""
    friends = [*options.names, *(name for names in options.names for name in names.split(","))]
    if options.id is not None:
        return [options.id, *friends]
    guessed = ["", *ID_NAMES] if options.nodes == "rows" else [""]
    return [*(name for name in guessed if name not in options.categorical), *friends]
