"""The section of the report that advises: what the game on a learned network is asked, and how its tables are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from ..estimators import GraphEstimator
from ..validation import Array, InputError
from .advice import TIES, Advice, Asked, answers
from .plain import shortened, text
from .prose import number, percent


class Act(NamedTuple):
    """What the page says under this heading.

    Attributes
    ----------
    advice : list of Advice
    caution : str, what all of it rests on
    columns : dict from name to array of shape (n_nodes,), worth (the adjoint) and loss (of welfare, without the node)
    """

    advice: list[Advice]
    caution: str
    columns: Mapping[str, Array]


def act_on(model: GraphEstimator) -> Act | None:
    """Return what the game that a model was learned with advises; None where there was none.

    Examples
    --------
    >>> import numpy as np
    >>> from nashgraph import GLGP, SmoothGL
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> act = act_on(GLGP(degree=4).fit(X))
    >>> act.advice[0].title, sorted(act.columns), act_on(SmoothGL().fit(X)) is None
    ('Whose leaving would cost most', ['loss', 'worth'], True)
    """
    if not {"benefit", "action"} <= model.graph_.node_columns.keys():
        return None
    asked = Asked(model)
    try:
        columns = asked.columns
    except InputError as error:
        return Act([], f"There is no advice: {error}.", {})
    return Act(list(answers(asked)), caution(asked), columns)


def caution(asked: Asked) -> str:
    """Return what all advice rests on, and what of it was put in."""
    said = [
        "What follows is worked out from the game on the learned network; nobody was seen leaving or being helped. It "
        "holds as far as the network and the game do."
    ]
    if asked.model.prior_ is not None:
        said.append(
            "The network was learned with a prior that gives influence to those who matter in this game, so that part "
            "of what the hubs are worth here was put in."
        )
    if asked.heavy:
        said.append(f"Of more than {TIES:,} ties only what takes seconds was asked; nashgraph act asks the rest.")
    return " ".join(said)


# ---------------------------------------------------------------------------------------------- in the page

HEADINGS = {
    "name": "Node",
    "listener": "Who listens",
    "speaker": "To whom",
    "loss": "Loss of welfare",
    "share": "Of all welfare",
    "low": "90 % interval",
    "among_best": "How often among the first",
    "action": "Action",
    "influence": "Influence",
    "support": "Support",
    "worth": "Worth of a unit",
    "action_before": "Action now",
    "action_after": "Action then",
    "gain": "Gain",
    "reached": "Reached so far",
    "weight": "Weight",
}
NODES = ("name", "listener", "speaker")
STEADINESS = ("low", "high", "among_best")  # they stand beside what they are of, the last of these:
MEASURED = ("loss", "gain", "reached")
SHARES = ("share", "among_best")


class Cell(NamedTuple):
    """What stands in a cell, and which node it is, by its number in the page, where it is one."""

    words: str
    node: int | None = None


def shown(table: pd.DataFrame, numbers: Mapping[Any, int]) -> tuple[list[str], list[list[Cell]]]:
    """Return the headings and the rows of a table as the page shows it: nodes by number, an interval in one cell.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["ann"], "loss": [0.51234], "low": [0.4], "high": [0.6], "among_best": [0.95]})
    >>> heads, rows = shown(table, {"ann": 7})
    >>> heads, [cell.words for cell in rows[0]], rows[0][0].node
    (['Node', 'Loss of welfare', '90 % interval', 'How often among the first'],
     ['ann', '0.512', '0.4 to 0.6', '95 %'], 7)
    """
    names = [name for name in table.columns if name not in STEADINESS]
    after = max((names.index(name) for name in MEASURED if name in names), default=len(names) - 1) + 1
    names[after:after] = [name for name in ("low", "among_best") if name in table]
    ends = zip(table["low"], table["high"], strict=True) if "low" in table else ()
    intervals = [f"{number(low)} to {number(high)}" for low, high in ends]

    def cells(name: str) -> list[Cell]:
        values = table[name].tolist()
        if name in NODES:
            words = shortened([text(value) for value in values])
            return [Cell(word, numbers.get(value)) for word, value in zip(words, values, strict=True)]
        if name == "low":
            return [Cell(words) for words in intervals]
        return [Cell(percent(value) if name in SHARES else number(value)) for value in values]

    rows = zip(*(cells(name) for name in names), strict=True)
    return [HEADINGS.get(name, name) for name in names], [list(row) for row in rows]
