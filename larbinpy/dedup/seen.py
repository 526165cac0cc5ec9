"""URLs seen, three ways behind one interface (``base``): exact, a Bloom filter, larbin's bits.

| kind | memory for n URLs | new URLs taken for seen |
|---|---|---|
| exact | 13 bytes each | none |
| bloom | capacity * 1.44 * log2(1 / rate) / 8 bytes, on disk and in the page cache | ``rate`` |
| bits | 8 MB | 0.8 % of 1 million, 7.4 % of 10 million |
"""

from __future__ import annotations

import logging
import struct
import time
from typing import TYPE_CHECKING, Final

from larbinpy._native.larbinhash import BitTable, url_codes
from larbinpy._native.linkframe import bare_links, with_forced
from larbinpy._native.seenset import SeenSet
from larbinpy.dedup.base import NEEDS_NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.dedup.base import KnownUrls
    from larbinpy.dedup.bitsfile import BitsFile
    from larbinpy.dedup.bloom import BloomFiles

log = logging.getLogger(__name__)

SAVE_S: Final = 60.0
_FINGERPRINT: Final = struct.Struct("8s")


class ExactSeen:
    """Keeps every fingerprint in memory: no new URL is ever taken for a seen one."""

    __slots__ = ("_set",)

    def __init__(self, capacity: int = 0) -> None:
        """Make a set with room for ``capacity`` URLs, which grows past it."""
        self._set = SeenSet(capacity)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self._set.nbytes

    def __len__(self) -> int:
        """Return the number of URLs, exactly."""
        return len(self._set)

    def add_links(self, groups: bytes, fingerprints: bytes) -> bytes:
        """See ``SeenUrls``."""
        return with_forced(groups, self._set.add_many(fingerprints))

    def add_written(self, fingerprints: bytes) -> None:
        """Do nothing: this set dies with the process, as an unwritten record does."""

    def restore(self, known: KnownUrls) -> None:
        """Add all fingerprints."""
        for fingerprints in known.fingerprints():
            self._set.add_many(fingerprints)

    def save(self, segment: int, *, wait: bool = False) -> None:
        """Do nothing: seen files tell all."""

    @property
    def needs_from(self) -> int:
        """None."""
        return NEEDS_NONE


class BloomSeen:
    """Keeps bits in files that outlive the process: little memory, a known rate of false "seen".

    Invariant: a bit is set in a file only after the record of its URL was written. Until then an
    exact set holds the fingerprint; both die together with an unwritten record.
    """

    __slots__ = ("_files", "_pending")

    def __init__(self, files: BloomFiles) -> None:
        """Use these filters; ``restore`` completes them."""
        self._files = files
        self._pending: set[bytes] = set()

    @property
    def nbytes(self) -> int:
        """Bytes of the files."""
        return self._files.nbytes

    def __len__(self) -> int:
        """Return the number of URLs; an estimate for those of an earlier process."""
        return len(self._files) + len(self._pending)

    def add_links(self, groups: bytes, fingerprints: bytes) -> bytes:
        """See ``SeenUrls``."""
        mask = with_forced(groups, bytes(len(fingerprints) // _FINGERPRINT.size))
        is_new = bytes(map(self._add, _each(fingerprints)))
        return bytes(map(int.__or__, mask, is_new))

    def _add(self, fingerprint: bytes) -> bool:
        if fingerprint in self._pending or fingerprint in self._files:
            return False
        self._pending.add(fingerprint)
        return True

    def add_written(self, fingerprints: bytes) -> None:
        """Set the bits of these new links, whose records were taken by ``write()``."""
        self._load(fingerprints)
        self._pending.difference_update(_each(fingerprints))

    def restore(self, known: KnownUrls) -> None:
        """Add all fingerprints that trusted filters may lack, or all when they are not trusted.

        Filters know nothing of what the log has lost, so damage makes them begin anew.
        """
        if known.is_damaged and self._files.is_trusted:
            self._files.distrust()
        below = self._files.trusted_below
        for fingerprints in known.fingerprints(below):
            self._load(fingerprints)
        if not self._files.is_trusted:
            self._files.trust(below)

    def save(self, segment: int, *, wait: bool = False) -> None:
        """Note from where on the next start must add fingerprints."""
        if segment != self._files.trusted_below:
            self._files.trust(segment)

    @property
    def needs_from(self) -> int:
        """None: seen files tell what ``save`` does not."""
        return NEEDS_NONE

    def _load(self, fingerprints: bytes) -> None:
        for fingerprint in _each(fingerprints):
            self._files.add(fingerprint)


class BitsSeen:
    """larbin's bit-hashtable with larbin's hash code, for comparing with larbin.

    The table is one of URLs, not of fingerprints, so seen files cannot restore it: it is saved
    whole, every minute and as soon as a segment is full, and a segment is deleted only after that.
    At a start the URLs of the newest segments are added to it again.
    """

    __slots__ = ("_clock", "_file", "_saved_s", "_table")

    def __init__(self, file: BitsFile, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Make an empty table of larbin's size, to be kept in this file."""
        self._table = BitTable()
        self._file = file
        self._clock = clock
        self._saved_s = clock()

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self._table.size // 8

    def __len__(self) -> int:
        """Return the number of bits set."""
        return len(self._table)

    def to_bytes(self) -> bytes:
        """The raw table, as larbin writes it."""
        return self._table.to_bytes()

    def add_links(self, groups: bytes, fingerprints: bytes) -> bytes:
        """See ``SeenUrls``; the fingerprints are not looked at."""
        return with_forced(groups, self._table.add_many(url_codes(bare_links(groups))))

    def add_written(self, fingerprints: bytes) -> None:
        """Do nothing: the table dies with the process, as an unwritten record does."""

    def restore(self, known: KnownUrls) -> None:
        """Load the saved table, then add the URLs that came after it."""
        raw = self._file.load()
        if raw:
            self._table.load(raw)
        elif known.oldest_segment > 1:
            log.warning("%s: missing or damaged; old URLs may be fetched again", self._file.path)
        for links in known.links(self._file.segment):
            self._table.add_many(url_codes(links))

    def save(self, segment: int, *, wait: bool = False) -> None:
        """Begin to save the table, when it is time to and the last time is over."""
        self._file.settle(wait=wait)
        if self._file.is_busy:
            return
        if segment > self._file.segment or self._clock() - self._saved_s >= SAVE_S:
            self._saved_s = self._clock()
            self._file.save(self.to_bytes(), segment)
            self._file.settle(wait=wait)

    @property
    def needs_from(self) -> int:
        """The segment that was the newest when the table was saved."""
        return self._file.segment


def _each(fingerprints: bytes) -> list[bytes]:
    """Cut a buffer of fingerprints; the filters' package hashes bytes fastest."""
    return [fingerprint for (fingerprint,) in _FINGERPRINT.iter_unpack(fingerprints)]
