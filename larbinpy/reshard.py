"""``larbinpy state DIR --reshard N``: write a state again for another number of shards.

The new shards are written beside the old ones, and take their places only when they are whole and
on the medium (``state.finish_reshard``).  A kill at any point leaves the old state or the new one.
What is kept: URLs that wait, in the order of each host, with their attempts; all fingerprints, or
larbin's table of URLs; digests of pages; the back-off of hosts; named hosts; counters, as sums in
shard 0; quarantines; where pages were stored.  Ids of pages change.
"""

from __future__ import annotations

import shutil
from array import array
from contextlib import ExitStack
from dataclasses import replace
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy import reshard_tables as tables
from larbinpy._native.linkentry import fingerprint_of, shard
from larbinpy.dns import named
from larbinpy.errors import ConfigError
from larbinpy.frontier import quarantine, seenfile
from larbinpy.frontier.disk import Disk, sync_directory
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import RecordType, Retry, unpack_move
from larbinpy.frontier.segment import Header
from larbinpy.frontier.settings import Settings
from larbinpy.frontier.writer import SegmentWriter
from larbinpy.records import ID_SHARD_SHIFT
from larbinpy.state import StateDirectory, finish_reshard
from larbinpy.stateparts import RESHARD, STORED, SUFFIX_LIST, is_state
from larbinpy.stats import ACCEPTED, DONE, Counters
from larbinpy.url import Domains
from larbinpy.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from larbinpy.frontier.recovered import Batch, Recovered
    from larbinpy.manifest import Manifest

SETTINGS: Final = Settings(64 << 20)
SEEN_PRINTS: Final = 1 << 20
"""Fingerprints of a seen file."""
_HEAD: Final = Struct("<4xIB3xQ")


def reshard(path: Path, shards: int) -> Iterator[str]:
    """Write the state again for ``shards`` shards; yields what to tell the user.

    Raises:
        ConfigError: there is no state, or one that cannot be divided anew.
        StorageError: a crawl uses it, or the disk refused; the state is as it was.
    """
    if not is_state(path):
        raise ConfigError(f"{path} is not a larbinpy state")
    directory = StateDirectory(path, wait_s=0)
    try:
        finish_reshard(directory)
        manifest = directory.load()
        if manifest is None:
            raise ConfigError(f"{path} is not a larbinpy state")
        if manifest.fetch_processes == shards:
            yield f"{path} has {shards} shards already"
            return
        yield from _reshard(directory, manifest, shards)
    finally:
        directory.close()


def _reshard(directory: StateDirectory, manifest: Manifest, shards: int) -> Iterator[str]:
    target = directory.path / f"{RESHARD}{shards}"
    building = target.with_name(target.name + ".tmp")
    if building.exists():
        shutil.rmtree(building)
    building.mkdir()
    waiting = _build(directory, manifest, shards, building)
    sync_directory(Disk(), building)
    building.rename(target)
    sync_directory(Disk(), directory.path)
    finish_reshard(directory)
    yield f"{directory.path}: {manifest.fetch_processes} shards are now {shards}"
    yield f"{waiting:,} URLs wait"


