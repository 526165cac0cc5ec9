"""A resolver for tests, and addresses that it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from larbinpy.dns.addresses import Addresses
from larbinpy.dns.named import NamedHosts
from larbinpy.dns.rights import Rights

if TYPE_CHECKING:
    from larbinpy._native.hosts import HostTable
    from larbinpy.dns.base import Answer, Resolver
    from larbinpy.politeness.outage import Line

NOWHERE: Final = Path("/nonexistent/named")
"""A file of named hosts that is not there."""


class ToldResolver:
    """Answers what it is told; see ``Resolver``."""

    def __init__(self, *, wait_s: float = -1.0) -> None:
        self.asked: list[bytes] = []
        self.further: list[bytes] = []
        self.found: list[Answer] = []
        self._wait_s = wait_s

    def submit(self, host: bytes) -> None:
        """See ``Resolver``."""
        self.asked.append(host)

    def submit_further(self, host: bytes) -> None:
        """See ``Resolver``."""
        self.further.append(host)

    def answers(self) -> list[Answer]:
        """See ``Resolver``."""
        found, self.found = self.found, []
        return found

    def wait_s(self) -> float:
        """See ``Resolver``."""
        return self._wait_s

    def close(self) -> None:
        """See ``Resolver``."""


def addresses_of_all(table: HostTable, resolver: Resolver, line: Line) -> Addresses:
    """Every address may be asked."""
    return Addresses(
        table,
        resolver,
        Rights(is_askable=lambda _: True, is_allowed=lambda _: True, named=NamedHosts(NOWHERE)),
        line=line,
    )
