"""Makers of small random problems, and slow oracles to check fast code against."""

import warnings

import numpy as np

from nashgraph import spectral_benefit
from nashgraph.games import INTERACTIONS
from nashgraph.pairs import make_search
from nashgraph.smoothness import beta_for_degree
from nashgraph.solvers import Problem, lam_for_cost
from nashgraph.validation import DataWarning

# The axes of the stress grid: ``make stress`` runs all of it, ``make test`` a seeded sample.
STRESS_GRID = {
    "interaction": list(INTERACTIONS),
    "lam": [0.0, 0.1, 1.0, 10.0, 100.0, 1000.0],
    "beta": [0.1, 1.0, 20.0, 200.0, 2000.0],
    "c": [0.5, 0.95, 0.99],
    "n": [2, 3, 50, 200],
    "kind": ["plain", "duplicates", "constant", "one signal", "uniform benefit", "one-hot benefit"],
}


def stress_problem(interaction, lam, beta, c, n, kind, seed):
    """One point of the stress grid; lam is the solver's."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(1 if kind == "one signal" else 8, n))
    if kind == "duplicates":
        X = random.integers(0, 2, size=(4, n)).astype(float)
    elif kind == "constant":
        X = np.ones((3, n))
    b = random.random(n)
    if kind == "uniform benefit":
        b = np.ones(n)
    elif kind == "one-hot benefit":
        b = np.eye(n)[0]
    return Problem.from_signals(X, b / b.sum(), beta=beta, c=c, interaction=interaction)


def likert(n, random, groups=40, questions=16):
    """Answers 1 to 7 in groups that answer alike, give or take one."""
    middle = random.integers(1, 8, size=(questions, groups))
    told = middle[:, random.integers(0, groups, n)] + random.integers(-1, 2, size=(questions, n))
    return np.clip(told, 1, 7).astype(float)


def near_constant(n, random):
    """Answers, nearly all the same, in units of a million."""
    return 1e6 + (random.random((16, n)) < 0.01) * random.normal(size=(16, n))


def huge_cell(n, random):
    """Normal signals with one number shifted by nine digits."""
    X = random.normal(size=(16, n))
    X[3, 5] = 1e9
    return X


# Unprepared tables, fitted with the default strength of the prior and with stronger ones.
TABLES = {
    "Likert clusters": likert,
    "0/1 with duplicates": lambda n, random: random.integers(0, 2, size=(8, n)).astype(float),
    "lognormal, sigma 1": lambda n, random: random.lognormal(0, 1, (126, n)),
    "lognormal, sigma 2": lambda n, random: random.lognormal(0, 2, (126, n)),
    "lognormal, sigma 3": lambda n, random: random.lognormal(0, 3, (126, n)),
    "near-constant columns": near_constant,
    "one huge cell": huge_cell,
}


def gaussian_clusters(n, random):
    centres = 2.0 * random.normal(size=(16, 20))
    return centres[:, random.integers(0, 20, n)] + 0.5 * random.normal(size=(16, n))


# The five hardest problems we know: table, number of nodes, and the strength, as a multiple of the one that costs a
# thousandth of J to first order.
HARDEST = {
    "heavy tails": (lambda n, random: random.lognormal(0, 3, (20, n)), 200, None),
    "Likert clusters": (likert, 300, 100.0),
    "lognormal, sigma 2": (TABLES["lognormal, sigma 2"], 200, 100.0),
    "0/1 with duplicates": (TABLES["0/1 with duplicates"], 200, 30.0),
    "Gaussian clusters": (gaussian_clusters, 300, 100.0),
}


def hardest(name, storage="auto", engine="threads", n=None):
    """Return one of them, and its lam; with fewer nodes if asked."""
    make, usual, times = HARDEST[name]
    X = make(n or usual, np.random.default_rng(0))
    beta = beta_for_degree(make_search(X), 10, 0.95)
    problem = Problem.from_signals(X, spectral_benefit(X), beta=beta, storage=storage, engine=engine)
    state = problem.smooth_state
    return problem, 6.58e5 if times is None else times * lam_for_cost(problem.smoothness, state.left, state.right)


def dense(weights):
    """Return W as an array."""
    return weights.matrix().toarray()


def distances(problem):
    """Return the costs of all pairs of a problem's nodes."""
    return problem.smoothness.search.geometry.rows(np.arange(problem.smoothness.n_nodes))


