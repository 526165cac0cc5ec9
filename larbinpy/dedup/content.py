"""Pages seen under another URL: digests, and the table of them that all parsers share.

The table lies in memory that the supervisor maps for all (a memfd); a test-and-set is one atomic
instruction, so of two parsers with the same page exactly one is told that it is new.
"""

from __future__ import annotations

from typing import Final

from xxhash import xxh3_128_digest

from larbinpy._native.larbinhash import page_code
from larbinpy._native.pagetable import PageTable
from larbinpy._native.shared import Words

DIGEST_BYTES: Final = 16
LARBIN_TABLE_BYTES: Final = 8_000_000
"""Size of larbin's ``dupfile.bin``."""
OWNERS: Final = 1 << 16
"""Newest pages whose ids are kept; many more than pages can be on their way."""

exact_digest: Final = xxh3_128_digest
"""The digest of a page: equal for equal bytes only."""

_WORD_BYTES: Final = 8
_OWNER_MASK: Final = (1 << 63) - 1
_NO_HALF: Final = bytes(8)
"""Ends every ``larbin_digest``."""


def larbin_digest(body: bytes | memoryview) -> bytes:
    """Return larbin's page code in the form of a digest: pages that differ in digits are equal."""
    return page_code(bytes(body)).to_bytes(DIGEST_BYTES, "little")


class PagesSeen:
    """The pages seen by all parsers of a crawl, by ``exact_digest`` or by larbin's code.

    Behind the table stand the ids of the pages that were new last. A page that comes again because
    its shard or its parser died before it was done finds its own id there, and is new once more.

    Args of ``__init__``:
        buffer: ``PAGES_BYTES`` of shared memory that begin as zeros.
        is_larbin: digests are ``larbin_digest``s.

    Process/thread: any number of processes and threads.
    Cost: 0.4 us; with 4 bits a page and 64 MiB, 0.004 % of 8 million pages and 1.7 % of 80 million
    are wrongly taken for seen (larbin's single bit in 8 MB: 0.8 % of 1 million).
    """

    __slots__ = ("_is_larbin", "_owners", "_table")

    def __init__(self, buffer: memoryview, *, is_larbin: bool = False) -> None:
        self._is_larbin = is_larbin
        size = LARBIN_TABLE_BYTES if is_larbin else len(buffer) - OWNERS * _WORD_BYTES
        self._table = PageTable(buffer[:size])
        self._owners = Words(buffer, len(buffer) - OWNERS * _WORD_BYTES, OWNERS)

    def is_new(self, digest: bytes, page_id: int) -> bool:
        """Add a page; return whether it was new, or was the one with this id."""
        slot = int.from_bytes(digest[:_WORD_BYTES], "little") % OWNERS
        owner = page_id & _OWNER_MASK
        if not self._add(digest):
            return self._owners.load(slot) == owner
        self._owners.store(slot, owner)
        return True

    def load(self, digests: bytes) -> None:
        """Add pages that are done, 16 bytes each; what the other kind of digest left is skipped."""
        for at in range(0, len(digests), DIGEST_BYTES):
            digest = digests[at : at + DIGEST_BYTES]
            if digest.endswith(_NO_HALF) == self._is_larbin:
                self._add(digest)

    def _add(self, digest: bytes) -> bool:
        if self._is_larbin:
            return self._table.add_code(int.from_bytes(digest, "little"))
        return self._table.add(digest)
