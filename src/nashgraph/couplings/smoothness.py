r"""The smoothness term J on the admissible graphs S, and how a graph in S may be held: all that a solver may ask.

.. math:: J(W) = \langle W, D \rangle + \beta \|W\|_F^2, \quad S = \{W \ge 0,\; \mathrm{diag}\,W = 0,\; W 1 = c 1\}

D is the cost of an edge, for example :math:`\|x_i - x_j\|^2 / (2M)`. J's value is called the fidelity: the lower, the
smoother the signals on W.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from scipy import sparse

from ..validation import Array, InputError
from .csr import MANY_ENTRIES, in_single, product, squared_difference, transposed
from .passes import Bonus, NeighbourSpread, Part, Work
from .points import Points


class Place(NamedTuple):
    """How a vector gets to where a graph's products take it, and back to memory."""

    put: Callable[[Array], Any]
    get: Callable[[Any], Array]


HERE = Place(lambda vector: vector, lambda vector: vector)


def place_of(coupling: Coupling) -> Place:
    """Return where a graph's products take their vectors: in memory, unless it has a ``place`` of its own."""
    found: Place = getattr(coupling, "place", HERE)
    return found


class Products(NamedTuple):
    """The products with a graph and its transpose, both of them matrices."""

    weights: Any
    transposed: Any

    def dot(self, vector: Array) -> Array:
        """Return W v."""
        return product(self.weights, vector)

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""
        return product(self.transposed, vector)


def single_of(coupling: Coupling) -> Products | None:
    """Return products for vectors in float32, where a graph in memory is so large that this is faster; else None."""
    found: Products | None = getattr(coupling, "single", None)
    return found


