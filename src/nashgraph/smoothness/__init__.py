"""The smoothness term J on the admissible graphs S, how graphs on it are stored, and the degree that sets beta."""

import lazy_loader

# Names stand in __init__.pyi and are imported when first used, so that the command line can list what is registered.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
