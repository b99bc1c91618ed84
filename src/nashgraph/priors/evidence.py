r"""Does a prior fit these signals? A permutation test that needs no true network.

A prior says who should be influential; signals say who is. If the two agree, the graph learned without the prior has a
higher value than the same graph with its nodes relabelled at random:

.. math:: p = \frac{1 + \#\{k : \Phi(P_k W P_k^\top) \ge \Phi(W)\}}{1 + K}

If what the prior knows (benefits, innate opinions) was not made from the signals, the test has its level exactly.
W should be a graph of cosines: distances make nodes with strong signals unpopular and inner products make them popular,
whoever they are (fact 7 of the design).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..validation import Array, check_integer
from .prior import Graph, InMemory, products

LEVEL = 0.05
ROUGH = 1e-4  # relative error of a state; that of a value is its square, far below the spread over relabelled graphs


@dataclass(frozen=True)
class PriorEvidence:
    """What :func:`prior_evidence` found.

    Attributes
    ----------
    value : float, that of the prior on the graph
    chance : float, its mean over relabelled graphs
    p_value : float
    n_permutations : int

    Examples
    --------
    >>> print(PriorEvidence(2.0, 1.0, 0.01, 99).sentence)
    The signals support the prior: its value is 2 on their graph, and 1 on average if nodes are relabelled (p = 0.01).
    """

    value: float
    chance: float
    p_value: float
    n_permutations: int

    @property
    def found(self) -> bool:
        """Whether the signals support the prior, at the level 5%."""
        return self.p_value < LEVEL

    @property
    def sentence(self) -> str:
        """The finding in words."""
        figures = (
            f"its value is {self.value:.3g} on their graph, and {self.chance:.3g} on average if nodes are relabelled "
            f"(p = {self.p_value:.2g})"
        )
        if self.found:
            return f"The signals support the prior: {figures}."
        return f"There is no evidence for the prior in the signals: {figures}."


def prior_evidence(prior: Any, weights: Graph, *, n_permutations: int = 99, random_state: int = 0) -> PriorEvidence:
    """Test whether a prior fits a graph that was learned without it, by relabelling nodes.

    Parameters
    ----------
    prior : Prior
    weights : Graph
        Anything with ``dot(v)``, ``tdot(v)`` and ``place``; :meth:`nashgraph.GLGP.evidence` makes it from signals.
    n_permutations : int
    random_state : int

    Examples
    --------
    >>> from nashgraph.priors import GamePrior
    >>> W = np.zeros((30, 30)); W[1:, 0] = W[0, 1] = 0.9  # everybody listens to node 0
    >>> graph = InMemory(lambda v: W @ v, lambda v: W.T @ v)
    >>> b = np.full(30, 0.01)
    >>> [prior_evidence(GamePrior(b + np.eye(30)[hub]), graph).found for hub in (0, 7)]
    [True, False]
    """
    check_integer("n_permutations", n_permutations, low=19, remedy="try 99")
    random, (dot, tdot) = np.random.default_rng(random_state), products(weights)
    state = prior.evaluate(InMemory(dot, tdot), tol=ROUGH)
    n = len(state.left)

    def relabelled() -> float:
        order = random.permutation(n)
        back = np.argsort(order)

        def moved(product: Any) -> Any:
            # (P W P') v: bring v to the old labels, multiply, and go back.
            return lambda vector: product(vector[back])[order]

        return float(prior.evaluate(InMemory(moved(dot), moved(tdot)), tol=ROUGH).value)

    drawn: Array = np.array([relabelled() for _ in range(n_permutations)])
    # Where labels make no difference, as for equal benefits, rounding must not decide.
    above = int(np.sum(drawn >= state.value - 10.0 * ROUGH * ROUGH * abs(state.value)))
    return PriorEvidence(
        float(state.value), float(drawn.mean()), (1.0 + above) / (1.0 + n_permutations), n_permutations
    )
