"""The consensus of member networks: members, their mean, replicates, stability, known ties, checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from .stability import Selection as Selection
    from .stacking import fit_known_weights as fit_known_weights

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"stability": ["Selection"], "stacking": ["fit_known_weights"]}
)
