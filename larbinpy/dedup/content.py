"""Pages seen under another URL: digests, and the table of them that all parsers share.

The table lies in memory that the supervisor maps for all (a memfd); a test-and-set is one atomic
instruction, so of two parsers with the same page exactly one is told that it is new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xxhash import xxh3_128_digest

from larbinpy._native.larbinhash import page_code
from larbinpy._native.pagetable import PageTable

if TYPE_CHECKING:
    from typing_extensions import Buffer

DIGEST_BYTES: Final = 16
LARBIN_TABLE_BYTES: Final = 8_000_000
"""Size of larbin's ``dupfile.bin``."""


def exact_digest(body: bytes) -> bytes:
    """Return the digest of a page: equal for equal bytes only."""
    return xxh3_128_digest(body)


def larbin_digest(body: bytes) -> bytes:
    """Return larbin's page code in the form of a digest: pages that differ in digits are equal."""
    return page_code(body).to_bytes(DIGEST_BYTES, "little")


class PagesSeen:
    """The pages seen, by exact digest; may take a new page for a seen one.

    Cost: with 4 bits a page and 8 MB, 0.004 % of 1 million pages and 1.7 % of 10 million are
    wrongly taken for seen.
    """

    __slots__ = ("_table",)

    def __init__(self, buffer: Buffer, bits_per_page: int = 4) -> None:
        """Use a table in writable memory, a multiple of 8 bytes that begin as zeros."""
        self._table = PageTable(buffer, bits_per_page)

    def add(self, digest: bytes) -> bool:
        """Add a page by its ``exact_digest``; return whether it was new."""
        return self._table.add(digest)


class LarbinPagesSeen:
    """The pages seen, by larbin's page code; the table is a ``dupfile.bin``."""

    __slots__ = ("_table",)

    def __init__(self, buffer: Buffer) -> None:
        """Use a table of ``LARBIN_TABLE_BYTES`` in writable memory."""
        self._table = PageTable(buffer)

    def add(self, digest: bytes) -> bool:
        """Add a page by its ``larbin_digest``; return whether it was new."""
        return self._table.add_code(int.from_bytes(digest, "little"))
