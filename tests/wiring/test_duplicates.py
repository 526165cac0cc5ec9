"""Pages that are near to others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy import wiring
from larbinpy.records import PAGE_WATCHED
from larbinpy.shared import NEAR_BYTES, CrawlMemory
from tests.records import page
from tests.starts import start

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("mode", "is_plain", "nears"),
    [
        ("watch", True, [0, 0]),
        ("no", True, [0, 0]),
        ("log", False, [0, 1]),
        ("leave", False, [0, 1]),
    ],
)
def test_near_duplicates(tmp_path: Path, mode: str, is_plain: bool, nears: list[int]) -> None:
    """A crawl that compares every page has no short way; others compare what they are asked to."""
    start_ = start(tmp_path, near_duplicates=mode)
    memory = CrawlMemory.create(1, 1, page_bytes=NEAR_BYTES)
    parts = wiring.make_links(start_), None, wiring.make_near(start_, memory)
    assert (wiring.make_plain(start_, *parts) is not None) == is_plain
    reader = wiring.make_reader(start_, *parts)
    text = b" ".join(b"word%d" % number for number in range(40))
    assert [reader.read(page(id=n, body=text)).parsed.near for n in (1, 2)] == nears
    asked = [reader.read(page(id=n, body=text, flags=PAGE_WATCHED)).parsed.near for n in (3, 4)]
    assert asked == {"watch": [0, 3], "no": [0, 0]}.get(mode, [1, 1])
