r"""The paper's game on one graph, as three functions: its equilibrium, its adjoint and its welfare.

Player i picks :math:`y_i \ge 0` to maximise :math:`-y_i^2/2 + y_i (\sum_j W_{ij} f(y_j) + b_i)`. Nobody wants to
move when :math:`y = \max(0, b + W f(y))`. All three are those of :class:`~nashgraph.GamePrior`.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from ..games import Interaction, Welfare, as_interaction, as_welfare, solve_affine
from ..matching import in_order, names_of, square
from ..validation import Array, check_benefit, check_vector, check_weights, warn
from .game import GamePrior
from .prior import as_products


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
    weights = check_weights(square("W", W).to_numpy() if isinstance(W, pd.DataFrame) else W)
    nodes = names_of(W) or range(weights.shape[0])
    benefit = check_benefit(in_order("b", b, nodes, "W"), weights.shape[0], normalize=False)
    if start is not None:
        start = in_order("start", start, nodes, "W")
        start = check_vector("start", start, len(benefit), "pass the actions to start from, or None")
    rest = GamePrior(benefit, interaction).settle(as_products(weights), tol=tol, start=start)
    if rest.residual > tol:
        warn(
            f"the equilibrium was not reached: relative residual {rest.residual:.2e} > tol={tol:g} after "
            f"{rest.products} products with W; raise tol, or scale W down",
            ConvergenceWarning,
        )
    return rest.point


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
    weights = check_weights(square("W", W).to_numpy() if isinstance(W, pd.DataFrame) else W)
    y = in_order("y", y, names_of(W) or range(weights.shape[0]), "W")
    actions = check_vector("y", y, weights.shape[0], "pass the equilibrium of W")
    transposed = weights.T
    slope = as_interaction(interaction).slope(actions)
    solution = solve_affine(lambda v: slope * (transposed @ v), as_welfare(welfare).gradient(actions), tol=tol)
    if not solution.residual <= tol:
        warn(
            f"the adjoint was not reached: relative residual {solution.residual:.2e} > tol={tol:g} after "
            f"{solution.products} products with W's transpose; is y the equilibrium of W?",
            ConvergenceWarning,
        )
    return solution.point


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
