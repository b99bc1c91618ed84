"""Solvers: they iterate on a Problem and return a Result; they know nothing of files, estimators or plots."""

from .best_response import best_response
from .path import Path, continuation, solve_path
from .problem import Play, Problem
from .result import Callback, Record, Result, Status
from .starts import multistart, starting_points
from .strength import COST, lam_for_cost, lam_range, solve_at_cost
from .ttgd import StepSizes, gradient_mapping, theory_steps, ttgd

__all__ = [
    "COST",
    "Callback",
    "Path",
    "Play",
    "Problem",
    "Record",
    "Result",
    "Status",
    "StepSizes",
    "best_response",
    "continuation",
    "gradient_mapping",
    "lam_for_cost",
    "lam_range",
    "multistart",
    "solve_at_cost",
    "solve_path",
    "starting_points",
    "theory_steps",
    "ttgd",
]
