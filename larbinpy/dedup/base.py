"""The seen test, as the frontier sees it, and the log, as the seen test does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDS_NONE: Final = 1 << 32
"""Above the number of every segment of a log."""


class KnownUrls(Protocol):
    """The URLs that a log has accepted, as they are found when it is opened."""

    @property
    def oldest_segment(self) -> int:
        """Number of the first segment that is left; the first of all has 1."""

    @property
    def is_damaged(self) -> bool:
        """Whether accepted URLs may be missing, which must count as new again."""

    def fingerprints(self, since: int = 0) -> Iterator[bytes]:
        """Fingerprints (u64 each) of URLs in segments from ``since`` on, deleted ones too."""

    def links(self, since: int = 0) -> Iterator[bytes]:
        """``link_entry`` records of URLs in segments from ``since`` on that are not deleted."""


class SeenUrls(Protocol):
    """The URLs that one shard knows."""

    @property
    def nbytes(self) -> int:
        """Bytes that the set holds, in memory or in mapped files."""

    def __len__(self) -> int:
        """Return the number of URLs, as well as the kind can tell."""

    def add_links(self, groups: bytes, fingerprints: bytes) -> bytes:
        """Add links, in order, and tell which are to be queued.

        Args:
            groups: payload of a LINKS frame (``docs/protocol.md`` 4.2).
            fingerprints: their fingerprints, a little-endian u64 each.

        Returns:
            One byte per link: 1 = new, or marked to be queued even if seen.

        Raises:
            ValueError: the payload is malformed, or its links are not as many as fingerprints.
            MemoryError: no room; nothing was added.
        """

    def add_written(self, fingerprints: bytes) -> None:
        """Note that the records of these new links were taken by ``write()``."""

    def restore(self, known: KnownUrls) -> None:
        """Take over what was seen before this start; call it before any link is added.

        Raises:
            StorageError: the disk refused.
        """

    def save(self, segment: int, *, wait: bool = False) -> None:
        """Note what a restart needs and the log's seen files do not tell; call it every second.

        Args:
            segment: number of the log's newest segment; all links so far were added and written.
            wait: until it is saved.

        Raises:
            StorageError: the disk refused; the next call tries again.
        """

    @property
    def needs_from(self) -> int:
        """Segments of the log from this one on must not be deleted: ``restore`` would need them."""
