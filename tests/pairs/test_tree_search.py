"""A pass that skips pairs finds the same as one over all pairs, skips if signals allow it, and else stops skipping."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from nashgraph import GLGP, LinearGLGP, SmoothGL
from nashgraph.pairs import BlockSearch, Bonus, CandidateSet, block_search, make_search, scans, threads, tree_search
from nashgraph.pairs import search as search_module
from nashgraph.pairs.scans import Above, Nearest
from nashgraph.pairs.tree import WIDTH, Order, Tree
from nashgraph.pairs.tree_search import LeafScans

from ..problems import stored

N, KEPT = 700, 12
PAYS = tree_search.PAYS
KINDS = ["gaussian", "likert", "binary", "heavy tails", "huge cell", "near-constant", "many signals"]


def table(kind, n=N, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(50 if kind == "many signals" else 8, n))
    if kind == "likert":
        centres, group = random.integers(1, 8, size=(8, 10)), random.integers(0, 10, n)
        X = np.clip(centres[:, group] + random.integers(-1, 2, size=(8, n)), 1, 7).astype(float)
    elif kind == "binary":
        X = (random.random((8, n)) < 0.2).astype(float)
    elif kind == "heavy tails":
        X = np.exp(3.0 * X)
    elif kind == "huge cell":
        X[2, 5] = 1e9
    elif kind == "near-constant":
        X[:6] = 1.0 + 1e-9 * X[:6]
    return X


def sides(n, strength, rank=1, seed=1):
    """A bonus of general signs, large if asked for."""
    random = np.random.default_rng(seed)
    return strength * random.normal(size=(n, rank)), random.normal(size=(n, rank))


def both(X, geometry="distance"):
    """Points whose passes always skip, and the same ones without skipping."""
    ours = make_search(X, geometry=geometry)
    return ours, BlockSearch(ours.executor)


def by_leaf(X, node_costs=None):
    """A search on threads, leaf by leaf."""
    search = block_search(X, node_costs)
    search.leaves = LeafScans(search.executor, screens=True)
    return search


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setattr(search_module, "FIRST_NODES", 2)
    monkeypatch.setattr(tree_search, "PAYS", np.inf)
    for module in (scans, tree_search):  # no cut is raised, so that lists follow from the cut
        monkeypatch.setattr(module, "CROWDED", 1.0)


def check_nearest(ours, theirs, bonus, digits):
    costs, labels = ours.nearest(KEPT, bonus)
    expected, _ = theirs.nearest(KEPT, bonus)
    bonus = Bonus.none(len(ours)) if bonus is None else bonus
    scale = np.abs(expected) + bonus.sizes.max()
    assert (np.abs(costs - expected) <= digits * scale).all()
    rows = np.arange(len(ours))[:, None]
    assert (labels != rows).all()
    assert all(len(set(row)) == KEPT for row in labels.tolist())
    stated = np.take_along_axis(theirs.geometry.rows(np.arange(len(ours))), labels.astype(int), axis=1) - np.einsum(
        "ik,ijk->ij", bonus.left, bonus.right[labels]
    )
    assert (np.abs(costs - stated) <= digits * scale).all()
    return costs


def candidates(search, bonus, cut, margin=0.0):
    return search.above(cut, bonus, gain=1.0, total=0.95, margin=margin)[0]


def check_lists(ours, theirs, bonus, costs, digits):
    """The cut lies between two costs, or equal costs pass it together."""
    scale = np.abs(costs[:, 4]) + bonus.sizes
    cut = -costs[:, 4] - 30 * digits * scale
    found, expected = candidates(ours, bonus, cut), candidates(theirs, bonus, cut)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=digits, atol=1e-300)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("strength", "geometry", "rank"),
    [
        (0.0, "distance", 0),
        (1.0, "distance", 1),
        (1e4, "distance", 1),
        (1.0, "inner", 1),
        (0.0, "cosine", 1),
        (1.0, "distance", 2),
        (1.0, "inner", 8),
    ],
)
def test_the_answers_are_those_of_all_pairs(kind, strength, geometry, rank):
    ours, theirs = both(table(kind), geometry)
    digits = 1e-9
    bonus = Bonus.of(*sides(N, strength * float(np.median(theirs.geometry.rows(np.arange(1)))), rank))
    check_nearest(ours, theirs, None, digits)
    costs = check_nearest(ours, theirs, bonus, digits)
    check_lists(ours, theirs, bonus, costs, digits)


@settings(max_examples=40)
@given(
    n=st.integers(2, 300),
    values=st.integers(1, 6),
    strength=st.sampled_from([0.0, 0.3, 30.0]),
    with_node_costs=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_table_of_few_values(n, values, strength, with_node_costs, seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, values, size=(3, n)).astype(float)
    node_costs = random.random(n).round(1) if with_node_costs else None
    ours, theirs = by_leaf(X, node_costs), block_search(X, node_costs)
    left, right = sides(n, strength, seed=seed)
    bonus = Bonus.of(left.round(1), right.round(1))
    for kept in {1, n // 9 or 1}:
        costs = ours.nearest(kept, bonus)[0]
        np.testing.assert_allclose(costs, theirs.nearest(kept, bonus)[0], atol=1e-9)
    cut = -costs[:, -1] - 1e-5
    found, expected = candidates(ours, bonus, cut), candidates(theirs, bonus, cut)
    assert abs(found - expected).max() < 1e-12
    np.testing.assert_array_equal(found.indices, expected.indices)


@pytest.mark.filterwarnings("ignore::nashgraph.validation.DataWarning")
@pytest.mark.parametrize("kind", ["gaussian", "likert", "binary", "heavy tails", "huge cell"])
@pytest.mark.parametrize("model", [GLGP(lam=0.3), SmoothGL(), LinearGLGP(), GLGP(lam=0.3, beta=0.5)], ids=str)
def test_the_graphs_are_the_same(model, kind, monkeypatch):
    stored(model, "sparse")
    X = table(kind, 300)
    ours = model.fit(X).adjacency_.toarray()
    monkeypatch.setattr(search_module, "FIRST_NODES", 10**9)
    theirs = model.fit(X).adjacency_.toarray()
    ours, theirs = (each.toarray() if sparse.issparse(each) else each for each in (ours, theirs))
    assert ((ours > 1e-12) == (theirs > 1e-12)).all()
    assert abs(ours - theirs).max() <= 1e-12


def test_no_cut_to_begin_with(monkeypatch):
    for module in (scans, tree_search):
        monkeypatch.setattr(module, "CROWDED", 0.1)
    ours, theirs = both(table("likert"))
    nothing = Bonus.of(np.zeros(N), np.zeros(N))
    cut = np.full(N, -np.inf)
    found, expected = candidates(ours, nothing, cut), candidates(theirs, nothing, cut)
    assert found.nnz < N * N / 4
    assert ((expected != 0) > (found != 0)).nnz == 0  # a few more pairs, none less
    graphs = [
        CandidateSet.of(each, everything=False).respond(Bonus.of(*sides(N, 0.1)), gain=1.0, total=0.95)
        for each in (ours, theirs)
    ]
    assert abs(graphs[0].csr - graphs[1].csr).max() <= 1e-12


def test_a_cut_that_lets_all_pairs_through_is_raised(monkeypatch):
    for module in (scans, tree_search):
        monkeypatch.setattr(module, "CROWDED", 0.1)
    ours, theirs = both(table("gaussian"))
    bonus = Bonus.of(*sides(N, 0.1))
    cut = np.full(N, -1e3)
    found, expected = candidates(ours, bonus, cut, 0.1), candidates(theirs, bonus, cut, 0.1)
    assert found.nnz < N * N / 10
    np.testing.assert_array_equal(found.indices, expected.indices)


def test_the_order_of_nodes_does_not_matter(random):
    X, order = table("likert"), random.permutation(N)
    np.testing.assert_array_equal(by_leaf(X[:, order]).nearest(9)[0], by_leaf(X).nearest(9)[0][order])


def test_the_same_bits_on_two_threads(monkeypatch):
    X = table("likert")
    bonus = Bonus.of(*sides(N, 0.1))
    answers = []
    for count in (1, 2):
        monkeypatch.setattr(threads, "get_num_threads", lambda count=count: count)
        points = by_leaf(X)
        costs, labels = points.nearest(KEPT, bonus)
        pairs = candidates(points, bonus, -costs[:, -1])
        answers.append([costs, labels, pairs.indptr, pairs.indices, pairs.data])
    for one, two in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, two)


def test_equal_nodes_are_one_point():
    X = table("binary", 3000)
    points = by_leaf(X)
    points.nearest(20)
    distinct = len(np.unique(X, axis=1).T)
    assert len(points.geometry.tree.points) == distinct < 257
    assert points.leaves.looked[1] <= distinct * -(-distinct // WIDTH)  # tiles are between points that differ


def test_far_leaves_are_skipped(monkeypatch, random):
    monkeypatch.setattr(tree_search, "PAYS", PAYS)
    X = random.normal(size=(16, 5)) @ random.normal(size=(5, 6000)) + 0.1 * random.normal(size=(16, 6000))
    points = by_leaf(X)
    costs, _ = points.nearest(20)
    everything = 6000 * len(points.geometry.tree.size)
    assert points.leaves.looked[1] < 0.3 * everything
    nothing = Bonus.none(6000)
    found = candidates(points, nothing, -costs[:, 9])
    assert points.leaves.looked[1] < 0.25 * everything
    assert found.nnz == 6000 * 10
    assert points.leaves.pays == {Nearest: True, Above: True}


def test_a_cloud_in_many_dimensions_is_given_up(monkeypatch, random, caplog):
    monkeypatch.setattr(tree_search, "PAYS", PAYS)
    points = by_leaf(random.normal(size=(16, 3000)))
    with caplog.at_level(logging.INFO, "nashgraph"):
        points.nearest(20)
    assert "scans go through all pairs (Nearest)" in caplog.text
    assert not points.leaves.pays[Nearest]
    caplog.clear()
    monkeypatch.setattr(LeafScans, "_leaves", lambda *_: pytest.fail("tried again"))
    points.nearest(20)


def test_a_pass_is_judged_by_the_last_of_its_kind(monkeypatch, random):
    """Only the first is tried on a few leaves; after one that costs too much, no pass skips."""
    gone, scan = [], LeafScans._leaves
    monkeypatch.setattr(
        LeafScans, "_leaves", lambda self, task, leaves: gone.append(len(leaves)) or scan(self, task, leaves)
    )
    points = by_leaf(random.normal(size=(2, 3000)))
    points.nearest(20)
    points.nearest(20)
    leaves = len(points.geometry.tree.size)
    assert gone == [3, leaves, leaves]
    monkeypatch.setattr(tree_search, "PAYS", 0.0)
    points.nearest(20)
    assert gone == [3, leaves, leaves, leaves]
    points.nearest(20)
    assert gone == [3, leaves, leaves, leaves]
    assert points.leaves.pays == {Nearest: False}


def test_small_problems_and_gaps_go_through_all_pairs(monkeypatch):
    monkeypatch.setattr(search_module, "FIRST_NODES", 1000)
    assert make_search(table("binary")).leaves is None
    X = table("binary", 2000)
    assert make_search(X).leaves is not None
    X[0, 0] = np.nan
    assert make_search(X).leaves is None


def test_a_tree_holds_every_node_once_and_its_boxes_hold_their_points():
    points = block_search(table("binary")).geometry.points
    tree = Tree.of(points, np.zeros(N), np.ones(N), Order.of(points, np.zeros(N)))
    assert sorted(tree.nodes) == list(range(N))
    for leaf, (begin, end) in enumerate(zip(tree.leaves[:-1], tree.leaves[1:], strict=True)):
        assert 0 < end - begin <= WIDTH
        inside = tree.tiles[leaf, :, : end - begin]
        assert (inside >= tree.low[leaf][:, None]).all()
        assert (inside <= tree.high[leaf][:, None]).all()


@pytest.mark.parametrize("levels", [2, 5])
def test_chance_chooses_among_equals_and_every_search_chooses_alike(levels, random):
    """The order of rows did: of 20,000 people with three yes/no answers, the first 2,000 had all influence."""
    X, n = random.integers(0, levels, size=(3, 1500)).astype(float), 1500
    costs, labels = block_search(X).nearest(60)
    listed = np.bincount(labels.ravel(), minlength=n)
    for k in range(3):  # where the answers are those of the first, as many list the first as the last
        alike = np.flatnonzero((X[:, [k]] == X).all(axis=0))
        assert listed[alike].min() > 0.4 * listed[alike].mean()
        assert abs(np.corrcoef(listed[alike], alike)[0, 1]) < 4.0 / np.sqrt(len(alike))
    for found in (by_leaf(X).nearest(60), tree_search.screened_nearest(block_search(X).executor, 60)):
        if found is not None:
            np.testing.assert_array_equal(found[0], costs)
            agree = np.mean([len(np.intersect1d(*each)) for each in zip(found[1], labels, strict=True)]) / 60
            assert agree > 0.999  # draws of 21 bits are sometimes equal
    pairs = np.zeros((n, n), dtype=bool)
    np.put_along_axis(pairs, labels.astype(int), True, axis=1)
    assert (pairs & pairs.T).sum() > 0.6 * pairs.sum()  # of two equals both list the other, or neither
