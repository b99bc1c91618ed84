"""Objects chosen by name, registered once: options, help and documentation follow from here.

This module imports nothing of the library, so that the command line can list names without loading what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any, Generic, TypeVar

Thing = TypeVar("Thing")


class Settings:
    """Base of dataclasses (``repr=False``) that show in one line what differs from the defaults."""

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.init and (field.default is MISSING or repr(value) != repr(field.default)):
                shape = getattr(value, "shape", ())
                shown.append(f"{field.name}={f'<array of shape {shape}>' if shape else repr(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Registry(Mapping[str, Thing], Generic[Thing]):
    """Things of one kind by name; ``later`` ones, as "module:attribute", are imported when first asked for."""

    def __init__(self, kind: str, later: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self._things: dict[str, Any] = dict(later or {})
        self._later = set(self._things)

    def register(self, name: str) -> Callable[[Any], Any]:
        """Return a decorator that files a thing under a name; a name that is taken is refused."""
        if name in self._things:
            raise ValueError(f"the {self.kind} {name!r} is registered already: choose another name")

        def file(thing: Any) -> Any:
            self._things[name] = thing
            return thing

        return file

    def unregister(self, name: str) -> None:
        """Take a name out again."""
        del self._things[name]
        self._later.discard(name)

    def __getitem__(self, name: str) -> Thing:
        thing = self._things[name]
        if name in self._later:
            module, _, attribute = thing.partition(":")
            thing = self._things[name] = getattr(import_module(module), attribute)
            self._later.discard(name)
        found: Thing = thing
        return found

    def __contains__(self, name: object) -> bool:
        # The one of Mapping gets the thing, and so would import it.
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)
