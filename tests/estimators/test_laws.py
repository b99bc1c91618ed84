"""Changes of the input that must not change the graph, for every method and every storage."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import nashgraph
from nashgraph import InputError, SmoothGL
from nashgraph.estimators import METHODS
from nashgraph.smoothness import STORAGES

from ..problems import TIED, changed_tables, simplex_oracle, stored, tied_signals

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 18))
NODES, SIGNALS = RANDOM.permutation(18), RANDOM.permutation(40)
OTHERS = np.append(0, 1 + RANDOM.permutation(17))
GIVEN = {"consensus": {"n_replicates": 0, "random_state": 0}, "glasso": {"alpha": 0.3, "tol": 1e-7}}
KINDS = [
    (name, storage)
    for name in METHODS
    for storage in (STORAGES if {"storage", "solver"} & {*METHODS[name]().get_params()} else [None])
]
# The graph is that of the signals, permuted with them; where a law is not meant to hold, the method says why.
LAWS = {
    "nodes in another order": lambda X: X[:, NODES],
    "nodes but the first in another order": lambda X: X[:, OTHERS],
    "signals in another order": lambda X: X[SIGNALS],
    "another unit": lambda X: 3.7 * X,
    "another zero of every signal": lambda X: X + np.linspace(-5, 5, len(X))[:, None],
    "every signal twice": lambda X: np.vstack([X, X]),
}
EXEMPT = {
    # Their penalties and likelihoods have a scale; the quadratic game counts signals.
    "quadgame": {"another unit", "another zero of every signal", "every signal twice"},
    "glasso": {"another unit", "another zero of every signal"},
    # Its unit is the first node's degree. It centres over the signals, so the mean of a signal over the nodes counts.
    "spectemp": {"nodes in another order", "another zero of every signal"},
    # Cosine and inner product are taken about zero; partial likeness counts the more, the more signals there are.
    "consensus": {"another zero of every signal", "every signal twice"},
}


def learned(name, storage, signals, **more):
    model = METHODS[name](**GIVEN.get(name, {}), **more)
    model = stored(model, storage) if storage else model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(signals).adjacency_.toarray()
    return found.toarray() if sparse.issparse(found) else np.asarray(found)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("name", "storage"), KINDS, ids=[f"{name} {storage or ''}" for name, storage in KINDS])
def test_law(name, storage, law):
    if law in EXEMPT.get(name, ()):
        pytest.skip("not a law of this method")
    expected = learned(name, storage, X)
    found = learned(name, storage, LAWS[law](X))
    order = {"nodes in another order": NODES, "nodes but the first in another order": OTHERS}.get(law, np.arange(18))
    assert expected.max() > 0
    digits = {"spectemp": 1e-5, "glasso": 1e-5}.get(name, 1e-9)  # their solvers' tolerances
    np.testing.assert_allclose(found, expected[np.ix_(order, order)], atol=digits * expected.max())


ON_THREADS = """
import hashlib, json, sys, warnings
import numba, numpy as np
from nashgraph.pairs import points
from nashgraph.estimators import METHODS
from threadpoolctl import threadpool_limits
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(6, 150))
points.BLOCK_BYTES = 1 << 14  # many blocks
found = {}
for name, storage in json.loads(sys.argv[1]):
    for threads in (1, 2):
        numba.set_num_threads(threads)
        with threadpool_limits(1, user_api="blas"):
            where = "solver__storage" if name == "glgp" else "storage"
            graph = METHODS[name]().set_params(**{where: storage}).fit(X).graph_.weights
        bits = hashlib.sha256(graph.data.tobytes() + graph.indices.tobytes()).hexdigest()
        found.setdefault(f"{name} {storage}", []).append(bits)
