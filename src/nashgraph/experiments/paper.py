"""The paper's own numbers, read from ``paper.toml``: the one place they are written."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def paper_numbers() -> dict[str, Any]:
    """Return all of the paper's numbers, by table or figure."""
    return tomllib.loads(files(__package__).joinpath("paper.toml").read_text(encoding="utf-8"))
