"""Files in and out: a user's table becomes signals, and a learned graph becomes files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
