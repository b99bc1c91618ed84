"""Priors by name, made from benefits that sum to 1: what ``GLGP(prior="spread")`` and ``--set prior`` mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import priors  # its classes are imported when a prior is made, so that help can list the names at once
from ..registry import Registry

PRIORS: Registry[Callable[[Any], Any]] = Registry("prior")
PRIORS.register("game")(lambda b: priors.GamePrior(benefit=b))
PRIORS.register("substitutes")(lambda b: priors.GamePrior(b, "linear", share=-0.9))
PRIORS.register("spread")(lambda b: priors.Epidemic(0.01 + 0.1 * b / b.max(), 1.5))
PRIORS.register("containment")(lambda b: -priors.Epidemic(0.01 + 0.1 * b / b.max(), 1.5))
PRIORS.register("resilience")(
    lambda b: priors.Resilience(priors.GamePrior(b), [b.argsort()[nodes] for nodes in priors.random_deletions(len(b))])
)  # nodes are drawn by the rank of their benefit, so the scenarios do not depend on the order of nodes
PRIORS.register("agreement")(lambda b: -priors.Opinions(b / b.max(), "polarisation"))
PRIORS.register("diffusion")(lambda b: priors.GraphFilter([0.0, 1.0, 1.0, 1.0], b))
