"""Tables with one answer a row: who, the question, the answer; turned into a row a node and a column a question."""

from __future__ import annotations

import pandas as pd

from ..validation import listing
from .cells import is_text, plain_numbers
from .columns import as_name
from .errors import TableError
from .names import chosen_column
from .options import TableOptions

QUESTIONS = ("question", "item", "variable", "key", "attribute", "measure", "indicator", "signal")
ANSWERS = ("answer", "value", "response", "reply", "score")


def widened(table: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of answers with a row for everyone who gave one and a column for every question.

    Who answered is the column ``options.id``, or the first that is neither called question nor answer or the like.

    Examples
    --------
    >>> table = pd.DataFrame({"id": ["a", "a", "b"], "question": ["age", "side", "age"], "answer": ["31", "n", "45"]})
    >>> wide, notes = widened(table, TableOptions(long=True))
    >>> wide["age"].tolist(), wide["side"].isna().tolist()
    ([31, 45], [False, True])
    """
    if table.shape[1] != 3:
        raise TableError(
            f"--long takes a table of three columns (who, the question, the answer), and this has {table.shape[1]}: "
            f"{listing(table.columns, 8)}; leave others out with --drop"
        )
    who, question, answer = _roles([str(name) for name in table.columns], options.id)
    for name in (who, question):
        if table[name].isna().any():
            raise TableError(f"column {name!r} is empty in row {int(table[name].isna().argmax()) + 1}: fill it in")
    named = pd.DataFrame({who: table[who].map(as_name), question: table[question].map(as_name)})
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
    note = f"{len(table)} answers: {who!r} says who answered, {question!r} the question, {answer!r} the answer"
    return pd.DataFrame(columns).reset_index(names=who), [note]


def _roles(columns: list[str], given: str | None) -> tuple[str, str, str]:
    """Return the columns of who answers, the question and the answer: by their names, else in this order."""
    called = {name: name.lower() for name in columns}
    question = next((name for name in columns if called[name] in QUESTIONS and name != given), None)
    answer = next((name for name in columns if called[name] in ANSWERS and name != given), None)
    who = chosen_column(given, columns) if given else next(name for name in columns if name not in (question, answer))
    rest = [name for name in columns if name not in (who, question, answer)]
    question = question or rest.pop(0)
    return who, question, answer or rest.pop(0)