def _build(directory: StateDirectory, manifest: Manifest, shards: int, building: Path) -> int:
    """Write the new shards into a directory; returns how many URLs wait."""
    old = [directory.shard(index) for index in range(manifest.fetch_processes)]
    places = tables.StoredPlaces(directory.path / STORED)
    with ExitStack() as stack:
        new = _NewShards(building, manifest, shards, Domains(directory.path / SUFFIX_LIST))
        stack.callback(new.close)
        found = [_found_in(path, manifest, stack) for path in old]
        new.fill(found, places)
        new.keep_tables(old, found, has_bits=manifest.seen_set == "bits")
        new.keep_named(tables.named_hosts(old))
        for path in old:
            new.keep_quarantine(path)
    places.write()
    return sum(len(one.waiting) // 8 for one in found)


def _found_in(path: Path, manifest: Manifest, stack: ExitStack) -> Recovered:
    """What an old log holds; it is open as long as the stack."""
    settings = replace(SETTINGS, keeps_pages=True)  # those of the segments that go, too
    fifo, found = PersistentFifo.open(
        path, uuid=manifest.key, settings=settings, is_trusted=manifest.is_trusted
    )
    stack.callback(fifo.close)
    return found


class _NewShards:
    """The shards that are being written."""

    def __init__(self, path: Path, manifest: Manifest, shards: int, domains: Domains) -> None:
        self._paths = [path / f"shard-{index:02d}" for index in range(shards)]
        self._key = manifest.key
        self._domains = domains
        self._logs: list[PersistentFifo] = []
        self._numbers: list[int] = []
        """Of the first segments."""

    def fill(self, found: list[Recovered], places: tables.StoredPlaces) -> None:
        """Write all that the old logs hold."""
        self._numbers = numbers = self._write_seen(found)
        numbers[0] = max(numbers[0], tables.write_pages(self._paths[0], self._key, found))
        totals = Counters()
        for one in found:
            totals.merge(one.counters)
        totals[ACCEPTED] = totals[DONE]
        for index, path in enumerate(self._paths):
            counters = Counters() if index else totals
            self._begin(path, numbers[index], counters.as_bytes())
        for old, one in enumerate(found):
            for batch in one.batches():
                for lsn, new_id in self._adopt(batch, one):
                    places.moved(old << ID_SHARD_SHIFT | lsn, new_id)
                for log in self._logs:
                    log.flush()
            for host, state in one.hosts.items():
                self._logs[self._shard_of(host)].host(state)

    def _shard_of(self, host: bytes) -> int:
        fingerprint = fingerprint_of(self._key, self._domains.of(host), b"")
        return shard(fingerprint, len(self._paths))

    def keep_tables(self, old: list[Path], found: list[Recovered], *, has_bits: bool) -> None:
        """Write larbin's tables of URLs, where there are any."""
        raw = tables.larbin_bits_of(old, self._key)
        if raw:
            tables.write_bits(self._paths, self._numbers, self._key, raw, is_larbins=True)
        if has_bits:
            raw = tables.bits_of(old, found, self._key)
            tables.write_bits(self._paths, self._numbers, self._key, raw, is_larbins=False)

    def keep_named(self, hosts: list[bytes]) -> None:
        """Write which hosts the operator named."""
        for index, path in enumerate(self._paths):
            lines = [host + b"\n" for host in hosts if self._shard_of(host) == index]
            if lines:
                write_whole(path / named.FILE_NAME, b"".join(lines))

    def _write_seen(self, found: list[Recovered]) -> list[int]:
        """Write the seen files; returns for each shard the first number that is free."""
        numbers = [1] * len(self._paths)
        prints = [array("Q") for _ in self._paths]
        for path in self._paths:
            path.mkdir()
        for part in (part for one in found for part in one.fingerprints()):
            for fingerprint in memoryview(part).cast("Q"):
                index = shard(fingerprint, len(self._paths))
                prints[index].append(fingerprint)
                if len(prints[index]) == SEEN_PRINTS:
                    self._seen_file(index, numbers, prints)
        for index in range(len(self._paths)):
            self._seen_file(index, numbers, prints)
        return numbers

    def _seen_file(self, index: int, numbers: list[int], prints: list[array[int]]) -> None:
        data = prints[index].tobytes()
        path = self._paths[index]
        seenfile.write(Disk(), path, self._key, numbers[index], data, is_synced=True)
        numbers[index] += bool(data)
        prints[index] = array("Q")

    def _begin(self, path: Path, number: int, counts: bytes) -> None:
        """Begin a log with a segment that says what was counted before it."""
        header = Header(self._key, 1, number, 1)
        first = SegmentWriter(Disk(), path, header, counts=counts)
        first.seal()
        first.close()
        self._logs.append(PersistentFifo.open(path, uuid=self._key, settings=SETTINGS)[0])

    def _adopt(self, batch: Batch, old: Recovered) -> Iterator[tuple[int, int]]:
        """Put waiting URLs into the logs of their new shards; yields old lsns and new ids."""
        for at in memoryview(batch.offsets).cast("I"):
            size, kind, id_lsn = _HEAD.unpack_from(batch.records, at)
            enq = batch.records[at + _HEAD.size : at + _HEAD.size + size]
            if kind == RecordType.MOVE:
                id_lsn, enq = unpack_move(enq)
            index = shard(int.from_bytes(enq[:8], "little"), len(self._paths))
            new_lsn = self._logs[index].adopt(enq)
            if id_lsn in old.retries:
                retry = old.retries[id_lsn]
                self._logs[index].retry(Retry(new_lsn, retry.attempt, retry.not_before_us))
            yield id_lsn, index << ID_SHARD_SHIFT | new_lsn

    def keep_quarantine(self, old: Path) -> None:
        """Keep what was put aside, by names that cast no doubt on the new logs."""
        aside = self._paths[0] / quarantine.NAME
        for path in sorted((old / quarantine.NAME).glob("*")):
            aside.mkdir(exist_ok=True)
            shutil.copy2(path, aside / f"{old.name}-{path.name}")

    def close(self) -> None:
        """Bring everything to the medium."""
        for log in self._logs:
            log.close()
