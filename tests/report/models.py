"""Fitted models for the report's tests: the karate club with its path, and graphs given by hand, hostile and large."""

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse

from nashgraph.certificate import exact
from nashgraph.datasets import smooth_signals
from nashgraph.estimators import GLGP, ConsensusGL, GraphEstimator, LambdaPath
from nashgraph.estimators.base import PriorEffect
from nashgraph.graph import LearnedGraph

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
    return GLGP(lam=0.3).fit(table), GLGP().path(table, n_lams=6)


def karate_consensus():
    """Return the consensus of signals on the karate club; it has a prior."""
    signals = smooth_signals(nx.karate_club_graph(), n_signals=50, filter="gmrf", random_state=0)
    return ConsensusGL(random_state=0, benefit="spectral").fit(
        pd.DataFrame(signals, columns=[f"member {k + 1}" for k in range(34)])
    )


class Held(GraphEstimator):
    """An estimator that holds a given graph, as if it had been fitted."""

    def __init__(self, graph=None, certificate=None):
        self.graph, self.certificate = graph, certificate

    @property
    def graph_(self):
        return self.graph

    @property
    def certificate_(self):
        return self.certificate


def held(weights, names=None, certificate=None, prior=None, prior_played=None, **columns):
    """Return a fitted model of a given graph."""
    graph = LearnedGraph.of(weights, names, prior=prior_played, **columns)
    model = Held(graph, certificate or exact())
    model._become(graph.names)
    model.prior_ = prior
    model.adjacency_ = model.graph.weights  # this makes a model count as fitted
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


def path_of(graphs, lams):
    """Return a path over given graphs, with made-up figures."""
    ones = {"action": np.ones(graphs[0].shape[0])}
    models = tuple(
        held(graph, prior=PriorEffect(lam, "given", 1.0 + k, 1.0 + k), node_columns=ones)
        for k, (graph, lam) in enumerate(zip(graphs, lams, strict=True))
    )
    return LambdaPath(np.asarray(lams), models, 1.0)
