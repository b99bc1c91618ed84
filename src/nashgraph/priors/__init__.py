"""Functional priors: what a network is good for, as a value and a low-rank gradient (fact 9 of docs/mathematics.md)."""

import lazy_loader

# Names stand in __init__.pyi and are imported when first used, so that the command line can list what is registered.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
