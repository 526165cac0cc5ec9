"""The sockets of a shard in its event loop: nothing is missed, nothing is waited for."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.eventloop import EventLoop
from larbinpy.frames import Channel, FrameType
from larbinpy.shard.peers import Peers
from tests.channels import frames
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.frames import Frame


class Around:
    """Peers in a loop, and their other ends."""

    def __init__(self) -> None:
        self.loop = EventLoop()
        self.peers = Peers(self.loop)
        self.ends: list[Channel] = []

    def join(self, role: str, index: int) -> Channel:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.peers.join(role, index, theirs.detach())
        self.ends.append(Channel(ours))
        return self.ends[-1]

    def received(self) -> list[tuple[str, int, list[Frame], bool]]:
        """What has come, by peer, and whether that peer is gone."""
        self.loop.poll(0)
        return [
            (peer.role, peer.index, got, peer.channel.is_closed)
            for peer, got in self.peers.received()
        ]


@pytest.fixture
def around() -> Iterator[Around]:
    made = Around()
    yield made
    for role, index in list(made.peers._peers):
        made.peers.leave(role, index)
    for end in made.ends:
        end.close()
    made.loop.close()


def send(end: Channel, payload: bytes = b"") -> None:
    end.send(FrameType.LINKS, payload)
    assert end.flush()


def test_frames_come_by_peer(around: Around) -> None:
    """Only those whose sockets have something are read."""
    one, two = around.join("parser", 0), around.join("seeder", 0)
    around.join("parser", 1)
    assert around.received() == []
    send(one, b"x")
    send(two, b"y")
    got = around.received()
    assert [(role, index, [f.payload for f in fs]) for role, index, fs, _ in got] == [
        ("parser", 0, [b"x"]),
        ("seeder", 0, [b"y"]),
    ]
    assert around.received() == []


def test_what_was_not_read_at_once_is_read_later(around: Around) -> None:
    """A read may end early; the loop says again that there is more."""
    end = around.join("parser", 0)
    for number in range(5):
        with socket.socket() as extra:
            end.send(FrameType.PARSED, b"%d" % number, descriptors=(extra.fileno(),))
        send(end)
    got: list[Frame] = []
    for _ in range(10):
        for _, _, some, _ in around.received():
            got += some
    assert len(got) == 10
    for frame in got:
        for fd in frame.descriptors:
            socket.close(fd)


def test_the_end_of_a_peer_is_seen_with_its_last_frames(around: Around) -> None:
    """They are handed out before it is gone."""
    end = around.join("parser", 3)
    send(end, b"last")
    end.close()
    got = around.received() + around.received()
    assert [frame.payload for _, _, some, _ in got for frame in some] == [b"last"]
    assert got[-1][3]
    around.peers.leave("parser", 3)
    assert around.received() == []


def test_leaving_frees_the_socket(around: Around) -> None:
    """Once and again, and a successor takes the place."""
    end = around.join("parser", 0)
    around.peers.leave("parser", 0)
    around.peers.leave("parser", 0)
    end.receive()
    assert end.is_closed
    send(around.join("parser", 0), b"new")
    assert [f.payload for f in around.received()[0][2]] == [b"new"]


def test_written_is_told_once_to_whom_it_concerns(around: Around) -> None:
    """The last frame that was taken stands for all before it."""
    one, two = around.join("parser", 0), around.join("parser", 1)
    send(one)
    send(one)
    around.loop.poll(0)
    for peer, got in around.peers.received():
        peer.taken_seq = got[-1].seq
    around.peers.answer_written()
    around.peers.answer_written()
    around.peers.flush()
    assert [(frame.type, frame.seq) for frame in frames(one, 1)] == [(FrameType.WRITTEN, 2)]
    assert not one.wait(0)
    assert not two.wait(0)


def test_a_full_socket_is_watched_until_it_is_empty(around: Around) -> None:
    """The loop wakes when the rest can go, and rests when there is none."""
    end = around.join("parser", 0)
    (peer,) = around.peers._peers.values()
    for _ in range(3):
        peer.channel.send(FrameType.PAGE, bytes(900_000))
    around.peers.flush()
    is_watched = [peer.is_watching_out]
    assert around.loop.poll(0) == 0
    got: list[Frame] = []
    while len(got) < 3:
        assert end.wait(PATIENCE_S)
        got += end.receive()
        around.loop.poll(0)
        around.peers.flush()
    is_watched.append(peer.is_watching_out)
    assert is_watched == [True, False]
    assert around.loop.poll(0) == 0
    assert not peer.is_readable


def test_a_peer_that_does_not_read_keeps_nobody_waiting(around: Around) -> None:
    """The others get theirs."""
    around.join("parser", 0)
    quick = around.join("parser", 1)
    for peer in around.peers._peers.values():
        peer.channel.send(FrameType.PAGE, bytes(900_000) if peer.index == 0 else b"small")
    around.peers.flush()
    assert [frame.payload for frame in frames(quick, 1)] == [b"small"]


def test_a_broken_pipe_is_a_peer_that_is_gone(around: Around) -> None:
    """Noticed at the next look, not by an exception."""
    end = around.join("parser", 0)
    end.close()
    (peer,) = around.peers._peers.values()
    peer.channel.send(FrameType.PAGE, b"x")
    around.peers.flush()
    assert [gone for _, _, _, gone in around.received()] == [True]
