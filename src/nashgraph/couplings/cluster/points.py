"""Signals on the workers of a cluster: every worker has all points, and a pass is shared out in tasks of many rows."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...certificate import LOG
from ...validation import Array
from ..passes import Part, Work, stacked
from ..points import PartialPoints, Points
from ..skipping import threaded_points
from ..threads import one_thread
from .client import Sent, check_cluster, check_installed, current_client, failures_said, inside_worker, put

if TYPE_CHECKING:
    from distributed import Client

    from ..smoothness import Smoothness

# A task is of so many pairs at the most, half a second, so that a worker that is lost costs little, and of so many at
# the least, beside which what the scheduler does for it is little.
TASK_PAIRS, LEAST_PAIRS = 5e7, 2e6
# Parts that add up are added task by task, and so many tasks, whatever the number of workers, keep the order.
ADDING_TASKS = 16


class DaskPoints(Points):
    """The nodes as points on every worker of a cluster; see :class:`~nashgraph.couplings.points.Points`."""

    def __init__(self, X: Array, lift: Array | None = None, client: Client | None = None) -> None:
        super().__init__(X, lift)
        self.client = current_client() if client is None else client
        plain = (PartialPoints if np.isnan(X).any() else Points)(X, lift)
        block = self.block_size * len(self) * self.dtype.itemsize
        check_cluster(self.client, 2 * arrays_bytes(plain), 4 * block)
        with failures_said(self.client):
            self.sent = put(self.client, plain)

    @property
    def spread(self) -> type[Smoothness]:
        """The term whose graphs stay on the workers."""
        from .smoothness import DaskSmoothness  # noqa: PLC0415 (it imports the points)

        return DaskSmoothness

    def spans(self, *, adds: bool) -> list[int]:
        """Return where the rows of each task of a pass begin, and the end: whole blocks.

        Tasks are a share of the rows that are left, for each thread half of its own, so that the last ones are small
        and all threads end together. Where parts add up, tasks are alike, and the same with any number of workers.
        """
        n, most, least = len(self), TASK_PAIRS / len(self), LEAST_PAIRS / len(self)
        threads = sum(self.client.nthreads().values())
        ends = [0]
        while ends[-1] < n:
            rows = n / ADDING_TASKS if adds else max(least, (n - ends[-1]) / (2 * threads))
            size = self.block_size * math.ceil(min(most, rows) / self.block_size)
            ends.append(min(n, ends[-1] + size))
        return ends

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Yield ``work(first node, rows of distances)`` for each block of rows, in order, as the workers return them.

        The blocks are those of the threads, so that the parts are the same bits; lists are joined by task, and what
        adds up is added.
        """
        with failures_said(self.client):
            ends, sent = self.spans(adds=getattr(work, "adds", False)), put(self.client, work)
            each = [self.sent] * (len(ends) - 1), [sent] * (len(ends) - 1), ends[:-1], ends[1:]
            tasks = self.client.map(worked, *each, pure=False)
            for place, task in enumerate(tasks):
                yield from pickle.loads(task.result())
                tasks[place] = None  # its answer need not be kept


class PartialDaskPoints(DaskPoints, PartialPoints):
    """The same with gaps; see :class:`~nashgraph.couplings.points.PartialPoints`."""


@one_thread()  # BLAS would take all cores in a worker without a nanny
def worked(sent_points: Sent, sent_work: Sent, first: int, last: int) -> bytes:
    """Do a work on the blocks of some rows and return the parts, packed into one: this runs in a worker."""
    points, work = sent_points.value, sent_work.value
    n, size = len(points), points.block_size
    buffer = np.empty((min(size, n), n), points.dtype)
    parts = []
    for start in range(first, last, size):
        end = min(last, start + size)
        parts.append(work(start, points.rows(start, end, out=buffer[: end - start])))
    if getattr(work, "adds", False):
        parts = [sum(parts[1:], parts[0])]
    elif sparse.issparse(parts[0]):
        parts = [stacked(parts)]
    return pickle.dumps(parts)


def arrays_bytes(thing: Any) -> int:
    """Return the bytes of the arrays that an object holds."""
    return sum(value.nbytes for value in vars(thing).values() if isinstance(value, np.ndarray))


def dask_points(X: Array, lift: Array | None = None) -> Points:
    """Return points on the current cluster, or on one started here; within a worker's task, in its memory."""
    check_installed()
    if inside_worker():
        LOG.info("engine: threads (within a worker of the cluster)")
        return threaded_points(X, lift)
    points = (PartialDaskPoints if np.isnan(X).any() else DaskPoints)(X, lift)
    threads = points.client.nthreads()
    LOG.info("engine: dask (workers: %d, threads: %d)", len(threads), sum(threads.values()))
    return points
