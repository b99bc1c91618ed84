"""Whole fits over a cluster: where networks are small, each is one task, and its scans are not spread further."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from ...certificate import LOG
from ..engines import DASK
from ..threads import one_thread
from .client import Sent, check_cluster, check_installed, current_client, failures_said, inside_worker, put, submitted

if TYPE_CHECKING:
    from distributed import Client

# Up to so many nodes a pass takes a core a second or two, and what else a fit does is no less: whole fits are shared
# out. Beyond, scans are long, and fits may be fewer than workers.
WHOLE_NODES = 10_000
AHEAD = 2  # tasks for each thread of the cluster that are under way at a time

Common = TypeVar("Common")
Item = TypeVar("Item")
Answer = TypeVar("Answer")


def shared_whole(engine: str, n_nodes: int) -> bool:
    """Tell whether fits of so many nodes go over the cluster as whole tasks."""
    return engine == DASK and n_nodes <= WHOLE_NODES and not inside_worker()


def share_out(
    function: Callable[[Common, Item], Answer],
    common: Common,
    items: Iterable[Item],
    what: str,
    needed: int = 0,
    most: int | None = None,
) -> Iterator[Answer]:
    """Return what a function makes of each item, in their order, made by the workers of the current cluster.

    ``common`` is sent to each worker once. The first tasks are under way when this returns, and at no time are there
    more than ``most``, or two for each thread, so that few answers wait here. ``needed`` is the memory that a task
    takes, in bytes, and ``what`` says in the log what the items are.
    """
    check_installed()
    client = current_client()
    check_cluster(client, 0, needed)
    threads = client.nthreads()
    LOG.info("engine: dask (workers: %d, threads: %d, whole %s)", len(threads), sum(threads.values()), what)
    sent, left = put(client, common), iter(items)

    def start(item: Item) -> Any:
        return submitted(client, answered, function, sent, pickle.dumps(item))

    ahead = AHEAD * sum(threads.values())
    with failures_said(client):
        started = deque(map(start, islice(left, ahead if most is None else min(most, ahead))))
    return _collected(client, started, map(start, left))


def _collected(client: Client, started: deque[Any], others: Iterator[Any]) -> Iterator[Any]:
    with failures_said(client):
        while started:
            answer = started.popleft().result()
            started.extend(islice(others, 1))
            yield pickle.loads(answer)


@one_thread()
def answered(function: Callable[[Any, Any], Any], common: Sent, item: bytes) -> bytes:
    """Return the answer to an item, packed into one: this runs in a worker, which has other tasks for other threads."""
    return pickle.dumps(function(common.value, pickle.loads(item)))
