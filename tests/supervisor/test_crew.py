"""Who is joined to whom, at the start and after each death."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.supervisor import crew
from larbinpy.supervisor.crew import Crew

if TYPE_CHECKING:
    from collections.abc import Iterator


class Wire:
    """The channel of a dummy."""

    def __init__(self) -> None:
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class Dummy:
    """A child that only notes what it is given."""

    def __init__(self, role: str, index: int) -> None:
        self.role, self.index = role, index
        self.channel = Wire()
        self.told: list[dict[str, Any]] = []
        self.peers: dict[tuple[str, int], list[socket.socket]] = {}
        self.is_killed = False

    def tell(self, verb: str, *, descriptors: tuple[int, ...] = (), **fields: Any) -> None:
        self.told.append({"verb": verb, **fields})
        if verb == "peer":
            sock = socket.socket(fileno=os.dup(descriptors[0]))
            self.peers.setdefault((fields["role"], fields["index"]), []).append(sock)

    def kill(self) -> None:
        self.is_killed = True

    def close(self) -> None:
        for socks in self.peers.values():
            for sock in socks:
                sock.close()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Crew, list[Dummy]]]:
    """Two shards and three parsers, and all dummies that were ever started."""
    dummies: list[Dummy] = []

    def start(role: str, index: int) -> Dummy:
        dummies.append(Dummy(role, index))
        return dummies[-1]

    monkeypatch.setattr(crew, "Child", start)
    whole = Crew(shards=2, parsers=3, start={"uuid": "u"}, descriptors=(0,))
    whole.start_all()
    yield whole, dummies
    for dummy in dummies:
        dummy.close()


def newest(dummies: list[Dummy], role: str, index: int = 0) -> Dummy:
    return [dummy for dummy in dummies if (dummy.role, dummy.index) == (role, index)][-1]


def are_joined(one: Dummy, other: Dummy) -> bool:
    """Whether the newest sockets that both have of each other are two ends of one pair."""
    left = one.peers[other.role, other.index][-1]
    right = other.peers[one.role, one.index][-1]
    left.send(b"ping")
    right.setblocking(False)
    return right.recv(10) == b"ping"


def test_every_child_is_started_with_the_same_fields(made: tuple[Crew, list[Dummy]]) -> None:
    """But for its number."""
    _, dummies = made
    assert [dummy.told[0] for dummy in dummies] == [
        {"verb": "start", "index": dummy.index, "uuid": "u"} for dummy in dummies
    ]
    assert [(dummy.role, dummy.index) for dummy in dummies] == [
        ("shard", 0), ("shard", 1), ("parser", 0), ("parser", 1), ("parser", 2),
    ]  # fmt: skip


def test_every_shard_is_joined_to_every_parser(made: tuple[Crew, list[Dummy]]) -> None:
    """By a pair of its own, of which the supervisor keeps nothing."""
    _, dummies = made
    for shard in (0, 1):
        for parser in (0, 1, 2):
            assert are_joined(newest(dummies, "shard", shard), newest(dummies, "parser", parser))
    assert {len(socks) for dummy in dummies for socks in dummy.peers.values()} == {1}


def test_the_seeder_is_joined_to_every_shard(made: tuple[Crew, list[Dummy]]) -> None:
    """And to nobody else."""
    whole, dummies = made
    whole.start_seeder()
    seeder = newest(dummies, "seeder")
    assert set(seeder.peers) == {("shard", 0), ("shard", 1)}
    assert are_joined(seeder, newest(dummies, "shard", 1))


@pytest.mark.parametrize("has_seeder", [False, True])
def test_a_new_shard_is_joined_to_all_its_peers(
    made: tuple[Crew, list[Dummy]], has_seeder: bool
) -> None:
    """To the seeder too when there still is one; the other shard hears nothing of it."""
    whole, dummies = made
    if has_seeder:
        whole.start_seeder()
    dead = newest(dummies, "shard", 1)
    other = len(newest(dummies, "shard", 0).told)
    whole.replace(dead)  # type: ignore[arg-type]
    successor = newest(dummies, "shard", 1)
    assert successor is not dead
    assert dead.channel.is_closed
    expected = {("parser", index) for index in range(3)}
    assert set(successor.peers) == expected | ({("seeder", 0)} if has_seeder else set())
    for parser in (0, 1, 2):
        assert are_joined(successor, newest(dummies, "parser", parser))
    assert len(newest(dummies, "shard", 0).told) == other


def test_a_new_parser_is_joined_to_all_shards(made: tuple[Crew, list[Dummy]]) -> None:
    """And to those only."""
    whole, dummies = made
    whole.replace(newest(dummies, "parser", 2))  # type: ignore[arg-type]
    successor = newest(dummies, "parser", 2)
    assert set(successor.peers) == {("shard", 0), ("shard", 1)}
    for shard in (0, 1):
        assert are_joined(newest(dummies, "shard", shard), successor)


def test_removed_children_are_forgotten(made: tuple[Crew, list[Dummy]]) -> None:
    """They are told nothing, and are in no list."""
    whole, dummies = made
    gone = newest(dummies, "parser", 0)
    whole.remove(gone)  # type: ignore[arg-type]
    whole.tell("parser", "stop", drain_s=1.0)
    assert [child.index for child in whole.of("parser")] == [1, 2]
    assert gone.told[-1]["verb"] == "peer"
    assert newest(dummies, "parser", 1).told[-1] == {"verb": "stop", "drain_s": 1.0}


def test_kill_ends_all(made: tuple[Crew, list[Dummy]]) -> None:
    """And leaves none."""
    whole, dummies = made
    whole.kill()
    assert list(whole) == []
    assert all(dummy.is_killed and dummy.channel.is_closed for dummy in dummies)
