"""The cluster: found or started, looked over before anything is sent, and its failures put into words."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from joblib import cpu_count

from ... import __version__
from ...certificate import ENGINE_LOG as LOG
from ...decisions import Remedy
from ...validation import InputError

if TYPE_CHECKING:
    from distributed import Client

# ruff: noqa: PLC0415 (dask is found when first used)

# seconds: for the scheduler to answer, for a first worker to come
REACHED = 10
WAITED = 120
BASE_BYTES = 330e6  # what Python with the libraries takes in a worker
# Workers here share the cores with all else, and by default each takes 4 % of one to watch itself many times a second.
SELDOM = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
}
# All workers keep the points between scans; the scheduler would take them away from all but one, to send them again.
KEEPING = {"distributed.scheduler.active-memory-manager.start": False}
VERSION = "__import__('nashgraph').__version__"  # asked as text, which even a worker without nashgraph can read


def check_installed() -> None:
    """Say what to do where dask.distributed is missing."""
    if find_spec("distributed") is None:
        raise InputError(
            "the engine dask needs dask.distributed, which is not installed: pip install 'nashgraph[distributed]'",
            parameter="engine",
            remedy=Remedy("engine", "threads"),
        )


def inside_worker() -> bool:
    """Tell whether this is a task of a worker: a fit there is one of many, and is not spread further."""
    if "distributed" not in sys.modules:
        return False
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


def current_client() -> Client:
    """Return the current client, or that of a cluster started on this machine, which ends with the process."""
    from distributed import Client

    try:
        return Client.current()
    except ValueError:
        return started(cpu_count())


def started(workers: int) -> Client:
    """Start a cluster on this machine and return its client: so many processes of one thread each."""
    import dask
    from distributed import Client, LocalCluster

    LOG.info("engine: dask (workers started on this machine: %d; they end with this process)", workers)
    with dask.config.set(SELDOM | KEEPING):
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL")
        return Client(cluster)


@contextmanager
def cluster(scheduler: str | None = None, workers: int | None = None) -> Iterator[None]:
    """Make a cluster the current one for a while: that of a scheduler, or one started here, of so many workers."""
    check_installed()
    from distributed import Client

    try:
        if scheduler is None:
            client = started(workers or cpu_count())
        else:
            client = Client(scheduler, timeout=REACHED)
    except (OSError, ValueError) as error:
        if scheduler is None:
            raise
        raise InputError(
            f"the scheduler {scheduler} cannot be reached: check that it runs (dask scheduler prints its address), "
            "that the address reads tcp://HOST:8786 and that no firewall is between"
        ) from error
    try:
        yield
    finally:
        local = client.cluster
        client.close()
        if local is not None:
            local.close()


def check_cluster(client: Client, held: int, passing: int) -> None:
    """Refuse a cluster without workers, with another nashgraph, or too little memory for what workers hold.

    A worker holds ``held`` bytes, and needs ``passing`` for each of its threads.
    """
    with failures_said(client):
        _wait_for_a_worker(client)
        check_versions({"the scheduler": _scheduler_version(client)} | client.run(eval, VERSION, on_error="return"))
        for name, worker in client.scheduler_info()["workers"].items():
            needed = BASE_BYTES + held + passing * worker["nthreads"]
            limit = worker["memory_limit"]
            if 0 < limit < needed:
                raise InputError(
                    f"the worker {name} may use {limit / 1e9:.2g} GB of memory and needs about {needed / 1e9:.2g} GB: "
                    "give workers more (--memory-limit of dask worker), or fewer threads each (--nthreads 1)"
                )


def check_versions(found: dict[str, Any]) -> None:
    """Refuse workers, or a scheduler, with another nashgraph or none."""
    for name, version in found.items():
        if version != __version__:
            if isinstance(version, str):
                has = f"has nashgraph {version}"
            else:
                has = f"cannot import nashgraph ({version})"
            raise InputError(
                f"{name.replace('tcp://', 'the worker tcp://')} {has}, and {__version__} is needed: install the same "
                "nashgraph wherever the cluster runs"
            )


def _scheduler_version(client: Client) -> Any:
    try:
        return client.run_on_scheduler(eval, VERSION)
    except ImportError as error:
        return error


def _wait_for_a_worker(client: Client) -> None:
    if client.nthreads():
        return
    LOG.info("engine: dask (waiting for a worker)")
    try:
        client.wait_for_workers(1, timeout=WAITED)
    except TimeoutError as error:
        raise InputError(
            f"no worker came to the scheduler {client.scheduler.address} in {WAITED} seconds: start some (dask worker "
            f"{client.scheduler.address}), or see why the cluster's jobs do not start"
        ) from error


class Sent:
    """A value on its way, sent on as the bytes that came: wherever it arrives its arrays are new ones.

    Arrays that workers send each other as they are arrive read-only and anyhow aligned, so that kernels are compiled
    for them once more, and may round in another way.
    """

    def __init__(self, packed: Any) -> None:
        self.value = pickle.loads(packed)
        self.packed = packed
        self._made: Any = None

    def once(self, make: Callable[[Any], Any]) -> Any:
        """Return what is made of the value, once wherever it arrives."""
        if self._made is None:
            self._made = make(self.value)
        return self._made

    def __reduce_ex__(self, protocol: Any) -> tuple[type[Sent], tuple[Any]]:
        # From protocol 5 on pickle can send bytes without copying them.
        return Sent, (pickle.PickleBuffer(self.packed) if protocol >= 5 else bytes(self.packed),)

    def __sizeof__(self) -> int:  # the scheduler weighs what it moves
        return len(self.packed)


def put(client: Client, value: Any) -> Any:
    """Return a future of a value, as :class:`Sent`: a task, so that it is made again if it is lost."""
    # Its key is a group of its own: where all that was ever sent were one group, the scheduler would bind the tasks of
    # later scans to a few workers beforehand.
    return submitted(client, Sent, pickle.dumps(value), key=(f"sent-{uuid4().hex}", 0))


def everywhere(client: Client, function: Callable[[Sent], None], sent: Any) -> list[Any]:
    """Have every worker do something with a value that is sent; the futures returned have to be kept."""
    one: dict[str, Any] = {"allow_other_workers": True, "pure": False}
    return [client.submit(function, sent, workers=[name], **one) for name in client.nthreads()]


def submitted(client: Client, function: Callable[..., Any], *arguments: Any, key: Any = None) -> Any:
    """Return the future of a call, however large its arguments are."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(function, *arguments, key=key, pure=False)


@contextmanager
def failures_said(client: Client) -> Iterator[None]:
    """Put into words what can go wrong with a cluster."""
    from distributed.client import CancelledError, ClosedClientError, FutureCancelledError
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except (KilledWorker, MemoryError) as error:
        raise InputError(
            "workers were lost one after the other at the same task, as they are where they have too little memory: "
            "give them more (--memory-limit of dask worker), or fewer threads each (--nthreads 1)"
        ) from error
    except (CancelledError, ClosedClientError, CommClosedError, FutureCancelledError, OSError) as error:
        if client.scheduler is None:
            address = ""
        else:
            address = f" {client.scheduler.address}"
        raise InputError(
            f"the connection to the scheduler{address} was lost: check that it runs, and fit again with a new Client"
        ) from error
    except ImportError as error:
        raise InputError(
            f"a worker cannot import nashgraph ({error}): install the same nashgraph wherever the cluster runs"
        ) from error
