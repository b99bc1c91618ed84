"""A fitted result as summary data, as plots, and as one self-contained page."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
