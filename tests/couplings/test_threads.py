"""Threads of BLAS and the kernels: held to one while work asks for it, and set free after the last."""

from threading import Barrier, Thread

import pytest
from numba import get_num_threads
from threadpoolctl import threadpool_info, threadpool_limits

from nashgraph.couplings.threads import one_thread, shared


def of_blas():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def free():
    """As many threads as BLAS may have, two at the most: it may be held from outside."""
    limits = threadpool_limits(2)  # entered as a context, it would be this thread's alone to change
    yield of_blas()
    limits.restore_original_limits()


def test_held_until_the_last_of_those_who_ask_ends(free):
    met, seen = Barrier(2), []

    def first():
        with one_thread():
            met.wait()  # the other is within, too
        met.wait()  # this one has ended

    other = Thread(target=first)
    other.start()
    with one_thread():
        met.wait()
        met.wait()
        seen.append(of_blas())
        assert get_num_threads() == 1
    other.join()
    assert seen == [{1}]
    assert of_blas() == free


def test_set_free_where_the_work_fails(free):
    before = get_num_threads()
    with pytest.raises(ValueError, match="no"), one_thread():
        raise ValueError("no")
    assert of_blas() == free
    assert get_num_threads() == before


def test_a_single_item_has_one_thread_of_blas_too():
    found = list(shared(lambda item, buffer: of_blas(), range(1), list))
    assert found == [{1}]
