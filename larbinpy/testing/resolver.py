"""A name system that is a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.dns.base import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY_NS: Final = 24 * 3600 * 10**9


class TableResolver:
    """A ``Resolver`` for tests: what is not in the table has no address.

    ``table`` may be changed at any time; ``asked`` are the hosts in the order of the questions.
    While ``is_silent``, questions wait.
    """

    __slots__ = ("_expires_ns", "_waiting", "asked", "is_silent", "table")

    def __init__(
        self, table: Mapping[bytes, tuple[bytes, ...]], *, expires_ns: int = DAY_NS
    ) -> None:
        self.table = dict(table)
        self.asked: list[bytes] = []
        self.is_silent = False
        self._expires_ns = expires_ns
        self._waiting: list[bytes] = []

    def submit(self, host: bytes) -> None:
        """See ``Resolver``."""
        self.asked.append(host)
        self._waiting.append(host)

    def submit_further(self, host: bytes) -> None:
        """See ``Resolver``."""
        self.submit(host)

    def answers(self) -> list[Answer]:
        """See ``Resolver``."""
        if self.is_silent:
            return []
        hosts, self._waiting = self._waiting, []
        return [self._answer(host) for host in hosts]

    def wait_s(self) -> float:
        """See ``Resolver``."""
        return 0.0 if self._waiting and not self.is_silent else -1.0

    def close(self) -> None:
        """See ``Resolver``."""
        self._waiting.clear()

    def _answer(self, host: bytes) -> Answer:
        ips = self.table.get(host, ())
        return Answer(host, ips, self._expires_ns, "" if ips else "not in the table")