class Coupling(Protocol):
    r"""A graph W in S, with the numbers its fidelity needs.

    Attributes
    ----------
    cost : float, the linear part <W, D> of J
    square : float, ||W||_F^2
    threshold : array of shape (n,) or None
        The :math:`\eta_i` of the row best response, where W is one.
    """

    @property
    def cost(self) -> float: ...  # noqa: D102
    @property
    def square(self) -> float: ...  # noqa: D102
    @property
    def threshold(self) -> Array | None: ...  # noqa: D102

    def dot(self, vector: Array) -> Array:
        """Return W v."""

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F for another graph held the same way."""

    def mix(self, other: Self, share: float) -> Self:
        """Return (1 - share) W + share V, which is in S again."""

    def matrix(self) -> Any:
        """Return W as a matrix: a numpy array or a scipy CSR array."""

    def sparse(self) -> SparseCoupling:
        """Return W as CSR, whose products cost what its edges cost."""

    def arrays(self) -> dict[str, Array]:
        """Return all that holds W, besides its cost, square and threshold, as arrays by name: see ``revive``."""


@dataclass(frozen=True, eq=False)
class SparseCoupling:
    """A graph in S as a CSR matrix. See :class:`~nashgraph.couplings.Coupling`."""

    weights: Any
    cost: float
    square: float
    threshold: Array | None = None

    @cached_property
    def transposed(self) -> Any:
        """W^T, found once: of a small graph a view of the same numbers, of a large one as much memory again."""
        return transposed(self.weights)

    @cached_property
    def single(self) -> Products | None:
        """The graph in float32: two thirds of what a product reads, and half of the vector, which may fit a cache."""
        if self.weights.nnz < MANY_ENTRIES or self.weights.dtype != np.float64:
            return None
        return Products(in_single(self.weights), in_single(self.transposed))

    def dot(self, vector: Array) -> Array:
        """Return W v."""
        return product(self.weights, vector)

    def tdot(self, vector: Array) -> Array:
        """Return W^T v."""
        return product(self.transposed, vector)

    def distance(self, other: Self) -> float:
        """Return ||W - V||_F."""
        return float(np.sqrt(squared_difference(self.weights, other.weights)))

    def mix(self, other: Self, share: float) -> Self:
        """Return (1 - share) W + share V, on the union of their neighbours."""
        weights = (1.0 - share) * self.weights + share * other.weights
        cost = (1.0 - share) * self.cost + share * other.cost
        return type(self)(weights, cost, float(np.vdot(weights.data, weights.data)))

    def matrix(self) -> Any:
        """Return W as CSR."""
        return self.weights

    def sparse(self) -> SparseCoupling:
        """Return the graph itself."""
        return self

    def arrays(self) -> dict[str, Array]:
        """Return the parts of the CSR matrix."""
        return {part: getattr(self.weights, part) for part in ("data", "indices", "indptr")}


class Smoothness(ABC):
    """The term J for some points, beta and c, and how graphs on it are held.

    Attributes
    ----------
    name : str
    beta, c : float
    passes : int, how many times all pairs of nodes have been gone through
    lists : bool, whether it can be cut down to listed pairs (``survey``, ``listed``, ``adopt``)
    proves : bool, whether it answers from a list of its own and goes through all pairs only where that does not do
    steps : bool, whether it can take a gradient step from any graph (``step``)
    holds : bool, whether it can hold any graph (``hold``) for less than a pass
    """

    name: ClassVar[str]
    lists: ClassVar[bool] = False
    proves: ClassVar[bool] = False
    steps: ClassVar[bool] = False
    holds: ClassVar[bool] = False
    points: Points

    def __init__(self, points: Points, beta: float, c: float) -> None:
        self.points, self.beta, self.c = points, beta, c
        self.passes = 0

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.points)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The kind of float graphs are held in."""
        return self.points.dtype

    @property
    def gain(self) -> float:
        """What a score is worth in weight, 1 / (2 beta)."""
        return 0.5 / self.beta

    def threshold(self, eta: Array, bonus: Bonus) -> Array:
        """Return the thresholds of a best response as costs: the kernels have them as best score and weight above."""
        cost: Array = 2.0 * self.beta * eta[:, 1] - eta[:, 0] - bonus.shift
        return cost

    @abstractmethod
    def respond(self, left: Array, right: Array) -> Coupling:
        r"""Return the graph that answers the rank-one bonus :math:`l r^\top`.

        .. math:: \min_{W \in S} \; J(W) - \langle W, l r^\top \rangle

        It is :math:`W_{ij} = \frac{1}{2\beta} \max(0,\; l_i r_j + \eta_i - D_{ij})`, :math:`i \ne j` (Proposition
        "kkt" of the paper, for any rank-one bonus).
        """

    @abstractmethod
    def hold(self, weights: Any) -> Coupling:
        """Return a given W in S, as a matrix, as a coupling."""

    def revive(self, arrays: Mapping[str, Array], cost: float, square: float, threshold: Array | None) -> Coupling:
        """Return the graph that gave these ``arrays``, to the bit."""
        parts = tuple(arrays[part] for part in ("data", "indices", "indptr"))
        weights = sparse.csr_array(parts, shape=(self.n_nodes, self.n_nodes))
        return SparseCoupling(weights, cost, square, threshold)

    @cached_property
    def smooth(self) -> Coupling:
        """The Smooth-GL graph, the one that answers no bonus at all; found once."""
        nothing = np.zeros(self.n_nodes)
        return self.respond(nothing, nothing)

    def fidelity(self, coupling: Coupling) -> float:
        """Return J(W)."""
        return coupling.cost + self.beta * coupling.square

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Yield the parts of a pass over all pairs; see :meth:`Points.run`."""
        self.passes += 1
        yield from self.points.run(work)

    def neighbour_spread(self, left: Array, right: Array) -> float:
        r"""Return how much a bonus varies among neighbours in the graph without prior, added up: one pass.

        It is :math:`\sum_i l_i^2 \sum_{j \in N_i} (r_j - \bar r_{N_i})^2`.
        """
        threshold = self.smooth.threshold
        assert threshold is not None  # the Smooth-GL graph is a best response
        return sum(self.run(NeighbourSpread(left, right, threshold)))

    def survey(self, left: Array, right: Array, margin: float) -> tuple[Coupling, Any]:
        """Return the best response to a bonus and, as a CSR pattern, the pairs within ``margin`` of being edges.

        Those are the pairs whose weight before the cut at zero is above ``-margin``, edges among them.
        """
        raise NotImplementedError(f"storage {self.name!r} cannot list pairs: ask `lists` before")

    def listed(self, pattern: Any) -> Smoothness:
        """Return the term on the pairs of a CSR pattern only, whose graphs are held as CSR."""
        raise NotImplementedError(f"storage {self.name!r} cannot list pairs: ask `lists` before")

    def adopt(self, coupling: SparseCoupling) -> Coupling:
        """Return a graph found on listed pairs as one of this term."""
        raise NotImplementedError(f"storage {self.name!r} cannot list pairs: ask `lists` before")

    def step(
        self, coupling: Coupling, left: Array, right: Array, gamma: float, spare: Coupling | None = None
    ) -> Coupling:
        r"""Return :math:`\mathrm{Proj}_S(W - \gamma (D + 2\beta W - l r^\top))`; ``spare`` may be overwritten."""
        raise InputError(
            f"solver='ttgd' needs storage='dense', got storage={self.name!r}: TTGD steps from any W, so W must be "
            "stored whole; take solver='best-response' for networks too large for that"
        )
