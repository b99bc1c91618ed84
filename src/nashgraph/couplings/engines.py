"""The places where signals can live, by name: from a name to what makes points of signals X and a lift of them.

A new one is a subclass of :class:`~nashgraph.couplings.points.Points` in a file of its own and a line here; it is
imported when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..registry import Registry

if TYPE_CHECKING:
    from ..validation import Array
    from .points import Points

DASK = "dask"  # the engine that a cluster is

ENGINES: Registry[Callable[[Array, Array | None], Points]] = Registry(
    "engine",
    later={
        "auto": "nashgraph.couplings.cuda.points:suitable_points",
        "threads": "nashgraph.couplings.skipping:threaded_points",
        "cuda": "nashgraph.couplings.cuda.points:cuda_points",
        DASK: "nashgraph.couplings.cluster.points:dask_points",
    },
)
