"""The GPU's engine against the threads' own: on a GPU if there is one, else through PyTorch on the CPU."""

import os
import subprocess
import sys
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-gpu installs it")
ON_GPU = torch.cuda.is_available()
if not ON_GPU:
    os.environ["TRITON_INTERPRET"] = "1"

from nashgraph import GLGP, BestResponse, LinearGLGP, SmoothGL
from nashgraph.pairs import ENGINES, Bonus, make_search
from nashgraph.pairs.cuda import search as cuda_search_module
from nashgraph.pairs.cuda.search import CudaSearch
from nashgraph.pairs.cuda.tensors import places_of, pointers_of, project, project_in_place, row_numbers, row_sums
from nashgraph.smoothness import beta_for_degree, make_smoothness
from nashgraph.validation import InputError

from ..problems import HARDEST, TIED, check_laws_of_an_engine, hardest, stored

# Triton's interpreter takes arrays of one number for numbers, which NumPy 2.4 refuses and 2.3 warns of.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*cannot be met because many distances are tied"),
]
DEVICE = torch.device("cuda" if ON_GPU else "cpu")
WAYS = ["blocks", pytest.param("tiles", marks=pytest.mark.skipif(not find_spec("triton"), reason="no Triton"))]


@pytest.fixture(params=WAYS)
def engine(request, monkeypatch):
    """An engine whose lists are short and whose buffers are tiny, so that rows must be searched again."""
    monkeypatch.setattr(cuda_search_module, "WANTED", 8)
    monkeypatch.setattr(cuda_search_module, "SMALLEST_SAMPLE", 32)
    monkeypatch.setattr(cuda_search_module, "LARGER", 2)
    monkeypatch.setattr(cuda_search_module, "CAPACITY", 12 if request.param == "blocks" or ON_GPU else 24)
    monkeypatch.setattr(cuda_search_module, "BLOCK_ENTRIES", 1500)
    if request.param == "tiles" and not ON_GPU:
        from nashgraph.pairs.cuda import _kernels

        monkeypatch.setattr(
            _kernels, "LISTS", (128, 32, 1)
        )  # large tiles, for the interpreter takes one after the other
        monkeypatch.setattr(_kernels, "LONG_LIST", 40)
        monkeypatch.setattr(_kernels, "LONG_LISTS", (64, 64, 1))
        monkeypatch.setattr(_kernels, "SPAN", 64)
    name = f"test-{request.param}"
    ENGINES.register(name)(partial(CudaSearch, device=DEVICE, tiles=request.param == "tiles"))
    yield name
    ENGINES.unregister(name)


def table(kind, random, n=110):
    X = random.normal(size=(6, n))
    if kind == "duplicates":
        X = random.integers(0, 3, size=(3, n)).astype(float)
    elif kind == "outlier":
        X[:, 7] += 1e5
    elif kind == "clusters":
        X += 300.0 * random.integers(0, 4, size=n)
    elif kind == "wide":
        X = random.normal(size=(70, n))
    elif kind == "two nodes":
        X = X[:, :2]
    return X


