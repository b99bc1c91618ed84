"""The engine "dask": every worker has the signals, and a scan is shared out in tasks of many rows or leaves."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...certificate import ENGINE_LOG as LOG
from ...validation import Array
from ..scans import Above, Nearest, Part, Work
from ..search import GappedPairSearch, PairSearch
from ..threads import one_thread
from ..tree import WIDTH, Rows
from ..tree_search import TreeSearch, threaded_search
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
STAYS = "client", "sent", "ready", "known_nearest", "tree"  # attributes that are not sent


class DaskSearch(PairSearch):
    """The search by the workers of a cluster; see :class:`~nashgraph.pairs.search.PairSearch`."""

    copies = 2  # of the signals in the memory of a worker: one on its way
    there: type[PairSearch] = PairSearch  # what a worker has

    def __init__(
        self, X: Array, node_costs: Array | None = None, sizes: Array | None = None, client: Client | None = None
    ) -> None:
        super().__init__(X, node_costs, sizes)
        self.client = current_client() if client is None else client
        block = self.block_size * len(self) * 8
        held = sum(value.nbytes for value in self.carried.values() if isinstance(value, np.ndarray))
        check_cluster(self.client, self.copies * held, 4 * block)
        with failures_said(self.client):
            self.sent = put(self.client, self)
            self.ready = everywhere(self.client, made_ready, self.sent)

    @property
    def carried(self) -> dict[str, Any]:
        """The data that are sent."""
        return {name: value for name, value in vars(self).items() if name not in STAYS}

    def __reduce__(self) -> tuple[Callable[..., PairSearch], tuple[type[PairSearch], dict[str, Any]]]:
        """Arrive as a search in memory."""
        return arrived, (self.there, self.carried)

    def scan(self, work: Work[Part], nodes: Array | None = None) -> Iterator[Part]:
        """Yield ``work(nodes, rows of costs)`` for blocks of some nodes, in order, as the workers return them.

        The blocks are those of the threads, so that the parts are the same bits.
        """
        asked = np.arange(len(self)) if nodes is None else nodes
        self.scans += len(asked) / len(self)
        yield from self.shared_out(worked, (work, asked), len(asked), self.block_size, len(self))

    def shared_out(self, task: Any, work: Any, count: int, least: int, pairs: float) -> Iterator[Any]:
        """Yield the parts of a work on rows, or leaves, in order, as the workers return them; see :func:`spans`."""
        with failures_said(self.client):
            threads = sum(self.client.nthreads().values())
            ends = spans(count, least, pairs, threads)
            sent_work = put(self.client, work)
            each = [self.sent] * (len(ends) - 1), [sent_work] * (len(ends) - 1), ends[:-1], ends[1:]
            tasks = self.client.map(task, *each, pure=False)
            while tasks:  # several at a time: to ask for one takes some milliseconds; what was had need not be kept
                several = tasks[:threads]
                tasks = tasks[threads:]
                for packed in self.client.gather(several):
                    yield from pickle.loads(packed)


class GappedDaskSearch(DaskSearch, GappedPairSearch):
    """The same with gaps; see :class:`~nashgraph.pairs.search.GappedPairSearch`."""

    there = GappedPairSearch


class TreeDaskSearch(TreeSearch, DaskSearch):
    """The same, whose scans go leaf by leaf; see :class:`~nashgraph.pairs.tree_search.TreeSearch`.

    The order is found here, for another machine might round its axes in another way, and have other leaves. Workers
    make the tree of it, which has twice as much as the points.
    """

    copies = 6  # measured: the bytes that came, the points, a tree, and what it is made of
    there = TreeSearch
    screens = False  # workers scan in double precision

    @property
    def carried(self) -> dict[str, Any]:
        """The points, and their order."""
        return super().carried | {"order": self.order}

    def _leaves(self, work: Nearest | Above) -> Iterator[Any]:
        pairs = len(self) * WIDTH / FASTER
        yield from self.shared_out(worked_leaves, work, len(self.tree.size), 1, pairs)


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
def worked(sent_search: Sent, sent_work: Sent, first: int, last: int) -> bytes:
    """Do a work on the blocks of some rows and return the parts, packed into one: this runs in a worker."""
    search, (work, nodes) = sent_search.value, sent_work.value
    n = len(search)
    size = search.block_size
    buffer = np.empty((min(size, n), n))
    parts = []
    for start in range(first, last, size):
        some = nodes[start : min(last, start + size)]
        parts.append(work(some, search.rows(some, out=buffer[: len(some)])))
    return pickle.dumps(parts)


@one_thread()
def worked_leaves(sent_search: Sent, sent_work: Sent, first: int, last: int) -> bytes:
    """Do a work on some leaves and return the parts, packed into one: this runs in a worker."""
    search = sent_search.value
    job = sent_work.once(sent_search.value.job_of)
    rows = Rows.of(search.tree, job.ranges.left.shape[1])
    return pickle.dumps([job(search, number, rows) for number in range(first, last)])


@one_thread()
def made_ready(sent_search: Sent) -> None:
    """Make what scans need of signals that were sent, while the client still looks at them: this runs in a worker."""
    if isinstance(sent_search.value, TreeSearch):
        _ = sent_search.value.tree


def arrived(kind: type[PairSearch], carried: dict[str, Any]) -> PairSearch:
    """Return a search that was sent."""
    search = kind.__new__(kind)
    vars(search).update(carried, known_nearest=None)
    return search


def dask_search(X: Array, node_costs: Array | None = None, sizes: Array | None = None) -> PairSearch:
    """Return a search on the current cluster, or on one started here; within a worker's task, in its memory."""
    check_installed()
    if inside_worker():
        LOG.info("engine: threads (within a worker of the cluster)")
        return threaded_search(X, node_costs, sizes)
    kind = TreeDaskSearch if X.shape[1] >= LEAVES_NODES else DaskSearch
    search = (GappedDaskSearch if np.isnan(X).any() else kind)(X, node_costs, sizes)
    threads = search.client.nthreads()
    LOG.info("engine: dask (workers: %d, threads: %d)", len(threads), sum(threads.values()))
    return search
