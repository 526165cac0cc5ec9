"""Servers that close the connections they let us keep, and swallow the next request with them."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from larbinpy.records import FetchJob

MAX_KNOWN: Final = 10_000


class Closers:
    """The latest servers known to do so: their connections are not kept any more.

    Memory: some 200 bytes a server.
    """

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: OrderedDict[tuple[bytes, int], None] = OrderedDict()

    def note(self, job: FetchJob) -> None:
        """The server of this request did so."""
        self.known[job.host, job.port] = None
        if len(self.known) > MAX_KNOWN:
            self.known.popitem(last=False)

    def has(self, job: FetchJob) -> bool:
        """Whether the server of this request is known to do so."""
        return bool(self.known) and (job.host, job.port) in self.known
