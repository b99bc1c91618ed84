"""One parallel map: here, over joblib's threads or processes, or over the workers of a Dask cluster.

Results come in the order of the items and are the same bits everywhere. A lost worker costs time only: Dask gives its
tasks to another worker, and tasks lost with a process of joblib's are done again with half as many processes.
"""

from __future__ import annotations

import pickle
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import BrokenProcessPool

from ..certificate import ENGINE_LOG as LOG
from ..pairs.cluster.client import (
    Sent,
    check_cluster,
    check_installed,
    current_client,
    failures_said,
    inside_worker,
    put,
    submitted,
)
from ..pairs.engines import DASK
from ..pairs.threads import one_thread
from ..validation import Array

if TYPE_CHECKING:
    from distributed import Client

# Up to this size one scan over all pairs takes a core a second or two, and the rest of a fit takes as long: whole
# tasks go to the workers. Beyond, scans are long and there may be fewer tasks than workers, so scans are spread.
WHOLE_TASK_NODES = 10_000
TASKS_AHEAD = 2  # per thread of the cluster, so that no worker waits and few results wait here
WAITING_BYTES = 1 << 30  # results that may wait in this process
TASK_ARRAYS = 4  # memory of a task, as a multiple of its result

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")


def runs_whole_tasks(engine: str, n_nodes: int) -> bool:
    """Tell whether tasks on networks of this size go to the workers of a Dask cluster as a whole."""
    return engine == DASK and n_nodes <= WHOLE_TASK_NODES and not inside_worker()


def parallel_map(
    function: Callable[[Array, Item], Result],
    X: Array,
    items: Sequence[Item],
    what: str,
    *,
    n_jobs: int | None,
    engine: str = "threads",
    result_bytes: int = 1,
) -> Iterator[Result]:
    """Return ``function(X, item)`` for each item, in order; the first tasks are started before this returns.

    Small networks with the engine "dask" use the cluster, all others what joblib is told: with ``n_jobs=None`` and no
    ``joblib.parallel_config``, and inside a worker, items are done one by one when they are asked for.
    ``result_bytes`` is the size of one result; about a gigabyte of them may wait. ``what`` names the items in the log.

    Examples
    --------
    >>> import numpy as np
    >>> list(parallel_map(lambda X, power: float((X**power).sum()), np.array([[1.0, 2.0]]), [1, 2], "powers", n_jobs=1))
    [3.0, 5.0]
    """
    most = max(1, WAITING_BYTES // result_bytes)
    if len(items) > 1 and runs_whole_tasks(engine, X.shape[1]):
        return cluster_map(function, _contiguous(X), items, what, TASK_ARRAYS * result_bytes + X.nbytes, most)
    if len(items) < 2 or inside_worker() or (jobs := effective_n_jobs(n_jobs)) == 1:
        return (function(X, item) for item in items)
    results = _joblib_map(function, _contiguous(X), items, n_jobs, jobs, most)
    next(results)
    return results


def _contiguous(X: Array) -> Array:
    """Return the signals in one piece: others arrive with their axes in another order, and sums round differently."""
    return X if X.flags.forc else X.copy(order="K")


def _joblib_map(
    function: Callable[[Array, Item], Result],
    X: Array,
    items: Sequence[Item],
    n_jobs: int | None,
    jobs: int,
    most: int,
) -> Iterator[Any]:
    """Yield None once the first tasks are started, and then the results."""
    done, primed = 0, False
    while done < len(items):
        # joblib goes on whether results are taken or not: start no more than may wait.
        tasks = [delayed(_packed_result)(function, X, item) for item in items[done : done + most]]
        results = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        try:
            if not primed:
                primed = True
                yield None
            for packed in results:
                done += 1
                yield pickle.loads(packed)
        except BrokenProcessPool:  # a process was killed, most often for its memory
            n_jobs = jobs = max(1, jobs // 2)
            LOG.warning("a worker process was lost; its tasks are done again with %d process(es)", jobs)
        finally:
            with warnings.catch_warnings():  # a caller who stops early knows that not all is done
                warnings.simplefilter("ignore")
                results.close()


def _packed_result(function: Callable[[Array, Item], Result], X: Array, item: Item) -> bytes:
    """Return a result as bytes, so that its arrays are new ones where it arrives. This runs in a worker."""
    with one_thread() if inside_worker() else nullcontext():
        return pickle.dumps(function(X, item))


def cluster_map(
    function: Callable[[Common, Item], Result],
    common: Common,
    items: Iterable[Item],
    what: str,
    needed: int = 0,
    most: int | None = None,
) -> Iterator[Result]:
    """Return ``function(common, item)`` for each item, in order, computed by the workers of the current cluster.

    ``common`` is sent to each worker once. At most ``most`` tasks, or two per thread, are started at a time, so few
    results wait here. ``needed`` is the memory of a task in bytes; ``what`` names the items in the log.
    """
    check_installed()
    client = current_client()
    check_cluster(client, 0, needed)
    threads = client.nthreads()
    LOG.info("engine: dask (workers: %d, threads: %d, whole %s)", len(threads), sum(threads.values()), what)
    sent, left = put(client, common), iter(items)

    def start(item: Item) -> Any:
        return submitted(client, cluster_task, function, sent, pickle.dumps(item))

    ahead = TASKS_AHEAD * sum(threads.values())
    with failures_said(client):
        started = deque(map(start, islice(left, ahead if most is None else min(most, ahead))))
    return _collected(client, started, map(start, left))


def _collected(client: Client, started: deque[Any], others: Iterator[Any]) -> Iterator[Any]:
    with failures_said(client):
        while started:
            packed = started.popleft().result()
            started.extend(islice(others, 1))
            yield pickle.loads(packed)


@one_thread()
def cluster_task(function: Callable[[Any, Any], Any], common: Sent, item: bytes) -> bytes:
    """Return the packed result of an item. This runs in a worker, whose other threads have other tasks."""
    return pickle.dumps(function(common.value, pickle.loads(item)))
