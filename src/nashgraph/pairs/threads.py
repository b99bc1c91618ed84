"""The executor on threads, and jobs shared among threads, each with a buffer of its own."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numba import get_num_threads, set_num_threads
from threadpoolctl import ThreadpoolController

from ..validation import Array
from .tree import Rows

if TYPE_CHECKING:
    from .points import Points
    from .scans import Task
    from .tree_search import LeafTask

Item = TypeVar("Item")
Buffer = TypeVar("Buffer")
Part = TypeVar("Part")


class Threads:
    """The executor on threads, which share the blocks of a scan; its geometry is in memory."""

    def __init__(self, geometry: Points) -> None:
        self.geometry = geometry

    def blocks(self, task: Task[Part], nodes: Array) -> Iterator[Part]:
        """Yield ``task(nodes, rows of costs)`` for blocks of some nodes, in order."""
        size = self.geometry.block_size

        def block(first: int, buffer: Array) -> Part:
            some = nodes[first : first + size]
            return task(some, self.geometry.rows(some, out=buffer[: len(some)]))

        yield from shared(block, range(0, len(nodes), size), lambda: np.empty((size, len(self.geometry))))

    def leaves(self, task: LeafTask, numbers: Any) -> Iterator[Any]:
        """Yield what a task finds for some leaves, in order."""
        job = task.on(self.geometry)

        def leaf(number: int, rows: Rows) -> Any:
            return job(self.geometry, number, rows)

        rank = job.ranges.left.shape[1]
        yield from shared(leaf, numbers, lambda: Rows.of(self.geometry.tree, rank))


def shared(job: Callable[[Item, Buffer], Part], items: Sequence[Item], make: Callable[[], Buffer]) -> Iterator[Part]:
    """Yield ``job(item, buffer)`` for each item, in order; a buffer is overwritten by its thread's next job.

    A thread works on its items alone, with BLAS held to one thread too, so that there are no barriers but the end.
    """
    workers = min(get_num_threads(), len(items))
    buffers: queue.SimpleQueue[Buffer] = queue.SimpleQueue()
    for _ in range(workers):
        buffers.put(make())

    def one(item: Item) -> Part:
        buffer = buffers.get()
        try:
            return job(item, buffer)
        finally:
            buffers.put(buffer)

    with blas_threads().limit(limits=1), ThreadPoolExecutor(workers) as pool:
        yield from map(one, items) if workers == 1 else pool.map(one, items)


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS and the kernels to one thread for a while: the other cores are busy with other work.

    Sums over several threads would also differ in their last bits.
    """
    before = get_num_threads()
    set_num_threads(1)
    try:
        with blas_threads().limit(limits=1):
            yield
    finally:
        set_num_threads(before)


@cache
def blas_threads() -> ThreadpoolController:
    """Return the handle on BLAS's own threads, found once: looking for the libraries takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")
