"""Signals on the workers of a cluster: every worker has all points, and a pass is shared out in tasks of many rows."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...certificate import ENGINE_LOG as LOG
from ...validation import Array
from ..passes import Candidates, Nearest, Part, Work, stacked
from ..points import PartialPoints, Points
from ..skipping import SkippingPoints, threaded_points
from ..threads import one_thread
from ..tree import WIDTH, Rows
from .client import (
    Sent,
    check_cluster,
    check_installed,
    current_client,
    everywhere,
    failures_said,
    inside_worker,
    put,
)

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
STAYS = "client", "sent", "ready", "near", "tree"  # of the points here, when they are sent
# Parts that add up are added task by task, and so many tasks, whatever the number of workers, keep the order.
ADDING_TASKS = 16


class DaskPoints(Points):
    """The nodes as points on every worker of a cluster; see :class:`~nashgraph.couplings.points.Points`."""

    copies = 2  # of the points, in the memory of a worker: one on its way
    there: type[Points] = Points  # what a worker has

    def __init__(self, X: Array, lift: Array | None = None, client: Client | None = None) -> None:
        super().__init__(X, lift)
        self.client = current_client() if client is None else client
        block = self.block_size * len(self) * self.dtype.itemsize
        held = sum(value.nbytes for value in self.carried.values() if isinstance(value, np.ndarray))
        check_cluster(self.client, self.copies * held, 4 * block)
        with failures_said(self.client):
            self.sent = put(self.client, self)
            self.ready = everywhere(self.client, made_ready, self.sent)

    @property
    def carried(self) -> dict[str, Any]:
        """What is sent of the points."""
        return {name: value for name, value in vars(self).items() if name not in STAYS}

    def __reduce__(self) -> tuple[Callable[..., Points], tuple[type[Points], dict[str, Any]]]:
        """Arrive as points in memory."""
        return arrived, (self.there, self.carried)

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
            while tasks:  # several at a time: to ask for one takes some milliseconds; what was had need not be kept
                several, tasks = tasks[: threads or ADDING_TASKS], tasks[threads or ADDING_TASKS :]
                for packed in self.client.gather(several):
                    yield from pickle.loads(packed)


class PartialDaskPoints(DaskPoints, PartialPoints):
    """The same with gaps; see :class:`~nashgraph.couplings.points.PartialPoints`."""

    there = PartialPoints


class SkippingDaskPoints(SkippingPoints, DaskPoints):
    """The same, whose passes go leaf by leaf; see :class:`~nashgraph.couplings.skipping.SkippingPoints`.

    The order is found here, for another machine might round its axes in another way, and have other leaves. Workers
    make the tree of it, which has twice as much as the points.
    """

    copies = 6  # measured: the bytes that came, the points, a tree, and what it is made of
    there = SkippingPoints

    @property
    def carried(self) -> dict[str, Any]:
        """The points, and their order."""
        return super().carried | {"order": self.order}

    def _leaves(self, work: Nearest | Candidates) -> Iterator[Any]:
        pairs = len(self) * WIDTH / FASTER
        yield from self.shared_out(worked_leaves, self.sent, work, len(self.tree.size), 1, pairs)


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
def worked_leaves(sent_points: Sent, sent_work: Sent, first: int, last: int) -> bytes:
    """Do a work on some leaves and return the parts, packed into one: this runs in a worker."""
    tree, job = sent_points.value.tree, sent_work.once(sent_points.value.job_of)
    rows = Rows.of(tree)
    return pickle.dumps([job(tree, number, rows) for number in range(first, last)])


@one_thread()
def made_ready(sent_points: Sent) -> None:
    """Make what passes need of points that were sent, while the client still looks at them: this runs in a worker."""
    if isinstance(sent_points.value, SkippingPoints):
        _ = sent_points.value.tree


def arrived(kind: type[Points], carried: dict[str, Any]) -> Points:
    """Return points that were sent."""
    points = kind.__new__(kind)
    vars(points).update(carried)
    return points


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
