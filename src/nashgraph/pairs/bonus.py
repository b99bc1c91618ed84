"""The low-rank bonus of pairs ⟨L_i, R_j⟩ that other knowledge adds to their scores (fact 8 of docs/mathematics.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..validation import Array, InputError

LARGEST = np.finfo(float).max / 1e3  # a bonus beyond this would overflow when costs are added


class Bonus(NamedTuple):
    r"""A bonus :math:`\langle L_i, R_j \rangle` of rank K on every pair, with its row constants taken off.

    A constant added to a row of scores changes its threshold and nothing else. Taking :math:`L_{ik} \max_j R_{jk}` off
    leaves small numbers where it matters, near the row's best, and keeps digits that a large bonus would lose;
    ``shift`` is what was taken off each row.

    Examples
    --------
    >>> bonus = Bonus.of(np.ones(2), np.array([1.0, 3.0]))
    >>> bonus.right.ravel(), bonus.shift
    (array([-2.,  0.]), array([3., 3.]))
    """

    left: Array
    right: Array
    shift: Array

    @classmethod
    def of(cls, left: Array, right: Array) -> Bonus:
        """Shift a bonus given by two arrays, each of shape (n_nodes,) or (n_nodes, K)."""
        left, right = (np.asarray(side, float).reshape(len(side), -1) for side in (left, right))
        top = right.max(axis=0)
        shifted = np.ascontiguousarray(right - top)
        with np.errstate(over="ignore"):
            largest = np.abs(left).max(axis=0) @ np.abs(shifted).max(axis=0)
        if not largest <= LARGEST:
            raise InputError("the prior is too strong to compute with: use a smaller lam")
        return cls(np.ascontiguousarray(left), shifted, left @ top)

    @classmethod
    def none(cls, n_nodes: int) -> Bonus:
        """Return the bonus of rank 0."""
        return cls(np.zeros((n_nodes, 0)), np.zeros((n_nodes, 0)), np.zeros(n_nodes))

    @property
    def rank(self) -> int:
        """The number of columns K."""
        return self.left.shape[1]

    @property
    def sizes(self) -> Array:
        """How large the bonus of a row's pairs may be: the scale of its rounding."""
        size: Array = np.abs(self.left) @ np.abs(self.right).max(axis=0)
        return size