def largest_rise(history):
    """The largest rise of the objective between two records, relative to the largest objective."""
    values = np.array([record.objective for record in history])
    return np.diff(values).max(initial=0) / max(np.abs(values).max(), 1e-300)


def random_graph(n, c, random, density=0.6):
    """A random W in S: about density * n neighbours per row, at least one."""
    weights = random.random((n, n)) * (random.random((n, n)) < density)
    np.fill_diagonal(weights, 0.0)
    weights[np.arange(n), (np.arange(n) + 1) % n] += 0.1
    return c * weights / weights.sum(axis=1, keepdims=True)


def simplex_oracle(scores, skip, total):
    """Project by trying every number of positive entries on the sorted row: slow, and obviously right."""
    others = np.delete(np.asarray(scores, dtype=np.longdouble), skip)
    ordered = np.sort(others)[::-1]
    best = None
    for k in range(1, len(ordered) + 1):
        # Differences from the largest, so that huge scores do not swallow the total.
        eta = (np.longdouble(total) - (ordered[:k] - ordered[0]).sum()) / k
        weights = np.maximum((others - ordered[0]) + eta, 0)
        gap = abs(weights.sum() - total)
        if best is None or gap < best[0]:
            best = (gap, weights)
    return np.insert(best[1].astype(float), skip, 0.0)


def stored(model, storage):
    """Return a model that stores pairs this way; GLGP's solver does it."""
    return model.set_params(**{"solver__storage" if "solver" in model.get_params() else "storage": storage})


def parallel_answers(n, random):
    """Age, year of birth and ten times the age: parallel columns, so that many pairs tie up to rounding."""
    age = random.integers(18, 60, n).astype(float)
    return np.vstack([age, 2026.0 - age, 10.0 * age])


TIED = {
    "parallel columns": parallel_answers,
    "one column of counts": lambda n, random: random.poisson(3, n).astype(float)[None],
    "a column and its opposite": lambda n, random: np.vstack([[1.0], [-1.0]]) * random.integers(0, 9, n),
    "straight-liners": lambda n, random: np.repeat(random.integers(1, 6, n).astype(float)[None], 6, axis=0),
    "people twice": lambda n, random: np.repeat(random.integers(1, 6, (5, n // 2)), 2, axis=1).astype(float),
    "short scales": lambda n, random: random.integers(1, 4, (4, n)).astype(float),
}


def tied_signals(shape, n=30):
    found = TIED[shape](n, np.random.default_rng(0))
    return (found - found.mean(axis=1, keepdims=True)) / found.std(axis=1, keepdims=True)


def changed_tables(signals):
    """The same table, changed in ways that must not change the graph, and where its nodes are then."""
    everybody, order = np.arange(signals.shape[1]), np.random.default_rng(1).permutation(signals.shape[1])
    return {
        "nodes in another order": (signals[:, order], order),
        "signals in another order": (signals[::-1], everybody),
        "every signal twice": (np.repeat(signals, 2, axis=0), everybody),
    }


def check_laws_of_an_engine(method, engine, shape):
    """Fit a table with many ties, and the same one changed: always the graph that the threads find."""
    signals = tied_signals(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a degree cannot be met where nodes are alike
        expected = stored(method(degree=3), "sparse").fit(signals).adjacency_.toarray()
        for other, places in [(signals, np.arange(30)), *changed_tables(signals).values()]:
            found = stored(method(degree=3, engine=engine), "sparse").fit(other).adjacency_.toarray()
            np.testing.assert_allclose(found, expected[np.ix_(places, places)], atol=1e-6 * expected.max())
