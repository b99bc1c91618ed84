r"""The network game on a graph: its equilibrium, the adjoint that differentiates it, and its welfare.

Player i picks :math:`y_i \ge 0` to maximise :math:`-y_i^2/2 + y_i (\sum_j W_{ij} f(y_j) + b_i)`. Nobody wants to
move when :math:`y = \max(0, b + W f(y))`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigs
from sklearn.exceptions import ConvergenceWarning

from ..validation import Array, InputError, check_benefit, check_vector, check_weights, warn
from ._fixed_points import solve_affine, solve_response
from .interactions import Interaction, as_interaction
from .welfares import Welfare, as_welfare


class NoEquilibriumError(InputError):
    """The feedback of a game is too strong for an equilibrium; the message says by how much it must fall."""


def equilibrium(
    W: Any,
    b: Array,
    interaction: str | Interaction = "log1p",
    *,
    tol: float = 1e-12,
    start: Array | None = None,
) -> Array:
    r"""Return the Nash equilibrium of the game on W.

    .. math:: y = T(y), \quad T(y) = \max(0,\; b + W f(y))

    With W and b non-negative, rows of W summing to c < 1 and f in H1, T is a contraction of factor c in the max
    norm and the equilibrium is unique. Solved by Newton's method with products only, no inverse, until
    :math:`\|T(y) - y\| \le tol\,\|y\|`. W may be any non-negative matrix, dense or sparse, with ``W[i, j]`` the weight
    with which j influences i: if the feedback is too strong for an equilibrium to exist, there is an error. ``start``
    are actions to start from; the default is b.

    Examples
    --------
    Two friends with equal benefit double each other's action:

    >>> import numpy as np
    >>> equilibrium(np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([1.0, 1.0]), "linear")
    array([2., 2.])
    """
    weights = check_weights(W)
    benefit = check_benefit(b, weights.shape[0], normalize=False)
    if start is not None:
        start = check_vector("start", start, len(benefit), "pass the actions to start from, or None")
    found = solve_response(lambda v: weights @ v, benefit, as_interaction(interaction), tol=tol, start=start)
    # If W expands, I - W still has an inverse, but its solution of the linear game is not a set of actions.
    if not np.isfinite(found.residual) or found.point.min() < -1e-6 * np.linalg.norm(found.point):
        raise NoEquilibriumError(_too_much_feedback(weights, as_interaction(interaction)))
    if found.residual > tol:
        warn(
            f"the equilibrium was not reached: relative residual {found.residual:.2e} > tol={tol:g} after "
            f"{found.products} products with W; raise tol, or scale W down",
            ConvergenceWarning,
        )
    return found.point


def _too_much_feedback(weights: Any, interaction: Interaction) -> str:
    """Say that there is no equilibrium, and by how much the feedback must fall for one to exist."""
    slope = float(interaction.slope(np.array([1e12]))[0])  # in the limit of large actions
    feedback = max(slope * spectral_radius(weights), 1.0)
    times = "" if slope == 1.0 else f", times the interaction's slope at large actions, {slope:.3g},"
    return (
        "the game on W has no equilibrium: actions grow without bound, because the feedback, W's spectral radius"
        f"{times} is {feedback:.6g} and must be below 1. It must fall by more than {1.0 - 1.0 / feedback:.2%}: scale W "
        f"down, for example W * {0.95 / feedback:.3g}, or take an interaction that levels off, such as log1p"
    )


def spectral_radius(W: Any) -> float:
    """Return the spectral radius of a non-negative matrix, dense or sparse."""
    n = W.shape[0]
    if n <= 300:  # all eigenvalues cost little
        dense = W.toarray() if sparse.issparse(W) else W
        return float(np.abs(np.linalg.eigvals(dense)).max())
    # With the identity added the largest eigenvalue is alone in its size, also where all cycles have one length.
    shifted = LinearOperator((n, n), matvec=lambda vector: vector + W @ vector, dtype=float)
    top = eigs(shifted, k=1, v0=np.ones(n), tol=1e-6, return_eigenvectors=False)
    return float(np.abs(top[0])) - 1.0


def adjoint(
    W: Any,
    y: Array,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
    *,
    tol: float = 1e-12,
) -> Array:
    r"""Return the adjoint u: how much the welfare gains per unit of benefit given to each node.

    .. math:: u = \nabla g(y) + f'(y) \circ (W^\top u)

    At the equilibrium y of W the derivative of the welfare by :math:`W_{ij}` is :math:`u_i f(y_j)` (fact 1 of
    docs/mathematics.md): one linear solve, by products with :math:`W^\top` to a relative residual of ``tol``, replaces
    an N x N inverse.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> adjoint(W, equilibrium(W, np.ones(2), "linear"), "linear")
    array([2., 2.])
    """
    weights = check_weights(W)
    actions = check_vector("y", y, weights.shape[0], "pass the equilibrium of W")
    transposed, slope = weights.T, as_interaction(interaction).slope(actions)
    found = solve_affine(lambda v: slope * (transposed @ v), as_welfare(welfare).gradient(actions), tol=tol)
    if not found.residual <= tol:
        warn(
            f"the adjoint was not reached: relative residual {found.residual:.2e} > tol={tol:g} after "
            f"{found.products} products with W's transpose; is y the equilibrium of W?",
            ConvergenceWarning,
        )
    return found.point


def welfare(
    W: Any,
    b: Array,
    interaction: str | Interaction = "log1p",
    welfare: str | Welfare = "total",
    *,
    tol: float = 1e-12,
) -> float:
    """Return the welfare g(y) at the equilibrium y of the game on W.

    Examples
    --------
    >>> import numpy as np
    >>> welfare(np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([1.0, 1.0]), "linear")
    4.0
    """
    return as_welfare(welfare).value(equilibrium(W, b, interaction, tol=tol))
