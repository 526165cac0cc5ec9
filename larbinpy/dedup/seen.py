"""URLs seen, three ways behind one interface: exact, a Bloom filter on disk, larbin's bits.

| kind | memory for n URLs | new URLs taken for seen |
|---|---|---|
| exact | 13 bytes each | none |
| bloom | capacity * 1.44 * log2(1 / rate) / 8 bytes, on disk and in the page cache | ``rate`` |
| bits | 8 MB | 0.8 % of 1 million, 7.4 % of 10 million |
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, Protocol

from larbinpy._native.larbinhash import BitTable, url_codes
from larbinpy._native.linkfilter import with_forced
from larbinpy._native.seenset import SeenSet

if TYPE_CHECKING:
    from larbinpy.dedup.bloom import BloomFiles

_FINGERPRINT: Final = struct.Struct("8s")


class SeenUrls(Protocol):
    """The URLs that one shard knows."""

    @property
    def nbytes(self) -> int:
        """Bytes that the set holds, in memory or in mapped files."""

    def __len__(self) -> int:
        """Return the number of URLs, as well as the kind can tell."""

    def add_links(self, links: bytes, fingerprints: bytes) -> bytes:
        """Add links, in order, and tell which are to be queued.

        Args:
            links: ``link_entry`` records with their URLs (``docs/protocol.md`` 4.2), no heads.
            fingerprints: their fingerprints, a little-endian u64 each.

        Returns:
            One byte per link: 1 = new, or marked to be queued even if seen.

        Raises:
            ValueError: the records do not fill the buffer or are not as many as fingerprints.
            MemoryError: no room; nothing was added.
        """

    def add_written(self, fingerprints: bytes) -> None:
        """Note that the records of these new links were taken by ``write()``."""

    def load(self, fingerprints: bytes) -> None:
        """Add fingerprints from seen files or log records; some may be known already."""


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

    def add_links(self, links: bytes, fingerprints: bytes) -> bytes:
        """See ``SeenUrls``."""
        return with_forced(links, self._set.add_many(fingerprints))

    def add_written(self, fingerprints: bytes) -> None:
        """Do nothing: this set dies with the process, as an unwritten record does."""

    def load(self, fingerprints: bytes) -> None:
        """See ``SeenUrls``."""
        self._set.add_many(fingerprints)


class BloomSeen:
    """Keeps bits in files that outlive the process: little memory, a known rate of false "seen".

    Invariant: a bit is set in a file only after the record of its URL was written. Until then an
    exact set holds the fingerprint; both die together with an unwritten record.
    """

    __slots__ = ("_files", "_pending")

    def __init__(self, files: BloomFiles) -> None:
        """Use these filters; when they are not trusted, ``load`` everything, then trust them."""
        self._files = files
        self._pending: set[bytes] = set()

    @property
    def nbytes(self) -> int:
        """Bytes of the files."""
        return self._files.nbytes

    def __len__(self) -> int:
        """Return the number of URLs; an estimate for those of an earlier process."""
        return len(self._files) + len(self._pending)

    def add_links(self, links: bytes, fingerprints: bytes) -> bytes:
        """See ``SeenUrls``."""
        mask = with_forced(links, bytes(len(fingerprints) // _FINGERPRINT.size))
        is_new = bytes(map(self._add, _each(fingerprints)))
        return bytes(map(int.__or__, mask, is_new))

    def _add(self, fingerprint: bytes) -> bool:
        if fingerprint in self._pending or fingerprint in self._files:
            return False
        self._pending.add(fingerprint)
        return True

    def add_written(self, fingerprints: bytes) -> None:
        """Set the bits of these new links, whose records were taken by ``write()``."""
        self.load(fingerprints)
        self._pending.difference_update(_each(fingerprints))

    def load(self, fingerprints: bytes) -> None:
        """See ``SeenUrls``."""
        for fingerprint in _each(fingerprints):
            self._files.add(fingerprint)


class BitsSeen:
    """larbin's bit-hashtable with larbin's hash code, for comparing with larbin.

    The table is one of URLs, not of fingerprints: it is saved and restored whole, and links of
    log records that are younger than the saved table go through ``add_links`` again.
    """

    __slots__ = ("_table",)

    def __init__(self) -> None:
        """Make an empty table of larbin's size."""
        self._table = BitTable()

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self._table.size // 8

    def __len__(self) -> int:
        """Return the number of bits set."""
        return len(self._table)

    def add_links(self, links: bytes, fingerprints: bytes) -> bytes:
        """See ``SeenUrls``; the fingerprints are not looked at."""
        return with_forced(links, self._table.add_many(url_codes(links)))

    def add_written(self, fingerprints: bytes) -> None:
        """Do nothing: the table dies with the process, as an unwritten record does."""

    def load(self, fingerprints: bytes) -> None:
        """Do nothing: no code can be made from a fingerprint; see ``restore``."""

    def to_bytes(self) -> bytes:
        """Return the raw table, which a real larbin reads as its ``hashtable.bin``."""
        return self._table.to_bytes()

    def restore(self, raw: bytes) -> None:
        """Replace the table by a raw one.

        Raises:
            ValueError: it has not larbin's size; the table is unchanged.
        """
        self._table.load(raw)


def _each(fingerprints: bytes) -> list[bytes]:
    """Cut a buffer of fingerprints; the filters' package hashes bytes fastest."""
    return [fingerprint for (fingerprint,) in _FINGERPRINT.iter_unpack(fingerprints)]
