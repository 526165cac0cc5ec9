"""What the log of a shard says of one URL and of its host, without reading the URLs of others.

Nothing is locked or changed, and a crawl may run: then this is one moment of it.  DONEs count as
they do at a start (``docs/format-queue.md`` 6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import Codec
from larbinpy._native.logsearch import STOP_DAMAGED, STOP_SEALED, Search, find_prints
from larbinpy.errors import StorageError
from larbinpy.frontier import quarantine, seenfile
from larbinpy.frontier.lookup import RECORD_BYTES
from larbinpy.frontier.payloads import RecordType, done_ids, unpack_host, unpack_move, unpack_retry
from larbinpy.frontier.segment import HEADER_BYTES, parse_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from io import FileIO
    from pathlib import Path

    from larbinpy.frontier.payloads import HostState, LoggedUrl, Retry
    from larbinpy.frontier.quarantine import Doubt

WINDOW_BYTES: Final = 4 << 20
_SEEN_BLOCK: Final = seenfile.BLOCK_HEAD.size + seenfile.URLS.size * seenfile.BLOCK


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record or an entry stands."""

    path: Path
    offset: int


@dataclass(slots=True)
class Found:
    """What a log says of a URL."""

    seen: Place | None = None
    """Its fingerprint among those of a sealed segment."""
    url: LoggedUrl | None = None
    """As its latest ENQ or MOVE has it, while that is in the log."""
    url_at: Place | None = None
    done_at: Place | None = None
    """The DONE that ended it, while that is in the log and the URL does not wait again."""
    is_waiting: bool = False
    """It waits or is being fetched."""
    retry: Retry | None = None
    """Its latest try in vain, while it waits."""
    retry_at: Place | None = None
    host: HostState | None = None
    """What the back-off of its host had come to."""
    host_at: Place | None = None
    live: set[int] = field(default_factory=set)
    ahead: int = 0
    """URLs of its host that wait, or are being fetched, and are taken before it; 0 unless it
    waits."""

    @property
    def is_seen(self) -> bool:
        """Whether it was ever queued."""
        return self.seen is not None or self.url is not None


def search(
    directory: Path,
    uuid: bytes,
    fingerprint: int,
    host: bytes,
    url: bytes,
    *,
    newest_first: bool = False,
) -> Found:
    """Search the log in ``directory`` for a URL.

    Args:
        newest_first: how the URLs of a host and a level are ordered, else it is oldest first.

    Raises:
        StorageError: a file cannot be read.

    Cost: a look at the head of each record: 0.2 to 0.4 s for a log of 1.6 GB that is cached.
    """
    look = _Look(directory, uuid, host, url)
    walk = Search(fingerprint, host)
    look.walk(walk)
    if look.is_moved:  # what was noted before the MOVE is known by its id only
        walk, look.found = Search(fingerprint, host, walk.ids), Found()
        look.walk(walk)
    found = look.found
    found.seen = _seen_in(directory, fingerprint)
    found.is_waiting = bool(found.live)
    if found.url and found.live:
        found.ahead = walk.ahead(min(found.live), found.url[10], newest_first)
    return found


def is_queued(directory: Path, uuid: bytes, fingerprint: int) -> bool:
    """Whether a URL was ever queued.

    Raises:
        StorageError: a file cannot be read.

    Cost: 1 ns a URL, and a look at the heads of the records that no seen file speaks for.
    """
    look = _Look(directory, uuid, b"", b"")
    walk = Search(fingerprint, b"")
    look.walk(walk, frozenset(seenfile.numbers(directory)))
    return bool(walk.ids) or _seen_in(directory, fingerprint) is not None


class _Look:
    """One search."""

    def __init__(self, directory: Path, uuid: bytes, host: bytes, url: bytes) -> None:
        self.found = Found()
        self.is_moved = False
        """The first record of the URL is a MOVE: its ENQ is gone."""
        self._directory = directory
        self._uuid = uuid
        self._host = host
        self._url = url
        self._doubts: list[Doubt] = quarantine.load(directory)
        self._window = memoryview(bytearray(WINDOW_BYTES))

    def walk(self, search: Search, left_out: Container[int] = ()) -> None:
        """Look at all segments in their order, but for those with some numbers."""
        names = [(parse_name(path.name), path) for path in self._directory.glob("q-*.seg")]
        found = sorted((name[1], name[0], path) for name, path in names if name is not None)
        for number, epoch, path in found:
            if number in left_out:
                continue
            limit = quarantine.dones_before(self._doubts, segment=number, epoch=epoch)
            try:
                self._look_at(path, Codec(self._uuid, number), search, limit)
            except FileNotFoundError:
                continue  # deleted just now: nothing in it waits
            except OSError as error:
                raise StorageError(f"{path}: {error.strerror}") from error

    def _look_at(self, path: Path, codec: Codec, search: Search, limit: int) -> None:
        with path.open("rb", buffering=0) as file:
            for offset, record in _records(file, codec, search, self._window, limit):
                self._take(Place(path, offset), codec, record, is_counted=offset < limit)

    def _take(self, place: Place, codec: Codec, record: bytes, *, is_counted: bool) -> None:
        try:
            kind, lsn, payload = codec.record(record, 0)
        except ValueError:
            return  # damaged
        found = self.found
        if kind in (RecordType.ENQ, RecordType.MOVE):
            self._take_url(place, codec, record, unpack_move(payload)[0] if kind == 4 else lsn)
        elif kind == RecordType.DONE and is_counted and found.live:
            found.live.difference_update(done_ids(payload))
            if not found.live:
                found.done_at = place
        elif kind == RecordType.RETRY:
            found.retry, found.retry_at = unpack_retry(payload), place
        elif kind == RecordType.HOST:
            state = unpack_host(payload)
            if state.host == self._host:
                found.host, found.host_at = state, place

    def _take_url(self, place: Place, codec: Codec, record: bytes, id_lsn: int) -> None:
        (url,) = codec.decode_urls(record, bytes(4))
        if url[2] != self._url:
            return
        if self.found.url is None:
            self.is_moved = url[0] != id_lsn or record[8] == RecordType.MOVE
        self.found.url, self.found.url_at, self.found.done_at = url, place, None
        self.found.live.add(id_lsn)


def _records(
    file: FileIO, codec: Codec, search: Search, window: memoryview, dones_before: int
) -> Iterator[tuple[int, bytes]]:
    """The records of a segment that a search wants, with their offsets.

    Args:
        dones_before: DONEs at this offset or behind it do not count.
    """
    base = HEADER_BYTES
    while True:
        file.seek(base)
        size = file.readinto(window) or 0
        hits, stop, reason = search.run(window[:size], 0, dones_before - base)
        for offset, _ in hits:
            yield base + offset, bytes(window[offset : min(offset + RECORD_BYTES, size)])
        if reason == STOP_SEALED or (not stop and reason != STOP_DAMAGED):
            return
        base += stop
        if reason == STOP_DAMAGED:
            file.seek(base)
            rest = file.read()
            behind = codec.resync(rest, 0, 0)
            if behind < 0:
                return
            base += behind


def _seen_in(directory: Path, fingerprint: int) -> Place | None:
    """Where a fingerprint stands in the seen files, None where it does not."""
    for number in reversed(seenfile.numbers(directory)):
        path = directory / seenfile.name_of(number)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error
        for offset in find_prints(data, fingerprint, seenfile.HEADER_BYTES):
            is_head = (offset - seenfile.HEADER_BYTES) % _SEEN_BLOCK == 0
            if not is_head and offset < len(data) - 8:
                return Place(path, offset)
    return None
