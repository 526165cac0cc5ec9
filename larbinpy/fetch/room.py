"""How many transfers may run and how many connections may stay open: fewer without descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pycurl

if TYPE_CHECKING:
    from larbinpy.fetch.base import FetchOptions

RETRY_NS: Final = 100_000_000
"""How long a job that found no descriptor waits before the next try."""
_GROWTH: Final = 64
"""Results after which an eighth more connections are tried again."""


class Room:
    """The bounds of one fetcher; both are the options' own while descriptors suffice."""

    __slots__ = ("_growth", "_kept", "_most", "_most_kept", "limit", "retry_ns")

    def __init__(self, options: FetchOptions) -> None:
        self._most = self.limit = options.connections
        """Transfers at a time."""
        self._most_kept = self._kept = options.kept_connections
        self._growth = 0
        self.retry_ns = 0
        """When jobs that found no descriptor may be tried again."""

    def allow(self, connections: int) -> None:
        """So many transfers may run from now on."""
        self._most = self.limit = connections

    def bound(self, multi: Any) -> None:  # a pycurl.CurlMulti; pycurl has no types
        """Let libcurl keep so many connections open, idle ones included.

        M_MAXCONNECTS alone is looked at when a transfer ends; with the other limit a new connection
        closes the oldest idle ones first.
        """
        multi.setopt(pycurl.M_MAXCONNECTS, self._kept)
        is_scarce = self._kept < self._most_kept
        multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, self._kept if is_scarce else 0)

    def starved(self, running: int, now_ns: int) -> bool:
        """A job found no descriptor while so many run; true when ``bound`` is to be called."""
        self.limit = max(min(self.limit, running), 1)
        is_first = now_ns >= self.retry_ns  # of a burst
        if is_first:
            self._kept = max(min(self._kept * 7 // 8, running), 1)
        self._growth = 0
        self.retry_ns = now_ns + RETRY_NS
        return is_first

    def ended(self, results: int) -> bool:
        """So many transfers ended with a result; true when ``bound`` is to be called."""
        if self.limit >= self._most and self._kept >= self._most_kept:
            return False
        self._growth += results
        if self._growth < _GROWTH:
            return False
        self._growth = 0
        self.limit = min(self.limit * 9 // 8 + 1, self._most)
        self._kept = min(self._kept * 9 // 8 + 1, self._most_kept)
        return True
