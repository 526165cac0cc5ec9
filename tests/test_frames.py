"""Channels over real sockets: nothing is lost, cut, leaked or guessed."""

from __future__ import annotations

import os
import random
import socket
import struct
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import FormatError
from larbinpy.frames import MAX_PAYLOAD, Channel, FrameType
from tests.channels import carry, frames, pair
from tests.descriptors import open_descriptors

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = struct.Struct("<IBBHI")


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    with pair() as made:
        yield made


@pytest.fixture
def raw() -> Iterator[tuple[socket.socket, Channel]]:
    """A bare socket, to send what no channel sends, and a channel that hears it."""
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    channel = Channel(right)
    with left:
        yield left, channel
    channel.close()


def test_a_frame_has_the_bytes_of_the_protocol(raw: tuple[socket.socket, Channel]) -> None:
    """docs/protocol.md, section 2: length, type, flags, count, seq, payload."""
    sock, channel = raw
    channel.send(FrameType.LINKS, b"abc", count=7, seq=0x01020304)
    assert channel.pending_bytes == 15
    assert channel.flush()
    assert channel.pending_bytes == 0
    assert sock.recv(100).hex() == "030000000400070004030201616263"


def test_frames_are_numbered_from_1(ends: tuple[Channel, Channel]) -> None:
    """A frame without a seq takes the next one; one that answers or repeats does not."""
    left, _ = ends
    seqs = [left.send(FrameType.PAGE), left.send(FrameType.WRITTEN, seq=40)]
    assert [*seqs, left.send(FrameType.PAGE)] == [1, 40, 2]


def test_what_was_sent_is_received(ends: tuple[Channel, Channel]) -> None:
    """Type, count, seq and payload arrive, in order."""
    left, right = ends
    for number in range(300):
        left.send(FrameType.PARSED, bytes([number & 255]) * number, count=number)
    got = carry(left, right)
    assert [(f.type, f.count, f.seq, len(f.payload)) for f in got] == [
        (FrameType.PARSED, number, number + 1, number) for number in range(300)
    ]


def test_frames_may_come_in_pieces(raw: tuple[socket.socket, Channel]) -> None:
    """Wherever the stream is cut, the frames are the same."""
    sock, channel = raw
    chance = random.Random(1)
    payloads = [chance.randbytes(chance.randrange(40)) for _ in range(200)]
    stream = b"".join(
        HEAD.pack(len(payload), FrameType.PAGE, 0, 1, seq) + payload
        for seq, payload in enumerate(payloads)
    )
    got = []
    while stream:
        size = chance.randrange(1, 60)
        sock.sendall(stream[:size])
        stream = stream[size:]
        got += channel.receive()
    assert [frame.payload for frame in got] == payloads
    assert [frame.seq for frame in got] == list(range(200))


def test_a_full_socket_keeps_the_rest(ends: tuple[Channel, Channel]) -> None:
    """``flush`` says whether all is gone, and ``pending_bytes`` how much is not."""
    left, right = ends
    payloads = [bytes([number]) * 600_000 for number in range(4)]
    for payload in payloads:
        left.send(FrameType.LINKS, payload)
    assert left.pending_bytes == 4 * 600_012
    assert not left.flush()
    assert 0 < left.pending_bytes < 4 * 600_012
    got = carry(left, right)
    assert [frame.payload for frame in got] == payloads
    assert left.pending_bytes == 0


def test_a_payload_may_come_in_pieces(ends: tuple[Channel, Channel]) -> None:
    """More of them than one call takes, of any size, wherever a full socket cuts them."""
    left, right = ends
    left._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    chance = random.Random(3)
    payloads = [
        [chance.randbytes(chance.choice(sizes)) for _ in range(chance.randrange(most))]
        for sizes, most in [((0, 1, 9), 1600), ((0, 1, 9000), 90)] * 6
    ]
    for pieces in payloads:
        left.send(FrameType.PAGE, *pieces)
    assert left.pending_bytes == sum(12 + sum(map(len, pieces)) for pieces in payloads)
    got = carry(left, right)
    assert [frame.payload for frame in got] == [b"".join(pieces) for pieces in payloads]
    assert left.pending_bytes == 0


