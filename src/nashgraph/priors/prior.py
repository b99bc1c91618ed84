r"""What a solver needs of a functional prior Φ: its value at W and its gradient :math:`\nabla\Phi = L R^\top`.

Any differentiable functional that comes from solving a task on the network has such a gradient with few columns (fact 11
of the design), so a stationary W of :math:`J(W) - \lambda\,\Phi(W)` is its own best response to the bonus
:math:`\lambda L R^\top`. A new prior is one class with an ``evaluate``; no solver, storage or engine knows it.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..validation import Array

# The relative residual to which a state is solved when it is solved for good: a few hundred roundings.
EXACT = 1e-13


class Graph(Protocol):
    """What a prior may ask of a weight matrix: products, and where they take their vectors."""

    @property
    def place(self) -> Any: ...  # noqa: D102

    def dot(self, vector: Array) -> Array:
        """Return W v."""

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""


class State(Protocol):
    r"""A prior evaluated at a weight matrix.

    Attributes
    ----------
    value : float, Φ(W)
    left, right : arrays of shape (n_nodes,) or (n_nodes, K), with :math:`\nabla\Phi = L R^\top`
    """

    @property
    def value(self) -> float: ...  # noqa: D102
    @property
    def left(self) -> Array: ...  # noqa: D102
    @property
    def right(self) -> Array: ...  # noqa: D102


class Prior(Protocol):
    """A functional prior."""

    def evaluate(self, weights: Graph, *, tol: float = EXACT, start: Any = None) -> Any:
        r"""Return the :class:`State` at a weight matrix.

        Parameters
        ----------
        weights : Graph
        tol : float
            Relative error allowed in ``left`` and ``right``; that of ``value`` should be of second order in it, so that
            rough states are enough to compare objectives.
        start : State, optional
            The state at a similar weight matrix, for a warm start.
        """
