"""Signals that a network makes smooth: white noise through a low-pass filter of the graph, plus noise."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import expm_multiply, splu

from ..validation import Array, InputError, check_choice, check_integer, check_number, check_random_state

FILTERS = ("lowpass", "heat", "tikhonov", "gmrf")


def smooth_signals(
    graph: nx.Graph[Any],
    n_signals: int,
    filter: str = "lowpass",
    *,
    strength: float | None = None,
    noise: float = 0.0,
    random_state: Any = None,
) -> Array:
    r"""Draw signals that are smooth on an undirected graph.

    With A the adjacency matrix (weighted where edges carry ``weight``), L its Laplacian and
    :math:`z \sim N(0, I)`:

    - ``"lowpass"``: :math:`x = \exp(sA)\,z`, s = 0.5 by default, the paper's filter;
    - ``"heat"``: :math:`x = \exp(-sL)\,z`, s = 1;
    - ``"tikhonov"``: :math:`x = (I + sL)^{-1} z`, s = 1;
    - ``"gmrf"``: :math:`x \sim N(0, L^\dagger)`, the Gaussian Markov random field with precision L (no s). It is
      drawn as :math:`L^\dagger B^\top z` from the edge-incidence matrix B, so that one sparse factorisation replaces
      an eigendecomposition.

    ``strength`` is s, and ``noise`` the standard deviation of white noise added to every entry. The signals have the
    shape (n_signals, n_nodes), with columns in the order of ``graph.nodes``.

    Examples
    --------
    >>> import networkx as nx
    >>> smooth_signals(nx.karate_club_graph(), 50, "gmrf", random_state=0).shape
    (50, 34)
    """
    if graph.is_directed():
        raise InputError(
            "graph is directed, and these filters are defined on undirected graphs: pass graph.to_undirected()"
        )
    check_choice("filter", filter, FILTERS)
    n_signals = check_integer("n_signals", n_signals, low=1, remedy="it is the number of signals to draw")
    noise = check_number("noise", noise, low=0, remedy="it is a standard deviation; 0 adds none")
    default = 0.5 if filter == "lowpass" else 1.0
    scale = check_number("strength", default if strength is None else strength, low=0, remedy="larger is smoother")
    random = check_random_state(random_state)
    adjacency = sparse.csc_array(nx.to_scipy_sparse_array(graph, dtype=float))
    if adjacency.nnz and adjacency.data.min() < 0:
        raise InputError(f"graph has a negative edge weight ({adjacency.data.min():g}): smoothness needs weights >= 0")
    n = adjacency.shape[0]
    laplacian = sparse.csc_array(sparse.diags_array(adjacency.sum(axis=0)) - adjacency)
    if filter == "gmrf":
        signals = _markov_field(adjacency, laplacian, n_signals, random)
    else:
        excitation = random.standard_normal((n, n_signals))
        if filter == "tikhonov":
            signals = splu(sparse.csc_array(sparse.eye_array(n) + scale * laplacian)).solve(excitation)
        else:
            signals = expm_multiply(scale * adjacency if filter == "lowpass" else -scale * laplacian, excitation)
    return np.ascontiguousarray(signals.T) + noise * random.standard_normal((n_signals, n))


def _markov_field(adjacency: Any, laplacian: Any, n_signals: int, random: np.random.RandomState) -> Array:
    """Draw from N(0, L^+): L = B^T B, and L^+ B^T z has covariance L^+. Each component has mean zero."""
    n = adjacency.shape[0]
    edges = sparse.coo_array(sparse.triu(adjacency, k=1))
    n_components, component = connected_components(adjacency, directed=False)
    if edges.nnz == 0:
        return np.zeros((n, n_signals))
    head, tail = edges.coords
    flows = np.sqrt(edges.data)[:, None] * random.standard_normal((edges.nnz, n_signals))
    rows = np.concatenate([head, tail])
    columns = np.tile(np.arange(edges.nnz), 2)
    signs = np.repeat([1.0, -1.0], edges.nnz)
    divergence = sparse.csr_array((signs, (rows, columns)), shape=(n, edges.nnz)) @ flows
    # One node of each component is held at zero, which leaves a positive definite system; then the means go.
    _, grounded = np.unique(component, return_index=True)
    free = np.setdiff1d(np.arange(n), grounded)
    signals = np.zeros((n, n_signals))
    signals[free] = splu(sparse.csc_array(laplacian[free][:, free])).solve(divergence[free])
    member = sparse.csr_array((np.ones(n), (component, np.arange(n))), shape=(n_components, n))
    means = (member @ signals) / np.asarray(member.sum(axis=1))[:, None]
    centred: Array = signals - means[component]
    return centred
