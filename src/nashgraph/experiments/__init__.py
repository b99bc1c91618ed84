"""The paper's tables and figures, run again and compared with its own numbers; each is registered here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

from ..registry import Registry

if TYPE_CHECKING:
    from .reproduction import reproduce as reproduce
    from .study import Check as Check
    from .study import Comparison as Comparison
    from .study import Experiment as Experiment
    from .study import Study as Study

# The experiment ``fig1`` is FIG1 of the module ``fig1``.
_NAMES = ("table1", "fig1", "fig2", "table2", "table3", "theorem1", "beyond", "diffusion", "conjecture")
EXPERIMENTS: Registry[Experiment] = Registry(
    "experiment", later={name: f"{__name__}.{name}:{name.upper()}" for name in _NAMES}
)
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"reproduction": ["reproduce"], "study": ["Check", "Comparison", "Experiment", "Study"]}
)
__all__ += ["EXPERIMENTS"]
