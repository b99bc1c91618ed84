"""Interventions on a network: key players, support, ties, changes, seeds and positions."""

import lazy_loader

# Names stand in __init__.pyi and are imported when first used, so that the command line starts at once.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
