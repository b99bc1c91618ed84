r"""How people of different traits mix: the part of the tie model that everybody shares.

With Z_i = (1, T_i) the log-odds of a tie are Z_iᵀ G Z_j + κ x_i · x_j, with G symmetric: its corner is the
density, its first row the popularity γ by trait, the rest the mixing B. Those who were asked report a_i = Σ_j
A_ij Z_j (their number of ties and how many have each trait), so the log-likelihood of their rows,

    Σ_{i asked} [ a_i · (G Z_i) − Σ_{j ≠ i} log(1 + exp Z_iᵀ G Z_j) ] − ½ ridge ‖G‖²,

needs no more than their answers, is concave, and takes a few Newton steps. An answer that is missing is
replaced by its expectation in every step, as in an EM algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..validation import Array
from .pair_sums import sigmoid

RIDGE = 5.0  # on the mixing of traits, which a group of a few dozen respondents tells little about (villages 1 to 37)
MOST_ROWS = 1000  # respondents of a group: G has a few hundred numbers, so more say little more


class Respondents(NamedTuple):
    """People of one group who told about their ties.

    ``features`` is Z of everybody in the group, its first column 1; ``rows`` are the numbers of those asked, ``counts``
    what they told (NaN: not asked). Likeness of i and j is x_i · x_j with x in ``likeness``; ``told_likeness`` is
    Σ_j A_ij x_i · x_j where the ties themselves are known. ``shift`` is added to the log-odds: groups differ in size,
    and people do not have more ties in a larger one.
    """

    features: Array
    rows: Array
    counts: Array
    likeness: Array
    told_likeness: Array | None = None
    shift: float = 0.0


class Mixing(NamedTuple):
    """The fitted G (n_features × n_features) and κ, with the relative gradient and the number of steps."""

    matrix: Array
    kappa: float
    gradient: float
    steps: int


def fit_mixing(
    groups: Sequence[Respondents], start: Mixing | None = None, pull: float = 0.0, kappa: float = 0.0
) -> Mixing:
    """Return the penalised maximum-likelihood mixing of one or several groups.

    ``start`` is where other groups' mixing pulls this one's to, with the strength ``pull`` in place of the ridge. κ is
    learned where a group's ties are known, and is that of ``start``, or the one given, elsewhere.
    """
    n_features = groups[0].features.shape[1]
    # Penalties are on traits relative to their mean, so that a trait and its opposite agree.
    centre = np.eye(n_features)
    centre[0, 1:] = -np.concatenate([group.features for group in groups])[:, 1:].mean(axis=0)
    back = np.linalg.inv(centre)
    upper = np.triu_indices(n_features)
    scale = 1.0 / (1.0 + (upper[0] == upper[1]))
    with_kappa = any(group.told_likeness is not None for group in groups)
    target = np.zeros(len(scale) + with_kappa)
    if start is not None:
        target[: len(scale)] = (back @ start.matrix @ back.T)[upper]
        target[len(scale) :] = start.kappa
    penalty = np.full(len(target), pull if start is not None else RIDGE)
    penalty[: len(scale)][upper[0] == 0] *= 0.1  # popularity is told by more answers than mixing is
    penalty[0] *= 0.1 if start is not None else 0.0
    counted = np.logical_or.reduce([np.isfinite(group.counts).any(axis=0) for group in groups])
    penalty[: len(scale)][(upper[0] > 0) & ~counted[upper[0]] & ~counted[upper[1]]] = 1e12  # nobody told about it
    values = target.copy()
    if start is None:
        values[0] = np.log(_density(groups))
    kappa = start.kappa if start is not None else kappa
    samples = [_sampled(group, centre) for group in groups]
    for step in range(50):  # noqa: B007 (how many there were is returned)
        matrix = np.zeros((n_features, n_features))
        matrix[upper] = values[: len(scale)]
        matrix = matrix + np.triu(matrix, 1).T
        kappa = float(values[-1]) if with_kappa else kappa
        parts = [_derivatives(sample, matrix, kappa, upper, scale, with_kappa) for sample in samples]
        size = max(1.0, *(part[2] for part in parts))
        gradient = sum(part[0] for part in parts) - penalty * (values - target)
        relative = float(np.abs(gradient).max() / size)
        if relative <= 1e-6:
            break
        hessian = sum(part[1] for part in parts) + np.diag(penalty + 1e-8 * size)
        move = np.linalg.solve(hessian, gradient)
        values = values + move * min(1.0, 3.0 / max(1e-12, float(np.abs(move).max())))  # log-odds of a pair
    return Mixing(centre @ matrix @ centre.T, kappa, relative, step)


def _density(groups: Sequence[Respondents]) -> float:
    ties = sum(np.nansum(group.counts[:, 0]) for group in groups)
    pairs = sum(np.isfinite(group.counts[:, 0]).sum() * (len(group.features) - 1) for group in groups)
    return float(np.clip(ties / max(1, pairs), 1e-9, 0.9))


def _sampled(group: Respondents, centre: Array) -> tuple[Respondents, Array]:
    """Return a group with features relative to their means, and no more respondents than needed."""
    if len(group.rows) > MOST_ROWS:
        few = np.sort(np.random.default_rng(0).permutation(len(group.rows))[:MOST_ROWS])
        told = None if group.told_likeness is None else group.told_likeness[few]
        group = group._replace(rows=group.rows[few], counts=group.counts[few], told_likeness=told)
    return group._replace(features=group.features @ centre), centre


def _derivatives(
    sample: tuple[Respondents, Array], matrix: Array, kappa: float, upper: tuple[Array, Array], scale: Array, more: bool
) -> tuple[Array, Array, float]:
    """Return gradient, negative Hessian and size of the statistics of one group."""
    group, centre = sample
    V = group.features
    rows = group.rows
    mine = V[rows]
    alike = group.likeness[rows] @ group.likeness.T
    P = sigmoid(mine @ matrix @ V.T + kappa * alike + group.shift)
    P[np.arange(len(rows)), rows] = 0.0
    back = np.linalg.inv(centre)
    expected = (P @ V) @ back
    # An answer that is missing is what the number of ties leads one to expect of it.
    filled = expected * np.nan_to_num(group.counts[:, :1] / np.maximum(expected[:, :1], 1e-12), nan=1.0)
    told = np.where(np.isnan(group.counts), filled, group.counts) @ centre
    residual = told - expected @ centre
    cross = mine.T @ residual
    size = float(np.abs(mine.T @ told).max())
    gradient = (cross + cross.T)[upper] * scale
    slope = 0.0 if group.told_likeness is None else float(group.told_likeness.sum() - (P * alike).sum())
    P *= 1.0 - P
    n = V.shape[1]
    weighted = (P @ (V[:, :, None] * V[:, None, :]).reshape(len(V), -1)).reshape(len(rows), n * n)
    moments = ((mine[:, :, None] * mine[:, None, :]).reshape(len(rows), n * n).T @ weighted).reshape(n, n, n, n)
    k, other = upper
    # moments[a, b, c, d] = Σ w_ij V_ia V_ib V_jc V_jd; dθ/dg_kl = (V_ik V_jl + V_il V_jk) scale
    hessian = np.zeros((len(scale), len(scale)))
    for one, two in ((k, other), (other, k)):
        for three, four in ((k, other), (other, k)):
            hessian += moments[one[:, None], three[None, :], two[:, None], four[None, :]]
    hessian *= scale[:, None] * scale[None, :]
    if not more:
        return gradient, hessian, size
    mixed = mine.T @ ((P * alike) @ V)
    column = (mixed + mixed.T)[upper] * scale
    corner = np.array([[(P * alike**2).sum()]])
    hessian = np.block([[hessian, column[:, None]], [column[None, :], corner]])
    return np.append(gradient, slope), hessian, size
