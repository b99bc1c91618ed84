"""The methods that the paper compares, as its experiments on drawn networks and on villages both run them."""

from __future__ import annotations

from typing import Any

from ..estimators import GLGP, GraphEstimator, QuadGameGL, SpecTemp

GLGP_NAMES = {"linear": "GLGP f(x)=x", "log1p": "GLGP f(x)=log(1+x)"}
LINEAR, SMOOTH, SPECTEMP = "Linear approximation", "SmoothGL", "SpecTemp"
CONSENSUS = "ConsensusGL, not the paper's"
QUAD, QUAD_HOMOPHILOUS = "QuadGameGL", "QuadGameGL, homophilous"


def published(iterations: int, **parameters: Any) -> GLGP:
    """Return GLGP by TTGD with the paper's steps for as many iterations as the paper runs, wherever that leads."""
    steps = {"alpha": 0.5, "gamma": 0.003, "check_every": iterations}
    return GLGP(**parameters, solver="ttgd", tol=0.0, max_iter=iterations, solver_params=steps)


def baselines() -> dict[str, GraphEstimator]:
    """Return the methods of others; the paper names neither variant nor parameters, so these are the defaults."""
    return {
        QUAD: QuadGameGL(tol=1e-5),
        QUAD_HOMOPHILOUS: QuadGameGL(benefits="homophilous", tol=1e-5),
        SPECTEMP: SpecTemp(),
    }
