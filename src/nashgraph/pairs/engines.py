"""Engines by name: from a name to a function that makes a search of signals X, node costs and the scale of rounding.

A new engine is a :class:`~nashgraph.pairs.search.PairSearch` in a file of its own, or an executor for
:class:`~nashgraph.pairs.search.BlockSearch`, and a line here; it is imported when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..registry import Registry

if TYPE_CHECKING:
    from ..validation import Array
    from .search import PairSearch

DASK = "dask"  # the engine that a cluster is

ENGINES: Registry[Callable[[Array, Array | None, Array | None], PairSearch]] = Registry(
    "engine",
    later={
        "auto": "nashgraph.pairs.cuda.search:suitable_search",
        "threads": "nashgraph.pairs.search:threaded_search",
        "cuda": "nashgraph.pairs.cuda.search:cuda_search",
        DASK: "nashgraph.pairs.cluster.search:dask_search",
    },
)
