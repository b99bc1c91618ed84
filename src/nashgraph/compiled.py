"""Numba's compiler as this library needs it: a cache that mends itself, and kernels that outlive a fork."""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Callable
from typing import Any

import numba

LOG = logging.getLogger("nashgraph")
COMPILING_LOG = logging.getLogger("nashgraph.engine.compiling")  # which the command line prints at once
# seconds
LOCK = ".nashgraph-kernels.lock"
PATIENCE = 10.0

if os.environ.get("PYTHONSAFEPATH"):  # set by the command line: nothing from the current folder is run
    # A .numba_config.yaml there could name a cache folder, and Numba runs what a cache holds.
    numba.core.config._config_fname = os.devnull
    numba.core.config.reload_config()


@functools.cache
def _say_compiling() -> None:
    """Report, once in a process, that it compiles."""
    COMPILING_LOG.info("compiling for this machine, once after installing: it can take half a minute")


class _Forked:
    """Whether this process was forked from one whose threads were GNU OpenMP's, which would then end or hang it."""

    here = False

    @classmethod
    def look(cls) -> None:
        try:
            cls.here = cls.here or (numba.threading_layer() == "omp" and sys.platform == "linux")
        except ValueError:  # no threads were started before the fork
            return


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Forked.look)


def kernel(*, parallel: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function when it is first called, without the GIL, and keep it in Numba's cache.

    A damaged cache is rebuilt. Without a writable folder for one, the function is compiled in every process. A parallel
    function runs on one thread in a process that was forked after GNU OpenMP's threads had started.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = _cached(function, parallel=parallel, nogil=True, **options)
        if not parallel:
            return compiled
        alone = numba.njit(nogil=True, **options)(function)  # not cached: Numba would take one for the other

        @functools.wraps(function)
        def run(*arguments: Any) -> Any:
            return (alone if _Forked.here else compiled)(*arguments)

        return run

    return decorate


def _cached(function: Callable[..., Any], **options: Any) -> Any:
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:  # "cannot cache function ...: no locator available"
        LOG.info("compiled in this process only: %s", error)
        return numba.njit(**options)(function)
    cache: Any = getattr(compiled, "_cache", None)
    if hasattr(cache, "load_overload") and hasattr(cache, "save_overload") and hasattr(cache, "flush"):
        cache.load_overload = functools.partial(_load, cache, cache.load_overload)
        cache.save_overload = functools.partial(_save, cache, cache.save_overload)
    return compiled


def _load(cache: Any, load: Callable[..., Any], *arguments: Any) -> Any:
    """Return what is in the cache, or None, after emptying it, where it cannot be read: it is then compiled again."""
    try:
        return load(*arguments)
    except Exception as error:
        LOG.info("the cache in %s is damaged (%s) and is rebuilt", cache.cache_path, error)
        cache.flush()
        return None


def _save(cache: Any, save: Callable[..., None], *arguments: Any) -> None:
    """Write to the cache, one process at a time: of two at once, Numba could take the code of one for the other's."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 (help and completion stay fast)

    _say_compiling()
    try:
        with FileLock(os.path.join(cache.cache_path, LOCK), timeout=PATIENCE):  # noqa: PTH118 (Numba's own path)
            save(*arguments)
    except (OSError, Timeout) as error:
        LOG.info("compiled in this process only: %s", error)
