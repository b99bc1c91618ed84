"""The feedback of a game: the spectral radius of its weights, and the error if it is too strong for an equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigs

from ..validation import InputError
from .interactions import Interaction


class NoEquilibriumError(InputError):
    """The feedback of a game is too strong for an equilibrium; the message says by how much it must fall."""


def slope_at_large_actions(interaction: Interaction, actions: float = 1e100) -> float:
    """Return the slope in the limit of large actions; squares of these are still finite."""
    return float(interaction.slope(np.array([actions]))[0])


def feedback_of(weights: Any, interaction: Interaction) -> float:
    """Return the feedback in the limit of large actions; below 1 a concave game has an equilibrium."""
    slope = slope_at_large_actions(interaction)
    # An interaction that levels off has no feedback there, however strong the weights are.
    return slope * spectral_radius(weights) if slope > 0 else 0.0


def too_much_feedback(weights: Any, interaction: Interaction) -> str:
    """Say that there is no equilibrium, and by how much the feedback must fall for one to exist."""
    slope = slope_at_large_actions(interaction)
    feedback = max(slope * spectral_radius(weights), 1.0)
    if slope == 1.0:
        times = ""
    else:
        times = f", times the interaction's slope at large actions, {slope:.3g},"
    return (
        "the game on W has no equilibrium: actions grow without bound, because the feedback, W's spectral radius"
        f"{times} is {feedback:.6g} and must be below 1. It must fall by more than {1.0 - 1.0 / feedback:.2%}: scale W "
        f"down, for example W * {0.95 / feedback:.3g}, or take an interaction that levels off, such as log1p"
    )


def spectral_radius(W: Any) -> float:
    """Return the spectral radius of a non-negative matrix, dense or sparse."""
    n = W.shape[0]
    if n <= 300:  # all eigenvalues cost little
        dense = W.toarray() if sparse.issparse(W) else W
        return float(np.abs(np.linalg.eigvals(dense)).max())
    # With the identity added the largest eigenvalue is alone in its size, also where all cycles have one length.
    shifted = LinearOperator((n, n), matvec=lambda vector: vector + W @ vector, dtype=float)
    top = eigs(shifted, k=1, v0=np.ones(n), tol=1e-6, return_eigenvectors=False)
    return float(np.abs(top[0])) - 1.0
