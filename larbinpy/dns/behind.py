"""The resolver of a crawl behind a proxy: it asks nobody, since the proxy looks names up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.dns import names
from larbinpy.dns.base import Answer
from larbinpy.dns.cache import MAX_TTL_S, SECOND_NS

if TYPE_CHECKING:
    from larbinpy.clock import Clock


class ProxiedResolver:
    """Answers at once, what is known without a lookup or else a stand-in; see ``Resolver``.

    Args of ``__init__``:
        clock: for expiries.
        hosts: names that are answered without a lookup (``names.parse_hosts``).
    """

    __slots__ = ("_answers", "_clock", "_hosts")

    def __init__(self, clock: Clock, *, hosts: dict[bytes, tuple[bytes, ...]]) -> None:
        self._clock = clock
        self._hosts = hosts
        self._answers: list[Answer] = []

    def submit(self, host: bytes) -> None:
        """See ``Resolver``."""
        name = host.rstrip(b".")
        known = names.known(name, self._hosts)
        ips = (names.stand_in(name),) if known is None else known
        expires_ns = self._clock.now_ns() + MAX_TTL_S * SECOND_NS
        error = "" if ips else "no address in the hosts file"
        self._answers.append(Answer(host, ips, expires_ns, error))

    submit_further = submit

    def answers(self) -> list[Answer]:
        """See ``Resolver``."""
        found, self._answers = self._answers, []
        return found

    def wait_s(self) -> float:
        """See ``Resolver``."""
        return 0.0 if self._answers else -1.0

    def close(self) -> None:
        """See ``Resolver``."""
        self._answers.clear()
