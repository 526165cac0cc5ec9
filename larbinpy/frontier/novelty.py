"""Which hosts say something new, and which are left because they do not.

A host that says nothing new, page after page, is left, and so are the new hosts of a registered
domain whose hosts begin with nothing new, one after the other (``crowds.py``).  Nothing of it
survives a restart: a trap is then tried once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy._native.contents import Contents, HostContents
from larbinpy.frontier.crowds import Crowds

if TYPE_CHECKING:
    from collections.abc import Callable

SAME_CONTENT: Final = "sameContent"
SAME_HOSTS: Final = "sameHosts"


class Novelty:
    """What the hosts of one shard have shown last.

    Args of ``__init__``:
        most_same: pages in a row that say nothing new, after which a host is left; 0 = no limit.
        watch_after: pages of a host after which some are compared; 0 = every page is judged.
        domain_of: the registered domain of a host.

    Memory: 16 bytes a host.
    """

    __slots__ = ("_crowds", "_domain_of", "_firsts", "hosts", "left", "most_same", "watch_after")

    def __init__(
        self, most_same: int, watch_after: int, domain_of: Callable[[bytes], bytes]
    ) -> None:
        self.most_same = most_same
        self.watch_after = watch_after
        self.hosts = HostContents()
        """By number; only those that were asked are met."""
        self.left: list[str] = []
        """What was left, and why, since somebody has taken it."""
        self._domain_of = domain_of
        self._crowds = Crowds(domain_of)
        self._firsts: dict[bytes, Contents] = {}
        """What the hosts of a crowded domain have shown first."""

    def refusal(self, host_id: int, host: bytes) -> str:
        """Why a host is left, or nothing; one that was never asked is from now on."""
        if not self.most_same:
            return ""
        is_met = self.hosts.is_met(host_id)
        crowd = self.hosts.crowd(host_id) if is_met else self._met(host_id, host)
        if crowd is not None:
            return self._leave_crowd(crowd, host)
        in_a_row = self.hosts.in_a_row(host_id)
        if in_a_row < self.most_same:
            return ""
        if self.hosts.leave(host_id):
            self._say_left(in_a_row, self.hosts.shown(host_id), SAME_CONTENT, host)
        return SAME_CONTENT

    def _met(self, host_id: int, host: bytes) -> Contents | None:
        """A host is asked for the first time; while its domain is left, none is remembered."""
        domain = self._crowds.joined(host)
        crowd = self._firsts.setdefault(domain, Contents()) if domain else None
        if crowd is None or crowd.in_a_row < self.most_same:
            self.hosts.meet(host_id, crowd)
        return crowd

    def _leave_crowd(self, crowd: Contents, host: bytes) -> str:
        """Why no more hosts of a domain are asked, or nothing."""
        if crowd.in_a_row < self.most_same:
            return ""
        if not crowd.is_left:
            crowd.is_left = True
            self._say_left(crowd.in_a_row, crowd.shown, SAME_HOSTS, self._domain_of(host))
        return SAME_HOSTS

    def _say_left(self, in_a_row: int, shown: int, name: str, whose: bytes) -> None:
        what = "new hosts" if name == SAME_HOSTS else "pages"
        self.left.append(
            f"no more {what} of {whose.decode('ascii', 'backslashreplace')} are asked for:"
            f" the last {in_a_row:,} of {shown:,} said nothing new ({name})"
        )

    def watch(self, host_id: int) -> int:
        """What the next page of a host is to be compared with; see ``HostContents.watch``."""
        return self.hosts.watch(host_id, self.watch_after, self.most_same)

    def add(
        self, host_id: int, digest: bytes, *, is_near: bool, leads_on: bool, watched: int
    ) -> None:
        """A host has shown a good page; see ``HostContents.add``."""
        if self.most_same:
            self.hosts.add(host_id, digest, is_near=is_near, leads_on=leads_on, watched=watched)
