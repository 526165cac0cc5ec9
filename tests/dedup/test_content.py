"""Pages seen: digests and the shared table."""

from __future__ import annotations

from larbinpy.dedup.content import (
    LARBIN_TABLE_BYTES,
    LarbinPagesSeen,
    PagesSeen,
    exact_digest,
    larbin_digest,
)


def test_page_is_new_once_over_all_parsers() -> None:
    """Two parsers over one table are told "new" once for a page."""
    table = bytearray(4096)
    first, second = PagesSeen(table), PagesSeen(table)
    assert first.add(exact_digest(b"page")) is True
    assert second.add(exact_digest(b"page")) is False
    assert second.add(exact_digest(b"page 2")) is True


def test_exact_digest_is_stable() -> None:
    """It lies in logs and seen files, so it must never change."""
    assert exact_digest(b"larbin").hex() == "ac0818589dd1beda5afb475005ebf2ae"


def test_larbin_digest_ignores_digits() -> None:
    """larbin reads letters only, and so do its tables."""
    table = bytearray(LARBIN_TABLE_BYTES)
    pages = LarbinPagesSeen(table)
    assert pages.add(larbin_digest(b"<html><body>Hello World</body></html>")) is True
    assert pages.add(larbin_digest(b"<html><body>Hello, World! 2001</body></html>")) is False
    assert table[33212602 >> 3] == 1 << (33212602 & 7)
