"""Was anybody asked faster than was promised?  Pure: from the lines of ``crawl.log`` to breaches.

A host, and an address, is asked no sooner than its wait after the start of the request before, and
by no more requests at a time than agreed.  What is proved is what the log tells: a request that was
under way when the crawl was killed has no line.
"""

from __future__ import annotations

import heapq
import json
import sys
from array import array
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.politeness.promise import Timeline

TOLERANCE_US: Final = 2_000
"""Durations are logged in milliseconds, and the wall clock is slewed."""
NEVER_ASKED: Final = frozenset(
    {
        "noDNS", "forbiddenRobots", "fastRobots", "fastNoConn", "fastNoDns", "forbiddenAddress",
        "outSite", "poison",
    }
)  # fmt: skip
"""Outcomes of URLs that were ended without a request, as far as they have no status."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, from a line of the log."""

    start_us: int
    duration_us: int
    host: str
    ip: str
    """Empty where only a proxy knows it."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A request that came too soon."""

    who: str
    """The host or address that was asked."""
    start_us: int
    before_us: int
    """Start of the request before it."""
    missing_us: int
    """How much later it should have come."""
    is_overlap: bool
    """Whether it came while earlier requests were under way, rather than before the wait was
    over."""


def request_of(line: bytes) -> Request | None:
    """The request that a line tells of; None when nothing was asked.

    Raises:
        ValueError: the line is not one of a ``crawl.log``.
    """
    try:
        fields: dict[str, Any] = json.loads(line)
        if not _is_asked(fields):
            return None
        host = fields["url"].split("/", 3)[2]
        host = host[: host.index("]") + 1] if host.startswith("[") else host.partition(":")[0]
        duration_us = int(fields["duration_ms"]) * 1000
        return Request(_micros(fields["ts"]), duration_us, host, fields["ip"] or "")
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"not a line of crawl.log: {error!r}") from error


def _is_asked(fields: dict[str, Any]) -> bool:
    """Whether a line tells of a request; behind a proxy, which hides addresses, by its time."""
    if fields["status"]:
        return True
    return fields["outcome"] not in NEVER_ASKED and bool(fields["ip"] or fields["duration_ms"])


def _micros(text: str) -> int:
    """Microseconds since 1970 of a time stamp; most share their second with the one before."""
    second, _, rest = text.partition(".")
    return _second(second) * 1_000_000 + int(rest[:6])


@lru_cache(maxsize=16)
def _second(text: str) -> int:
    return int(datetime.fromisoformat(text + "+00:00").timestamp())


class Audit:
    """All requests of a crawl, by host and by address.

    Memory: 32 bytes a request, and their names.
    """

    __slots__ = ("_hosts", "_ips", "first_us", "requests")

    def __init__(self) -> None:
        self._hosts: dict[str, array[int]] = {}
        self._ips: dict[str, array[int]] = {}
        self.requests = 0
        self.first_us = sys.maxsize
        """Start of the earliest one."""

    @property
    def hosts(self) -> int:
        """Hosts that were asked."""
        return len(self._hosts)

    @property
    def ips(self) -> int:
        """Addresses that were asked."""
        return len(self._ips)

    def add(self, request: Request) -> None:
        """Take a request, in any order."""
        self.requests += 1
        self.first_us = min(self.first_us, request.start_us)
        for group, who in ((self._hosts, request.host), (self._ips, request.ip)):
            if not who:
                continue
            times = group.get(who)
            if times is None:
                times = group[who] = array("q")
            times.append(request.start_us)
            times.append(request.duration_us)

    def breaches(self, host: Timeline, ip: Timeline) -> Iterator[Breach]:
        """Every request that came too soon for its host, then for its address."""
        for group, promises in ((self._hosts, host), (self._ips, ip)):
            for who, times in group.items():
                pairs = sorted(set(zip(times[::2], times[1::2], strict=True)))
                yield from _breaches(who, pairs, promises)


def _breaches(who: str, pairs: list[tuple[int, int]], promises: Timeline) -> Iterator[Breach]:
    """Go through the requests to one host or address in the order of their starts.

    Lines of one request that was parsed twice are one pair.
    """
    ends: list[int] = []
    before_us: int | None = None
    for start_us, duration_us in pairs:
        while ends and ends[0] <= start_us + TOLERANCE_US:
            heapq.heappop(ends)
        if before_us is not None:
            promise = promises.between(before_us, start_us)
            overlap_us = ends[0] - start_us if len(ends) >= promise.at_a_time else 0
            early_us = before_us + promise.wait_us - start_us
            if max(overlap_us, early_us) > TOLERANCE_US:
                is_overlap = overlap_us > early_us
                missing_us = max(overlap_us, early_us)
                yield Breach(who, start_us, before_us, missing_us, is_overlap)
        heapq.heappush(ends, start_us + duration_us)
        before_us = start_us
