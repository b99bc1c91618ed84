"""Jobs shared among threads, each with a buffer of its own, and their results in order."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from numba import get_num_threads, set_num_threads
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Buffer = TypeVar("Buffer")
Part = TypeVar("Part")


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
