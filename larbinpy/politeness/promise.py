"""What a crawl promises about its pace, one promise after the other; pure."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

HANDOVER_US: Final = 10_000_000
"""How long a promise still counts after the next one was made: processes that are busy hear of that
a little later, and those of a run that was killed outlive it by up to two seconds."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What is promised to each host, or to each address."""

    wait_us: int
    """Least time from the start of a request to the start of the next one."""
    at_a_time: int = 1


NOTHING: Final = Promise(0, sys.maxsize)
"""What is promised to addresses behind a proxy, which chooses them."""


@dataclass(frozen=True, slots=True)
class Promised:
    """A crawl's promises from one time on."""

    since_us: int
    """Wall clock, as in ``crawl.log``."""
    host: Promise
    ip: Promise


class Timeline:
    """What was promised when, to hosts or to addresses; the first promise holds before it, too.

    Args of ``__init__``:
        promises: since when, and what; at least one.
    """

    __slots__ = ("_promises", "_since_us")

    def __init__(self, promises: Iterable[tuple[int, Promise]]) -> None:
        ordered = sorted(promises, key=lambda one: one[0])
        self._since_us = [since_us for since_us, _ in ordered]
        self._promises = [promise for _, promise in ordered]

    def between(self, first_us: int, last_us: int) -> Promise:
        """The most lenient of the promises that counted at some moment between two times.

        The time of a host's next request is fixed at the request before it, so this is what the
        later one of two is judged by.
        """
        begin = max(bisect_left(self._since_us, first_us - HANDOVER_US) - 1, 0)
        end = max(bisect_right(self._since_us, last_us), 1)
        held = self._promises[begin:end]
        if len(held) == 1:
            return held[0]
        return Promise(min(one.wait_us for one in held), max(one.at_a_time for one in held))