KINDS = ["plain", "duplicates", "outlier", "clusters", "wide", "two nodes"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_best_responses(kind, engine, random):
    X = table(kind, random)
    n = X.shape[1]
    ours = make_smoothness(make_search(X, engine), 0.7, 0.9)
    theirs = make_smoothness(make_search(X), 0.7, 0.9, "sparse")
    vector, scale = random.random(n), float(make_search(X).geometry.norms.mean())
    mine, yours = ours.smooth, theirs.smooth
    for strength, rank in ((0.1, 1), (0.1, 1), (2.0, 2), (0.0, 0), (-1.0, 1), (0.5, 8), (0.4, 8)):
        bonus = Bonus.of(strength * scale / max(1, rank) * random.random((n, rank)), random.random((n, rank)))
        found, expected = ours.respond(bonus), theirs.respond(bonus)
        np.testing.assert_allclose(found.matrix().toarray(), expected.matrix().toarray(), atol=1e-9)
        np.testing.assert_allclose(found.threshold, expected.threshold, rtol=1e-9)
        assert found.cost == pytest.approx(expected.cost, rel=1e-9, abs=1e-12)
        assert found.square == pytest.approx(expected.square, rel=1e-9)
        np.testing.assert_allclose(found.dot(vector), expected.dot(vector), rtol=1e-9)
        np.testing.assert_allclose(found.tdot(vector), expected.tdot(vector), rtol=1e-9, atol=1e-12)
        assert found.distance(mine) == pytest.approx(expected.distance(yours), rel=1e-7, abs=1e-9)
        mixed, expected_mixed = found.mix(mine, 0.3), expected.mix(yours, 0.3)
        np.testing.assert_allclose(mixed.matrix().toarray(), expected_mixed.matrix().toarray(), atol=1e-9)
        assert mixed.cost == pytest.approx(expected_mixed.cost, rel=1e-9, abs=1e-12)
        assert found.bonus_spread(bonus) == pytest.approx(expected.bonus_spread(bonus), rel=1e-7, abs=1e-12)
        products = found.minus(mine).row_products(found), expected.minus(yours).row_products(expected)
        np.testing.assert_allclose(*products, rtol=1e-7, atol=1e-9)
        held = ours.hold(expected.matrix())
        assert held.cost == pytest.approx(expected.cost, rel=1e-9, abs=1e-12)
        assert abs(held.matrix() - expected.matrix()).sum() == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_beta_and_the_same_nearest(kind, engine, random):
    X = table(kind, random)
    n, there, here = X.shape[1], make_search(X, engine), make_search(X)
    degree = 1 if n == 2 else 6
    assert beta_for_degree(there, degree, 0.9) == pytest.approx(beta_for_degree(here, degree, 0.9), rel=1e-9)
    bonuses = [Bonus.of(random.random((n, rank)), random.random((n, rank))) for rank in (1, 3)]
    for asked in (None, *bonuses):
        np.testing.assert_allclose(there.nearest(1, asked)[0], here.nearest(1, asked)[0], rtol=1e-9, atol=1e-12)
    signs = np.sign(there.top_eigenvector().sum()), np.sign(here.top_eigenvector().sum())
    np.testing.assert_allclose(signs[0] * there.top_eigenvector(), signs[1] * here.top_eigenvector(), atol=1e-9)


def test_chance_chooses_the_same_of_equals(engine, random):
    X = random.integers(0, 2, size=(3, 400)).astype(float)
    (costs, labels), (expected, others) = (make_search(X, where).nearest(30) for where in (engine, "threads"))
    np.testing.assert_array_equal(costs, expected)
    assert np.mean([len(np.intersect1d(*each)) for each in zip(labels, others, strict=True)]) > 29.9


@pytest.mark.parametrize("geometry", ["distance", "cosine", "inner"])
@pytest.mark.parametrize("method", [SmoothGL, LinearGLGP, GLGP])
def test_the_same_graph(method, geometry, engine, random):
    X = random.normal(size=(6, 120))
    given = {} if method is SmoothGL else {"benefit": random.random(120)}
    ours = method(engine=engine, geometry=geometry, degree=5, **given).fit(X)
    theirs = stored(method(geometry=geometry, degree=5, **given), "sparse").fit(X)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-8)
    assert ours.beta_ == pytest.approx(theirs.beta_, rel=1e-9)
    np.testing.assert_allclose(ours.adjacency_.toarray(), theirs.adjacency_.toarray(), atol=1e-5)
    assert ours.converged_


def test_the_order_of_nodes_does_not_matter(engine, random):
    X, order = random.normal(size=(6, 100)), random.permutation(100)
    model = GLGP(degree=5, engine=engine, solver=BestResponse(tol=1e-8))
    one, other = (clone(model).fit(signals) for signals in (X, X[:, order]))
    np.testing.assert_allclose(other.adjacency_.toarray(), one.adjacency_.toarray()[np.ix_(order, order)], atol=1e-6)


@pytest.mark.parametrize("shape", TIED)
@pytest.mark.parametrize("method", [SmoothGL, LinearGLGP, GLGP])
def test_laws_hold_where_many_pairs_tie(method, shape, engine):
    check_laws_of_an_engine(method, engine, shape)


