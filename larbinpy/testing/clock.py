"""A clock that stands until it is moved."""

from __future__ import annotations

from typing import Final

SECOND_NS: Final = 10**9


class FakeClock:
    """A ``Clock`` for tests: both of its times move together, and only by ``pass_s``."""

    __slots__ = ("_now_ns", "_wall_us")

    def __init__(self, *, now_ns: int = SECOND_NS, wall_us: int = 0) -> None:
        self._now_ns = now_ns
        self._wall_us = wall_us

    def now_ns(self) -> int:
        """See ``Clock``."""
        return self._now_ns

    def wall_us(self) -> int:
        """See ``Clock``."""
        return self._wall_us

    def pass_s(self, seconds: float) -> None:
        """Let time pass."""
        self._now_ns += round(seconds * 1e9)
        self._wall_us += round(seconds * 1e6)
