"""The sockets of a shard to its parsers and its seeder, in its event loop.

Reading happens when the loop says so; writing is tried at once and, when a socket is full, again
when the loop says that it can be.  A shard never waits for a peer.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from larbinpy._native.eventloop import READ, WRITE, EventLoop
from larbinpy.errors import FormatError
from larbinpy.frames import Channel, Frame, FrameType

if TYPE_CHECKING:
    from collections.abc import Iterator


class Peer:
    """One parser, or the seeder."""

    __slots__ = ("channel", "fault", "index", "is_readable", "is_watching_out", "role", "taken_seq")

    def __init__(self, role: str, index: int, channel: Channel) -> None:
        self.role = role
        self.index = index
        self.channel = channel
        self.is_readable = False
        self.is_watching_out = False
        self.fault = ""
        """What it sent that no peer sends; then nothing of it counts any more."""
        self.taken_seq = 0
        """Last LINKS frame that was taken and not yet answered; 0 = none."""


class Peers:
    """All peers of a shard."""

    __slots__ = ("_held", "_loop", "_peers")

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._held: frozenset[str] = frozenset()
        self._peers: dict[tuple[str, int], Peer] = {}

    def join(self, role: str, index: int, fd: int) -> Peer:
        """Take a socket to a peer."""
        peer = Peer(role, index, Channel(socket.socket(fileno=fd)))
        self._peers[role, index] = peer

        def heard(events: int) -> None:
            peer.is_readable = peer.is_readable or bool(events & ~WRITE)

        self._loop.watch(fd, READ, heard)
        self._watch(peer)
        return peer

    def hold(self, roles: frozenset[str]) -> None:
        """Read nothing from peers of these roles until the next call."""
        if roles != self._held:
            self._held = roles
            for peer in self._peers.values():
                self._watch(peer)

    def _watch(self, peer: Peer) -> None:
        if not peer.channel.is_closed:
            reading = 0 if peer.role in self._held else READ
            writing = WRITE if peer.is_watching_out else 0
            self._loop.rewatch(peer.channel.fileno(), reading | writing)

    def leave(self, role: str, index: int) -> None:
        """Forget a peer."""
        peer = self._peers.pop((role, index), None)
        if peer:
            self._loop.unwatch(peer.channel.fileno())
            peer.channel.close()

    def received(self) -> Iterator[tuple[Peer, list[Frame]]]:
        """Frames that have come, by peer; a peer whose channel is closed afterwards is gone."""
        for peer in list(self._peers.values()):
            if peer.is_readable and peer.role not in self._held:
                peer.is_readable = False
                frames: list[Frame] = []
                try:
                    frames = peer.channel.receive()
                except FormatError as error:
                    peer.fault = str(error)
                yield peer, frames

    def answer_written(self) -> None:
        """Tell every peer that its links are in the log; call it after the log was written."""
        for peer in self._peers.values():
            if peer.taken_seq:
                peer.channel.send(FrameType.WRITTEN, seq=peer.taken_seq)
                peer.taken_seq = 0

    def flush(self) -> None:
        """Write what the sockets take."""
        for peer in self._peers.values():
            if peer.channel.pending_bytes:
                peer.channel.flush()
            wants_out = bool(peer.channel.pending_bytes)
            if wants_out != peer.is_watching_out:
                peer.is_watching_out = wants_out
                self._watch(peer)
