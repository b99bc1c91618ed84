"""The table and the network of a fit, matched by name, and what had to be left out.

Actions and covariates come as users have them: as Series and DataFrame with names in any order, as arrays in the order
of the network, or as a formula with a table. People without covariates, and people of only one of the two sides, are
left out and listed. People who were not asked for the action stay in the network: they influence others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..graph import as_graph
from ..matching import as_names, is_numbered
from ..validation import Array, InputError, check_weights, listing, warn

CONSTANT = "constant"


@dataclass(frozen=True, eq=False)
class GameData:
    """The input of a fit: actions, covariates and networks of the same people in the same order.

    ``networks`` are one or several CSR matrices (draws), ``actions`` has NaN for people who were not asked, and
    ``covariates`` the columns ``terms`` without the constant. ``groups`` numbers the group of everybody, or is None.
    ``left_out`` has names by reason.
    """

    names: Array
    networks: tuple[Any, ...]
    actions: Array
    covariates: Array
    terms: tuple[str, ...]
    groups: Array | None = None
    left_out: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def observed(self) -> Array:
        """The people who were asked for the action."""
        return np.isfinite(self.actions)

    @property
    def mean_network(self) -> Any:
        """The mean of the networks."""
        total = self.networks[0]
        for network in self.networks[1:]:
            total = total + network
        return sparse.csr_array(total / len(self.networks))


def game_data(
    graph: Any,
    actions: Any,
    X: Any = None,
    *,
    data: pd.DataFrame | None = None,
    groups: Any = None,
    normalize: bool = True,
    n_draws: int = 20,
    random_state: Any = 0,
) -> GameData:
    """Return the data of a fit; what cannot be matched or used is left out and listed."""
    names, networks = networks_of(graph, n_draws, random_state)
    labels, y, table, groups = read_table(actions, X, data, groups)
    if isinstance(groups, pd.Series) and labels is not None:
        groups = groups.reindex(labels)
    places, rows, left_out = matched(names, labels, len(y), networks[0].shape[0])
    columns, terms = numeric_columns(table)
    complete = np.isfinite(columns[rows]).all(axis=1)
    if groups is not None:
        complete &= pd.notna(np.asarray(groups)[rows])
    shown = np.arange(networks[0].shape[0]) if names is None else names
    lacking = shown[places[~complete]].tolist()
    if lacking:
        left_out["without covariates or group" if groups is not None else "without covariates"] = lacking
    places = places[complete]
    rows = rows[complete]
    if not np.isfinite(y[rows]).any():
        raise InputError("nobody has an action, a place in the network and all covariates: check the names")
    for reason, people in left_out.items():
        if len(people) == 1:
            count = "1 person is"
        else:
            count = f"{len(people)} people are"
        warn(f"{count} left out, {reason}: {listing(people)}")
    if groups is None:
        codes = None
    else:
        codes = np.unique(np.asarray(groups)[rows], return_inverse=True)[1]
    return GameData(
        names=shown[places],
        networks=tuple(prepared(network[places][:, places], normalize) for network in networks),
        actions=y[rows],
        covariates=columns[rows],
        terms=tuple(terms),
        groups=codes,
        left_out=left_out,
    )


def networks_of(graph: Any, n_draws: int, random_state: Any) -> tuple[Array | None, list[Any]]:
    """Return the names, None for matrices, and the networks: draws of a model that has them, else one."""
    if hasattr(graph, "sample") and hasattr(graph, "graph_"):  # a tie model
        graph = graph.sample(n_draws, random_state=random_state)
    if isinstance(graph, np.ndarray) or sparse.issparse(graph):
        return None, [sparse.csr_array(check_weights(graph), dtype=float)]
    if isinstance(graph, pd.DataFrame):
        matrix = graph.reindex(columns=graph.index)
        if matrix.isna().any(axis=None):
            raise InputError("a network given as a table needs the same names in its rows and columns")
        return np.asarray(graph.index), [sparse.csr_array(check_weights(matrix.to_numpy(dtype=float)))]
    if not isinstance(graph, list | tuple):
        graph = [as_graph(graph)]
    if not graph:
        raise InputError("the list of networks is empty: give at least one")
    learned = [as_graph(network) for network in graph]
    if any(network.names.tolist() != learned[0].names.tolist() for network in learned):
        raise InputError("the networks of a list must have the same nodes in the same order")
    names = learned[0].names if hasattr(graph[0], "names") else None
    return names, [network.weights for network in learned]


def read_table(
    actions: Any, X: Any, data: pd.DataFrame | None, groups: Any
) -> tuple[pd.Index | None, Array, pd.DataFrame, Any]:
    """Return the labels of the people (None if there are none), their actions, covariates and groups."""
    actions, X, groups = named_columns(actions, X, data, groups)
    y = action_numbers(pd.Series(actions))
    labels = actions.index if isinstance(actions, pd.Series) else None
    check_named_once(labels, "action")
    if isinstance(X, pd.DataFrame | pd.Series):
        table = pd.DataFrame(X)
        check_named_once(table.index, "row of X")
        if labels is not None:
            table = table.reindex(labels)
        elif len(table) == len(y):
            labels = table.index
    else:
        if X is None:
            values = np.zeros((len(y), 0))
        else:
            values = np.asarray(X, dtype=float)
        values = values.reshape(len(values), -1)
        table = pd.DataFrame(values, columns=[f"x{k + 1}" for k in range(values.shape[1])])
    if len(table) != len(y):
        raise InputError(f"X has {len(table)} people and actions {len(y)}: give one row for each person")
    return labels, y, table, groups


def check_named_once(labels: pd.Index | None, what: str) -> None:
    """Refuse people who are named twice."""
    if labels is not None and labels.has_duplicates:
        twice = labels[labels.duplicated()].unique()
        raise InputError(f"these people have more than one {what}: {listing(twice)}; keep one row for each")


def action_numbers(actions: pd.Series) -> Array:
    """Return actions as numbers; empty cells are of people who were not asked, other words are an error."""
    numbers = pd.to_numeric(actions, errors="coerce")
    words = actions[numbers.isna() & actions.notna()].astype(str)
    words = words[words.str.strip() != ""]
    if len(words):
        raise InputError(
            f"{len(words)} actions are not numbers: {listing(map(repr, words.unique()))}; write numbers, without "
            "separators of thousands, and leave the cells of people who were not asked empty",
            parameter="actions",
        )
    return numbers.to_numpy(dtype=float)


def named_columns(actions: Any, X: Any, data: pd.DataFrame | None, groups: Any) -> tuple[Any, Any, Any]:
    """Return actions, covariates and groups with names of columns and formulas replaced by what data has."""
    texts = [value for value in (actions, X, groups) if isinstance(value, str)]
    if texts and data is None:
        raise InputError(f"{texts[0]!r} needs data, the table that has these columns")
    if data is None:
        return actions, X, groups
    if isinstance(actions, str) and "~" in actions:
        if X is not None:
            raise InputError("the formula in actions has the covariates: leave X out")
        actions, _, X = (part.strip() for part in actions.partition("~"))
    if isinstance(actions, str):
        actions = column_of(data, actions)
    if isinstance(X, str):
        X = formula_columns(X, data)
    elif isinstance(X, list) and all(isinstance(name, str) for name in X):
        X = pd.DataFrame({name: column_of(data, name) for name in X})
    if isinstance(groups, str):
        groups = column_of(data, groups)
    return actions, X, groups


def column_of(data: pd.DataFrame, name: str) -> pd.Series:
    """Return a column of a table."""
    if name not in data:
        raise InputError(f"data has no column {name!r}: it has {listing(map(str, data.columns), 10)}")
    return data[name]


def formula_columns(formula: str, data: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of the right-hand side of a formula, without its constant, which every fit has."""
    from formulaic import model_matrix  # noqa: PLC0415 (only for formulas)
    from formulaic.errors import FormulaicError  # noqa: PLC0415

    try:
        matrix = model_matrix(formula, data, na_action="ignore")
    except FormulaicError as error:
        raise InputError(f"the formula {formula!r} cannot be read: {error}") from error
    columns = pd.DataFrame(matrix, index=data.index)
    return columns.drop(columns=[name for name in columns if name == "Intercept"])


