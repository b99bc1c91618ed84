"""The candidate set: best responses among all pairs, proved, with few searches."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from nashgraph.pairs import Bonus, CandidateSet, block_search, make_search, project_rows
from nashgraph.pairs import points as points_module
from nashgraph.pairs.candidates import ListedPairs
from nashgraph.pairs.scans import Above, Nearest

from ..gaps import with_gaps

GIVEN = {"gain": 0.7, "total": 0.9}


def table(kind, random, n=120):
    X = random.normal(size=(5, n))
    if kind == "ties":
        X = random.integers(0, 3, size=(3, n)).astype(float)
    elif kind == "outliers":
        X[:, :3] *= 1e5
    elif kind == "gaps":
        X = with_gaps(X, random, 0.2)
    return X


def test_all_pairs_count_as_one_scan():
    search = block_search(np.random.default_rng(0).normal(size=(3, 9)))
    assert CandidateSet.of(search, everything=True).pairs.csr.nnz == 72
    assert search.scans == 1.0


def exact(search, bonus):
    """The best response by brute force."""
    scores = bonus.left @ bonus.right.T - search.geometry.rows(np.arange(len(search)))
    return project_rows(GIVEN["gain"] * scores, GIVEN["total"])[0]


def bonus_of(random, n, rank, strength):
    return Bonus.of(strength * random.normal(size=(n, rank)), random.normal(size=(n, rank)))


@pytest.mark.parametrize("rank", [0, 1, 2, 8])
@pytest.mark.parametrize("kind", ["plain", "ties", "outliers", "gaps"])
@pytest.mark.parametrize("start", ["nothing", "nearest", "all pairs"])
def test_every_best_response_is_that_among_all_pairs(start, kind, rank, random):
    search = make_search(table(kind, random))
    nearest = search.nearest(7) if start == "nearest" else None
    candidates = CandidateSet.of(search, everything=start == "all pairs", nearest=nearest)
    bonus = bonus_of(random, 120, rank, 0.5)
    # Small changes, none, growth of the whole, another rank, and a reversal.
    changes = [bonus, bonus, bonus._replace(left=1.01 * bonus.left), bonus_of(random, 120, 1, 5.0), Bonus.none(120)]
    for each in changes:
        found = candidates.respond(each, **GIVEN)
        np.testing.assert_allclose(found.csr.toarray(), exact(search, each), atol=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(0, 3), st.sampled_from([0.01, 1.0, 100.0]))
def test_any_sequence_of_bonuses(seed, n, rank, strength):
    random = np.random.default_rng(seed)
    search = block_search(random.integers(0, 4, size=(2, n)).astype(float))
    candidates = CandidateSet(search, ListedPairs.nearest_of(search, *search.nearest(min(2, n - 1))))
    bonus = bonus_of(random, n, rank, strength)
    for _ in range(4):
        moved = bonus.left + 0.1 * strength * random.normal(size=bonus.left.shape)
        bonus = Bonus(moved, bonus.right, bonus.shift)
        np.testing.assert_allclose(candidates.respond(bonus, **GIVEN).csr.toarray(), exact(search, bonus), atol=1e-9)


def test_small_changes_need_no_search_and_large_ones_do(random):
    search = make_search(random.normal(size=(4, 600)))
    candidates = CandidateSet.of(search, everything=False)
    left, right = random.random(600), random.random(600)
    candidates.respond(Bonus.of(0.01 * left, right), **GIVEN)
    first = search.scans
    assert first < 1.5  # the nearest, and rows with more neighbours than those
    candidates.respond(Bonus.of(0.0101 * left, right + 1e-3 * random.random(600)), **GIVEN)
    assert search.scans == first
    candidates.respond(Bonus.of(50.0 * left, right), **GIVEN)
    assert search.scans >= first + 1.0


def test_only_the_rows_that_need_it_are_searched_again(random):
    X = random.normal(size=(3, 600))
    X[:, :20] *= 0.01  # a tight crowd in a wide cloud has more neighbours than are known of anybody
    search = make_search(X)
    candidates = CandidateSet.of(search, nearest=search.nearest(12))
    narrow = {"gain": 500.0, "total": 0.9}
    found = candidates.respond(Bonus.none(600), **narrow)
    assert 1.0 < search.scans < 1.1
    assert np.diff(found.csr.indptr).max() > 12
    expected = project_rows(-500.0 * search.geometry.rows(np.arange(600)), 0.9)[0]
    np.testing.assert_allclose(found.csr.toarray(), expected, atol=1e-9)


def test_works_can_be_sent_elsewhere(random, monkeypatch):
    """A scan is a value: pickled and run in another process it gives the same parts."""
    monkeypatch.setattr(points_module, "BLOCK_BYTES", 1)
    search, bonus = make_search(random.normal(size=(6, 70))), bonus_of(random, 70, 2, 1.0)
    for work in (Above(bonus, 0.7, 0.9, np.full(70, -0.5), 0.1), Nearest(3), Nearest(3, bonus)):
        sent = pickle.loads(pickle.dumps(work))
        for one, other in zip(search.scan(work), search.scan(sent), strict=True):
            for left, right in zip(one, other, strict=True):
                np.testing.assert_array_equal(*(getattr(each, "data", each) for each in (left, right)))


def test_the_rows_of_some_nodes_are_scanned_like_all(random):
    search, bonus = make_search(random.normal(size=(6, 70))), bonus_of(random, 70, 1, 1.0)
    nodes, cut = np.array([3, 60, 2]), np.full(70, -1.0)
    some, cuts = search.above(cut, bonus, nodes=nodes, **GIVEN)
    everybody, _ = search.above(cut, bonus, **GIVEN)
    assert len(cuts) == 3
    np.testing.assert_array_equal(some.toarray(), everybody.toarray()[nodes])


def test_among_three_nodes_each_has_two_candidates():
    search = make_search(np.array([[0.0, 1.0, 3.0]]))
    found = CandidateSet.of(search, everything=False)
    np.testing.assert_array_equal(np.diff(found.pairs.csr.indptr), [2, 2, 2])


def test_a_response_that_is_not_proved_searches_nothing_and_a_proof_adds_to_the_candidates(random):
    search = make_search(random.normal(size=(4, 600)))
    candidates = CandidateSet.of(search, everything=False)
    before = candidates.pairs.csr
    bonus = Bonus.of(np.ones(600), 50.0 * (np.arange(600.0) == 7))  # everybody wants to follow one node
    scans = search.scans
    among = candidates.respond(bonus, proved=False, **GIVEN)
    assert (search.scans, candidates.renewals) == (scans, 0)
    allowed = sparse.csr_array((np.ones(before.nnz), before.indices, before.indptr)).toarray()
    scores = np.where(allowed > 0, bonus.left @ bonus.right.T - search.geometry.rows(np.arange(600)), -1e9)
    expected = project_rows(GIVEN["gain"] * scores, GIVEN["total"])[0]
    np.testing.assert_allclose(among.csr.toarray(), expected, atol=1e-9)
    proved = candidates.respond(bonus, **GIVEN)
    assert candidates.renewals == 1
    np.testing.assert_allclose(proved.csr.toarray(), exact(search, bonus), atol=1e-9)
    assert (candidates.pairs.csr.toarray()[allowed > 0] > 0).all()
    again = candidates.respond(bonus, proved=False, **GIVEN)
    assert (again.csr != proved.csr).nnz == 0
