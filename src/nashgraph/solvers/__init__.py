"""Solvers of the GLGP problem: a Problem and a lambda in, a Result out; they know nothing of estimators or files."""

from .descent import BestResponse
from .paths import multistart, solve_gradually, solve_path, starting_points
from .problem import Problem, Result, SolverOptions
from .strength import COST, PATIENCE, Budget, lam_for_cost, lam_range, path_range, solve_at_cost, typical_share
from .two_timescale import TTGD, StepSizes, gradient_mapping, theory_steps

__all__ = [
    "COST",
    "PATIENCE",
    "TTGD",
    "BestResponse",
    "Budget",
    "Problem",
    "Result",
    "SolverOptions",
    "StepSizes",
    "gradient_mapping",
    "lam_for_cost",
    "lam_range",
    "multistart",
    "path_range",
    "solve_at_cost",
    "solve_gradually",
    "solve_path",
    "starting_points",
    "theory_steps",
    "typical_share",
]
