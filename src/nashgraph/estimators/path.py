"""The lambda-path: the graphs of several strengths of the prior, and the front of smoothness against welfare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..solvers import COST
from ..validation import Array


@dataclass(frozen=True, eq=False)
class LambdaPath:
    """Fitted GLGP models along increasing lambdas: the Pareto front of smoothness against welfare.

    ``least`` is J of the graph without prior.

    Examples
    --------
    >>> from nashgraph import GLGP
    >>> X = np.random.default_rng(0).normal(size=(10, 30))
    >>> path = GLGP(beta=5.0, benefit=np.arange(30.0)).path(X, [0.1, 10.0, 100.0])
    >>> path.table()[["lam", "converged"]]
         lam  converged
    0    0.1       True
    1   10.0       True
    2  100.0       True
    """

    lams: Array
    models: tuple[Any, ...]
    least: float

    @property
    def smoothness_costs(self) -> Array:
        """The J(W): the lower, the smoother the signals."""
        return np.array([model.prior_.smoothness_cost for model in self.models])

    @property
    def welfares(self) -> Array:
        """The g(y)."""
        return np.array([model.prior_.welfare for model in self.models])

    def affordable(self, cost: float = COST) -> int:
        """Return the number of the strongest prior that costs at most a share ``cost`` of J, or of the weakest."""
        return max(int(np.sum(self.smoothness_costs <= (1.0 + cost) * self.least)) - 1, 0)

    def table(self) -> pd.DataFrame:
        """Return the path as a table, one row for each lambda."""
        return pd.DataFrame(
            {
                "lam": self.lams,
                "smoothness_cost": self.smoothness_costs,
                "welfare": self.welfares,
                "objective": [model.objective_ for model in self.models],
                "stationarity": [model.stationarity_ for model in self.models],
                "edges": [model.graph_.n_edges for model in self.models],
                "converged": [model.converged_ for model in self.models],
            }
        )
