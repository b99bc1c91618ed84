"""What chance looks like beside a learned network: the test of structure, and the same fit to shuffled answers.

Ties of a learned network join alike people by construction, so "tied people have the same phone" is true of shuffled
answers as well. A figure tells structure from noise only if the figure for shuffled answers stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from ..estimators import GraphEstimator
from ..network_check import NetworkCheck, check_network
from ..validation import Array
from .cut import cut_of
from .inputs import InputColumn, alike_along

LEAST_NODES = 10  # among fewer, chance and structure look alike


class Reference(NamedTuple):
    """The same fit to shuffled answers.

    ``agreement`` is how alike two of its replicates are, ``alike`` how much less its tied nodes differ in each column,
    and ``learned_from`` which columns of the table the network was learned from.
    """

    agreement: float
    alike: Mapping[str, float]
    learned_from: frozenset[str]


def questions_of(signals: pd.DataFrame, columns: pd.DataFrame | None) -> Array:
    """Return the question of each signal: ``water=tap`` and ``water_well`` belong to the column ``water``."""
    names = frozenset() if columns is None else frozenset(str(name) for name in columns.columns)
    return np.array([question_of(str(signal), names) for signal in signals.index], dtype=object)


def question_of(signal: str, names: frozenset[str]) -> str:
    """Return the longest of the columns' names that a signal's name is or goes on from, else the signal itself."""
    if signal in names:
        return signal
    for end in range(len(signal) - 1, 0, -1):
        if not signal[end].isalnum() and signal[:end] in names:
            return signal[:end]
    return signal


def structure_of(
    signals: pd.DataFrame, columns: pd.DataFrame | None = None, *, most_signals: int = 60, most_nodes: int = 1000
) -> NetworkCheck | None:
    """Test on a sample whether answers go together at all; None for fewer than ten nodes, which cannot tell.

    The default sizes of the sample take a tenth of a second.
    """
    n_signals, n_nodes = signals.shape
    if n_nodes < LEAST_NODES:
        return None
    random = np.random.default_rng(0)
    rows = np.sort(random.permutation(n_signals)[:most_signals])
    nodes = np.sort(random.permutation(n_nodes)[:most_nodes])
    questions = questions_of(signals, columns)[rows]
    return check_network(signals.iloc[rows, nodes], questions=questions, n_permutations=99)


def shuffled_reference(
    model: GraphEstimator,
    signals: pd.DataFrame,
    table: pd.DataFrame | None,
    compared: Sequence[InputColumn] = (),
    *,
    n_shuffles: int = 3,
    most_nodes: int = 2000,
    random_state: int = 0,
) -> Reference | None:
    """Fit the model again to answers shuffled among the nodes, each question by itself.

    None for more than ``most_nodes``, for which a second fit would take too long. ``signals`` has shape (n_signals,
    n_nodes); ``table`` has a row for each node, in the same order, and ``compared`` are those of its columns whose
    likeness is wanted.

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> from nashgraph.report.inputs import input_columns
    >>> random = np.random.default_rng(0)
    >>> table = pd.DataFrame({"income": random.normal(size=40), "height": random.normal(size=40)})
    >>> table["weight"] = random.normal(size=40)
    >>> signals = table[["income", "weight"]].T
    >>> model = SmoothGL(degree=4).fit(signals)
    >>> reference = shuffled_reference(model, signals, table, input_columns(table, model.graph_))
    >>> reference.alike["income"] > 0.5, abs(reference.alike["height"]) < 0.5, sorted(reference.learned_from)
    (True, True, ['income', 'weight'])
    """
    n_nodes = signals.shape[1]
    if n_nodes > most_nodes or n_nodes < LEAST_NODES:
        return None
    n_shuffles = n_shuffles if n_nodes <= 300 else 1  # among more nodes one shuffle is precise enough
    questions = questions_of(signals, table).tolist()
    agreements = []
    alike: dict[str, list[float]] = {column.name: [] for column in compared}
    for shuffle in range(n_shuffles):
        random = np.random.default_rng([random_state, shuffle])
        orders = {question: random.permutation(n_nodes) for question in dict.fromkeys(questions)}
        chance = fitted_to_shuffled(model, signals, [orders[question] for question in questions])
        agreements.append(getattr(chance, "agreement_", np.nan))
        ties = cut_of(chance.graph_).ties
        for column in compared:
            # A column that was not used is shuffled as well: nothing of the real network is left in it.
            order = orders.get(column.name, random.permutation(n_nodes))
            alike[column.name].append(alike_along(ties, column.values[order], categorical=column.is_categorical))
    means = {name: float(np.mean(values)) for name, values in alike.items()}
    return Reference(float(np.mean(agreements)), means, frozenset(questions))


def fitted_to_shuffled(model: GraphEstimator, signals: pd.DataFrame, orders: Sequence[Array]) -> GraphEstimator:
    """Return the model of signals shuffled among the nodes, each in its order."""
    shuffled = signals.to_numpy(dtype=float).copy()
    for row, order in enumerate(orders):
        shuffled[row] = shuffled[row, order]
    return clone(model).fit(pd.DataFrame(shuffled, index=signals.index, columns=signals.columns))
