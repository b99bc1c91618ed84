"""How much of a prior is left when nodes or ties fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..pairs import SparseWeights
from ..pairs.weights import MANY_ENTRIES
from ..validation import Array, InputError, check_integer, check_number
from .dynamics import FixedPointPrior
from .prior import (
    Combinable,
    Graph,
    InMemory,
    PriorState,
    by_column,
    columns,
    played_benefit,
    with_benefit,
    without,
)


class TieDeletion(NamedTuple):
    """A scenario in which no source influences any target; as in W, targets are rows and sources are columns."""

    targets: Any
    sources: Any


@dataclass(frozen=True, eq=False, repr=False)
class Resilience(Combinable):
    r"""A prior on what is left of the network after deletions, on average or in a smooth worst case.

    .. math:: \Phi(W) = \sum_k p_k \Phi_0(W_k) \quad\text{or}\quad
              \Phi(W) = -T \log \sum_k p_k \exp(-\Phi_0(W_k) / T)

    :math:`W_k` is W after scenario k, and :math:`p_k = 1 / \text{number of scenarios}`. Deleted nodes have no ties:
    :math:`W_k = D_k W D_k` with :math:`D_k = \mathrm{diag}(m_k)`, and the gradient has the columns
    :math:`p_k\, m_k \circ l_k` and :math:`m_k \circ r_k` for those :math:`l_k, r_k` of :math:`\Phi_0` at :math:`W_k`. A
    deleted node still acts by itself, which adds a constant. Deleted ties are a block, all those from some sources to
    some targets, :math:`W_k = W - D_A W D_B`, with two columns. In the smooth worst case :math:`p_k` is multiplied by
    :math:`\exp(-\Phi_0(W_k) / T)` and scaled to sum 1. As T falls, it tends to the worst scenario.

    Ties that fail independently of each other with one probability q need no scenarios: their mean graph is
    :math:`(1 - q) W`.

    Assumptions: those of the prior, also on graphs whose row sums are below c. The scenarios are fixed: scenarios drawn
    again in every step would make another function of each, and no step could be certified. To come near the mean over
    all deletions, solve for a few scenarios (:func:`random_deletions`), then for twice as many, starting from the last
    graph (``GLGP(init=...)``), and so on: each solve converges, and the error of the mean over K draws falls as
    :math:`1/\sqrt{K}` (sample average approximation).

    ``scenarios`` is a list, each a list of deleted nodes (numbers) or a :class:`TieDeletion`. ``temperature`` is T, in
    the unit of the prior's value, for the smooth worst case; the default is the mean.

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> from nashgraph.priors import GamePrior
    >>> X, benefit = np.random.default_rng(0).normal(size=(20, 30)), np.arange(30.0) / 435
    >>> prior = Resilience(GamePrior(benefit), [[29], [28, 27], TieDeletion([0, 1, 2], [25, 26])])
    >>> GLGP(lam=1.0, prior=prior).fit(X).converged_
    True
    """

    prior: Any
    scenarios: Sequence[Any]
    temperature: float | None = None

    def __post_init__(self) -> None:
        if not hasattr(self.prior, "evaluate"):
            raise InputError(f"Resilience needs a prior, got {self.prior!r}: for example GamePrior(benefit)")
        if len(self.scenarios) == 0:
            raise InputError("Resilience needs at least one scenario, for example [[0, 1]] to delete nodes 0 and 1")
        scenarios: list[Any] = []
        for scenario in self.scenarios:
            if isinstance(scenario, TieDeletion):
                scenarios.append(TieDeletion(checked_nodes(scenario.targets), checked_nodes(scenario.sources)))
            else:
                scenarios.append(checked_nodes(scenario))
        self._set(scenarios=scenarios)
        if self.temperature is not None:
            remedy = "a few per cent of the prior's value is a sharp worst case"
            check_number("temperature", self.temperature, low=0, open_low=True, remedy=remedy)

    @property
    def n_nodes(self) -> int | None:
        """The number of nodes."""
        return getattr(self.prior, "n_nodes", None)

    def _evaluate(self, weights: Graph, *, tol: float, start: PriorState | None) -> PriorState:
        # Node deletions of the same dynamics are solved as one long vector; anything else one by one.
        nodes_only = not any(isinstance(scenario, TieDeletion) for scenario in self.scenarios)
        if nodes_only and isinstance(self.prior, FixedPointPrior) and isinstance(weights, SparseWeights):
            return self._together(weights, tol, start)
        # A state of all scenarios solved together has one part, which does not start them one by one.
        starts: Sequence[Any] = [None] * len(self.scenarios)
        if start is not None and len(start.parts) == len(self.scenarios):
            starts = start.parts
        states = []
        gradients = []
        for scenario, before in zip(self.scenarios, starts, strict=True):
            graph, gradient = graph_after(weights, scenario)
            states.append(self.prior.evaluate(graph, tol=tol, start=before))
            gradients.append(gradient)
        value, shares = self._combined(np.array([state.value for state in states]))
        # The chain rule: every scenario adds its own columns, weighted by how much it counts.
        lefts = []
        rights = []
        worths: list[Any] = []
        for state, gradient, share in zip(states, gradients, shares, strict=True):
            left, right = gradient(share * columns(state.left), columns(state.right))
            lefts.append(left)
            rights.append(right)
            if getattr(state, "worth", None) is not None:
                worths.append(share * state.worth)
        worth = np.sum(worths, axis=0) if len(worths) == len(states) else None
        return PriorState(value, np.hstack(lefts), np.hstack(rights), tuple(states), worth=worth)

    @property
    def played_benefit(self) -> Array:
        """The benefits of the prior that is played in every scenario."""
        return played_benefit(self.prior)

    def without(self, nodes: Array) -> Resilience:
        """Return what is left in the same scenarios when some nodes are gone for good."""
        return replace(self, prior=without(self.prior, nodes))

    def with_benefit(self, benefit: Array) -> Resilience:
        """Return the same scenarios with other benefits."""
        return replace(self, prior=with_benefit(self.prior, benefit))

    def _together(self, weights: SparseWeights, tol: float, start: PriorState | None) -> PriorState:
        """Evaluate node dynamics in all scenarios at once."""
        count = len(self.scenarios)
        together = AllScenarios(self.prior, len(self.scenarios))
        graph = AllWithoutNodes(weights, self.scenarios)
        if start is not None and len(start.parts) == 1:
            before = start.parts[0]
        else:
            before = None
        rest, adjoint = together.solve(graph, tol, before)
        y = rest.point.reshape(-1, count)
        state = together.state(graph, rest.point, adjoint, 0.0)
        values = np.array([self.prior.welfare.value(one) for one in y.T])
        value, counts = self._combined(values + (adjoint * rest.defect).reshape(-1, count).sum(axis=0))
        left, right = (graph.masked(side) for side in (state.left, state.right))
        worth = np.reshape(state.worth, (-1, count)) @ counts  # type: ignore[arg-type]
        return PriorState(value, counts * left, right, (state,), worth=worth)

    def _combined(self, values: Array) -> tuple[float, Array]:
        """Return the value over all scenarios, and how much each counts in the gradient."""
        if self.temperature is None:
            return float(values.mean()), np.full(len(values), 1.0 / len(values))
        # Taking the worst off first keeps the exponentials between 0 and 1.
        worst = values.min()
        parts = np.exp(-(values - worst) / self.temperature)
        return float(worst - self.temperature * np.log(parts.mean())), parts / parts.sum()


def random_deletions(
    n_nodes: int, n_scenarios: int = 8, *, share: float = 0.1, ties: bool = False, random_state: int = 0
) -> list[Any]:
    """Draw scenarios in which a share of the nodes, or of the ties, is deleted.

    Ties fail in blocks: all those from a random group of nodes to another, of equal size, as if a bridge were out.

    Examples
    --------
    >>> [sorted(map(int, nodes)) for nodes in random_deletions(10, 2, share=0.2)]
    [[6, 7], [2, 3]]
    """
    check_integer("n_scenarios", n_scenarios, low=1, high=1000, remedy="try 8")
    check_number("share", share, low=0, high=1, open_low=True, open_high=True, remedy="try 0.1")
    random = np.random.default_rng(random_state)
    # A block of sources times targets holds the square of their share of the ties.
    size = max(1, round(n_nodes * (np.sqrt(share) if ties else share)))

    def draw() -> Array:
        return random.choice(n_nodes, size, replace=False)

    return [TieDeletion(draw(), draw()) if ties else draw() for _ in range(n_scenarios)]


def targeted_deletions(importance: Array, n_scenarios: int = 8, *, share: float = 0.1) -> list[Any]:
    """Return attacks on the most important nodes: the first hits the top share, the others the shares that follow.

    ``importance`` has one number per node, for example its influence in a graph learned without a prior. Scenarios are
    fixed before the solve: a target chosen from W would make the value jump where two nodes change ranks.

    Examples
    --------
    >>> [nodes.tolist() for nodes in targeted_deletions([3.0, 9.0, 1.0, 7.0], 2, share=0.25)]
    [[1], [3]]
    """
    order = np.argsort(-np.asarray(importance, float), kind="stable")
    check_integer("n_scenarios", n_scenarios, low=1, high=1000, remedy="try 8")
    check_number("share", share, low=0, high=1, open_low=True, open_high=True, remedy="try 0.1")
    size = max(1, round(share * len(order)))
    attacks = [order[first : first + size] for first in range(0, n_scenarios * size, size)]
    return [nodes for nodes in attacks if len(nodes)]


class AllScenarios(FixedPointPrior):
    """Node dynamics in several scenarios as one vector: a step for all of them costs little more than for one."""

    def __init__(self, prior: FixedPointPrior, count: int) -> None:
        self.prior = prior
        self.count = count
        self.benefit = np.repeat(prior.benefit, count)
        self.response = prior.response
        self.interaction = prior.interaction
        self.share = prior.share
        self.welfare = self

    @property
    def plain(self) -> bool:
        return self.prior.plain

    def gradient(self, y: Array) -> Array:
        """Return the gradient of the welfare of each scenario by its own actions."""
        return np.column_stack([self.prior.welfare.gradient(one) for one in y.reshape(-1, self.count).T]).ravel()


class AllWithoutNodes:
    """The graphs of several scenarios in which nodes are deleted, for vectors that hold all scenarios node by node."""

    def __init__(self, weights: SparseWeights, scenarios: Sequence[Array]) -> None:
        self.weights = weights
        self.count = len(scenarios)
        scenario = np.repeat(np.arange(self.count), [len(nodes) for nodes in scenarios])
        self.lost = np.concatenate(scenarios), scenario

    def masked(self, vector: Array) -> Array:
        """Return a copy with one column per scenario, zero where nodes are deleted."""
        return zeroed(vector.reshape(-1, self.count), self.lost)

    def dot(self, vector: Array) -> Array:
        return self._times(self.weights.csr, self.weights.dot, vector)

    def tdot(self, vector: Array) -> Array:
        return self._times(self.weights.csr.T, self.weights.tdot, vector)

    def _times(self, matrix: Any, product: Callable[[Array], Array], vector: Array) -> Array:
        """Multiply all scenarios at once, or with the product on all threads if the matrix is large."""
        held = self.masked(vector)
        return self.masked(matrix @ held if matrix.nnz < MANY_ENTRIES else by_column(product)(held)).ravel()


def graph_after(weights: Graph, scenario: Any) -> tuple[Graph, Callable[[Array, Array], tuple[Array, Array]]]:
    """Return what is left of a graph after a scenario, and what makes the gradient by W of that by what is left."""
    dot = weights.dot
    tdot = weights.tdot
    if not isinstance(scenario, TieDeletion):
        left = InMemory(
            lambda vector: zeroed(dot(zeroed(vector, scenario)), scenario),
            lambda vector: zeroed(tdot(zeroed(vector, scenario)), scenario),
        )
        return left, lambda left, right: (zeroed(left, scenario), zeroed(right, scenario))
    targets, sources = scenario
    # W_k = W - D_A W D_B: what the deleted block would have brought is taken off.
    left = InMemory(
        lambda vector: dot(vector) - only(dot(only(vector, sources)), targets),
        lambda vector: tdot(vector) - only(tdot(only(vector, targets)), sources),
    )
    return left, lambda left, right: (
        np.hstack([left, -only(left, targets)]),
        np.hstack([right, only(right, sources)]),
    )


def zeroed(vector: Array, nodes: Any) -> Array:
    """Return a copy of a vector, or of columns, that is zero at some nodes or (node, column)."""
    copy = 1.0 * vector
    try:
        copy[nodes] = 0.0
    except IndexError:
        raise InputError(f"a scenario deletes node {np.max(nodes)}, but nodes are 0 to {len(vector) - 1}") from None
    return copy


def only(vector: Array, nodes: Array) -> Array:
    """Return a copy of a vector, or of columns, that is zero everywhere else."""
    return vector - zeroed(vector, nodes)


def checked_nodes(nodes: Any) -> Array:
    """Return a scenario's nodes as an array of whole numbers."""
    numbers = np.asarray(nodes)
    if numbers.ndim != 1 or numbers.size == 0 or not np.issubdtype(numbers.dtype, np.integer) or numbers.min() < 0:
        raise InputError(f"a scenario must be a list of node numbers from 0, for example [0, 3], got {nodes!r}")
    return numbers
