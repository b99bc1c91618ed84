"""A table as signals: rows or columns become nodes, and every decision on the way is reported as a note."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from ..tie_survey import TieSurvey
from ..validation import ABSURD, FAR, Array, far_out, listing, silent_nodes, silent_sentence, strangers
from .coding import Coded, choices, coded, coding_notes, left_out_notes
from .columns import as_name, is_text, numbers, plain_numbers
from .errors import Problems, TableError
from .missing import ask_about_strays, filled, gap_codes, refuse_where
from .names import check_nodes, chosen_column, chosen_columns, named_rows, of_group, plain_names, split_names, words_of
from .options import TableOptions
from .read import read_table
from .recognize import TieColumn, is_count, refuse_what_is_no_table_of_answers, tie_columns, tie_note
from .tie_answers import declared, take_tie_answers, times_named, with_alters
from .vocabulary import ANSWERS, CODE_WORDS, NODE_WORDS, QUESTIONS

UNEVEN = 10.0  # spreads further apart than this are not of one unit, and leave the distances to the widest signal
FILL = "pass --missing impute to fill them, or --missing pairwise to compare nodes over what both have"


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
    told : TieSurvey, optional, what the columns declared to be about ties tell
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
    told: TieSurvey | None = None
    warnings: list[str] = field(default_factory=list)


@dataclass(eq=False)
class _Oriented:
    """A table on its way to signals: nodes are rows, and all is numbers."""

    nodes: Array  # names, as objects
    signals: Array
    values: Array
    benefit: Array | None
    columns: pd.DataFrame  # what the file says of each node
    notes: list[str]
    tie_columns: list[TieColumn] = field(default_factory=list)
    told: TieSurvey | None = None
    warnings: list[str] = field(default_factory=list)

    def leave_out(self, gone: Array, why: str) -> None:
        """Leave out some signals, with a note."""
        if gone.any():
            self.notes.append(f"left out {gone.sum()} signal(s) {why}: {listing(self.signals[gone])}")
            self.signals = self.signals[~gone]
            self.values = self.values[:, ~gone]

    def leave_out_unanswered(self) -> None:
        """Leave out nodes without any value, with a note."""
        answered = np.asarray(~np.isnan(self.values).all(axis=1))
        if answered.all():
            return
        gone = self.nodes[~answered]
        if answered.sum() < 2:
            raise TableError(f"{len(gone)} of {len(self.nodes)} nodes have no values at all, and a network needs two")
        self.notes.append(f"left out {len(gone)} node(s) without any answer: {listing(gone)}")
        self.nodes = self.nodes[answered]
        self.values = self.values[answered]
        self.columns = self.columns[answered]
        self.benefit = None if self.benefit is None else self.benefit[answered]


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
    options = options or TableOptions()
    problems = Problems()
    whole = table
    notes = list[str]()
    with problems.kept():
        table = table.drop(columns=chosen_columns(options.drop, table.columns))
    if options.long:
        problems.refuse()
        table, options, notes = widened(table, options)
        whole = table
    elif options.id is None and options.nodes == "rows" and not declared(options):
        refuse_what_is_no_table_of_answers(table, file)
    blank = table.isna().all(axis=1)
    if blank.any():
        notes.append(f"left out {blank.sum()} row(s) without any value")
        table = table[~blank].reset_index(drop=True)
        whole = whole[~blank].reset_index(drop=True)
    rows = options.nodes == "rows"
    found = _rows_as_nodes(table, whole, options, problems) if rows else _columns_as_nodes(table, options, problems)
    found.notes[:0] = notes
    with problems.kept():
        remedy = "correct them, or empty these cells and pass --missing"
        refuse_where(np.isinf(found.values), "infinite", found.nodes, found.signals, remedy)
    problems.refuse()
    if not len(found.signals) and found.told is None:
        raise TableError("; ".join(["no signals are left: the table has no other columns", *found.notes]))
    if found.told is None:  # people who answered nothing about themselves may still have ties that others told of
        found.leave_out_unanswered()
    constant = np.nanmax(found.values, axis=0) == np.nanmin(found.values, axis=0)
    if constant.all() and found.told is None:
        raise TableError("every signal is the same at all nodes, so they tell nothing of a network: check the table")
    found.leave_out(constant, "that are the same at every node")
    found.notes += check_outliers(found, split_names(options.keep, found.signals))
    return _finished(found, options, complete)


def _finished(found: _Oriented, options: TableOptions, complete: bool) -> Signals:
    """Return the signals with gaps filled and scales evened out, as the options ask for."""
    gaps = np.isnan(found.values)
    silent = silent_nodes(found.values.T)
    if silent.any():
        found.notes.append(silent_sentence(found.nodes[silent]))
    if gaps.any():
        # Two nodes that share no signal cannot be compared; among many nodes it would take too long to look for them.
        alone = not complete and len(gaps) <= 10_000 and strangers(~gaps.T)[0] > 0
        if options.missing == "impute" or (options.missing == "auto" and (complete or alone)):
            found.values, note = filled(found.values, np.nanmean(found.values, axis=0), _spreads(found.values))
        else:
            note = (
                f"{gaps.sum()} values ({gaps.mean():.1%}) are missing: two nodes are compared over the signals both "
                "have, and count as typical in the others; --missing impute fills them in instead"
            )
        found.notes.append(note)
    standardize = False
    why = "there are no signals, only answers about ties"
    missing = np.zeros(len(found.nodes))
    if len(found.signals):
        (standardize, why), missing = _scaling(found, options), gaps.mean(axis=1)
    values = found.values
    if standardize:
        values = (values - np.nanmean(values, axis=0)) / _spreads(values)
    return Signals(
        table=pd.DataFrame(values.T, index=pd.Index(list(found.signals)), columns=pd.Index(list(found.nodes))),
        benefit=found.benefit,
        notes=[*found.notes, why],
        standardized=standardize,
        missing=missing,
        silent=silent,
        columns=found.columns,
        tie_columns=found.tie_columns,
        told=found.told,
        warnings=found.warnings,
    )


def _rows_as_nodes(table: pd.DataFrame, whole: pd.DataFrame, options: TableOptions, problems: Problems) -> _Oriented:
    """Return a survey, with a row for each node; ``whole`` has the columns that were dropped as well."""
    names, rest, notes = named_rows(table, options, problems)
    columns = whole.drop(columns=[name for name in table.columns if name not in rest.columns])
    table = rest
    warnings = list[str]()
    benefit = None
    with problems.kept():
        check_nodes(names, "rows")
    if options.benefit is not None:
        with problems.kept():
            column = chosen_column(options.benefit, table.columns)
            benefit = _checked_benefit(numbers(table[column], options)[0], names, column)
            table = table.drop(columns=column)
    if options.gossip:
        with problems.kept():
            named, table = times_named(table, names, options, notes, warnings)
            benefit = 1.0 + named
    how = choices(options, list(map(str, table.columns)), problems)
    parts = list[Coded]()
    wanted = {*how.keep, *how.categorical, *how.ordinal}
    told, table = take_tie_answers(table, names, options, problems, notes, warnings)
    about_ties = [found for found in tie_columns(table, names) if found.column not in wanted]
    warnings += tie_note(about_ties, table, told is not None and bool(told.n_ties.notna().any()))
    for name in table.columns.drop([found.column for found in about_ties]):
        with problems.kept():
            parts.append(coded(table[name], how, names))
    used = [part for part in parts if part.names]
    warnings += [f"took {listing(part.junk)} in {part.column!r} for a missing value" for part in used if part.junk]
    if strays := {part.column: part.strays for part in used if part.strays}:
        question = ask_about_strays(strays, (part.values for part in used if not part.strays))
        # Users who say what to do about gaps have looked at them, and are only told.
        (problems.found if options.missing == "auto" else notes).append(question)
    if options.missing == "error":
        codes = sorted({code for part in used for code in part.gaps})
        meant = f" ({listing(codes)} are taken as missing; --na none takes codes as they are)" if codes else ""
        gaps = np.transpose([np.isnan(part.values).any(axis=1) for part in used])
        with problems.kept():
            refuse_where(gaps, "missing", names, [part.column for part in used], FILL + meant)
    return _Oriented(
        nodes=np.array(names, dtype=object),
        signals=np.array([name for part in used for name in part.names], dtype=object),
        values=np.column_stack([part.values for part in used]) if used else np.empty((len(names), 0)),
        benefit=benefit,
        columns=columns.set_axis(pd.Index(names), axis=0),
        notes=[*notes, *warnings, *left_out_notes(parts), *coding_notes(parts)],
        tie_columns=about_ties,
        told=told,
        warnings=warnings,
    )


def _columns_as_nodes(table: pd.DataFrame, options: TableOptions, problems: Problems) -> _Oriented:
    """Return recordings, with a column for each node."""
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
    codes = gap_codes(options.na, nodes)
    columns = list[Array]()
    for name in table.columns:
        with problems.kept():
            columns.append(numbers(codes.emptied(table[name]), options, "pass --id if it names the rows")[0])
    problems.refuse()
    found = _Oriented(
        nodes=np.array(nodes, dtype=object),
        signals=np.array(signals, dtype=object),
        values=np.column_stack(columns).T,
        benefit=None,
        columns=table.set_axis(pd.Index(signals), axis=0).T,
        notes=notes,
    )
    if options.benefit is not None:
        place = signals.index(chosen_column(options.benefit, signals, "row"))
        found.benefit = _checked_benefit(found.values[:, place], nodes, options.benefit)
        found.signals = np.delete(found.signals, place)
        found.values = np.delete(found.values, place, axis=1)
    found.leave_out(np.asarray(np.isnan(found.values).all(axis=0)), "without values")
    if options.missing == "error":
        with problems.kept():
            refuse_where(np.isnan(found.values), "missing", nodes, found.signals, FILL)
    return found


def _checked_benefit(benefit: Array, nodes: list[str], name: str) -> Array:
    for wrong, what in ((~np.isfinite(benefit), "missing or infinite"), (benefit < 0, "negative")):
        if wrong.any():
            first = int(np.argmax(wrong))
            raise TableError(
                f"--benefit {name} is {what} at {int(wrong.sum())} node(s), first at {nodes[first]}: it must be a "
                "number of at least 0 for every node"
            )
    return benefit


def _spreads(values: Array) -> Array:
    """Return the standard deviation of every signal; squares of large and small values neither overflow nor vanish."""
    powers = np.ldexp(1.0, np.frexp(np.nanmax(np.abs(values), axis=0))[1] - 1)  # of two: no digit changes
    spreads: Array = powers * np.nanstd(values / powers, axis=0)
    return spreads


def _scaling(found: _Oriented, options: TableOptions) -> tuple[bool, str]:
    """Return whether to standardise the signals, and a sentence with the reason and how to undo it."""
    spreads = _spreads(found.values)
    widest = int(np.argmax(spreads))
    narrowest = int(np.argmin(spreads))
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
        if options.missing == "auto" and (empty := int(found.isna().to_numpy().sum())):
            found = found.fillna(0)
            what = f"{empty} pairs without a row count 0; --missing pairwise leaves them gaps"
            notes.append(f"{answer!r} holds counts: {what}")
    return found.reset_index(names=who), options, notes


def _roles(columns: list[str], given: str | None) -> tuple[str, str, str]:
    """Return the columns of who answers, the question and the answer: by their names, else in this order."""
    words = {name: {*words_of(name)} for name in columns}
    question = next((name for name in columns if words[name] & QUESTIONS and name != given), None)
    answer = next((name for name in columns if words[name] & ANSWERS and name not in (given, question)), None)
    rest = [name for name in columns if name not in (question, answer)]
    called = [name for name in rest if words[name] & (NODE_WORDS | CODE_WORDS)]
    who = chosen_column(given, columns) if given else next(iter([*called, *rest]))
    rest = [name for name in columns if name not in (who, question, answer)]
    question = question or rest.pop(0)
    return who, question, answer or rest.pop(0)


def check_outliers(found: _Oriented, keep: Collection[str]) -> list[str]:
    """Refuse absurd values, naming the worst of each signal, and return a note about merely extreme ones."""
    far = list[str]()
    absurd = list[str]()
    worst = list[float]()
    for row, place, away in far_out(found.values, FAR):
        node = found.nodes[row]
        signal = found.signals[place]
        value = float(found.values[row, place])
        if signal in keep:
            continue
        what = f"{value:.6g} at node {node} (number {row + 1}), {signal!r}, {away:.2g} times the spread"
        (absurd if away > ABSURD else far).append(what)
        worst += [value] if away > ABSURD else []
    if absurd:
        raise TableError(
            f"{len(absurd)} signal(s) have a value so absurd that it would decide the result: {listing(absurd, 3)}; "
            f"correct it, take it as missing with --na {worst[0]!r}, or take the column as it is with --keep"
        )
    remedy = "such a value makes all others look alike: --na reads it as missing, --drop leaves the column out"
    return [f"far out: {listing(far, 3)}; {remedy}"] if far else []