def numeric_columns(table: pd.DataFrame) -> tuple[Array, list[str]]:
    """Return a table as numbers: a column of words becomes 0/1 columns, one for each word but the first."""
    columns = dict[str, Array]()
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column.dtype):
            columns[str(name)] = column.to_numpy(dtype=float, na_value=np.nan)
            continue
        # The first word is the reference: with the constant, all words together would be collinear.
        for word in sorted(column.dropna().astype(str).unique())[1:]:
            is_word = (column.astype(str) == word).astype(float)
            columns[f"{name}[{word}]"] = is_word.where(column.notna()).to_numpy()
    return np.column_stack([np.zeros((len(table), 0)), *columns.values()]), [*columns]


def matched(
    names: Array | None, labels: pd.Index | None, n_people: int, n_nodes: int
) -> tuple[Array, Array, dict[str, list[Any]]]:
    """Return the places in the network and the rows of the table of the same people, and those of one side only."""
    ours = None if names is None else as_names(names)
    theirs = None if labels is None else as_names(labels)
    if ours is None and theirs is not None and n_people != n_nodes and not is_numbered(theirs):
        ours = [str(place) for place in range(n_nodes)]
    if ours is None or theirs is None or not {*ours} & {*theirs}:
        # Row numbers on one side are positions, unless the other side has the same numbers as names.
        if ours is not None and theirs is not None and not (is_numbered(ours) or is_numbered(theirs)):
            raise InputError(
                f"nobody in the table is in the network: the network has {listing(ours, 3)}, the table "
                f"{listing(theirs, 3)}; name people in both alike"
            )
        if n_people != n_nodes:
            raise InputError(f"actions has {n_people} people and the network {n_nodes}: give names, or one for each")
        return np.arange(n_nodes), np.arange(n_nodes), {}
    rows = {name: row for row, name in enumerate(theirs)}
    places = np.array([place for place, name in enumerate(ours) if name in rows], dtype=np.int64)
    left_out = {
        "in the network but not in the table": [name for name in ours if name not in rows],
        "in the table but not in the network": sorted({*theirs} - {*ours}),
    }
    ordered = np.array([rows[ours[place]] for place in places], dtype=np.int64)
    return places, ordered, {reason: people for reason, people in left_out.items() if people}


