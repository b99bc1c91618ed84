"""Anderson acceleration of a fixed-point iteration z -> G(z)."""

from __future__ import annotations

import numpy as np

from ..validation import Array

MANY = 200_000  # numbers in all changes together


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
        self.added = 0
        self.outputs: list[Array] = []  # the last one only, and its residual
        self.residuals: list[Array] = []
        # Differences of consecutive outputs and residuals, in a ring: their order does not matter.
        self.steps = self.changes = np.empty((0, 0))

    def __len__(self) -> int:
        return min(self.added, self.memory + 1)

    def add(self, point: Array, image: Array) -> None:
        """Remember an input and its output, and forget the oldest beyond the memory."""
        residual = image - point
        if self.added == 0:
            self.steps, self.changes = np.empty((self.memory, len(image))), np.empty((self.memory, len(image)))
        elif self.memory:
            place = (self.added - 1) % self.memory
            np.subtract(image, self.outputs[-1], out=self.steps[place])
            np.subtract(residual, self.residuals[-1], out=self.changes[place])
        self.outputs, self.residuals = [image], [residual]
        self.added += 1

    def propose(self, share: float = 1.0) -> Array:
        """Return the combination of inputs whose residual is least, moved by ``share`` of that residual."""
        known = min(self.added - 1, self.memory)
        steps, changes, residual = self.steps[:known], self.changes[:known], self.residuals[-1]
        mixture = least_squares(changes, residual, self.cutoff)
        proposal: Array = self.outputs[-1] - mixture @ steps - (1.0 - share) * (residual - mixture @ changes)
        return proposal


def least_squares(changes: Array, residual: Array, cutoff: float) -> Array:
    """Return the mixture of changes that comes nearest to a residual, without directions below the cutoff.

    Among many numbers by the products of the changes scaled to one length, which is ten times faster and tells
    apart only directions above the root of the rounding: enough for a proposal.
    """
    if changes.size < MANY:
        mixture, *_ = np.linalg.lstsq(changes.T, residual, rcond=cutoff)
        return mixture
    products = changes @ changes.T
    scale = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    kept = values > max(cutoff**2, 1e-12) * values[-1]
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    found: Array = inverse @ (changes @ residual / scale) / scale
    return found
