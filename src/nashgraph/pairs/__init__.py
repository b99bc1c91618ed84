"""Which pairs score highest: costs, candidate sets and engines; the only package that costs O(N²)."""

import lazy_loader

# Names stand in __init__.pyi and are imported when first used, so that the command line can list what is registered.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
