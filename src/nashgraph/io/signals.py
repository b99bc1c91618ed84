"""A table as signals: rows or columns become nodes, and every decision on the way is reported as a note."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from ..outliers import ABSURD, FAR, far_out
from ..validation import Array, listing, silent_nodes, silent_sentence
from .coding import Coded, choices, coded, coding_notes, left_out_notes
from .columns import Marks, as_name, is_text, numbers, plain_numbers
from .errors import Problems, TableError
from .missing import ask_about_strays, filled, gap_codes, refuse_gaps, refuse_infinite, some_share_nothing
from .names import (
    CODE_WORDS,
    NODE_WORDS,
    check_nodes,
    chosen_column,
    chosen_columns,
    named_rows,
    of_group,
    plain_names,
    split_names,
    words_of,
)
from .options import TableOptions
from .read import read_table
from .recognize import TieColumn, is_count, refuse_what_is_no_table_of_answers, tie_columns, tie_note
from .tie_answers import TieAnswers, declared, take_tie_answers, times_named, with_alters

UNEVEN = 10.0  # spreads further apart than this are not of one unit, and leave the distances to the widest signal


@dataclass(frozen=True, eq=False)
class Signals:
    """Signals out of a user's file.

    Attributes
    ----------
    table : DataFrame of shape (n_signals, n_nodes), the columns named by the nodes
    benefit : array of shape (n_nodes,), where a column of the file gives it
    notes : list of str, what was decided on the way
    standardized : bool, whether every signal was brought to mean 0 and spread 1
    missing : array of shape (n_nodes,), the share of signals that each node lacks in the file
    silent : array of shape (n_nodes,), which nodes have 0 in every signal, as several others have
    columns : DataFrame, what the file says of each node, one row for each, before it is coded or scaled; also columns
        that are not used as signals
    tie_columns : list of TieColumn, the columns that seem to count or name ties; they are not signals
    told : TieAnswers, optional, what the columns declared to be about ties tell
    warnings : list of str, those of the notes that everybody should read
    """

    table: pd.DataFrame
    benefit: Array | None
    notes: list[str]
    standardized: bool
    missing: Array
    silent: Array
    columns: pd.DataFrame
    tie_columns: list[TieColumn] = field(default_factory=list)
    told: TieAnswers | None = None
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Oriented:
    """A table with nodes as rows, all numbers."""

    nodes: list[str]
    signals: list[str]
    values: Array
    benefit: Array | None
    notes: list[str]
    tie_columns: list[TieColumn] = field(default_factory=list)
    told: TieAnswers | None = None
    warnings: list[str] = field(default_factory=list)


def load_signals(path: str | Path, options: TableOptions | None = None, *, complete: bool = False) -> Signals:
    r"""Read a file and return its signals; ``complete`` fills gaps where the options leave the choice ("auto").

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "survey.csv"
    >>> _ = file.write_text("id,age,side\nann,31,n\nbob,45,s\ncat,28,n\n")
    >>> signals = load_signals(file)
    >>> list(signals.table.columns), list(signals.table.index)
    (['ann', 'bob', 'cat'], ['age', 'side=n', 'side=s'])
    """
    options = options or TableOptions()
    table, notes = read_table(path, options)
    if options.alters is not None:
        table, options, more = with_alters(table, options)
        notes = [*notes, *more]
    table = of_group(table, options)
    found = signals_of(table, options, complete=complete, file=Path(path).name)
    return replace(found, notes=[*notes, *found.notes])


def signals_of(
    table: pd.DataFrame, options: TableOptions | None = None, *, complete: bool = False, file: str = "the table"
) -> Signals:
    """Return the signals in a table; ``complete`` fills gaps where the options leave the choice ("auto").

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["ann", "bob"], "age": [31, 45], "rank": [1, 2]})
    >>> found = signals_of(table, TableOptions(benefit="rank"))
    >>> found.benefit, found.notes
    (array([1., 2.]), ["nodes are named by the column 'name'", 'scaled 1 signal(s) to mean 0 and spread 1 over ...'])
    """
    options, problems = options or TableOptions(), Problems()
    whole = table
    with problems.kept():
        table = table.drop(columns=chosen_columns(options.drop, table.columns))
    notes = list[str]()
    if options.long:
        problems.refuse()
        table, options, notes = widened(table, options)
        whole = table
    elif options.id is None and options.nodes == "rows" and not declared(options):
        refuse_what_is_no_table_of_answers(table, file)
    blank = table.isna().all(axis=1)
    if blank.any():
        notes.append(f"left out {blank.sum()} row(s) without any value")
        table, whole = table[~blank].reset_index(drop=True), whole[~blank].reset_index(drop=True)
    orient = _rows_as_nodes if options.nodes == "rows" else _columns_as_nodes
    found = orient(table, options, problems)
    found.notes[:0] = notes
    with problems.kept():
        refuse_infinite(found.values, found.nodes, found.signals)
    problems.refuse()
    if not found.signals and found.told is None:
        raise TableError("; ".join(["no signals are left: the table has no other columns", *found.notes]))
    # People who answered nothing about themselves may still have ties that others told of.
    found, answered = _without_unanswered(found) if found.told is None else (found, np.ones(len(found.nodes), bool))
    found = _without_constant(found)
    found.notes.extend(
        check_outliers(found.values, found.nodes, found.signals, split_names(options.keep, found.signals))
    )
    gaps, silent = np.isnan(found.values), silent_nodes(found.values.T)
    if silent.any():
        found.notes.append(silent_sentence(np.array(found.nodes, dtype=object)[silent]))
    if gaps.any() and (
        options.missing == "impute" or (options.missing == "auto" and (complete or some_share_nothing(~gaps)))
    ):
        values, note = filled(found.values, np.nanmean(found.values, axis=0), _spreads(found.values))
        found = replace(found, values=values, notes=[*found.notes, note])
    elif gaps.any():
        found.notes.append(
            f"{gaps.sum()} values ({gaps.mean():.1%}) are missing: two nodes are compared over the signals both have, "
            "and count as typical in the others; --missing impute fills them in instead"
        )
    standardize, why = (
        _scaling(found, options) if found.signals else (False, "there are no signals, only answers about ties")
    )
    missing = gaps.mean(axis=1) if found.signals else np.zeros(len(found.nodes))
    values = _standardized(found.values) if standardize else found.values
    frame = pd.DataFrame(values.T, index=pd.Index(found.signals), columns=pd.Index(found.nodes))
    columns = _as_given(whole, table, options)[answered]
    return Signals(
        *(frame, found.benefit, [*found.notes, why], standardize, missing, silent, columns, found.tie_columns),
        told=found.told,
        warnings=found.warnings,
    )


def _without_unanswered(found: _Oriented) -> tuple[_Oriented, Array]:
    """Leave out nodes without any value, and return which remain."""
    answered = np.asarray(~np.isnan(found.values).all(axis=1))
    if answered.all():
        return found, answered
    names = [name for name, there in zip(found.nodes, answered, strict=True) if not there]
    if answered.sum() < 2:
        raise TableError(f"{len(names)} of {len(found.nodes)} nodes have no values at all, and a network needs two")
    note = f"left out {len(names)} node(s) without any answer: {listing(names)}"
    kept = [name for name, there in zip(found.nodes, answered, strict=True) if there]
    benefit = None if found.benefit is None else found.benefit[answered]
    return replace(
        found, nodes=kept, values=found.values[answered], benefit=benefit, notes=[*found.notes, note]
    ), answered


def _as_given(whole: pd.DataFrame, kept: pd.DataFrame, options: TableOptions) -> pd.DataFrame:
    """Return the table with one row for each node, named, and nothing else done to it; what was dropped is there."""
    names, values, _ = named_rows(kept, options, Problems())
    if options.nodes == "columns":
        return values.set_axis(pd.Index(names), axis=0).T
    shown = [column for column in whole.columns if column in values.columns or column not in kept.columns]
    return whole[shown].set_axis(pd.Index(names), axis=0)


def _rows_as_nodes(table: pd.DataFrame, options: TableOptions, problems: Problems) -> _Oriented:
    names, table, notes = named_rows(table, options, problems)
    with problems.kept():
        check_nodes(names, "rows")
    benefit = None
    if options.benefit is not None:
        with problems.kept():
            column = chosen_column(options.benefit, table.columns)
            given = numbers(table[column], marks=Marks(options.decimal, options.thousands))
            benefit = _checked_benefit(given, names, column)
            table = table.drop(columns=column)
    warnings = list[str]()
    if options.gossip:
        with problems.kept():
            named, table = times_named(table, names, options, notes, warnings)
            benefit = 1.0 + named
    how, parts = choices(options, list(map(str, table.columns)), problems), list[Coded]()
    wanted = {*how.keep, *how.categorical, *how.ordinal}
    told, table = take_tie_answers(table, names, options, problems)
    about_ties = [found for found in tie_columns(table, names) if found.column not in wanted]
    warnings += [
        *([] if told is None else told.warnings),
        *tie_note(about_ties, table, told is not None and told.n_ties is not None),
    ]
    for name in table.columns.drop([found.column for found in about_ties]):
        with problems.kept():
            parts.append(coded(table[name], how, names))
    used = [part for part in parts if part.names]
    warnings += [f"took {listing(part.junk)} in {part.column!r} for a missing value" for part in used if part.junk]
    if strays := {part.column: part.strays for part in used if part.strays}:
        question = ask_about_strays(strays, (part.values for part in used if not part.strays))
        # Who says what to do about gaps has looked at them, and is only told.
        (problems.found if options.missing == "auto" else notes).append(question)
    if options.missing == "error":
        gaps = [np.isnan(part.values).any(axis=1) for part in used]
        codes = sorted({code for part in used for code in part.gaps})
        meant = f"{listing(codes)} are taken as missing; --na none takes codes as they are" if codes else ""
        with problems.kept():
            refuse_gaps(np.transpose(gaps), names, [part.column for part in used], meant)
    return _Oriented(
        nodes=names,
        signals=[name for part in used for name in part.names],
        values=np.column_stack([part.values for part in used]) if used else np.empty((len(names), 0)),
        benefit=benefit,
        notes=[*notes, *([] if told is None else told.notes), *warnings, *left_out_notes(parts), *coding_notes(parts)],
        tie_columns=about_ties,
        told=told,
        warnings=warnings,
    )


def _columns_as_nodes(table: pd.DataFrame, options: TableOptions, problems: Problems) -> _Oriented:
    named = {"--categorical": {*options.categorical} - {"auto", "none"}, "--ordinal": options.ordinal}
    if declared(options):
        raise TableError(
            "--counts, --ties and --names are columns of a survey with people in rows: not --nodes columns"
        )
    for option in (option for option, given in named.items() if given):
        raise TableError(f"{option} codes columns, and with --nodes columns these are nodes: leave it out")
    signals, table, notes = named_rows(table, options, problems)
    nodes = [str(name) for name in table.columns]
    with problems.kept():
        check_nodes(nodes, "columns")
    remedy, marks = "pass --id if it names the rows", Marks(options.decimal, options.thousands)
    codes, columns = gap_codes(options.na, nodes), list[Array]()
    for name in table.columns:
        with problems.kept():
            columns.append(numbers(codes.emptied(table[name]), remedy, marks))
    problems.refuse()
    values = np.column_stack(columns)
    benefit = None
    if options.benefit is not None:
        place = signals.index(chosen_column(options.benefit, signals, "row"))
        benefit = _checked_benefit(values[place], nodes, options.benefit)
        values, signals = np.delete(values, place, axis=0), [*signals[:place], *signals[place + 1 :]]
    gaps = np.isnan(values)
    empty = gaps.all(axis=1)
    if empty.any():
        left_out = [name for name, flat in zip(signals, empty, strict=True) if flat]
        notes = [*notes, f"left out {len(left_out)} signal(s) without values: {listing(left_out)}"]
        values, gaps = values[~empty], gaps[~empty]
        signals = [name for name, flat in zip(signals, empty, strict=True) if not flat]
    if options.missing == "error":
        with problems.kept():
            refuse_gaps(gaps.T, nodes, signals)
    return _Oriented(nodes, signals, values.T, benefit, notes)


def _checked_benefit(benefit: Array, nodes: list[str], name: str) -> Array:
    for wrong, what in ((~np.isfinite(benefit), "missing or infinite"), (benefit < 0, "negative")):
        if wrong.any():
            first = int(np.argmax(wrong))
            raise TableError(
                f"--benefit {name} is {what} at {int(wrong.sum())} node(s), first at {nodes[first]}: it must be a "
                "number of at least 0 for every node"
            )
    return benefit


def _without_constant(found: _Oriented) -> _Oriented:
    """Leave out constant signals: they carry no information."""
    constant = np.nanmax(found.values, axis=0) == np.nanmin(found.values, axis=0)
    if not constant.any():
        return found
    if constant.all() and found.told is None:
        raise TableError("every signal is the same at all nodes, so they tell nothing of a network: check the table")
    names = [name for name, flat in zip(found.signals, constant, strict=True) if flat]
    return replace(
        found,
        signals=[name for name, flat in zip(found.signals, constant, strict=True) if not flat],
        values=found.values[:, ~constant],
        notes=[*found.notes, f"left out {len(names)} signal(s) that are the same at every node: {listing(names)}"],
    )


def _standardized(values: Array) -> Array:
    scaled: Array = (values - np.nanmean(values, axis=0)) / _spreads(values)
    return scaled


def _spreads(values: Array) -> Array:
    """Return the standard deviation of every signal; squares of large and small values neither overflow nor vanish."""
    powers = np.ldexp(1.0, np.frexp(np.nanmax(np.abs(values), axis=0))[1] - 1)  # of two: no digit changes
    spreads: Array = powers * np.nanstd(values / powers, axis=0)
    return spreads


def _scaling(found: _Oriented, options: TableOptions) -> tuple[bool, str]:
    """Return whether to standardise the signals, and a sentence with the reason and how to undo it."""
    spreads = _spreads(found.values)
    widest, narrowest = int(np.argmax(spreads)), int(np.argmin(spreads))
    with np.errstate(over="ignore"):
        ratio = spreads[widest] / spreads[narrowest]
    apart = f"{found.signals[widest]!r} spreads {ratio:.0f} times as widely as {found.signals[narrowest]!r}"
    wanted = options.standardize
    if wanted or (wanted is None and (options.nodes == "rows" or ratio > UNEVEN)):
        why = f", for {apart}" if options.nodes == "columns" and ratio > UNEVEN else ""
        undo = "--no-standardize takes them as they are"
        return True, f"scaled {len(spreads)} signal(s) to mean 0 and spread 1 over the nodes{why}; {undo}"
    if ratio > UNEVEN:
        return False, f"{apart} and so decides the distances; --standardize puts them on one scale"
    return False, "signals are taken as they are; --standardize brings each to mean 0 and spread 1 over the nodes"


QUESTIONS = frozenset(
    [
        *("question", "item", "variable", "key", "attribute", "measure", "indicator", "signal", "bill", "rollcall"),
        *("artist", "song", "track", "movie", "film", "product", "book", "page", "motion"),
    ]
)
ANSWERS = frozenset(["answer", "value", "response", "reply", "score", "vote", "rating", "plays", "playcount", "count"])


def widened(table: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, TableOptions, list[str]]:
    """Return a table of answers with a row for everyone who gave one and a column for every question.

    In counts, a pair without a row is 0, and no number is a code for a gap. The person is the column ``options.id``,
    or the first that is neither called question nor answer or the like.
    """
    if table.shape[1] != 3:
        raise TableError(
            f"--long needs a table of three columns (who, the question, the answer), and this has {table.shape[1]}: "
            f"{listing(table.columns, 8)}; leave the others out with --drop"
        )
    who, question, answer = _roles([str(name) for name in table.columns], options.id)
    for name in (who, question):
        if table[name].isna().any():
            raise TableError(f"column {name!r} is empty in row {int(table[name].isna().argmax()) + 1}: fill it in")
    named = pd.DataFrame({name: plain_names(table[name].map(as_name).tolist()) for name in (who, question)})
    if (twice := named.duplicated()).any():
        row = int(twice.argmax())
        raise TableError(
            f"{named[who].iloc[row]} answers {named[question].iloc[row]!r} more than once, again in row {row + 1} "
            f"({int(twice.sum())} such row(s) in all): leave one of the answers"
        )
    wide = named.assign(answer=table[answer].to_numpy()).pivot(index=who, columns=question, values="answer")
    wide = wide.reindex(index=pd.unique(named[who]), columns=pd.unique(named[question]))
    columns = {name: plain_numbers(wide[name], options.decimal) if is_text(wide[name]) else wide[name] for name in wide}
    if who in columns:
        raise TableError(f"a question has the name {who!r}, and so has the column of those who answer: rename one")
    notes = [f"{len(table)} answers: {who!r} says who answered, {question!r} the question, {answer!r} the answer"]
    found = pd.DataFrame(columns)
    options = replace(options, id=who)
    if is_count(plain_numbers(table[answer]), answer, len(table) / found.size):
        options = replace(options, na=("none", *options.na))  # 88 plays are 88 plays
        empty = int(found.isna().to_numpy().sum()) if options.missing == "auto" else 0
        found = found.fillna(0) if empty else found
        if empty:
            notes.append(
                f"{answer!r} holds counts: {empty} pairs without a row count 0; --missing pairwise leaves them gaps"
            )
    return found.reset_index(names=who), options, notes


def _roles(columns: list[str], given: str | None) -> tuple[str, str, str]:
    """Return the columns of who answers, the question and the answer: by their names, else in this order."""
    question = next((name for name in columns if words_of(name) & QUESTIONS and name != given), None)
    answer = next((name for name in columns if words_of(name) & ANSWERS and name not in (given, question)), None)
    rest = [name for name in columns if name not in (question, answer)]
    called = [name for name in rest if words_of(name) & (NODE_WORDS | CODE_WORDS)]
    who = chosen_column(given, columns) if given else next(iter([*called, *rest]))
    rest = [name for name in columns if name not in (who, question, answer)]
    question = question or rest.pop(0)
    return who, question, answer or rest.pop(0)


def check_outliers(values: Array, nodes: Sequence[str], signals: Sequence[str], keep: Collection[str]) -> list[str]:
    """Refuse absurd values, naming the worst of each signal, and return a note about merely extreme ones."""
    far, absurd, worst = list[str](), list[str](), list[float]()
    for row, place, away in far_out(values, FAR):
        if signals[place] in keep:
            continue
        value = float(values[row, place])
        what = f"{value:.6g} at node {nodes[row]} (number {row + 1}), {signals[place]!r}, {away:.2g} times the spread"
        if away > ABSURD:
            absurd.append(what)
            worst.append(value)
        else:
            far.append(what)
    if absurd:
        raise TableError(
            f"{len(absurd)} signal(s) have a value so absurd that it would decide the result: {listing(absurd, 3)}; "
            f"correct it, take it as missing with --na {worst[0]!r}, or take the column as it is with --keep"
        )
    remedy = "such a value makes all others look alike: --na reads it as missing, --drop leaves the column out"
    return [f"far out: {listing(far, 3)}; {remedy}"] if far else []
