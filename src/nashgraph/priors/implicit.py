r"""A prior from its dynamics alone: PyTorch differentiates them, and the adjoint is solved for.

.. math:: \Phi(W) = g(y), \quad y = F(h), \quad h = W m(y)

With the adjoint :math:`u = \nabla g(y) + m'(y)^\top W^\top F'(h)^\top u` the implicit function theorem gives
:math:`\nabla\Phi = (F'(h)^\top u)\, m(y)^\top`. The state of a node may be K numbers; the gradient then has K columns.
F and m need not act on every node by itself. Optimality: :math:`\|F(W m(y)) - y\| \le tol\,\|y\|`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..games import solve_affine
from ..validation import Array, InputError
from .dynamics import AT_REST, DynamicsState
from .prior import EXACT, Combinable, Graph, by_column, products


@dataclass(frozen=True, eq=False, repr=False)
class ImplicitPrior(Combinable):
    r"""A value of dynamics at rest, given as PyTorch functions and differentiated implicitly.

    .. math:: \Phi(W) = g(y), \quad y = F(W m(y))

    Assumptions: the functions are differentiable, and :math:`y \mapsto F(W m(y))` contracts on every graph of S.

    ``update`` is F, from what every node hears, a float64 tensor of the shape of ``start``, to the next state.
    ``value`` is g, from the state to a tensor with one number. ``message`` is m, from the state to what a node tells
    (default: the state itself). ``start``, of shape (n_nodes,) or (n_nodes, K), is where the iteration starts.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> b = torch.linspace(0.0, 1.0, 30, dtype=torch.float64)  # doctest: +SKIP
    >>> prior = ImplicitPrior(lambda heard: torch.tanh(b + heard), lambda y: y.sum(), np.zeros(30))  # doctest: +SKIP
    >>> GLGP(lam=1.0, prior=prior).fit(X).converged_  # doctest: +SKIP
    True
    """

    per_node: ClassVar[str] = "start"
    update: Callable[[Any], Any]
    value: Callable[[Any], Any]
    start: Array
    message: Callable[[Any], Any] = lambda state: state

    def __post_init__(self) -> None:
        try:
            import torch  # noqa: F401, PLC0415 (an extra: imported where used)
        except ImportError as error:
            raise ImportError("ImplicitPrior needs PyTorch: pip install torch; or use CustomPrior") from error
        self._set(start=np.asarray(self.start, float))

    def evaluate(self, weights: Graph, *, tol: float = EXACT, start: DynamicsState | None = None) -> DynamicsState:
        dot, tdot = (by_column(product) for product in products(weights))
        y = self.start if start is None else start.actions
        for _ in range(20_000):  # a map that contracts by 0.998 reaches rounding in as many
            heard = dot(image(self.message, y))
            before, y = y, image(self.update, heard)
            if np.linalg.norm(y - before) <= tol * max(float(np.linalg.norm(y)), 1e-300):
                break
        gap = float(np.linalg.norm(y - before)) / (float(np.linalg.norm(y)) or 1.0)
        if not gap <= max(AT_REST, tol):
            raise InputError(f"the dynamics do not come to rest on a graph (residual {gap:.1g}): they must contract")
        told = image(self.message, y)
        heard = dot(told)
        defect = image(self.update, heard) - y
        value, slope = pulled(self.value, y, 1.0)

        # Transposed, the derivative of the map is m'(y)^T W^T F'(h)^T v; autograd has both outer factors.
        def linear(vector: Array) -> Array:
            back = tdot(pulled(self.update, heard, vector.reshape(y.shape))[1])
            return pulled(self.message, y, back)[1].ravel()

        first = None if start is None else start.adjoint.ravel()
        u = solve_affine(linear, slope.ravel(), tol=tol, start=first).point.reshape(y.shape)
        left = pulled(self.update, heard, u)[1]
        return DynamicsState(y, u, float(value) + float(np.sum(u * defect)), left, told)


def image(function: Callable[[Any], Any], point: Array) -> Array:
    """Return a function's value as an array."""
    import torch  # noqa: PLC0415

    with torch.no_grad():
        found: Array = function(torch.as_tensor(point)).numpy()
    return found


def pulled(function: Callable[[Any], Any], point: Array, vector: Any) -> tuple[Array, Array]:
    """Return a function's value and the product of its transposed derivative with a vector."""
    import torch  # noqa: PLC0415

    given = torch.tensor(point, requires_grad=True)
    found = function(given)
    [slope] = torch.autograd.grad(found, given, torch.as_tensor(vector, dtype=found.dtype).expand_as(found))
    return found.detach().numpy(), slope.numpy()
