"""Kernels with any state of their cache, and in processes forked after threads had started."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nashgraph
from nashgraph import SmoothGL

MODULE = """
from nashgraph.compiled import kernel

@kernel()
def double(x):
    return 2 * x

print(double(21))
"""


def printed(folder, cache, **more):
    source = Path(nashgraph.__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{source}", **more}
    env.pop("NUMBA_CACHE_DIR", None)
    if cache is not None:
        env["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, "-B", "-c", "import kernels_of_ours"]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_a_damaged_cache_is_made_anew(tmp_path):
    (tmp_path / "kernels_of_ours.py").write_text(MODULE)
    cache = tmp_path / "cache"
    assert printed(tmp_path, cache).stdout == "42\n"
    for pattern, damage in (("*.nbi", b""), ("*.nbi", b"\x80junk"), ("*.nbc", b""), ("*.nbc", b"\x80junk")):
        [file] = cache.rglob(pattern)
        whole = file.read_bytes()
        file.write_bytes(damage)
        result = printed(tmp_path, cache)
        assert (result.stdout, result.stderr) == ("42\n", "")
        [file] = cache.rglob(pattern)
        assert len(file.read_bytes()) > len(whole) // 2


@pytest.mark.skipif(os.name != "posix", reason="about folders without a right to write")
def test_without_a_place_for_a_cache_kernels_are_compiled(tmp_path, monkeypatch):
    """Root may write anywhere, so make Numba find no place."""
    from numba.core import caching

    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    from nashgraph.compiled import kernel

    @kernel()
    def double(x):
        return 2 * x

    assert double(21) == 42


def fit_again(X, found):
    found.put(SmoothGL(degree=5).fit(X).adjacency_.toarray())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="about fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fit_in_a_forked_process_ends_and_is_the_same(random):
    X = random.normal(size=(6, 40))
    here = SmoothGL(degree=5).fit(X).adjacency_.toarray()
    context = multiprocessing.get_context("fork")
    found = context.Queue()
    child = context.Process(target=fit_again, args=(X, found))
    child.start()
    there = found.get(timeout=120)
    child.join(timeout=30)
    assert child.exitcode == 0
    np.testing.assert_allclose(there, here, atol=1e-13)


def test_one_process_at_a_time_writes_to_the_cache(tmp_path, monkeypatch):
    import numba
    from filelock import FileLock, Timeout
    from numba.core import caching

    from nashgraph import compiled

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "PATIENCE", 0.0)
    save, locks = caching.IndexDataCacheFile.save, []

    def watched(self, key, data):
        locks.append(Path(self._index_path).with_name(compiled.LOCK))
        with pytest.raises(Timeout):
            FileLock(locks[0]).acquire(blocking=False)
        save(self, key, data)

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", watched)

    @compiled.kernel()
    def triple(x):
        return 3 * x

    assert triple(2) == 6
    assert len(locks) == 1
    with FileLock(locks[0]):  # another process writes: it is compiled, and not cached
        assert triple(2.5) == 7.5
    assert len(locks) == 1
