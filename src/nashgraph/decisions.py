"""Decisions, errors and warnings of the library as data: each interface makes its own sentence from the fields."""

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

    def __str__(self) -> str:
        return f"{self.parameter}={self.value!r}"


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


class _Advice(Exception):  # noqa: N818 (errors and warnings derive from it)
    """A problem with fields from which every interface makes its own sentence."""

    def __init__(
        self, message: str, *, parameter: str | None = None, value: object = None, remedy: Remedy | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.parameter = parameter
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        """Return the sentence for Python: the message, and the remedy as a keyword argument."""
        if self.remedy is None:
            return self.message
        return f"{self.message}; try {self.remedy}"


class InputError(_Advice, ValueError):
    """Invalid input; the message says what to do. Any other error is a bug of the library.

    Interfaces phrase the error from its fields and never take the message apart: ``message`` is the sentence without
    the remedy, ``parameter`` the argument at fault as Python writes it (``"degree"``), ``value`` what it was, and
    ``remedy`` the setting that would help.
    """


class InputTypeError(InputError, TypeError):
    """Input of the wrong type."""


class DataWarning(_Advice, UserWarning):
    """The input is usable, but something about it is probably not what the user meant.

    It has the fields of :class:`InputError`.
    """
