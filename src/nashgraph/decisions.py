"""What the library decided on the way, as data: each interface makes its own sentence from the fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Remedy:
    """A setting that would change a decision or prevent an error.

    ``parameter`` is the name that Python, the plan and the command line share (``"drop"``), and ``value`` what to set
    it to. Python writes ``drop=['age']``, the command line ``--drop age``, the plan a line, and the app offers a menu.
    """

    parameter: str
    value: Any = None


@dataclass(frozen=True)
class Decision:
    """Something that was read, matched, filled, left out or assumed.

    ``kind`` is one short code for each sort of decision (``"constant"``, ``"recoded"``), by which interfaces group and
    translate. ``columns`` are the columns or nodes concerned, ``reason`` says why in one plain clause that names no
    interface, ``remedy`` is the setting that would change it, and ``unsure`` marks a guess that users should see first.

    Examples
    --------
    >>> decision = Decision("constant", ("village",), "the same for everybody", Remedy("drop", ("village",)))
    >>> decision.columns, decision.remedy.parameter
    (('village',), 'drop')
    """

    kind: str
    columns: tuple[str, ...] = ()
    reason: str = ""
    remedy: Remedy | None = None
    unsure: bool = False
