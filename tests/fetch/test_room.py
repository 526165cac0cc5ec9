"""Fewer transfers and connections while descriptors are out, and the way back."""

from __future__ import annotations

from typing import Any

import pycurl

from larbinpy.fetch.base import FetchOptions
from larbinpy.fetch.room import RETRY_NS, Room

NOW = 10**12


class Multi:
    """Keeps what is set."""

    def __init__(self) -> None:
        self.options: dict[int, int] = {}

    def setopt(self, option: int, value: Any) -> None:
        self.options[option] = value


def bounds(room: Room) -> tuple[int, int]:
    """Connections that libcurl keeps, and those that it has at most."""
    multi = Multi()
    room.bound(multi)
    return multi.options[pycurl.M_MAXCONNECTS], multi.options[pycurl.M_MAX_TOTAL_CONNECTIONS]


def make(connections: int = 200, kept: int = 800) -> Room:
    return Room(FetchOptions(user_agent=b"x", connections=connections, kept_connections=kept))


def test_nothing_is_bounded_while_descriptors_suffice() -> None:
    """A total bound would have libcurl close connections that others could use."""
    room = make()
    assert (room.limit, bounds(room)) == (200, (800, 0))
    assert not room.ended(1000)


def test_a_burst_shrinks_connections_once() -> None:
    """Every job of a burst meets the same lack; transfers go down to those that run."""
    room = make()
    assert room.starved(150, NOW)
    assert (room.limit, bounds(room)) == (150, (150, 150))
    assert not room.starved(140, NOW + RETRY_NS - 1)
    assert (room.limit, bounds(room)) == (140, (150, 150))
    assert room.starved(140, NOW + 2 * RETRY_NS)
    assert bounds(room) == (131, 131)


def test_something_always_runs() -> None:
    """Even when the first job of all found no descriptor."""
    room = make()
    room.starved(0, NOW)
    assert (room.limit, bounds(room)) == (1, (1, 1))


def test_it_grows_back_to_what_was_allowed() -> None:
    """By an eighth for every 64 results, and no further."""
    room = make(connections=20, kept=30)
    room.starved(8, NOW)
    assert not room.ended(63)
    assert room.ended(1)
    assert (room.limit, bounds(room)) == (10, (10, 10))
    for _ in range(20):
        room.ended(64)
    assert (room.limit, bounds(room)) == (20, (30, 0))
    assert not room.ended(64)
    room.allow(40)
    assert room.limit == 40
