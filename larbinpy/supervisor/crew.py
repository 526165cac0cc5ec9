"""The children of a crawl: which there are, how they are joined, how one is replaced.

Every shard is joined to every parser and to the seeder by a socket pair of its own.  A child that
is started again gets new pairs, and so do its peers: half a frame of the dead one can never be
taken for the beginning of the new one's.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from larbinpy.children import Child

if TYPE_CHECKING:
    from collections.abc import Iterator


class Crew:
    """All children of one crawl.

    Args of ``__init__``:
        shards, parsers: how many of each.
        start: the fields of every ``start`` message.
        descriptors: what goes with it (shared memory).
    """

    __slots__ = ("_children", "_descriptors", "_start", "parsers", "shards")

    def __init__(
        self, *, shards: int, parsers: int, start: dict[str, Any], descriptors: tuple[int, ...]
    ) -> None:
        self.shards = shards
        self.parsers = parsers
        self._start = start
        self._descriptors = descriptors
        self._children: dict[tuple[str, int], Child] = {}

    def __iter__(self) -> Iterator[Child]:
        return iter(list(self._children.values()))

    def of(self, role: str) -> list[Child]:
        """The children of a role that have not been removed."""
        return [child for child in self if child.role == role]

    def start_all(self) -> None:
        """Start shards and parsers, and join them."""
        for index in range(self.shards):
            self._start_child("shard", index)
        for index in range(self.parsers):
            self._start_child("parser", index)
        for shard in self.of("shard"):
            for parser in self.of("parser"):
                _join(shard, parser)

    def trust(self) -> None:
        """From now on only processes die: successors may trust what their logs hold."""
        self._start["is_trusted"] = True

    def configure(self, config: dict[str, Any]) -> None:
        """Tell the children that fetch and parse, and all successors, a new configuration."""
        self._start["config"] = config
        for role in ("shard", "parser"):
            self.tell(role, "config", config=config)

    def start_seeder(self) -> None:
        """Start the process that reads the seeds; its ``start`` closes nothing."""
        self._start_child("seeder", 0)
        for shard in self.of("shard"):
            _join(shard, self._children["seeder", 0])

    def replace(self, dead: Child, **more: Any) -> Child:
        """Start a successor of a child that died, and join it to its peers.

        Args:
            more: fields of its ``start`` message.
        """
        self.remove(dead)
        child = self._start_child(dead.role, dead.index, **more)
        peers = self.of("shard")
        if child.role == "shard":
            peers = self.of("parser") + self.of("seeder")
        for peer in peers:
            if child.role == "shard":
                _join(child, peer)
            else:
                _join(peer, child)
        return child

    def remove(self, child: Child) -> None:
        """Forget a child that has ended."""
        child.channel.close()
        self._children.pop((child.role, child.index), None)

    def tell(self, role: str, verb: str, **fields: Any) -> None:
        """Send a control message to every child of a role."""
        for child in self.of(role):
            child.tell(verb, **fields)

    def kill(self) -> None:
        """End every child at once."""
        for child in self:
            child.kill()
            self.remove(child)

    def _start_child(self, role: str, index: int, **more: Any) -> Child:
        child = Child(role, index)
        child.tell("start", index=index, descriptors=self._descriptors, **self._start, **more)
        self._children[role, index] = child
        return child


def _join(shard: Child, other: Child) -> None:
    """Give two children a socket pair; the channel sends duplicates, so ours are closed here."""
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with left, right:
        shard.tell("peer", role=other.role, index=other.index, descriptors=(left.fileno(),))
        other.tell("peer", role="shard", index=shard.index, descriptors=(right.fileno(),))
