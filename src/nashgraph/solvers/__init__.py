"""Solvers: they iterate on a Problem and return a Result; they know nothing of files, estimators or plots."""

from .problem import Play, Problem
from .result import Record, Result, Status
from .ttgd import StepSizes, gradient_mapping, theory_steps, ttgd

__all__ = ["Play", "Problem", "Record", "Result", "Status", "StepSizes", "gradient_mapping", "theory_steps", "ttgd"]
