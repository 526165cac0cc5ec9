"""Both ends of a socket between two processes, in one test."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from larbinpy.frames import Channel
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.frames import Frame


@contextmanager
def pair() -> Iterator[tuple[Channel, Channel]]:
    """Two joined channels."""
    left, right = map(Channel, socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
    try:
        yield left, right
    finally:
        left.close()
        right.close()


def frames(channel: Channel, count: int) -> list[Frame]:
    """The next frames, waited for."""
    found: list[Frame] = []
    while len(found) < count:
        assert channel.wait(PATIENCE_S), f"{len(found)} of {count} frames came"
        found += channel.receive()
        assert not channel.is_closed or len(found) >= count
    assert len(found) == count
    return found


def carry(sender: Channel, receiver: Channel) -> list[Frame]:
    """Send all that is queued, however little fits at a time; what the other end got."""
    found: list[Frame] = []
    while not sender.flush() or (receiver.wait(0) and not receiver.is_closed):
        found += receiver.receive()
    return found
