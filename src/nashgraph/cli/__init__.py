"""The ``nashgraph`` command."""

from .app import main

__all__ = ["main"]
