"""Whole states for tests: a directory with its MANIFEST and the logs of its shards."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

from larbinpy import state
from larbinpy._native.linkentry import fingerprint_of, shard
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import done_entry
from larbinpy.frontier.settings import Settings
from larbinpy.manifest import Manifest, boot_id
from larbinpy.records import Outcome, ParsedPage
from larbinpy.stateparts import SUFFIX_LIST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

UUID = "000102030405060708090a0b0c0d0e0f"
KEY = bytes.fromhex(UUID)
SUFFIXES = b"// a public suffix list for tests\nexample\n"

_LINK = struct.Struct("<QHHHHBBBBBBHff")
_GROUP = struct.Struct("<HHII")


def host_of(number: int) -> bytes:
    """The host of a URL."""
    return b"www.h%d.example" % (number % 11)


def url_of(number: int) -> bytes:
    """The URL of a number."""
    return b"http://%b/%d" % (host_of(number), number)


def fingerprint(number: int) -> int:
    """Its fingerprint."""
    return fingerprint_of(KEY, host_of(number).removeprefix(b"www."), url_of(number))


def links(numbers: Iterable[int]) -> bytes:
    """A LINKS payload of one group."""
    via, bare = b"http://www.h1.example/", []
    for number in numbers:
        url, size = url_of(number), len(host_of(number))
        link = (fingerprint(number), len(url), 1, 4, 80, 7, size, 0, 0, 0, 0, 0, 0.5, 0.25)
        bare.append(_LINK.pack(*link) + url)
    data = b"".join(bare)
    return _GROUP.pack(len(via), 0, len(bare), len(data)) + via + data


def make_state(path: Path, shards: int, *, seen_set: str = "exact") -> Manifest:
    """A state without logs."""
    directory = state.StateDirectory(path)
    (path / SUFFIX_LIST).write_bytes(SUFFIXES)
    manifest = Manifest(
        UUID, shards, seen_set, "whatwg", hashlib.sha256(SUFFIXES).hexdigest(), boot_id()
    )
    directory.save(manifest)
    directory.close()
    return manifest


def open_shard(path: Path, index: int, *, segment_bytes: int = 4096) -> PersistentFifo:
    """The log of a shard of a state."""
    return PersistentFifo.open(
        path / f"shard-{index:02d}", uuid=KEY, settings=Settings(segment_bytes)
    )[0]


def put(fifo: PersistentFifo, numbers: Sequence[int]) -> list[int]:
    """Put URLs; returns their positions."""
    put_ = fifo.put(links(numbers), b"\1" * len(numbers))
    return list(memoryview(put_.positions).cast("Q"))


def shard_of(number: int, shards: int) -> int:
    """The shard of a URL."""
    return shard(fingerprint(number), shards)


def finish(fifo: PersistentFifo, places: Sequence[int], *, digest: bytes = bytes(16)) -> None:
    """Finish the URLs at these positions."""
    pages = (
        ParsedPage(url[0], fifo.epoch, Outcome.SUCCESS, 200, 10, 3, 1, digest)
        for url in fifo.read(places)
    )
    fifo.done(b"".join(done_entry(page) for page in pages), places)


def fill(path: Path, shards: int, count: int, done: int) -> None:
    """Put ``count`` URLs into the logs of a state; of each shard the first ``done`` are done."""
    for index in range(shards):
        numbers = [n for n in range(count) if shard(fingerprint(n), shards) == index]
        fifo = open_shard(path, index)
        places = [
            place for at in range(0, len(numbers), 9) for place in put(fifo, numbers[at : at + 9])
        ]
        finish(fifo, places[:done])
        fifo.close()
