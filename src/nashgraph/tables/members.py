"""members.npz: a consensus whole, and the graphs of its resamples, small enough to lie beside the other files.

The files of the graph have its sure ties only; what advice is worth, and how sure it is, needs the rest.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..validation import Array
from .errors import TableError

SMALL = np.iinfo(np.uint16).max  # nodes that numbers of two bytes can tell apart


def write_members(path: str | Path, names: Iterable[Any], weights: Any, members: Sequence[Any]) -> None:
    """Write a graph, to seven digits, and the graphs of its resamples, to three; the same graphs give the same bytes.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "members.npz"
    >>> graph = sparse.csr_array(np.array([[0.0, 0.5], [0.25, 0.0]]))
    >>> write_members(file, ["ann", "bob"], graph, [graph, graph])
    >>> names, weights, members = read_members(file)
    >>> names, weights.toarray().tolist(), len(members)
    (['ann', 'bob'], [[0.0, 0.5], [0.25, 0.0]], 2)
    """
    number = np.uint16 if weights.shape[0] <= SMALL else np.uint32
    graphs = [weights, *members]
    np.savez_compressed(
        path,
        names=np.array([str(name) for name in names], dtype=np.str_),
        weights=weights.data.astype(np.float32),
        members=np.concatenate([graph.data for graph in members] or [np.zeros(0)]).astype(np.float16),
        columns=np.concatenate([graph.indices for graph in graphs]).astype(number),
        counts=np.stack([np.diff(graph.indptr) for graph in graphs]).astype(number),
    )


def read_members(path: Path) -> tuple[list[str], Any, list[Any]]:
    """Return the names, the graph and the graphs of its resamples."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            names, counts, columns = kept["names"].tolist(), kept["counts"].astype(np.int64), kept["columns"]
            data = np.concatenate([kept["weights"].astype(float), kept["members"].astype(float)])
        ends = np.cumsum(counts.sum(axis=1))
        if counts.shape[1] != len(names) or ends[-1] != len(data) or ends[-1] != len(columns):
            raise ValueError("its parts do not fit")
        graphs = [
            _graph(data[end - row.sum() : end], columns[end - row.sum() : end], row)
            for row, end in zip(counts, ends.tolist(), strict=True)
        ]
    except (OSError, ValueError, TypeError, LookupError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise TableError(f"{path.name} is damaged ({error}): learn the network again") from error
    return names, graphs[0], graphs[1:]


def _graph(data: Array, columns: Array, counts: Array) -> Any:
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    graph = sparse.csr_array((data, columns.astype(np.int32), pointers), shape=(len(counts), len(counts)))
    graph.check_format()
    return graph
