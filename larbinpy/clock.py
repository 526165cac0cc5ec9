"""Time, as an edge that tests replace."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two clocks: one for schedules, one for records."""

    def now_ns(self) -> int:
        """Monotonic nanoseconds; never jumps, means nothing after a restart of the machine."""
        ...

    def wall_us(self) -> int:
        """Microseconds since 1970 (UTC); may jump, so nothing is scheduled by it."""
        ...


class SystemClock:
    """The machine's clocks."""

    __slots__ = ()

    def now_ns(self) -> int:
        """See ``Clock``."""
        return time.monotonic_ns()

    def wall_us(self) -> int:
        """See ``Clock``."""
        return time.time_ns() // 1000
