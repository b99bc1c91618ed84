"""The one error of this package: a user's file or its contents cannot be used, and the message says why."""

from __future__ import annotations

from ..validation import InputError


class TableError(InputError):
    """A file that cannot be used as it is; the message names the place and the remedy."""
