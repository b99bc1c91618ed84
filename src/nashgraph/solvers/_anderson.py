"""Anderson acceleration of a fixed-point iteration z -> G(z)."""

from __future__ import annotations

import numpy as np

from ..validation import Array


class Anderson:
    r"""Remember inputs z_k and outputs G(z_k) and propose the next input (type II, Walker and Ni 2011).

    .. math:: z = \sum_k a_k\, G(z_k), \quad a = \arg\min_{1^\top a = 1} \big\|\sum_k a_k (G(z_k) - z_k)\big\|

    Solved in differences by a least-squares factorisation that drops directions below ``cutoff``, O(n memory^2).
    The caller decides whether to take the proposal.

    Examples
    --------
    On an affine map of the line two steps are enough:

    >>> import numpy as np
    >>> memory = Anderson(5)
    >>> for z in (0.0, 1.0):
    ...     memory.add(np.array([z]), np.array([0.5 * z + 1.0]))
    >>> memory.propose()
    array([2.])
    """

    def __init__(self, memory: int, cutoff: float = 1e-8) -> None:
        self.memory = memory
        self.cutoff = cutoff
        self.outputs: list[Array] = []
        self.residuals: list[Array] = []

    def __len__(self) -> int:
        return len(self.outputs)

    def add(self, point: Array, image: Array) -> None:
        """Remember an input and its output, and forget the oldest beyond the memory."""
        self.outputs = [*self.outputs[-self.memory :], image]
        self.residuals = [*self.residuals[-self.memory :], image - point]

    def propose(self, share: float = 1.0) -> Array:
        """Return the combination of inputs whose residual is least, moved by ``share`` of that residual."""
        residuals, outputs = np.array(self.residuals), np.array(self.outputs)
        changes = np.diff(residuals, axis=0)
        mixture, *_ = np.linalg.lstsq(changes.T, residuals[-1], rcond=self.cutoff)
        output = outputs[-1] - mixture @ np.diff(outputs, axis=0)
        residual = residuals[-1] - mixture @ changes
        proposal: Array = output - (1.0 - share) * residual
        return proposal
