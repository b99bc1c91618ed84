"""Threads of BLAS and the kernels: limited to one while work asks for it, and released after it."""

import pytest
from numba import get_num_threads
from threadpoolctl import threadpool_info, threadpool_limits

from nashgraph.pairs.threads import one_thread, shared


def of_blas():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def free():
    """The number of threads that BLAS may use, at most two: it may be limited from outside."""
    with threadpool_limits(2):
        yield of_blas()


def test_held_to_one_for_a_while(free):
    before = get_num_threads()
    with one_thread():
        assert of_blas() == {1}
        assert get_num_threads() == 1
    assert of_blas() == free
    assert get_num_threads() == before


def test_set_free_where_the_work_fails(free):
    before = get_num_threads()
    with pytest.raises(ValueError, match="no"), one_thread():
        raise ValueError("no")
    assert of_blas() == free
    assert get_num_threads() == before


def test_a_single_item_has_one_thread_of_blas_too():
    found = list(shared(lambda item, buffer: of_blas(), range(1), list))
    assert found == [{1}]
