"""Look at the log of a shard without touching it, also while its shard writes on.

Nothing is locked, mended or moved: what a start would do about a fault is only counted here.
Of a running log this is one moment: a segment that is deleted meanwhile is passed over.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from larbinpy._native.livetable import LiveTable
from larbinpy._native.logcodec import SCAN_SEALED, Codec, window
from larbinpy.errors import LarbinError, StorageError
from larbinpy.frontier import quarantine, seenfile, verify
from larbinpy.frontier.payloads import RecordType, unpack_mark, unpack_retry
from larbinpy.frontier.recovered import WINDOW_BYTES
from larbinpy.frontier.segment import OFFSET_MASK, SEGMENT_SHIFT, parse_name
from larbinpy.frontier.verify import Fault
from larbinpy.frontier.walk import walk
from larbinpy.records import ID_SHARD_SHIFT
from larbinpy.stats import ACCEPTED, DERIVED, DONE, Counters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from larbinpy._native.logcodec import ScanResult
    from larbinpy.frontier.payloads import LoggedUrl


QUEUES: Final = ("all", "new", "again")
NAMED: Final = 10
"""URLs that a message names."""


@dataclass(slots=True)
class LogState:
    """What the log of a shard holds."""

    segments: int = 0
    bytes: int = 0
    live: int = 0
    """URLs that wait or are being fetched."""
    done: int = 0
    accepted: int = 0
    retries: int = 0
    """Live URLs that were tried before."""
    seen_files: int = 0
    seen: int = 0
    """Fingerprints in them."""
    unsynced: int = 0
    """Records that no SYNCMARK covers."""
    synced_us: int = 0
    """Everything written before (microseconds since 1970) is on the medium; 0 = not known."""
    torn_bytes: int = 0
    """At the end of the newest segment: the next start cuts them."""
    quarantined: int = 0
    """Files and ranges that were put aside before."""
    faults: list[Fault] = field(default_factory=list)


class LogView:
    """One look at one log."""

    def __init__(self, directory: Path, uuid: bytes, *, is_thorough: bool = False) -> None:
        """Read the log.

        Args:
            is_thorough: verify also what a start does not need.

        Raises:
            StorageError: a file cannot be read.
        """
        self.state = LogState()
        self._directory = directory
        self._uuid = uuid
        self._is_thorough = is_thorough
        self._table = LiveTable()
        self._doubts = quarantine.load(directory)
        self._paths: dict[int, Path] = {}
        self._prints: dict[int, bytes] = {}
        self._next_lsn = self._mark = self._mark_lsn = 0
        self._base: Counters | None = None
        self._visible = Counters()
        self._retries: set[int] = set()
        self._read()

    def _read(self) -> None:
        names = [(parse_name(path.name), path) for path in self._directory.glob("q-*.seg")]
        found = sorted((name[1], name[0], path) for name, path in names if name is not None)
        for number, epoch, path in found:
            data = _bytes_of(path)
            if data is not None:
                self._segment(path, data, epoch, number, is_last=number == found[-1][0])
        self._seen_files()
        self._sum_up()

    def _fault(self, path: Path, offset: int, kind: str) -> None:
        self.state.faults.append(Fault(path.name, offset, kind))

    def _segment(
        self, path: Path, data: bytes, epoch: int, number: int, *, is_last: bool
    ) -> None:  # fmt: skip
        codec = Codec(self._uuid, number)
        known = len(self.state.faults)
        runs = list(walk(codec, data, 0))
        if is_last and not any(len(run) for run, _ in runs):
            self.state.torn_bytes += len(data)  # just begun
            return
        for offset, kind in verify.header_faults(data, self._uuid, epoch, number):
            self._fault(path, offset, kind)
        limit = quarantine.dones_before(self._doubts, segment=number, epoch=epoch)
        prints = []
        for run, after in runs:
            prints.append(self._run(path, data, number, codec, run, limit))
            if after >= 0:
                self._fault(path, run.stop, verify.REASONS.get(run.reason, "gap"))
        self._end(path, data, run, is_last=is_last)
        if self._is_thorough and len(self.state.faults) == known:
            for offset, kind in verify.seal_faults(data, codec, run):
                self._fault(path, offset, kind)
        self.state.segments += 1
        self.state.bytes += len(data)
        self._paths[number] = path
        self._prints[number] = b"".join(prints)

    def _end(self, path: Path, data: bytes, run: ScanResult, *, is_last: bool) -> None:
        """Judge the bytes behind the last record."""
        if run.reason == SCAN_SEALED:
            return
        if is_last:
            self.state.torn_bytes += len(data) - run.stop
        else:
            self._fault(path, run.stop, verify.REASONS.get(run.reason, "not sealed"))

    def _run(
        self, path: Path, data: bytes, number: int, codec: Codec, run: ScanResult, limit: int
    ) -> bytes:
        """Take the records of a run; returns the fingerprints of its ENQs."""
        if not len(run):
            return b""
        if self._next_lsn and run.first_lsn != self._next_lsn:
            self._fault(path, memoryview(run.offsets).cast("I")[0], "records missing before this")
        self._next_lsn = run.next_lsn
        if self._base is None and run.types[0] == RecordType.COUNTS:
            self._base = self._counts_before(codec.record(data, next(_offsets(run)))[2])
        if self._is_thorough:
            for offset, kind in verify.record_faults(data, run):
                self._fault(path, offset, kind)
        prints, counted, _, others = self._table.add(
            number, data, run.types, run.offsets, run.first_lsn, limit
        )
        self._visible.add(ACCEPTED, len(prints) // 8)
        self._visible.add_done(counted)
        for place in memoryview(others).cast("I"):
            self._other(*codec.record(data, place))
        return prints

    def _counts_before(self, payload: bytes) -> Counters:
        totals, before = Counters.from_bytes(payload), Counters()
        for index in DERIVED:
            before[index] = max(totals[index] - self._visible[index], 0)
        return before

    def _other(self, kind: int, lsn: int, payload: bytes) -> None:
        if kind == RecordType.SYNCMARK:
            self._mark, self.state.synced_us = unpack_mark(payload)
            self._mark_lsn = lsn
        elif kind == RecordType.RETRY:
            self._retries.add(unpack_retry(payload).id_lsn)

    # --- seen files, sums -----------------------------------------------------------------------

    def _seen_files(self) -> None:
        oldest = min(self._paths, default=None)
        for number in seenfile.numbers(self._directory):
            path = self._directory / seenfile.name_of(number)
            data = _bytes_of(path)
            if data is None:
                continue
            self.state.seen_files += 1
            self.state.seen += len(seenfile.decode(data, self._uuid, number).entries) // 8
            if oldest is not None and number > oldest and number not in self._paths:
                self._fault(path, 0, "segment missing")
            prints = self._prints.get(number)
            for offset, kind in verify.seen_faults(data, self._uuid, number, prints):
                self._fault(path, offset, kind)

    def _sum_up(self) -> None:
        state, base = self.state, self._base or Counters()
        state.live = len(self._table)
        state.accepted = base[ACCEPTED] + self._visible[ACCEPTED]
        state.done = base[DONE] + self._visible[DONE]
        state.retries = sum(map(self._table.is_waiting, self._retries))
        last = self._next_lsn - 1
        is_marked = (self._mark + 1, self._mark_lsn) == (last, last)  # nothing but the mark itself
        state.unsynced = 0 if is_marked else max(last - self._mark, 0)
        aside = self._directory / quarantine.NAME
        state.quarantined = sum(1 for _ in aside.iterdir()) if aside.exists() else 0

    # --- what waits -----------------------------------------------------------------------------

    def urls(self, queue: str = "all") -> Iterator[LoggedUrl]:
        """Live URLs in the order in which they were accepted.

        Args:
            queue: one of ``QUEUES``: all, those that were not tried yet, or the others.
        """
        places = memoryview(self._table.live()).cast("Q")
        start = 0
        while start < len(places):
            found, count = self._some(places, start)
            start += count
            for url in found:
                if queue == "all" or (url[0] in self._retries) == (queue == "again"):
                    yield url

    def _some(self, places: memoryview, start: int) -> tuple[list[LoggedUrl], int]:
        """URLs at the next positions that one read finds, and how many positions those are."""
        number = places[start] >> SEGMENT_SHIFT
        try:
            with self._paths[number].open("rb") as file:
                file.seek(places[start] & OFFSET_MASK)
                data = file.read(WINDOW_BYTES)
        except FileNotFoundError:
            return [], 1
        offsets = window(data, places[start], places, start)
        if not offsets:
            return [], 1
        return Codec(self._uuid, number).decode_urls(data, offsets), len(offsets) // 4


def names_of(state: Path, uuid: bytes, ids: Sequence[int]) -> str:
    """URLs that wait, for humans: the first few by name, the others as a number.

    Args:
        state: directory of the state; its shards may be running.
    """
    wanted = set(ids[:NAMED])
    names = []
    for shard in sorted({page_id >> ID_SHARD_SHIFT for page_id in wanted}):
        with suppress(LarbinError):  # whoever asks has another fault to tell
            urls = LogView(state / f"shard-{shard:02d}", uuid).urls()
            names += [url[2] for url in urls if shard << ID_SHARD_SHIFT | url[0] in wanted]
    shown = [name.decode("ascii", "backslashreplace") for name in names]
    others = len(ids) - len(shown)
    return ", ".join(shown + ([f"{others} others"] if others else []))


def _offsets(run: ScanResult) -> Iterator[int]:
    return iter(memoryview(run.offsets).cast("I"))


def _bytes_of(path: Path) -> bytes | None:
    """The bytes of a file; None when it has just been deleted."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
