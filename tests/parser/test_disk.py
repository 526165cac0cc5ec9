"""What a disk refuses is tried again, once a second."""

from __future__ import annotations

from larbinpy.errors import StorageError
from larbinpy.parser.disk import RETRY_S, Disk


class World:
    """A disk that takes nothing while it is full, and a clock."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.fault = ""
        self.tries = 0
        self.told: list[str] = []
        self.disk = Disk(self.told.append, lambda: self.now_s)

    def write(self) -> None:
        self.tries += 1
        if self.fault:
            raise StorageError(self.fault)

    def attempt(self) -> bool:
        return self.disk.attempt(self.write)


def test_what_is_taken_is_not_told() -> None:
    """Nobody wants to know that all is well."""
    world = World()
    assert world.attempt()
    assert (world.told, world.disk.refusal) == ([], "")


def test_a_refusal_is_told_once_and_tried_again_a_second_later() -> None:
    """In between nothing is tried; that it is over is told, too."""
    world = World()
    world.fault = "full"
    assert [world.attempt() for _ in range(3)] == [False] * 3
    assert (world.tries, world.told, world.disk.refusal) == (1, ["full"], "full")
    world.now_s += RETRY_S
    assert not world.attempt()
    assert (world.tries, world.told) == (2, ["full"])
    world.fault = ""
    assert not world.attempt()
    world.now_s += RETRY_S
    assert world.attempt()
    assert (world.told, world.disk.refusal) == (["full", ""], "")


def test_another_refusal_is_told() -> None:
    """The reason may change while it is tried."""
    world = World()
    for world.fault in ("full", "read-only"):
        assert not world.attempt()
        world.now_s += RETRY_S
    assert world.told == ["full", "read-only"]
