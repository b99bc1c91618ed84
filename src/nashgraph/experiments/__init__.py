"""The paper's tables and figures, run anew and set beside its own numbers."""

from .reproduction import EXPERIMENTS, reproduce
from .study import Check, Comparison, Study

__all__ = ["EXPERIMENTS", "Check", "Comparison", "Study", "reproduce"]
