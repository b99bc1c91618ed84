r"""How actions are distributed around the reduced form: normal errors, answers yes or no, counts.

.. math:: E[y] = \varphi(z), \qquad z = Z b + \phi W E[y]

People react to what they expect of their neighbours (Lee, Li and Lin 2014). For the logit
:math:`\varphi(z) = 1 / (1 + e^{-z})` has slopes of at most 1/4, so the expectations are unique for
:math:`|\phi| \rho(W) < 4`; for counts :math:`\varphi(z) = e^z`, whose slope is the count itself.

A fit minimises the deviance, which is twice the distance of the log-likelihood from its largest value: the sum of
squares for normal errors, that of Bernoulli for yes and no, that of Poisson for counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, gammaln, xlog1py, xlogy

from ..games.interactions import Response
from ..priors.game import Clipped
from ..validation import Array, InputError


@dataclass(frozen=True)
class Normal:
    """Errors of one variance, which is estimated."""

    def deviance(self, y: Array, mean: Array) -> float:
        """Return the sum of squares."""
        return float(np.sum((y - mean) ** 2))

    def variance(self, mean: Array) -> Array:
        """Return the variance of actions, except for a factor."""
        return np.ones(len(mean))

    def log_likelihood(self, y: Array, mean: Array) -> float:
        """Return the log-likelihood at the variance that maximises it."""
        return float(-0.5 * len(y) * (np.log(2.0 * np.pi * np.mean((y - mean) ** 2)) + 1.0))

    def guess(self, y: Array) -> Array:
        """Return about the z of an action."""
        return y

    def feedback(self, y: Array) -> float:
        """Return the slope of the response, by which |φ| is bounded."""
        return 1.0


@dataclass(frozen=True)
class Logit:
    """φ(z) = 1 / (1 + exp(-z)): the probability of yes."""

    range = (0.0, 1.0)

    def value(self, z: Array) -> Array:
        """Return φ(z)."""
        return np.asarray(expit(z))

    def slope(self, z: Array) -> Array:
        """Return φ'(z)."""
        return self.variance(expit(z))

    def guess(self, y: Array) -> Array:
        """Return about the z of an answer, from the tangent at one half."""
        return 4.0 * (y - 0.5)

    def feedback(self, y: Array) -> float:
        """Return the largest slope."""
        return 0.25

    def variance(self, mean: Array) -> Array:
        """Return the variance of answers."""
        return np.asarray(mean * (1.0 - mean))

    def log_likelihood(self, y: Array, mean: Array) -> float:
        """Return that of Bernoulli."""
        return float(np.sum(xlogy(y, mean) + xlog1py(1.0 - y, -mean)))

    def deviance(self, y: Array, mean: Array) -> float:
        """Return twice the distance from a perfect prediction."""
        return -2.0 * self.log_likelihood(y, mean)

    def drawn(self, mean: Array, random: np.random.Generator) -> Array:
        """Return answers with these probabilities of yes."""
        return (random.random(len(mean)) < mean).astype(float)


@dataclass(frozen=True)
class Log:
    """φ(z) = exp(z): the expected count."""

    range = (0.0, np.inf)

    def value(self, z: Array) -> Array:
        """Return φ(z); far above any count it is cut, so that a trial step stays finite."""
        return np.asarray(np.exp(np.minimum(z, 50.0)))

    def slope(self, z: Array) -> Array:
        """Return φ'(z)."""
        return self.value(z)

    def guess(self, y: Array) -> Array:
        """Return about the z of a count; half the mean is added, because counts may be 0."""
        return np.log(y + 0.5 * float(np.mean(y)))

    def feedback(self, y: Array) -> float:
        """Return the slope at a usual count."""
        return float(np.mean(y))

    def variance(self, mean: Array) -> Array:
        """Return the variance of counts."""
        return mean

    def log_likelihood(self, y: Array, mean: Array) -> float:
        """Return that of Poisson."""
        return float(np.sum(xlogy(y, mean) - mean - gammaln(y + 1.0)))

    def deviance(self, y: Array, mean: Array) -> float:
        """Return twice the distance from a perfect prediction."""
        return 2.0 * float(np.sum(xlogy(y, y / mean) - y + mean))

    def drawn(self, mean: Array, random: np.random.Generator) -> Array:
        """Return counts with these means."""
        return random.poisson(mean).astype(float)


LINKS: dict[str, type[Any]] = {"logit": Logit, "log": Log}


def response_of(link: str, linear: bool, actions: Array) -> Response | None:
    """Return the response of a link, checked against the actions; None for the linear game without a link."""
    if link == "identity":
        return None if linear else Clipped()
    if not linear:
        raise InputError(f"link={link!r} is for interaction='linear'", parameter="link", value=link)
    seen = actions[np.isfinite(actions)]
    if link == "logit" and not np.isin(seen, (0.0, 1.0)).all():
        raise InputError("link='logit' is for actions that are 0 or 1", parameter="link", value=link)
    if link == "log" and (seen < 0).any():
        raise InputError("link='log' is for counts, which are not negative", parameter="link", value=link)
    response: Response = LINKS[link]()
    return response
