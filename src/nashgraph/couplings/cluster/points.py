"""Signals on the workers of a cluster: every worker has all points, and a pass is shared out in tasks of many rows."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...certificate import LOG
from ...validation import Array
from ..passes import Part, Work, stacked
from ..points import PartialPoints, Points
from ..skipping import OfLeaf, SkippingPoints, threaded_points
from ..threads import one_thread
from ..tree import WIDTH, Rows
from .client import Sent, check_cluster, check_installed, current_client, failures_said, inside_worker, put

if TYPE_CHECKING:
    from distributed import Client

    from ..smoothness import Smoothness

# A task is of so many pairs at the most, half a second, so that a worker that is lost costs little, and of so many at
# the least, beside which what the scheduler does for it is little.
TASK_PAIRS, LEAST_PAIRS = 5e7, 2e6
# From so many nodes on passes go leaf by leaf: 16 rows of distances are then more than a core's cache holds, and a tree
# is little work beside a pass. Below, all of a fit takes seconds.
LEAVES_NODES = 50_000
FASTER = 4  # times, by the pair, if none are skipped
# Parts that add up are added task by task, and so many tasks, whatever the number of workers, keep the order.
ADDING_TASKS = 16


class DaskPoints(Points):
    """The nodes as points on every worker of a cluster; see :class:`~nashgraph.couplings.points.Points`."""

    copies = 2  # of the points, in the memory of a worker: one on its way

    def __init__(self, X: Array, lift: Array | None = None, client: Client | None = None) -> None:
        super().__init__(X, lift)
        self.client = current_client() if client is None else client
        plain = (PartialPoints if np.isnan(X).any() else Points)(X, lift)
        block = self.block_size * len(self) * self.dtype.itemsize
        check_cluster(self.client, self.copies * arrays_bytes(plain), 4 * block)
        with failures_said(self.client):
            self.sent = put(self.client, plain)

    @property
    def spread(self) -> type[Smoothness]:
        """The term whose graphs stay on the workers."""
        from .smoothness import DaskSmoothness  # noqa: PLC0415 (it imports the points)

        return DaskSmoothness

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Yield ``work(first node, rows of distances)`` for each block of rows, in order, as the workers return them.

        The blocks are those of the threads, so that the parts are the same bits; lists are joined by task, and what
        adds up is added.
        """
        yield from self.shared_out(worked, self.sent, work, len(self), self.block_size, len(self))

    def shared_out(self, task: Any, sent: Any, work: Any, count: int, least: int, pairs: float) -> Iterator[Any]:
        """Yield the parts of a work on rows, or leaves, in order, as the workers return them; see :func:`spans`."""
        with failures_said(self.client):
            threads = 0 if getattr(work, "adds", False) else sum(self.client.nthreads().values())
            ends, sent_work = spans(count, least, pairs, threads), put(self.client, work)
            each = [sent] * (len(ends) - 1), [sent_work] * (len(ends) - 1), ends[:-1], ends[1:]
            tasks = self.client.map(task, *each, pure=False)
            for place, answer in enumerate(tasks):
                yield from pickle.loads(answer.result())
                tasks[place] = None  # its answer need not be kept


class PartialDaskPoints(DaskPoints, PartialPoints):
    """The same with gaps; see :class:`~nashgraph.couplings.points.PartialPoints`."""


class SkippingDaskPoints(SkippingPoints, DaskPoints):
    """The same, whose passes go leaf by leaf; see :class:`~nashgraph.couplings.skipping.SkippingPoints`.

    The tree is made here, for another machine might round its axes in another way, and have other leaves.
    """

    copies = 10  # a tree has twice as much as the points, and is there up to four times while it comes

    @cached_property
    def sent_tree(self) -> Any:
        """The tree on its way."""
        with failures_said(self.client):
            return put(self.client, self.tree)

    def _leaves(self, job: OfLeaf) -> Iterator[Any]:
        pairs = len(self) * WIDTH / FASTER
        yield from self.shared_out(worked_leaves, self.sent_tree, job, len(self.tree.size), 1, pairs)


def spans(count: int, least: int, pairs: float, threads: int) -> list[int]:
    """Return where the tasks of a pass over ``count`` rows, or leaves, of so many pairs each begin, and the end.

    Each is a share of what is left, for each thread half of its own, so that the last ones are small and all threads
    end together. With 0 threads tasks are alike, and the same with any number of workers. They are multiples of
    ``least``.

    Examples
    --------
    >>> spans(20_000, 100, 20_000, threads=2)
    [0, 2500, 5000, 7500, 10000, 12500, 14400, 15800, 16900, 17700, 18300, 18800, 19100, 19400, 19600, 19700, 19800, \
19900, 20000]
    """
    ends = [0]
    while ends[-1] < count:
        size = count / ADDING_TASKS if threads == 0 else max(LEAST_PAIRS / pairs, (count - ends[-1]) / (2 * threads))
        size = least * math.ceil(min(TASK_PAIRS / pairs, size) / least)
        ends.append(min(count, ends[-1] + size))
    return ends


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


@one_thread()
def worked_leaves(sent_tree: Sent, sent_job: Sent, first: int, last: int) -> bytes:
    """Do a job on some leaves and return the parts, packed into one: this runs in a worker."""
    tree, job = sent_tree.value, sent_job.value
    rows = Rows.of(tree)
    return pickle.dumps([job(tree, number, rows) for number in range(first, last)])


def arrays_bytes(thing: Any) -> int:
    """Return the bytes of the arrays that an object holds."""
    return sum(value.nbytes for value in vars(thing).values() if isinstance(value, np.ndarray))


def dask_points(X: Array, lift: Array | None = None) -> Points:
    """Return points on the current cluster, or on one started here; within a worker's task, in its memory."""
    check_installed()
    if inside_worker():
        LOG.info("engine: threads (within a worker of the cluster)")
        return threaded_points(X, lift)
    kind = SkippingDaskPoints if X.shape[1] >= LEAVES_NODES else DaskPoints
    points = (PartialDaskPoints if np.isnan(X).any() else kind)(X, lift)
    threads = points.client.nthreads()
    LOG.info("engine: dask (workers: %d, threads: %d)", len(threads), sum(threads.values()))
    return points
