"""What a child is started with, and the supervisor's end of its control channel."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from larbinpy import entries
from larbinpy.children import Control
from larbinpy.config import Config
from larbinpy.domain import psl_bytes
from larbinpy.frames import Channel, FrameType
from larbinpy.stateparts import SUFFIX_LIST
from larbinpy.wiring import Start
from tests.channels import frames

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def start(
    state: Path, *, index: int = 0, shards: int = 1, parsers: int = 1, **keys: Any
) -> Start:  # Any: fields of a Config
    """The ``start`` message of a child of a small crawl."""
    (state / SUFFIX_LIST).write_bytes(psl_bytes())
    config = Config(**{"output_mode": 0, **keys})
    return Start(config, index, state, bytes(range(16)), shards, parsers)


class Boss:
    """The supervisor, as far as a child can tell."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._peers: list[Channel] = []

    def close(self) -> None:
        """End everything, as a supervisor that dies."""
        self.drop_peers()
        self._channel.close()

    def drop_peers(self) -> None:
        """End all peers."""
        for channel in self._peers:
            channel.close()

    def tell(self, verb: str, *, descriptors: tuple[int, ...] = (), **fields: Any) -> None:
        """Send a control message."""
        payload = entries.encode_control(verb, **fields)
        self._channel.send(FrameType.CONTROL, payload, count=1, descriptors=descriptors)
        assert self._channel.flush()

    def join(self, role: str, index: int) -> Channel:
        """Give the child a peer; the peer's end."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self.tell("peer", role=role, index=index, descriptors=(theirs.fileno(),))
        self._peers.append(Channel(ours))
        return self._peers[-1]

    def heard(self, count: int = 1) -> list[dict[str, Any]]:
        """The next messages of the child, waited for."""
        return [entries.decode_control(frame.payload) for frame in frames(self._channel, count)]


@contextmanager
def control() -> Iterator[tuple[Control, Boss]]:
    """A control channel: the child's end, and its supervisor."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    made = Control(theirs.detach())
    boss = Boss(Channel(ours))
    try:
        yield made, boss
    finally:
        boss.close()
        made.channel.close()
