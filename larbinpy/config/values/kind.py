"""What every kind of value can do."""

from __future__ import annotations

from typing import Protocol, TypeVar

T = TypeVar("T")


class Kind(Protocol[T]):
    """How one value is read and written."""

    @property
    def form(self) -> str:
        """What a value looks like, for the user, with its range."""

    def read(self, text: str, /) -> T:
        """Return the value; a ``ValueError`` says what is wrong with the text."""

    def write(self, value: T, /) -> str:
        """Return the text that reads as this value."""
