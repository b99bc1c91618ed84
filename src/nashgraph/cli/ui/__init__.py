"""``nashgraph ui``: the command line as a page in the browser, on this machine alone."""

from __future__ import annotations

from ..options import ServerArguments


def run_ui(asked: ServerArguments) -> int:
    """Start the app, if what it needs is installed."""
    try:
        from .server import serve  # noqa: PLC0415 (an extra: imported when used)
    except ImportError as error:
        raise ImportError(f"the app in the browser needs {error.name}: pip install 'nashgraph[ui]'") from error
    return serve(asked.port, asked.browser)
