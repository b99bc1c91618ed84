"""The parallel map: results in order, the same bits everywhere, and a lost process only costs time."""

import logging
import os
import signal
import time
from functools import partial

import numpy as np
import pytest

from nashgraph.consensus.parallel import parallel_map


def scaled(X, item):
    return X.sum() * item


def killed_once(marker, X, item):
    """Kill the process that has item 3, the first time."""
    if item == 3 and not os.path.exists(marker):  # noqa: PTH110
        with open(marker, "w"):  # noqa: PTH123
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return X.sum() * item, os.getpid()


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_results_come_in_the_order_of_the_items(n_jobs):
    X = np.ones((2, 3))
    assert list(parallel_map(scaled, X, [*range(9)], "numbers", n_jobs=n_jobs)) == [6.0 * k for k in range(9)]
    assert list(parallel_map(scaled, X, [], "numbers", n_jobs=n_jobs)) == []


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
def test_a_process_that_is_killed_costs_time_only(tmp_path, caplog):
    task = partial(killed_once, str(tmp_path / "killed"))
    with caplog.at_level(logging.WARNING, "nashgraph"):
        found = list(parallel_map(task, np.ones((2, 3)), [*range(8)], "numbers", n_jobs=2))
    assert [value for value, _ in found] == [6.0 * k for k in range(8)]
    assert (tmp_path / "killed").exists()
    assert "a worker process was lost" in caplog.text
