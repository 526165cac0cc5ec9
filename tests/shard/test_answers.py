"""What the answers of parsers end."""

from __future__ import annotations

import sys

import pytest

from larbinpy.frontier.payloads import MAX_DONE_BYTES, MAX_DONE_ENTRY
from larbinpy.records import Outcome, ParsedPage
from larbinpy.shard.answers import PAGES_A_RECORD, PLACE_BYTES, leads_on, packed


@pytest.mark.parametrize("pages", [0, 1, PAGES_A_RECORD, 2 * PAGES_A_RECORD + 1])
def test_pages_go_into_as_few_records_as_hold_them(pages: int) -> None:
    """However large their entries are, none is too large; order and places stay."""
    entry = b"e" * MAX_DONE_ENTRY
    done = [(entry, number.to_bytes(PLACE_BYTES, sys.byteorder)) for number in range(pages)]
    pairs = packed(done)
    assert len(pairs) == -(-pages // PAGES_A_RECORD)
    assert all(len(entries) <= MAX_DONE_BYTES for entries, _ in pairs)
    places = b"".join(places for _, places in pairs)
    assert list(memoryview(places).cast("Q")) == list(range(pages))


@pytest.mark.parametrize(
    ("links", "duplicates", "filtered", "expected"),
    [(5, 2, {1: 2}, True), (5, 3, {1: 1, 2: 1}, False), (0, 0, {}, False)],
)
def test_a_page_leads_on_by_links_that_are_left(
    links: int, duplicates: int, filtered: dict[int, int], *, expected: bool
) -> None:
    """Neither refused nor known to the parser."""
    page = ParsedPage(1, 1, Outcome.SUCCESS, 200, 10, links, duplicates, filtered=filtered)
    assert leads_on(page) is expected