print(json.dumps(found))
"""


def test_one_thread_and_two_give_the_same_bits():
    kinds = [(name, storage) for name, storage in KINDS if storage]
    source = str(Path(nashgraph.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, "NUMBA_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, "-c", ON_THREADS, json.dumps(kinds)]
    result = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found) == len(kinds)
    assert {kind: one == two for kind, (one, two) in found.items()} == dict.fromkeys(found, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"random_state": "no"}, "random_state must be a whole number"),
        ({"random_state": -1}, "from 0 to 4,294,967,295"),
        ({"signals": 3}, "signals=3 is not known"),
        ({"degree": -1}, "degree must be"),
        ({"estimator": "smooth"}, "estimator must be a graph estimator"),
    ],
)
def test_what_a_consensus_cannot_take_is_said(given, message):
    with pytest.raises(InputError, match=message):
        METHODS["consensus"](**given).fit(X)


@pytest.mark.parametrize(("name", "alpha"), [("sigrep", 1e20), ("logdegree", 1e300)])
def test_a_parameter_beyond_floats_is_said(name, alpha):
    with pytest.raises(InputError, match="alpha must be a finite number in"):
        METHODS[name](alpha=alpha).fit(X)


@pytest.mark.parametrize("shape", TIED)
@pytest.mark.parametrize(("name", "storage"), KINDS, ids=[f"{name} {storage or ''}" for name, storage in KINDS])
def test_a_law_holds_where_many_pairs_tie(name, storage, shape):
    """Before costs were rounded to 32 bits, shuffling a table of parallel columns changed most edges."""
    signals = tied_signals(shape)
    try:
        expected = learned(name, storage, signals)
    except InputError:  # one signal is too few, or a covariance is singular
        assert name in ("spectemp", "glasso")
        return
    digits = {"glasso": 1e-5}.get(name, 1e-9)  # its solver's tolerance
    # Equal eigenvalues have any basis of their space as templates, and rounding chooses one.
    exempt = {"every signal twice"} if name == "spectemp" else set()
    for law, (other, places) in changed_tables(signals).items():
        if law not in EXEMPT.get(name, exempt) | exempt:
            found = learned(name, storage, other)
            np.testing.assert_allclose(found, expected[np.ix_(places, places)], atol=digits * expected.max())
    if storage is not None:
        np.testing.assert_allclose(learned(name, "dense", signals), expected, atol=1e-6 * expected.max())


@pytest.mark.parametrize("geometry", ["cosine", "inner"])
@pytest.mark.parametrize("shape", TIED)
def test_ties_are_ties_in_every_geometry(geometry, shape):
    signals, order = tied_signals(shape), np.random.default_rng(1).permutation(30)
    one, other = (
        learned("smooth", "dense", each, degree=3, geometry=geometry) for each in (signals, signals[:, order])
    )
    np.testing.assert_allclose(other, one[np.ix_(order, order)], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_off_by_no_more_than_the_rounding_of_its_costs(seed):
    """Tight clusters with gaps: costs differ by a millionth, and are rounded to 32 bits (docs/mathematics.md)."""
    random = np.random.default_rng(seed)
    signals = 5.0 * random.integers(0, 3, 40) * random.choice([-1.0, 1.0], (6, 1)) + 1e-2 * random.normal(size=(6, 40))
    signals[1:][random.random((5, 40)) < 0.15] = np.nan
    model = SmoothGL(degree=4, missing="pairwise").fit(signals)
    differences = 0.5 * (signals[:, :, None] - signals[:, None, :]).astype(np.longdouble) ** 2
    typical = np.nanvar(signals.astype(np.longdouble), axis=1)[:, None, None]
    costs = np.where(np.isnan(differences), typical, differences).mean(axis=0)
    exact = np.array([simplex_oracle(-0.5 * row / model.beta_, node, 0.95) for node, row in enumerate(costs)])
    largest = np.where(exact > 0, costs, 0.0).max()
    assert np.abs(model.adjacency_.toarray() - exact).max() <= 2.0**-32 * float(largest) / model.beta_


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize("seed", range(4))
def test_dense_and_sparse_end_at_the_same_point(seed, missing):
    """Skewed and clustered signals, with gaps and without, and a prior that is far too strong among others."""
    random = np.random.default_rng(seed)
    signals = random.lognormal(sigma=1.5, size=(14, 30)) if seed % 2 else random.normal(size=(14, 30))
    signals += 5.0 * random.integers(0, 3, 30)
    if missing == "pairwise":
        signals[random.random(signals.shape) < 0.15] = np.nan
    for name, more in (("smooth", {}), ("glgp", {"lam": [0.1, 10.0, 1e3][seed % 3]})):
        one, other = (learned(name, storage, signals, degree=4, missing=missing, **more) for storage in STORAGES)
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_equal_node_costs_are_equal_and_no_beta_comes_of_their_rounding():
    for seed in range(40):
        random = np.random.default_rng(seed)
        signals = random.integers(1, 6, (8, 40)).astype(float)
        signals /= np.linalg.norm(signals, axis=0)  # all have the same energy except for rounding
        model = SmoothGL(geometry="inner", degree=2).fit(signals)
        assert model.beta_ == 0.0 or model.beta_ > 1e-9


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
@pytest.mark.parametrize("seed", range(10, 20))
def test_people_who_answer_all_alike_and_a_constant_question(seed):
    """Inner products of partial likeness: their node costs were equal except for rounding, which decided weights."""
    random = np.random.default_rng(seed)
    answer = random.integers(0, 2, 30).astype(float)
    signals, order = np.vstack([np.full(30, 3.0), *[answer] * 4]), random.permutation(30)
    method = METHODS["consensus"](signals="samples", n_replicates=0)
    one, other = (method.fit(each).graph_.weights.toarray() for each in (signals, signals[:, order]))
    np.testing.assert_allclose(other, one[np.ix_(order, order)], atol=1e-9 * one.max())


@pytest.mark.filterwarnings("ignore::nashgraph.DataWarning")
@pytest.mark.parametrize("seed", range(18, 24))
def test_ranks_of_equal_influence_do_not_depend_on_the_order_of_people(seed):
    random = np.random.default_rng(seed)
    signals, order = random.integers(0, 2, (4, 12)).astype(float), random.permutation(12)
    one, other = (METHODS["consensus"](random_state=0).fit(each).graph_ for each in (signals, signals[:, order]))
    for name in ("rank_low", "rank_high"):
        np.testing.assert_array_equal(other.node_columns[name], one.node_columns[name][order])
