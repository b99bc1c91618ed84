"""What is written of each node besides its place in the network: its community, and the columns of the user's table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..graph import LearnedGraph
from ..validation import Array

# What nodes have in our files, and what `show` prints of it; a column of the user's by one of these names is renamed.
OWN = (
    *("name", "influence", "influence_low", "influence_high", "rank_low", "rank_high", "followers", "listens_to"),
    *("benefit", "action", "missing", "silent", "community"),
)
RESERVED = {*OWN, "id", "label", "group"}


def described(graph: LearnedGraph, table: pd.DataFrame) -> LearnedGraph:
    """Return the graph with the community of every node and the columns of the user's table, as files show them."""
    columns = {str(name): as_values(table[name]) for name in table}
    taken = RESERVED | {*graph.node_columns}
    renamed = {f"{name} (table)" if name in taken else name: values for name, values in columns.items()}
    return replace(graph, node_columns={**graph.node_columns, "community": graph.communities, **renamed})


def as_values(column: pd.Series) -> Array:
    """Return a column as numbers or as text, gaps as NaN or None.

    Examples
    --------
    >>> as_values(pd.Series([1, None], dtype="Int64")), as_values(pd.Series(["n", None]))
    (array([ 1., nan]), array(['n', None], dtype=object))
    """
    if pd.api.types.is_bool_dtype(column.dtype) and not column.isna().any():
        return column.to_numpy(dtype=bool)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        whole = pd.api.types.is_integer_dtype(column.dtype) and not column.isna().any()
        return column.to_numpy() if whole else column.to_numpy(dtype=float, na_value=np.nan)
    values: Array = (
        column.map(str, na_action="ignore").astype(object).where(column.notna(), None).to_numpy(dtype=object)
    )
    return values
