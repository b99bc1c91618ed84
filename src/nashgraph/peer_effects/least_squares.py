r"""Nonlinear least squares of the reduced form, and maximum likelihood of yes/no answers and counts.

.. math:: \min_{\phi, b, d} \; \sum_{i \in O} D\bigl(y_i, m_i(\phi, b, d)\bigr)

O are the people whose action was observed, and D the deviance: :math:`(y - m)^2`, or with a link that of Bernoulli or
Poisson (:mod:`nashgraph.peer_effects.links`). Optimality: the gradient :math:`J^\top V^{-1} (y - m)` is zero, with the
variances V of the actions (1 without a link). The measure is the relative offset of Bates and Watts,
:math:`\|P_J e\| / \|e\|` with :math:`e = V^{-1/2} (y - m)` and :math:`P_J` the projection on the columns of
:math:`V^{-1/2} J`, and a fit stops when it is at most ``tol``. φ is first searched on a grid, because the deviance may
have several minima. Then steps of Gauss and Newton, with a link Fisher's scoring, are halved until it does not rise.

Covariance of the estimates, with J and e divided by :math:`V^{1/2}` and :math:`A = (J^\top J)^{-1}`:

- classical: :math:`\hat\sigma^2 A`, :math:`\hat\sigma^2 = e^\top e / (n - p)`;
- robust: :math:`\tfrac{n}{n - p} A J^\top \mathrm{diag}(e^2) J A`;
- cluster: :math:`\tfrac{G}{G - 1} \tfrac{n - 1}{n - p} A \bigl(\sum_g J_g^\top e_g e_g^\top J_g\bigr) A`.

With R draws of the network the error also has the part :math:`m(W) - \bar m`, which neighbours share. It adds
:math:`(1 + 1/R)\, A\, \mathrm{Cov}_r(J^\top m_r)\, A`: what comes from not knowing the network, and from few draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..games import NoEquilibriumError
from ..validation import Array, warn
from .reduced_form import NotIdentifiedError, Point, ReducedForm


@dataclass(frozen=True)
class Search:
    """How a fit is searched for.

    ``grid`` values of φ are tried over ``share`` of the range in which the game surely has an equilibrium, on the first
    ``grid_draws`` draws of the network; the fit stops at the relative offset ``tol`` or after ``max_steps``.
    ``identified`` is the least share of the Jacobian's φ column, relative to its length, that the other columns must
    leave over.
    """

    grid: int = 9
    grid_draws: int = 3
    share: float = 0.9
    tol: float = 1e-8
    max_steps: int = 100
    identified: float = 1e-6


@dataclass(frozen=True, eq=False)
class Solution:
    """φ and the coefficients as one vector, the regression function there, and how well the problem was solved.

    ``jacobian`` and ``errors`` are those of the people observed, divided by the actions' standard deviations, which are
    ``scale``.
    """

    parameters: Array
    point: Point
    scale: Array
    jacobian: Array
    errors: Array
    offset: float
    steps: int


def least_squares(form: ReducedForm, actions: Array, search: Search, start: Array | None = None) -> Solution:
    """Return the fit of least deviance; ``start`` are parameters to start from instead of the grid."""
    observed = np.isfinite(actions)
    target = actions[observed]
    if start is None:
        parameters = _first(form, actions, observed, search)
    else:
        parameters = start
    point = form.at(parameters[0], parameters[1:])
    limit = form.bound / form.family.feedback(target) * 0.9999
    step = 0
    while True:
        scale = np.sqrt(form.family.variance(point.mean[observed]))
        errors = (target - point.mean[observed]) / scale
        jacobian = point.jacobian[observed] / scale[:, None]
        check_identified(jacobian, search.identified)
        direction = np.linalg.lstsq(jacobian, errors, rcond=None)[0]
        offset = float(np.linalg.norm(jacobian @ direction) / (np.linalg.norm(errors) or 1.0))
        if offset <= search.tol or step == search.max_steps:
            break
        step += 1
        moved = _moved(form, parameters, direction, point, actions, limit)
        if moved is None:  # rounding: no shorter step lowers the deviance either
            break
        parameters, point = moved
    if offset > 1e-4:
        warn(
            f"the peer effect was not found to tolerance: relative offset {offset:.1e} > {search.tol:g} after {step} "
            "steps; it may be at the end of its range, where the game has no equilibrium",
            ConvergenceWarning,
        )
    return Solution(parameters, point, scale, jacobian, errors, offset, step)


def check_identified(jacobian: Array, least: float) -> None:
    """Refuse a fit whose derivative by φ is a combination of the other derivatives."""
    by_phi = jacobian[:, 0]
    others = jacobian[:, 1:]
    size = float(np.linalg.norm(by_phi))
    left = by_phi
    if others.shape[1]:
        scaled = others / np.maximum(np.linalg.norm(others, axis=0), np.finfo(float).tiny)
        left = by_phi - scaled @ np.linalg.lstsq(scaled, by_phi, rcond=None)[0]
    if size == 0.0 or float(np.linalg.norm(left)) <= least * size:
        raise NotIdentifiedError(
            "the peer effect is not identified: what it would change is a combination of the other terms. This is so "
            "without covariates if rows are divided by their sums, in complete groups of one size with contextual "
            "effects, and in an empty network. Add a covariate of people's own, or leave contextual effects out"
        )


def _first(form: ReducedForm, actions: Array, observed: Array, search: Search) -> Array:
    """Return the best parameters on a grid of φ, on the first draws: a start needs no more."""
    form = ReducedForm(form.networks[: search.grid_draws])
    if np.isfinite(form.bound):
        end = search.share * form.bound / form.family.feedback(actions[observed])
    else:
        end = 0.0
    best = np.zeros(1 + form.n_coefficients)
    least = np.inf
    for phi in np.linspace(-end, end, search.grid) if end else [0.0]:
        try:
            parameters, deviance = _given_phi(form, actions, observed, float(phi))
        except NoEquilibriumError:
            continue
        if deviance < least:
            best = parameters
            least = deviance
    return best


def _given_phi(form: ReducedForm, actions: Array, observed: Array, phi: float) -> tuple[Array, float]:
    """Return coefficients that fit well at a given φ, and the deviance: the least in a linear game."""
    target = actions[observed]
    if form.linear:
        columns = form.columns(phi)[observed]
        coefficients = np.linalg.lstsq(columns, target, rcond=None)[0]
        mean = columns @ coefficients
    else:
        # A start from what people would do if their neighbours were as active as observed on average.
        filled = np.where(observed, actions, np.mean(target))
        network = form.networks[0]
        levels = network.interaction.value(np.maximum(filled, 0.0))
        received = np.mean([other.weights @ levels for other in form.networks], axis=0)
        columns = np.column_stack([network.played, network.outside])[observed]
        rest = (form.family.guess(filled) - phi * received)[observed]
        coefficients = np.linalg.lstsq(columns, rest, rcond=None)[0]
        mean = form.at(phi, coefficients).mean[observed]
    return np.concatenate([[phi], coefficients]), form.family.deviance(target, mean)


def _moved(
    form: ReducedForm, parameters: Array, direction: Array, point: Point, actions: Array, limit: float
) -> tuple[Array, Point] | None:
    """Return the parameters after a step along a direction, halved until the deviance falls; None if it never does."""
    observed = np.isfinite(actions)
    target = actions[observed]
    before = form.family.deviance(target, point.mean[observed])
    share = 1.0
    while share > 1e-6:
        trial = parameters + share * direction
        share *= 0.5
        if abs(trial[0]) >= limit:
            continue
        try:
            later = form.at(trial[0], trial[1:])
        except NoEquilibriumError:
            continue
        # Near the optimum rounding hides the decrease, and a whole step is right.
        if form.family.deviance(target, later.mean[observed]) <= before * (1.0 + 1e-13):
            return trial, later
    return None


def covariance(solution: Solution, errors: str, groups: Array | None, draws: Array | None) -> tuple[Array, Array]:
    """Return the covariance of the estimates, and the part of it that comes from not knowing the network.

    ``groups`` and ``draws`` are of the people observed, ``draws`` the regression function on each draw.
    """
    jacobian = solution.jacobian
    p = jacobian.shape[1]
    bread = np.linalg.pinv(jacobian.T @ jacobian)
    between = np.zeros((p, p))
    if draws is not None:
        # How much the score moves from draw to draw: neighbours' errors share it, so residuals alone miss it.
        scores = draws / solution.scale @ jacobian
        between = (1.0 + 1.0 / len(draws)) * bread @ np.cov(scores.T).reshape(p, p) @ bread
    return bread @ meat(jacobian, solution.errors, errors, groups) @ bread + between, between


def meat(jacobian: Array, residuals: Array, errors: str, groups: Array | None) -> Array:
    """Return the covariance of the score, by the errors that are assumed."""
    n, p = jacobian.shape
    free = max(n - p, 1)
    if errors == "classical":
        return float(residuals @ residuals) / free * (jacobian.T @ jacobian)
    scores = jacobian * residuals[:, None]
    if errors == "robust":
        return n / free * (scores.T @ scores)
    assert groups is not None
    # Scores of one group are added up before they are squared: what its members share does not average out.
    codes = np.unique(groups, return_inverse=True)[1]
    sums = np.zeros((codes.max() + 1, p))
    np.add.at(sums, codes, scores)
    n_groups = len(sums)
    return n_groups / max(n_groups - 1, 1) * (n - 1) / free * (sums.T @ sums)
