"""Products of CSR matrices on threads, against SciPy."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from nashgraph.pairs import weights
from nashgraph.pairs.threads import one_thread


def scattered(rows: int, columns: int, density: float, seed: int) -> sparse.csr_array:
    """Return random entries, some of them stored zeros, in an order that is not sorted."""
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((rows, columns), density=density, rng=rng, format="csr")
    matrix.data[rng.random(matrix.nnz) < 0.2] = 0.0
    order = np.concatenate([rng.permutation(np.arange(*span)) for span in pairwise(matrix.indptr)])
    order = order.astype(int)
    return sparse.csr_array((matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape)


SHAPES = st.tuples(st.integers(1, 90), st.integers(1, 12), st.floats(0.0, 1.0), st.integers(0, 99))


@settings(deadline=None, max_examples=60)
@given(SHAPES, st.sampled_from([np.float32, np.float64]), st.sampled_from([np.int32, np.int64]), st.booleans())
def test_products_on_threads_against_scipy(shape, kind, index, alone):
    """Sums in SciPy's order, equal to the bit if it does not fuse products into them; also empty rows and columns."""
    rows, columns, density, seed = shape
    given = scattered(rows, columns, density, seed).astype(kind)
    given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    rng = np.random.default_rng(seed)
    vector, other = rng.normal(size=columns).astype(kind), rng.normal(size=rows).astype(kind)
    close = {"rtol": 1e-5, "atol": 1e-5} if kind == np.float32 else {"rtol": 1e-12, "atol": 1e-13}
    with pytest.MonkeyPatch.context() as patch, one_thread() if alone else nullcontext():
        patch.setattr(weights, "MANY_ENTRIES", 0)
        turned = sparse.csr_array(given.T)
        found, back = weights.product(given, vector), weights.product(turned, other)
    assert found.dtype == back.dtype == kind
    np.testing.assert_allclose(found, given @ vector, **close)
    np.testing.assert_allclose(back, given.T @ other, **close)