def test_descriptors_travel_with_their_frame(ends: tuple[Channel, Channel], tmp_path: Path) -> None:
    """Frames with and without descriptors keep them apart; the sender may close its own at once."""
    left, right = ends
    for number in range(3):
        path = tmp_path / str(number)
        path.write_bytes(b"body %d" % number)
        with path.open("rb") as one, path.open("rb") as two:
            left.send(FrameType.PAGE, b"x" * 100_000, descriptors=(one.fileno(), two.fileno()))
        left.send(FrameType.WRITTEN)
    got = carry(left, right)
    read = []
    for frame in got:
        read.append([os.pread(fd, 100, 0) for fd in frame.descriptors])
        for fd in frame.descriptors:
            os.close(fd)
    assert read == [[b"body 0"] * 2, [], [b"body 1"] * 2, [], [b"body 2"] * 2, []]


def test_close_leaves_no_descriptor_open() -> None:
    """Neither one that was not sent nor one that nobody took."""
    before = open_descriptors()
    with pair() as (left, right), Path("/dev/null").open("rb") as file:
        left.send(FrameType.PAGE, descriptors=(file.fileno(),))
        left.send(FrameType.PAGE, b"x" * MAX_PAYLOAD, descriptors=(file.fileno(),))
        left.flush()  # the first is gone, the second half
        left.send(FrameType.PAGE, descriptors=(file.fileno(),))
        (taken,) = right.receive()
        os.close(taken.descriptors[0])
    assert open_descriptors() <= before


def test_end_of_file_after_the_last_frame(ends: tuple[Channel, Channel]) -> None:
    """What came before the end is still handed out; the channel is then closed, and stays so."""
    left, right = ends
    left.send(FrameType.WRITTEN)
    left.flush()
    left.close()
    assert [frame.type for frame in right.receive()] == [FrameType.WRITTEN]
    right.receive()
    assert right.is_closed
    assert right.receive() == []


def test_half_a_frame_is_thrown_away(raw: tuple[socket.socket, Channel]) -> None:
    """A peer that dies within a frame has sent nothing."""
    sock, channel = raw
    sock.sendall(HEAD.pack(10, FrameType.LINKS, 0, 1, 1) + b"half")
    sock.close()
    assert channel.receive() == []
    assert channel.receive() == []
    assert channel.is_closed


def test_a_broken_pipe_closes_the_channel(ends: tuple[Channel, Channel]) -> None:
    """No exception: the owner sees ``is_closed``."""
    left, right = ends
    right.close()
    left.send(FrameType.LINKS, b"lost")
    assert not left.flush()
    assert left.is_closed


@pytest.mark.parametrize(
    "garbage",
    [
        HEAD.pack(MAX_PAYLOAD + 1, FrameType.PAGE, 0, 1, 1),
        HEAD.pack(0, 3, 0, 1, 1),
        HEAD.pack(0, FrameType.PAGE, 1 | 1 << 1, 1, 1),
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["length", "type", "descriptor", "HTTP"],
)
def test_garbage_is_refused(raw: tuple[socket.socket, Channel], garbage: bytes) -> None:
    """What is not a frame raises; nothing is guessed."""
    sock, channel = raw
    sock.sendall(garbage)
    with pytest.raises(FormatError):
        channel.receive()


def test_a_payload_over_the_limit_is_not_sent(ends: tuple[Channel, Channel]) -> None:
    """The limit itself is."""
    left, right = ends
    with pytest.raises(FormatError, match="PAGE frame of 1048577 bytes"):
        left.send(FrameType.PAGE, bytes(MAX_PAYLOAD + 1))
    left.send(FrameType.PAGE, bytes(MAX_PAYLOAD))
    (frame,) = carry(left, right)
    assert len(frame.payload) == MAX_PAYLOAD


def test_wait_ends_when_something_comes(ends: tuple[Channel, Channel]) -> None:
    """True when there is something to read, false when the time is over."""
    left, right = ends
    assert not right.wait(0)
    left.send(FrameType.WRITTEN)
    left.flush()
    assert right.wait()
    assert len(frames(right, 1)) == 1


def test_threads_do_not_meet_in_each_others_bytes() -> None:
    """Each has channels of its own; however often they change places, each gets what is its."""
    taken: dict[int, set[bytes]] = {}

    def talk(number: int) -> None:
        payload = bytes([number]) * 5000
        with pair() as (left, right):
            for _ in range(300):
                left.send(FrameType.LINKS, payload)
                left.flush()
                taken.setdefault(number, set()).update(f.payload for f in frames(right, 1))

    before_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=talk, args=(number,)) for number in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before_s)
    assert taken == {number: {bytes([number]) * 5000} for number in (1, 2, 3)}
