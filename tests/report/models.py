"""Fitted models for the report's tests: the karate club with its path, and graphs given by hand, hostile and large."""

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse

from nashgraph import GLGP, SmoothGL, glgp_path
from nashgraph.datasets import smooth_signals
from nashgraph.solvers import Path, Result, Status

SCRIPT = "<script>window.__pwned=1</script>"
IMAGE = "<img src=x onerror='window.__pwned=1'>"
HOSTILE = [
    SCRIPT,
    IMAGE,
    "</script><h1>out</h1>",
    "\"double\" 'single' & <b>bold</b>",
    "👩🏽‍🌾 Ana 🌾",
    "مريم الخوارزمي",
    "שרה כהן",
    "\u202eoverridden",
    "line\u2028separator",
    "long " * 1000,
    "a\ud800b",
    "-->",
    "{{name}} ${name}",
]


def karate():
    """Return GLGP fitted to signals on the karate club, and its path."""
    club = nx.karate_club_graph()
    signals = smooth_signals(club, n_signals=50, filter="gmrf", random_state=0)
    table = pd.DataFrame(signals, columns=[f"member {node + 1}" for node in club])
    return GLGP(lam=0.3).fit(table), glgp_path(table, n_lams=6)


def held(weights, names=None):
    """Return an estimator that holds a given graph, as if it had been fitted."""
    model = SmoothGL()
    model.adjacency_ = weights
    model.node_names_ = np.arange(weights.shape[0]) if names is None else np.array(names, dtype=object)
    model.stationarity_, model.n_iter_, model.converged_ = 0.0, 1, True
    model.beta_, model.objective_ = 0.1, 1.0
    return model


def popular_graph(n_nodes, degree=10, seed=0):
    """Return a CSR matrix with rows that sum to 0.95: everyone listens to ``degree`` others, mostly the popular."""
    random = np.random.default_rng(seed)
    source = (n_nodes * random.random((n_nodes, degree)) ** 2.5).astype(int)
    target = np.repeat(np.arange(n_nodes), degree)
    weight = random.gamma(1.0, size=n_nodes * degree) + 1e-3
    off_diagonal = source.ravel() != target
    weights = sparse.csr_array(
        (weight[off_diagonal], (target[off_diagonal], source.ravel()[off_diagonal])), shape=(n_nodes, n_nodes)
    )
    return sparse.csr_array(sparse.diags_array(0.95 / weights.sum(axis=1)) @ weights)


class Held:
    """A coupling that only holds its matrix."""

    def __init__(self, weights):
        self.weights = weights

    def matrix(self):
        return self.weights


def path_of(graphs, lams):
    """Return a path over given graphs, with made-up figures."""
    ones = np.ones(graphs[0].shape[0])
    results = tuple(
        Result(Held(graph), ones, ones, 1.0, 1.0 + k, 0.0, 1, 1, Status.CONVERGED, ()) for k, graph in enumerate(graphs)
    )
    figures = np.arange(1.0, len(lams) + 1.0)
    return Path(np.asarray(lams), figures, figures, figures, 0 * figures, results)
