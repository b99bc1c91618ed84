"""Many pieces of one work at the same time, where joblib or a cluster is told to, and their answers in order."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from ..pairs.cluster.client import inside_worker
from ..pairs.cluster.whole import share_out, shared_whole
from ..pairs.threads import one_thread
from ..validation import Array

HELD_BYTES = 1 << 30  # of answers that may wait here
TASK_ARRAYS = 4  # how many times its answer a task may take of memory

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def in_order(
    function: Callable[[Array, Item], Answer],
    X: Array,
    items: Sequence[Item],
    what: str,
    *,
    n_jobs: int | None,
    engine: str = "threads",
    answer_bytes: int = 1,
) -> Iterator[Answer]:
    """Return what a function makes of the signals X and each item, in the order of the items; the first are under way.

    Small networks with the engine "dask" go over the cluster, and all others as joblib has it: with n_jobs None and no
    ``joblib.parallel_config`` one after the other, when they are asked for. So it is inside a worker, too. The bits are
    the same everywhere. About ``HELD_BYTES`` of answers, each of so many bytes, may wait here.
    """
    most = max(1, HELD_BYTES // answer_bytes)
    if len(items) > 1 and shared_whole(engine, X.shape[1]):
        return share_out(function, _contiguous(X), items, what, TASK_ARRAYS * answer_bytes + X.nbytes, most)
    if len(items) < 2 or inside_worker() or effective_n_jobs(n_jobs) == 1:
        return (function(X, item) for item in items)
    spread = _spread(function, _contiguous(X), items, n_jobs, most)
    next(spread)
    return spread


def _contiguous(X: Array) -> Array:
    """Return the signals in one piece: others would arrive with their axes in another order, and add up in another."""
    return X if X.flags.forc else X.copy(order="K")


def _spread(
    function: Callable[[Array, Item], Answer], X: Array, items: Sequence[Item], n_jobs: int | None, most: int
) -> Iterator[Any]:
    """Yield None when the first are under way, and then the answers that joblib has."""
    for first in range(0, len(items), most):  # joblib goes on whether answers are taken or not
        tasks = [delayed(_answered)(function, X, item) for item in items[first : first + most]]
        answers = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        try:
            if first == 0:
                yield None
            yield from map(pickle.loads, answers)
        finally:
            with warnings.catch_warnings():  # whoever stops knows that not all is done
                warnings.simplefilter("ignore")
                answers.close()


def _answered(function: Callable[[Array, Item], Answer], X: Array, item: Item) -> bytes:
    """Return an answer packed into one, so that its arrays are new ones where it arrives: this runs in a worker."""
    with one_thread() if inside_worker() else nullcontext():
        return pickle.dumps(function(X, item))
