"""The memory of each shard is there while the shard is, and as long as a page needs it."""

from __future__ import annotations

import os
import select
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import FormatError, StorageError
from larbinpy.frames import Channel, FrameType
from larbinpy.parser.shards import Shards
from tests.descriptors import open_descriptors

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def joined() -> Iterator[tuple[Shards, Channel]]:
    """A parser's sockets, and the end of the shard."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    shards = Shards(1, select.poll())
    shards.join(0, theirs.detach())
    channel = Channel(ours)
    yield shards, channel
    if shards.channel(0):
        shards.leave(0)
    channel.close()


def test_a_memory_goes_with_its_shard() -> None:
    """A view that a page still has stays readable; then nothing is left of it."""
    before = open_descriptors()
    with joined() as (shards, channel):
        assert bytes(shards.memory(0)) == b""
        fd = os.memfd_create("bodies")
        os.write(fd, b"of the shard")
        channel.send(FrameType.MEMORY, descriptors=(fd,))
        os.close(fd)
        assert channel.flush()
        assert shards.received(0) == []
        body = shards.memory(0)[:6]
        shards.leave(0)
        assert bytes(shards.memory(0)) == b""
        assert bytes(body) == b"of the"
        del body
    assert open_descriptors() <= before


def test_a_memory_that_cannot_be_mapped_is_an_error_with_words() -> None:
    """Of the operator's limits, which he has to hear of; no descriptor is left."""
    before = open_descriptors()
    with joined() as (shards, channel):
        reading, writing = os.pipe()
        channel.send(FrameType.MEMORY, descriptors=(reading,))
        assert channel.flush()
        os.close(reading)
        os.close(writing)
        with pytest.raises(StorageError, match="cannot be mapped"):
            shards.received(0)
    assert open_descriptors() <= before


def test_a_memory_has_one_descriptor() -> None:
    """A parser does not go on with a shard that sends what no shard sends."""
    with joined() as (shards, channel):
        channel.send(FrameType.MEMORY)
        assert channel.flush()
        with pytest.raises(FormatError, match="one descriptor"):
            shards.received(0)
