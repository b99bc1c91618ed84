r"""Does a prior fit these signals? A permutation test that needs no true network.

A prior says who should be influential; signals say who is. If the two agree, the graph learned without the prior has a
higher value than the same graph with its nodes relabelled at random:

.. math:: p = \frac{1 + \#\{k : \Phi(P_k W P_k^\top) \ge \Phi(W)\}}{1 + K}

If what the prior knows (benefits, innate opinions) was not made from the signals, the test has its level exactly.
W should be a graph of cosines: distances make nodes with strong signals unpopular and inner products make them popular,
whoever they are (fact 7 of docs/mathematics.md).

In a large network every relabelled graph costs an equilibrium. Relabelling the graph of a game is relabelling its
benefits, so there the values come from the gradient at equal benefits, :math:`\Phi \approx \Phi_0 + u^\top (P_k b -
\bar b)`: one adjoint u, which does not know the benefits, for all of them. The level stays exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..games import TotalAction
from ..validation import Array, check_integer
from .game import GamePrior
from .prior import Graph, InMemory

ROUGH = 1e-4  # relative error of a state; that of a value is its square, far below the spread over relabelled graphs


@dataclass(frozen=True)
class PriorTest:
    """What :func:`prior_test` found: the value of the prior on the graph, and its mean over relabelled graphs.

    Examples
    --------
    >>> print(PriorTest(2.0, 1.0, 0.01, 99).sentence)
    The signals support the prior: its value is 2 on their graph, and 1 on average if nodes are relabelled (p = 0.01).
    """

    value: float
    chance: float
    p_value: float
    n_permutations: int

    @property
    def found(self) -> bool:
        """Whether the signals support the prior, at the level 5%."""
        return self.p_value < 0.05

    @property
    def sentence(self) -> str:
        """The finding in words."""
        figures = (
            f"its value is {self.value:.3g} on their graph, and {self.chance:.3g} on average if nodes are relabelled "
            f"(p = {self.p_value:.2g})"
        )
        if self.found:
            return f"The signals support the prior: {figures}."
        return f"The signals do not support the prior: {figures}."


def prior_test(
    prior: Any,
    weights: Graph,
    *,
    n_permutations: int = 99,
    random_state: int = 0,
    # 99 equilibria take half a second at 2,000 nodes, and 50 s at 20,000, where the whole fit takes 5 s.
    first_order_from: int = 2000,
) -> PriorTest:
    """Test whether a prior fits a graph that was learned without it, by relabelling nodes.

    ``weights`` is anything with ``dot(v)`` and ``tdot(v)``; :meth:`nashgraph.GLGP.prior_test` makes it from
    signals. From ``first_order_from`` nodes on, games are relabelled to first order.

    Examples
    --------
    >>> from nashgraph.priors import GamePrior
    >>> W = np.zeros((30, 30)); W[1:, 0] = W[0, 1] = 0.9  # everybody listens to node 0
    >>> graph = InMemory.of(W)
    >>> b = np.full(30, 0.01)
    >>> [prior_test(GamePrior(b + np.eye(30)[hub]), graph).found for hub in (0, 7)]
    [True, False]
    """
    check_integer("n_permutations", n_permutations, low=19, remedy="try 99")
    random = np.random.default_rng(random_state)
    if (
        isinstance(prior, GamePrior)
        and isinstance(prior.welfare, TotalAction)
        and len(prior.benefit) >= first_order_from
    ):
        value, drawn = _first_order(prior, weights, n_permutations, random)
    else:
        value, drawn = _relabelled(prior, weights, n_permutations, random)
    # Where labels make no difference, as for equal benefits, rounding must not decide.
    above = int(np.sum(drawn >= value - 10.0 * ROUGH * ROUGH * abs(value)))
    return PriorTest(value, float(drawn.mean()), (1.0 + above) / (1.0 + n_permutations), n_permutations)


def _first_order(prior: GamePrior, weights: Graph, count: int, random: np.random.Generator) -> tuple[float, Array]:
    """Return the value and those of relabelled graphs to first order in the benefits, around equal ones."""
    benefit = prior.benefit
    mean = float(prior.benefit.mean())
    equal = replace(prior, benefit=np.full(len(benefit), mean)).evaluate(weights, tol=ROUGH)
    worth = equal.adjoint - equal.adjoint.mean()  # permuted benefits have the same sum, so the mean drops out
    # sorted, so that draws do not depend on the order of nodes
    sizes = np.sort(worth)
    in_order = np.sort(benefit)
    drawn = [float(sizes @ random.permutation(in_order)) for _ in range(count)]
    return equal.value + float(worth @ benefit), equal.value + np.array(drawn)


def _relabelled(prior: Any, weights: Graph, count: int, random: np.random.Generator) -> tuple[float, Array]:
    """Return the value of the prior, and its values on relabelled graphs."""
    dot = weights.dot
    tdot = weights.tdot
    state = prior.evaluate(InMemory(dot, tdot), tol=ROUGH)
    # Nodes are drawn in an order of their states, so that draws do not depend on the order of nodes.
    columns = np.column_stack([state.left, state.right])
    ordered = np.lexsort(np.round(columns / np.maximum(np.abs(columns).max(axis=0), 1e-300), 9).T)
    order = np.empty_like(ordered)

    def relabelled() -> float:
        order[ordered] = random.permutation(ordered)
        back = np.argsort(order)

        def moved(product: Any) -> Any:
            # (P W P') v: bring v to the old labels, multiply, and go back.
            return lambda vector: product(vector[back])[order]

        return float(prior.evaluate(InMemory(moved(dot), moved(tdot)), tol=ROUGH).value)

    return float(state.value), np.array([relabelled() for _ in range(count)])
