"""The game fitted to observed actions: peer effects with their uncertainty, and the fitted game for interventions."""

import lazy_loader

# Names stand in __init__.pyi and are imported when first used: formulas and statistics are not needed to learn a graph.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