@pytest.mark.parametrize("name", HARDEST)
def test_the_hardest_problems_end_where_the_threads_do(name, engine):
    """Every storage and engine takes the same steps, so they find the same stationary point of a strong prior."""
    n = None if ON_GPU else 60  # with as many nodes as elsewhere Triton's interpreter takes minutes
    ours, theirs = (
        BestResponse().solve(*hardest(name, storage, each, n))
        for storage, each in (("auto", engine), ("sparse", "threads"))
    )
    assert ours.converged
    assert theirs.converged
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)


@pytest.mark.parametrize("rank", [0, 1, 2, 8])
def test_a_search_misses_nothing(rank, engine, random):
    """Above a cut at the score of a pair itself, that pair is found, for every pair."""
    X = table("clusters", random, 90)
    points = make_search(X, engine)
    left, right = 50.0 * random.normal(size=(90, rank)), random.normal(size=(90, rank))
    scores = left @ right.T - points.geometry.rows(np.arange(90))
    for column in range(0, 90, 7):
        sides = (torch.from_numpy(each).to(DEVICE) for each in (left, right, np.ascontiguousarray(scores[:, column])))
        found, _ = points.find(points.everyone, *sides)
        rows = row_numbers(found.lengths)
        pairs = {*zip(rows.tolist(), found.columns.tolist(), strict=True)}
        expected = {(i, j) for i in range(90) for j in range(90) if i != j and scores[i, j] >= scores[i, column]}
        assert expected <= pairs
        assert len(pairs) == len(rows)
        assert not any(i == j for i, j in pairs)


def test_rows_that_overflow_their_places_are_done_again(engine, random):
    points = make_search(random.normal(size=(3, 70)), engine)
    points.capacity = 2
    wanted = torch.arange(70, device=DEVICE) % 9
    costs = np.sort(points.geometry.rows(np.arange(70)), axis=1)
    cut = -torch.from_numpy(costs[np.arange(70), wanted.cpu().numpy()] * (1 + 1e-6)).to(DEVICE)
    found, _ = points.find(points.everyone, *points.no_bonus, cut)
    np.testing.assert_array_equal(found.lengths.cpu(), wanted.cpu())
    rows = row_numbers(found.lengths).cpu().numpy()
    assert np.all(points.geometry.rows(np.arange(70))[rows, found.columns.cpu().numpy()] <= -cut.cpu().numpy()[rows])


COMPILED = """
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
from nashgraph.pairs.cuda._kernels import append_hits, multiply, project_tile

def compiled(kernel, types, **fixed):
    kinds = {name: kind for kind, names in types.items() for name in names.split()}
    signature = {name: kinds.get(name, "constexpr") for name in kernel.arg_names}
    return compile(ASTSource(kernel, signature, constexprs=fixed), target=GPUTarget("cuda", 90, 32)).asm["ptx"]

tiles = {
    "*fp32": "rows left need columns right base",
    "*i32": "row_names column_names found counts",
    "*i64": "starts",
    "i32": "n_rows n_columns span",
}
for width, chunk in ((16, 16), (128, 64)):
    assert "mma" in compiled(append_hits, tiles, WIDTH=width, CHUNK=chunk, ROWS=16, COLUMNS=64)
lists = {
    "*fp64": "costs left right numbers weights tops aboves vector product",
    "*i32": "columns edges",
    "*i64": "starts lengths counts names",
    "i32": "n_names",
}
compiled(project_tile, lists, ROWS=1, CHUNKED=256)
compiled(multiply, lists, ROWS=32, BLOCK=16)
"""


@pytest.mark.skipif(not find_spec("triton"), reason="no Triton")
def test_the_kernels_compile_for_a_gpu_that_is_not_here(tmp_path):
    env = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", COMPILED], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_most_answers_need_no_scan(random):
    smoothness = make_smoothness(CudaSearch(random.normal(size=(4, 600)), device=DEVICE, tiles=ON_GPU), 0.5, 0.9)
    assert smoothness.smooth.square > 0
    before = smoothness.search.scans
    smoothness.respond(Bonus.of(np.ones(600), 1e-3 * random.random(600)))
    assert smoothness.search.scans == before


def test_projection_is_that_of_the_kernels(random):
    from nashgraph.pairs import project_rows

    scores = random.normal(size=(40, 40))
    off = ~np.eye(40, dtype=bool)
    lengths = torch.full((40,), 39)
    found = project(torch.from_numpy(scores[off]), row_numbers(lengths), lengths, 1.0, 0.8)
    weights = np.zeros(40 * 39)
    weights[found.edges.numpy()] = found.weights.numpy()
    np.testing.assert_allclose(weights, project_rows(scores, 0.8)[0][off], atol=1e-14)


