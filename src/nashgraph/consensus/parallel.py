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
from typing import Any, TypeVar

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

# Up to this size one scan over all pairs takes a core a second or two, and the rest of a fit takes as long: whole
# tasks go to the workers. Beyond, scans are long and there may be fewer tasks than workers, so scans are spread.
WHOLE_TASK_NODES = 10_000
TASKS_AHEAD = 2  # per thread of the cluster, so that no worker waits and few results wait here

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
) -> Iterator[Result]:
    """Return ``function(X, item)`` for each item, in order; ``what`` names the items in the log.

    Small networks with the engine "dask" use the cluster, others what joblib is told, which may be one by one.
    """
    if len(items) > 1 and runs_whole_tasks(engine, X.shape[1]):
        return cluster_map(function, _contiguous(X), items, what, X.nbytes)
    if len(items) < 2 or inside_worker() or (jobs := effective_n_jobs(n_jobs)) == 1:
        return (function(X, item) for item in items)
    return _joblib_map(function, _contiguous(X), items, n_jobs, jobs)


def _contiguous(X: Array) -> Array:
    """Return the signals in one piece: others arrive with their axes in another order, and sums round differently."""
    return X if X.flags.forc else X.copy(order="K")


def _joblib_map(
    function: Callable[[Array, Item], Result], X: Array, items: Sequence[Item], n_jobs: int | None, jobs: int
) -> Iterator[Any]:
    done = 0
    while done < len(items):
        tasks = [delayed(_packed_result)(function, X, item) for item in items[done:]]
        results = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        try:
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
    function: Callable[[Common, Item], Result], common: Common, items: Iterable[Item], what: str, needed: int = 0
) -> Iterator[Result]:
    """Yield ``function(common, item)`` for each item, in order, computed by the workers of the current cluster.

    ``common`` is sent to each worker once. Two tasks per thread are started at a time, so few results wait here.
    ``needed`` is the memory of a task in bytes; ``what`` names the items in the log.
    """
    check_installed()
    client = current_client()
    check_cluster(client, 0, needed)
    threads = client.nthreads()
    LOG.info("engine: dask (workers: %d, threads: %d, whole %s)", len(threads), sum(threads.values()), what)
    sent = put(client, common)
    coming = (submitted(client, cluster_task, function, sent, pickle.dumps(item)) for item in items)
    with failures_said(client):
        started = deque(islice(coming, TASKS_AHEAD * sum(threads.values())))
        while started:
            packed = started.popleft().result()
            started.extend(islice(coming, 1))
            yield pickle.loads(packed)


@one_thread()
def cluster_task(function: Callable[[Any, Any], Any], common: Sent, item: bytes) -> bytes:
    """Return the packed result of an item. This runs in a worker, whose other threads have other tasks."""
    return pickle.dumps(function(common.value, pickle.loads(item)))
