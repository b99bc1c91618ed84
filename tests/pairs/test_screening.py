"""The nearest by a first look in single precision are those of a scan in double precision."""

import numpy as np
import pytest

from nashgraph.pairs import block_search, make_search
from nashgraph.pairs.search import BlockSearch
from nashgraph.pairs.tree_search import screened_nearest

KINDS = {
    "a cloud": lambda random: random.normal(size=(12, 900)),
    "far from zero": lambda random: 1e4 + random.normal(size=(12, 900)),
    "answers": lambda random: random.integers(5, size=(12, 900)).astype(float),
    "yes or no, with many equals": lambda random: random.integers(2, size=(4, 900)).astype(float),
    "one huge cell": lambda random: np.where(
        np.arange(10_800).reshape(12, 900) == 5, 1e5, random.normal(size=(12, 900))
    ),
    "one huge node": lambda random: np.where(np.arange(900) == 5, 1e12, 1.0) * random.normal(size=(12, 900)),
    "uneven spreads": lambda random: random.normal(size=(12, 900)) * np.exp(3 * random.normal(size=900)),
    "nearly one point": lambda random: 1.0 + 1e-6 * random.normal(size=(12, 900)),
}


@pytest.mark.parametrize("geometry", ["distance", "cosine", "inner"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_finds_what_a_scan_of_all_pairs_finds(kind, geometry, random):
    search = make_search(KINDS[kind](random), geometry=geometry)
    expected, _ = BlockSearch(search.executor).nearest(25)
    found = screened_nearest(search.executor, 25)
    if found is None:  # many equals; or strong nodes are near to all, and too much so for single precision
        strong = {"one huge cell", "one huge node", "uneven spreads"}
        assert kind == "yes or no, with many equals" or (geometry == "inner" and kind in strong)
        return
    costs, labels, _ = found
    np.testing.assert_allclose(costs, expected, rtol=1e-9, atol=1e-12 * expected.max())
    assert all(len(set(row)) == 25 and i not in row for i, row in enumerate(labels.tolist()))
    each = np.take_along_axis(search.geometry.rows(np.arange(900)), labels.astype(int), axis=1)
    np.testing.assert_allclose(each, costs, rtol=1e-9, atol=1e-12 * expected.max())


def test_rows_with_many_equals_are_scanned_again(random):
    X = random.normal(size=(6, 2000))
    X[:, 500:800] = X[:, 500:501]
    search = block_search(X)
    screened = screened_nearest(search.executor, 25)
    np.testing.assert_allclose(screened.costs, search.nearest(25)[0], rtol=1e-9)
    assert screened.scans > 1.0


def test_it_gives_up_where_most_nodes_have_many_equals(random):
    assert screened_nearest(make_search(random.integers(2, size=(2, 1000)).astype(float)).executor, 25) is None
