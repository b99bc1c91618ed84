"""The engine "dask": every worker has the points, and a scan is shared out in tasks of many rows or leaves."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...certificate import ENGINE_LOG as LOG
from ...validation import Array
from ..points import Points, points_of
from ..scans import Result, Task
from ..search import BlockSearch, PairSearch, threaded_search
from ..threads import one_thread
from ..tree import WIDTH, Rows
from ..tree_search import LeafScans, LeafTask
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

# A task has at most so many pairs, half a second, so that a lost worker costs little, and at least so many that the
# scheduler's work for it is little in comparison.
TASK_PAIRS = 5e7
LEAST_PAIRS = 2e6
# From so many nodes on scans go leaf by leaf: 16 rows of costs are then more than a core's cache holds, and a tree is
# little work compared with a scan. Below, all of a fit takes seconds.
LEAVES_NODES = 50_000
FASTER = 4  # how many times as fast a leaf is, by the pair, if none are skipped


class Workers:
    """The executor on the workers of a cluster: each of them has the points.

    With ``by_leaf`` they have the tree too. Its order is found here, for another machine might round its axes in
    another way, and have other leaves; workers make the tree of it.
    """

    def __init__(self, geometry: Points, client: Client | None = None, *, by_leaf: bool = False) -> None:
        self.geometry = geometry
        self.client = current_client() if client is None else client
        copies = 2  # of the points in the memory of a worker: one on its way
        if by_leaf:
            copies = 6  # measured: the bytes that came, the points, a tree, and what it is made of
            _ = geometry.order  # sent along
        n_bytes = [value.nbytes for value in vars(geometry).values() if isinstance(value, np.ndarray)]
        block = geometry.block_size * len(geometry) * 8
        check_cluster(self.client, copies * sum(n_bytes), 4 * block)
        with failures_said(self.client):
            self.sent = put(self.client, geometry)
            self.ready = everywhere(self.client, made_ready, self.sent)

    def blocks(self, task: Task[Result], nodes: Array) -> Iterator[Result]:
        """Yield ``task(nodes, rows of costs)`` for blocks of some nodes, in order, as the workers return them.

        The blocks are those of the threads, so that the parts are the same bits.
        """
        yield from self.shared_out(worked, (task, nodes), len(nodes), self.geometry.block_size, len(self.geometry))

    def leaves(self, task: LeafTask, numbers: Any) -> Iterator[Any]:
        """Yield what a task finds for some leaves, in order, as the workers return them."""
        pairs = len(self.geometry) * WIDTH / FASTER
        yield from self.shared_out(worked_leaves, (task, np.asarray(numbers)), len(numbers), 1, pairs)

    def shared_out(self, work: Any, task: Any, count: int, least: int, pairs: float) -> Iterator[Any]:
        """Yield the parts of a task on rows, or leaves, in order, as the workers return them; see :func:`spans`."""
        with failures_said(self.client):
            threads = sum(self.client.nthreads().values())
            ends = spans(count, least, pairs, threads)
            sent_task = put(self.client, task)  # once, however many tasks are made of it
            n_tasks = len(ends) - 1
            shares = [self.sent] * n_tasks, [sent_task] * n_tasks, ends[:-1], ends[1:]
            tasks = self.client.map(work, *shares, pure=False)
            while tasks:  # several at a time: to ask for one takes some milliseconds; what was had need not be kept
                several = tasks[:threads]
                tasks = tasks[threads:]
                for packed in self.client.gather(several):
                    yield from pickle.loads(packed)


def spans(count: int, least: int, pairs: float, threads: int) -> list[int]:
    """Return where the tasks of a scan over ``count`` rows, or leaves, of so many pairs each begin, and the end.

    Each is a share of what is left, for each thread half of its own, so that the last ones are small and all threads
    end together. They are multiples of ``least``.
    """
    ends = [0]
    while ends[-1] < count:
        size = max(LEAST_PAIRS / pairs, (count - ends[-1]) / (2 * threads))
        size = least * math.ceil(min(TASK_PAIRS / pairs, size) / least)
        ends.append(min(count, ends[-1] + size))
    return ends


@one_thread()  # BLAS would take all cores in a worker without a nanny
def worked(sent_geometry: Sent, sent_task: Sent, first: int, last: int) -> bytes:
    """Do a task on the blocks of some rows and return the parts, packed into one: this runs in a worker."""
    geometry = sent_geometry.value
    task, nodes = sent_task.value
    n = len(geometry)
    size = geometry.block_size
    buffer = np.empty((min(size, n), n))
    parts = []
    for start in range(first, last, size):
        some = nodes[start : min(last, start + size)]
        parts.append(task(some, geometry.rows(some, out=buffer[: len(some)])))
    return pickle.dumps(parts)


@one_thread()
def worked_leaves(sent_geometry: Sent, sent_task: Sent, first: int, last: int) -> bytes:
    """Do a task on some leaves and return the parts, packed into one: this runs in a worker."""
    geometry = sent_geometry.value
    job = sent_task.once(lambda value: value[0].on(geometry))
    rows = Rows.of(geometry.tree, job.ranges.left.shape[1])
    numbers = sent_task.value[1][first:last]
    return pickle.dumps([job(geometry, number, rows) for number in numbers])


@one_thread()
def made_ready(sent_geometry: Sent) -> None:
    """Make the tree of points whose order was sent, while the client still looks at them: this runs in a worker."""
    if "order" in vars(sent_geometry.value):
        _ = sent_geometry.value.tree


def dask_search(X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> PairSearch:
    """Return a search on the current cluster, or on one started here; within a worker's task, in its memory."""
    check_installed()
    if inside_worker():
        LOG.info("engine: threads (within a worker of the cluster)")
        return threaded_search(X, node_costs, sizes)
    geometry = points_of(X, node_costs, sizes)
    by_leaf = type(geometry) is Points and len(geometry) >= LEAVES_NODES
    workers = Workers(geometry, by_leaf=by_leaf)
    threads = workers.client.nthreads()
    LOG.info("engine: dask (workers: %d, threads: %d)", len(threads), sum(threads.values()))
    return BlockSearch(workers, LeafScans(workers) if by_leaf else None)
