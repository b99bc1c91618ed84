"""Clusters on this machine: in processes, which can be killed, and in threads, which start at once."""

import pytest


@pytest.fixture(scope="module")
def processes():
    """The current client, with two workers in separate processes."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def threads():
    """Return a function that makes a cluster of some workers in this process the current one."""
    import distributed

    opened = []

    def start(workers, **options):
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0", **options
        )
        opened.extend([cluster, distributed.Client(cluster)])
        return opened[-1]

    yield start
    for each in reversed(opened):
        each.close()
