"""Logs for tests: links and DONE entries in short, and the verbs that damage what lies on disk."""

from __future__ import annotations

import errno
import struct
from array import array
from contextlib import contextmanager
from typing import TYPE_CHECKING

from larbinpy.frontier.disk import Disk
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import done_entry
from larbinpy.frontier.settings import Settings
from larbinpy.records import Outcome, ParsedPage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from larbinpy.frontier.frontier import Frontier
    from larbinpy.frontier.log import Put
    from larbinpy.frontier.quarantine import Damage
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.frontier.synctimes import SyncTimes

UUID = bytes(range(16))
SEGMENT_BYTES = 4096

_LINK = struct.Struct("<QHHHHBBBBBBHff")
_GROUP = struct.Struct("<HHII")


def end(frontier: Frontier, pages: Sequence[ParsedPage], places: Sequence[int]) -> None:
    """Give pages their outcomes, some at a time: a DONE record holds 64 KiB."""
    for start in range(0, len(pages), 1000):
        entries = b"".join(map(done_entry, pages[start : start + 1000]))
        frontier.done(entries, array("Q", places[start : start + 1000]).tobytes())


def url_of(number: int) -> bytes:
    """The URL of a number; it tells its number again, so that no record is taken for another."""
    return b"http://h%d.example/%d" % (number % 7, number)


def links(numbers: Iterable[int], *, via: bytes = b"http://h1.example/", tag: bytes = b"") -> bytes:
    """A LINKS payload of one group; fingerprints are the numbers."""
    bare = []
    for number in numbers:
        url = url_of(number)
        bare.append(_LINK.pack(number, len(url), 1, 4, 80, 7, 10, 0, 0, 0, 0, 0, 0.5, 0.25) + url)
    data = b"".join(bare)
    return _GROUP.pack(len(via), len(tag), len(bare), len(data)) + via + tag + data


def put(fifo: PersistentFifo, numbers: Sequence[int]) -> Put:
    """Put URLs by their numbers."""
    return fifo.put(links(numbers), b"\1" * len(numbers))


def places_of(put_: Put) -> list[int]:
    """The positions of a put as numbers."""
    return list(memoryview(put_.positions).cast("Q"))


def finish(fifo: PersistentFifo, places: Sequence[int]) -> None:
    """Finish the URLs at these positions."""
    urls = fifo.read(places)
    pages = (ParsedPage(url[0], fifo.epoch, Outcome.SUCCESS, 200, 10, 3, 1) for url in urls)
    fifo.done(b"".join(done_entry(page) for page in pages), places)


def open_log(
    directory: Path,
    *,
    segment_bytes: int = SEGMENT_BYTES,
    durability: str = "off",
    sync_s: float = 1.0,
    is_trusted: bool = True,
    times: SyncTimes | None = None,
    disk: Disk | None = None,
    outputs: tuple[Path, ...] = (),
) -> tuple[PersistentFifo, Recovered]:
    """Open a log as tests want it: small segments, no waiting for the medium."""
    return PersistentFifo.open(
        directory,
        uuid=UUID,
        settings=Settings(segment_bytes, durability, sync_s, outputs=outputs),
        is_trusted=is_trusted,
        times=times,
        lock_wait_s=0,
        disk=disk,
    )


def write_log(directory: Path, count: int = 200, *, done: int = 0) -> list[int]:
    """A closed log with ``count`` URLs in batches of ten, the first ``done`` of them done."""
    fifo, _ = open_log(directory)
    places = [p for i in range(0, count, 10) for p in places_of(put(fifo, range(i, i + 10)))]
    for start in range(0, done, 10):
        finish(fifo, places[start : start + 10])
    fifo.close()
    return places


@contextmanager
def reopened(directory: Path) -> Iterator[tuple[PersistentFifo, Recovered]]:
    """A log opened for a look."""
    fifo, found = open_log(directory)
    try:
        yield fifo, found
    finally:
        fifo.close()


def waiting(fifo: PersistentFifo, found: Recovered) -> list[int]:
    """Numbers of the URLs that wait, in order; each must tell the number it was put with."""
    urls = fifo.read(memoryview(found.waiting).cast("Q"))
    assert [url_of(url[1]) for url in urls] == [url[2] for url in urls]
    return [url[1] for url in urls]


def seen(found: Recovered) -> set[int]:
    """Fingerprints of everything ever put."""
    return set(memoryview(b"".join(found.fingerprints())).cast("Q"))


def is_balanced(found: Recovered) -> bool:
    """Whether accepted = done + waiting."""
    counters = found.counters.as_dict()
    return counters["accepted"] == counters["done"] + len(found.waiting) // 8


def kinds(damage: list[Damage]) -> list[str]:
    """What kinds of damage there are."""
    return sorted(one.kind for one in damage)


def files(directory: Path) -> list[Path]:
    """The segments, oldest first."""
    return sorted(directory.glob("q-*.seg"), key=lambda path: path.name.split("-")[2])


# --- verbs that damage -----------------------------------------------------------------------


def flip_byte(path: Path, offset: int, bits: int = 0xFF) -> None:
    """Change bits of one byte."""
    data = bytearray(path.read_bytes())
    data[offset] ^= bits
    path.write_bytes(data)


def truncate(path: Path, size: int) -> None:
    """Keep the first ``size`` bytes."""
    path.write_bytes(path.read_bytes()[:size])


def drop_tail(path: Path, size: int) -> None:
    """Lose the last ``size`` bytes."""
    truncate(path, path.stat().st_size - size)


class FailingDisk(Disk):
    """A disk whose next write fails when told so: with an error, or after some bytes."""

    __slots__ = ("fails", "takes", "writes")

    def __init__(self) -> None:
        self.fails = 0
        self.takes = 0
        self.writes = 0

    def fail_next_write(self, *, times: int = 1, takes: int = 0) -> None:
        """Refuse the next writes; before that the file grows by ``takes`` bytes."""
        self.fails, self.takes = times, takes

    def pwrite(self, fd: int, data: bytes | bytearray, offset: int) -> int:
        """See ``Disk``."""
        self.writes += 1
        if not self.fails:
            return super().pwrite(fd, data, offset)
        self.fails -= 1
        if self.takes:
            return super().pwrite(fd, data[: self.takes], offset)
        raise OSError(errno.ENOSPC, "No space left on device")
