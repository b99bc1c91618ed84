"""Data as JSON has it, and JSON as a page can hold it."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
import pandas as pd

ROWS = 1_000
NAME_LENGTHS = (200, 100, 50, 25, 12)
NAME_BYTES = 1_000_000


def packed_json(values: Any) -> str:
    """Write JSON, compressed by zlib, in base 64: a third as long, and nothing in it can be taken for markup.

    Examples
    --------
    >>> zlib.decompress(base64.b64decode(packed_json(["</script>", "a & b"])))
    b'["</script>","a & b"]'
    """
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def plain(values: Any, figures: int = 6) -> Any:
    """Return a number or a column as JSON has it: numbers rounded to some figures, None where not finite, else text.

    Examples
    --------
    >>> plain(np.array([1 / 3, np.inf])), plain(np.array([2, 3])), plain(float("nan")), plain(["north", None])
    ([0.333333, None], [2, 3], None, ['north', None])
    """
    column = np.asarray(values)
    if column.ndim == 0:
        return plain(column[None], figures)[0]
    if column.dtype.kind in "iub":
        return column.tolist()
    if column.dtype.kind == "f":
        return [float(f"{value:.{figures}g}") if np.isfinite(value) else None for value in column.tolist()]
    words = shortened([text(value) for value in column.tolist()])
    return [None if gap else word for gap, word in zip(pd.Series(column, dtype=object).isna(), words, strict=True)]


def table(frame: pd.DataFrame) -> dict[str, Any]:
    """Return a table as lists by column; of a long one about a thousand rows, the last among them.

    Examples
    --------
    >>> table(pd.DataFrame({"step": range(5000)}))["step"][-2:]
    [4994, 4999]
    """
    every = -(-len(frame) // ROWS)
    kept = frame.iloc[(len(frame) - 1) % every :: every] if every > 1 else frame
    return columns(kept)


def columns(named: Any, figures: int = 6) -> dict[str, Any]:
    """Return the columns of a table, or of a dict of arrays, as lists by name."""
    return {text(name): plain(np.asarray(values), figures) for name, values in named.items()}


def text(value: object) -> str:
    """Return text that can be written as UTF-8: half characters (lone surrogates) become question marks.

    Examples
    --------
    >>> text("a" + chr(0xD800)), text(3)
    ('a?', '3')
    """
    return str(value).encode("utf-8", "replace").decode("utf-8")


def shortened(names: list[str]) -> list[str]:
    """Cut long names, the shorter the more there are, so that all of them together stay small.

    Examples
    --------
    >>> [len(name) for name in shortened(["a" * 5000, "b"])]
    [200, 1]
    """
    for length in NAME_LENGTHS:
        cut = [name if len(name) <= length else name[: length - 1] + "…" for name in names]
        if sum(len(name.encode()) for name in cut) <= NAME_BYTES:
            break
    return cut