def prepared(network: Any, normalize: bool) -> Any:
    """Return a network without loops, its rows divided by their sums if asked for; isolated people have empty rows."""
    csr = sparse.csr_array(network, dtype=float)
    csr = sparse.csr_array(csr - sparse.diags_array(csr.diagonal()))
    csr.eliminate_zeros()
    if not normalize:
        return csr
    # Isolated people have no neighbours: their row stays empty instead of becoming NaN.
    sums = np.asarray(csr.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(sums > 0, sums, 1.0)) @ csr)


def group_columns(groups: Array) -> Array:
    """Return a 0/1 column for each group."""
    return (groups[:, None] == np.unique(groups)).astype(float)


def check_not_collinear(columns: Array, terms: Sequence[str], tolerance: float = 1e-9) -> None:
    """Refuse covariates that are combinations of others, and name them."""
    dependent = dependent_terms(columns, terms, tolerance)
    if dependent:
        raise InputError(
            f"the covariates {listing(dependent)} are combinations of the others (or constant): leave them out",
            parameter="X",
            value=dependent,
        )


def dependent_terms(columns: Array, terms: Iterable[str], tolerance: float = 1e-9) -> list[str]:
    """Return the terms that the ones before them explain, by Gram and Schmidt."""
    basis = list[Array]()
    dependent = list[str]()
    for column, term in zip(columns.T, terms, strict=True):
        size = float(np.linalg.norm(column))
        left = column.copy()
        for _ in range(2):  # twice, because rounding spoils what is nearly dependent
            for vector in basis:
                left = left - (vector @ left) * vector
        length = float(np.linalg.norm(left))
        if length <= tolerance * size or size == 0.0:
            dependent.append(term)
        else:
            basis.append(left / length)
    return dependent
