"""Pages seen: digests and the shared table."""

from __future__ import annotations

import pytest

from larbinpy.dedup.content import (
    LARBIN_TABLE_BYTES,
    OWNERS,
    PagesSeen,
    exact_digest,
    larbin_digest,
)


def memory(table_bytes: int = 4096) -> memoryview:
    """Memory of a small table and its owners."""
    return memoryview(bytearray(table_bytes + 8 * OWNERS))


def test_page_is_new_once_over_all_parsers() -> None:
    """Two parsers over one table are told "new" once for a page."""
    table = memory()
    first, second = PagesSeen(table), PagesSeen(table)
    assert first.is_new(exact_digest(b"page"), 1) is True
    assert second.is_new(exact_digest(b"page"), 2) is False
    assert second.is_new(exact_digest(b"page 2"), 3) is True


def test_a_page_that_comes_again_is_new_again() -> None:
    """Its shard died before it was done: of all pages with this body it is the one to keep."""
    pages = PagesSeen(memory())
    for page_id in (7, 255 << 56 | 7):
        digest = exact_digest(b"page %d" % page_id)
        answers = [pages.is_new(digest, number) for number in (page_id, 8, page_id, 9)]
        assert answers == [True, False, True, False]


def test_done_pages_are_seen() -> None:
    """Digests of a recovered log belong to no page that could come again."""
    pages = PagesSeen(memory())
    pages.load(exact_digest(b"a") + exact_digest(b"b"))
    answers = [pages.is_new(exact_digest(body), 1) for body in (b"a", b"b", b"c")]
    assert answers == [False, False, True]


@pytest.mark.parametrize("is_larbin", [False, True])
def test_digests_of_the_other_kind_are_skipped(is_larbin: bool) -> None:
    """After a change of ``pageDigest`` the old ones mean nothing."""
    table = memory(LARBIN_TABLE_BYTES)
    pages = PagesSeen(table, is_larbin=is_larbin)
    pages.load((exact_digest if is_larbin else larbin_digest)(b"<html>page</html>"))
    assert not any(table)


def test_exact_digest_is_stable() -> None:
    """It lies in logs and seen files, so it must never change."""
    assert exact_digest(b"larbin").hex() == "ac0818589dd1beda5afb475005ebf2ae"


def test_larbin_digest_ignores_digits() -> None:
    """larbin reads letters only, and so do its tables."""
    table = memory(LARBIN_TABLE_BYTES)
    pages = PagesSeen(table, is_larbin=True)
    assert pages.is_new(larbin_digest(b"<html><body>Hello World</body></html>"), 1) is True
    again = larbin_digest(b"<html><body>Hello, World! 2001</body></html>")
    assert pages.is_new(again, 2) is False
    assert table[33212602 >> 3] == 1 << (33212602 & 7)