def ragged(n=50):
    """Rows of 1 to 70 pairs with gaps between them, backward: where they begin, how many they have, and the pairs."""
    draw = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 71, (n,), generator=draw)
    starts = pointers_of(lengths.flip(0) + 3)[:-1].flip(0)
    size = int((lengths + 3).sum())
    columns = torch.randint(0, n, (size,), generator=draw, dtype=torch.int32)
    return starts, lengths, columns, torch.rand(size, generator=draw, dtype=torch.float64)


@pytest.mark.skipif(not find_spec("triton"), reason="no Triton")
def test_kernels_on_lists_do_what_pytorch_does(monkeypatch):
    from nashgraph.pairs.cuda import _kernels, graphs

    monkeypatch.setattr(_kernels, "LISTS", (16, 16, 1))
    monkeypatch.setattr(_kernels, "LONG_LIST", 40)
    monkeypatch.setattr(_kernels, "LONG_LISTS", (4, 32, 1))
    monkeypatch.setattr(_kernels, "BLOCK", 32)
    monkeypatch.setattr(graphs, "LONG", 40)
    starts, lengths, columns, costs = (each.to(DEVICE) for each in ragged())
    left, right = torch.linspace(0.0, 2.0, 50).double().to(DEVICE), torch.linspace(1.0, -1.0, 50).double().to(DEVICE)
    found = project_in_place(starts, lengths, columns, costs, (left, right), 1.3, 0.9)
    places, rows = places_of(lengths, starts), row_numbers(lengths)
    expected = project(left[rows] * right[columns[places]] - costs[places], rows, lengths, 1.3, 0.9)
    assert torch.equal(found.edges, places[expected.edges])
    assert torch.equal(found.lengths, expected.lengths)
    for part in ("weights", "top", "above"):
        torch.testing.assert_close(getattr(found, part), getattr(expected, part), rtol=1e-13, atol=1e-13)
    matrix = graphs.Factor(lengths, columns[places], costs[places])
    expected_product = row_sums(costs[places] * right[columns[places]], lengths)
    torch.testing.assert_close(matrix.by_kernel(right), expected_product, rtol=1e-13, atol=1e-13)


def test_rows_with_too_many_are_searched_less_far(random):
    points = CudaSearch(random.normal(size=(3, 120)), device=DEVICE, tiles=find_spec("triton") is not None)
    points.capacity = 10
    rows, nothing = points.everyone, points.no_bonus
    floor = points.best(rows, 5, *nothing)[0][:, -1]
    found, cut = points.find(rows, *nothing, 9.0 * floor, floor)
    assert bool((cut <= floor).all())
    assert not points.tiles or bool((cut > 9.0 * floor).any())
    exact, _ = points.find(rows, *nothing, cut)
    assert torch.equal(found.lengths, exact.lengths)
    assert torch.equal(found.columns, exact.columns)


def test_what_it_cannot_do_is_said(engine, random, monkeypatch):
    X = random.normal(size=(6, 40))
    with pytest.raises(InputError, match="dense storage keeps the costs of all pairs in memory"):
        SmoothGL(engine=engine, storage="dense").fit(X)
    with pytest.raises(InputError, match="engine='threads'"):
        GLGP(engine=engine, solver="ttgd", lam=1.0).fit(X)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    X[0, 0] = np.nan
    with pytest.raises(InputError, match="gaps yet"):
        SmoothGL(engine="cuda", missing="pairwise").fit(X)


def test_a_path_is_that_of_the_threads(engine):
    random = np.random.default_rng(3)
    X = table("plain", random, 60)
    benefit = random.lognormal(size=60)
    one, other = (GLGP(degree=5, benefit=benefit, engine=name).path(X, n_lams=4) for name in (engine, "threads"))
    np.testing.assert_allclose(one.lams, other.lams, rtol=1e-5)
    for ours, theirs in zip(one.models, other.models, strict=True):
        np.testing.assert_allclose(ours.adjacency_.toarray(), theirs.adjacency_.toarray(), atol=1e-5)
