"""The paper's tables and figures, run again and compared with its own numbers; each is registered here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

from nashgraph.registry import Registry

if TYPE_CHECKING:
    from .reproduction import reproduce as reproduce
    from .study import Check as Check
    from .study import Comparison as Comparison
    from .study import Experiment as Experiment
    from .study import Study as Study

_WHERE = ("table1:TABLE1", "fig1:FIG1", "fig2:FIG2", "villages:TABLE2", "villages:TABLE3", "theorem1:THEOREM1")
EXPERIMENTS: Registry[Experiment] = Registry(
    "experiment", later={place.partition(":")[2].lower(): f"{__name__}.{place}" for place in _WHERE}
)
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"reproduction": ["reproduce"], "study": ["Check", "Comparison", "Experiment", "Study"]}
)
__all__ += ["EXPERIMENTS"]
