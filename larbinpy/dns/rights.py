"""Which addresses a host may have, and which of its URLs may use them.

An address is judged when it is an answer (``usable``) and for each URL (``permits``): a host that
has private addresses alone gets its address like any other, but only URLs that the operator gave,
and then all URLs of that host, may use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.dns.base import Answer
    from larbinpy.dns.named import NamedHosts


class Rights:
    """The rights of a shard's hosts.

    Args of ``__init__``:
        is_askable: whether an address may be asked at all.
        is_allowed: whether an address may be asked for everybody's links.
        named: the hosts that may have any address that may be asked at all.
    """

    __slots__ = ("_is_allowed", "_is_askable", "_named", "private")

    def __init__(
        self, *, is_askable: Callable[[bytes], bool], is_allowed: Callable[[bytes], bool],
        named: NamedHosts,
    ) -> None:  # fmt: skip
        self._is_askable = is_askable
        self._is_allowed = is_allowed
        self._named = named
        self.private: set[int] = set()
        """Hosts that only some URLs may use."""

    def usable(self, host_id: int, answer: Answer) -> tuple[bytes, ...]:
        """The addresses that may be asked; all of them, and a note, when none is for everybody."""
        ips = tuple(ip for ip in answer.ips if self._is_askable(ip))
        public = tuple(ip for ip in ips if self._is_allowed(ip))
        if answer.ips:
            self.private.discard(host_id)
        if len(public) == len(ips):
            return public
        if self._named.has(host_id, answer.host):
            self._named.remember(answer.host)
            return ips
        if not public:
            self.private.add(host_id)
        return public or ips

    def permits(self, host_id: int, host: bytes, *, is_seed: bool) -> bool:
        """Whether a URL may use the address of its host.

        Args:
            is_seed: the operator gave this URL, and so names its host.
        """
        if host_id not in self.private:
            return True
        if not is_seed:
            return False
        self.private.discard(host_id)
        self._named.add(host_id)
        self._named.remember(host)
        return True

    def name(self, host_id: int, host: bytes) -> None:
        """The operator has named a host."""
        self._named.add(host_id)
        self.permits(host_id, host, is_seed=True)

    def is_named(self, host_id: int, host: bytes) -> bool:
        """Whether the operator named a host."""
        return self._named.has(host_id, host)

    def commit(self) -> None:
        """Keep which hosts the operator named.

        Raises:
            StorageError: the disk refused; a later call does it.
        """
        self._named.commit()
