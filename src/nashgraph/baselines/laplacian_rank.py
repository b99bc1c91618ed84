r"""A smooth graph S in exactly K pieces, the problem of :class:`~nashgraph.ModularGL`.

A Laplacian L has rank N - K exactly when its graph has K connected components, and by Ky Fan's theorem its K smallest
eigenvalues add up to the least of :math:`\mathrm{tr}(F^\top L F)` over F with orthonormal columns. So the constraint is
a penalty on :math:`J(S) = \langle S, D \rangle + \beta \|S\|_F^2`,

.. math:: \min_{S, F} \; J(S) + 2\lambda\,\mathrm{tr}(F^\top L F)
          = J(S) + \lambda \sum_{ij} S_{ij} \|f_i - f_j\|^2,

with a large enough :math:`\lambda`. In turn, F is the K lowest eigenvectors of L, and S is the row best response to the
distances :math:`D_{ij} + \lambda \|f_i - f_j\|^2`: both exact, so the penalised objective never rises while
:math:`\lambda` stays. As in the paper :math:`\lambda` starts at beta, doubles when there are too few components and
halves when there are too many, one round of the two steps each time; when it changes direction its factor shrinks to
its square root, so that it closes in on one value. Where several pieces part at that very value no penalty gives K, and
the solver ends without having converged.

**Stopping.** With K components reached :math:`\lambda` stays and the rounds go on until S does not change, :math:`\|S -
S^+\|_F / \|S\|_F \le` tol. Components are counted in the graph itself (exact zeros), not by comparing eigenvalues with
a small number.

**Cost.** A round is one eigenproblem, one product of O(N^2 K) and one pass over the pairs; memory is about five N x N
arrays. Up to ``DENSE_NODES`` nodes the eigenvectors are LAPACK's, O(N^3); above, Lanczos iterations on the sparse
factors of L + shift, whose cost follows the fill-in of the graph. With K components they are known without either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh, splu
from scipy.spatial.distance import cdist

from ..certificate import Certificate, Measure, Monitor
from ..pairs import project_rows
from ..validation import Array

DENSE_NODES = 1000  # above, only the eigenvectors wanted are computed, by Lanczos's method


class SplitGraph(NamedTuple):
    """A graph learned by :func:`constrained_rank`; ``labels`` numbers each node's component, ``lam`` is the penalty."""

    weights: Array
    labels: NDArray[np.int32]
    n_components: int
    embedding: Array
    lam: float
    objective: float
    certificate: Certificate


def constrained_rank(
    distances: Array, n_components: int, beta: float, c: float, *, tol: float = 1e-8, max_iter: int = 100
) -> SplitGraph:
    """Learn a smooth graph with exactly ``n_components`` components, starting from the unconstrained one.

    It has converged if there are exactly K components and S no longer changes. A smooth graph in more than K pieces
    before any penalty is returned as it is: no penalty can join them.
    """
    monitor = Monitor(Measure.CHANGE, tol, max_iter)

    def smoothness(weights: Array) -> float:
        return float(np.vdot(weights, distances) + beta * np.vdot(weights, weights))

    weights = weight_step(distances, np.zeros((len(distances), 1)), 0.0, beta, c)
    n_found, labels = components(weights)
    older = embedding = spectral_embedding(weights, n_components)
    lam = beta
    factor = 2.0
    heading = 0
    monitor.check(0, smoothness(weights), np.inf)
    if n_found > n_components:
        monitor.stall()
    while monitor.status is None:
        moved = weight_step(distances, embedding, lam, beta, c)
        change = float(np.linalg.norm(moved - weights) / np.linalg.norm(weights))
        weights = moved
        iteration = monitor.records[-1].iteration + 1
        n_found, labels = components(weights)
        monitor.check(iteration, smoothness(weights), change, complete=n_found == n_components)
        # More pieces need a larger penalty; a change of direction means that it was passed, so steps get shorter.
        turn = int(np.sign(n_components - n_found))
        if turn * heading < 0:
            factor = np.sqrt(factor)
        lam = lam * factor**turn
        heading = turn or heading
        if turn < 0:
            embedding = older  # as in the paper: more than K null vectors do not say which pieces to join
        else:
            older = embedding
            embedding = spectral_embedding(weights, n_components)
    certificate = monitor.certificate(remedy=_remedy(n_components, n_found, monitor.records[-1].iteration, lam))
    return SplitGraph(weights, labels, n_found, embedding, lam, monitor.records[-1].objective, certificate)


def _remedy(wanted: int, found: int, iterations: int, lam: float) -> str:
    """Say what to do where the run does not converge."""
    if found == wanted:
        return "the components are found: raise max_iter"
    have = f"{found} component(s) where n_components={wanted}"
    if iterations == 0:
        return f"{have}: the smooth graph is in that many pieces before any prior; raise degree, beta or n_components"
    other = "raise max_iter, or take another degree or n_components; the signals may not fall into that many groups"
    return f"{have}, with a penalty of {lam:.3g}: {other}"


def weight_step(distances: Array, embedding: Array, lam: float, beta: float, c: float) -> Array:
    r"""Return S: row i projects :math:`-(D_{ij} + \lambda \|f_i - f_j\|^2) / (2\beta)` onto the simplex of sum c."""
    scores = cdist(embedding, embedding, "sqeuclidean")
    scores *= lam
    scores += distances
    scores *= -0.5 / beta
    return project_rows(scores, c)[0]


def spectral_embedding(weights: Array, n_components: int) -> Array:
    r"""Return the K lowest eigenvectors of the Laplacian of :math:`(S + S^\top)/2`, as columns."""
    count, labels = components(weights)
    indicators = np.zeros((len(weights), count))
    indicators[np.arange(len(weights)), labels] = 1.0 / np.sqrt(np.bincount(labels))[labels]
    if count >= n_components:
        return np.ascontiguousarray(indicators[:, :n_components])
    if len(weights) > DENSE_NODES:
        return _sparse_embedding(sparse.csr_array(weights), indicators, n_components)
    laplacian = -0.5 * (weights + weights.T)
    laplacian[np.diag_indices_from(laplacian)] -= laplacian.sum(axis=1)
    # All eigenvectors, by divide and conquer: LAPACK's drivers for some of them fail on some split graphs.
    _, vectors = linalg.eigh(laplacian, driver="evd", overwrite_a=True, check_finite=False)
    return np.ascontiguousarray(vectors[:, :n_components])


def components(weights: Array) -> tuple[int, NDArray[np.int32]]:
    """Return the number of connected components and each node's, numbered by their first nodes."""
    count, labels = connected_components(sparse.csr_array(weights), directed=False)
    return int(count), labels


def _sparse_embedding(weights: Any, indicators: Array, n_components: int) -> Array:
    """Add the next eigenvectors to those of eigenvalue zero, copies of which Lanczos iterations might miss."""
    n = len(indicators)
    symmetric = 0.5 * (weights + weights.T)
    degrees = symmetric.sum(axis=1)
    shift = 1e-3 * float(degrees.mean())
    solve = splu(sparse.csc_array(sparse.diags_array(degrees + shift) - symmetric)).solve

    def clear(vector: Array) -> Array:
        return vector - indicators @ (indicators.T @ vector)

    def apply(vector: Any) -> Array:
        return clear(solve(clear(np.ravel(vector))))

    inverse = LinearOperator((n, n), matvec=apply, dtype=float)
    start = clear(np.random.default_rng(0).standard_normal(n))
    _, vectors = eigsh(inverse, k=n_components - indicators.shape[1], which="LA", v0=start)
    return np.column_stack([indicators, vectors[:, ::-1]])
