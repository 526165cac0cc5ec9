"""Pages that are near to others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import wiring
from larbinpy.records import PAGE_WATCHED
from larbinpy.shared import NEAR_BYTES, CrawlMemory
from tests.records import UTF8, page
from tests.starts import start

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("make", [wiring.make_reader, wiring.make_plain])
@pytest.mark.parametrize(
    ("mode", "nears"),
    [("watch", [0, 0]), ("no", [0, 0]), ("log", [0, 1]), ("leave", [0, 1])],
)
def test_near_duplicates(tmp_path: Path, make: Any, mode: str, nears: list[int]) -> None:
    """Pages are compared when that is asked for, or all of them; the plain ones too."""
    start_ = start(tmp_path, near_duplicates=mode)
    memory = CrawlMemory.create(1, 1, page_bytes=NEAR_BYTES)
    reader = make(start_, wiring.make_links(start_), None, wiring.make_near(start_, memory))
    text = b" ".join(b"word%d" % number for number in range(40))
    given = partial(page, body=text, headers=UTF8)
    assert [reader.read(given(id=n)).parsed.near for n in (1, 2)] == nears
    asked = [reader.read(given(id=n, flags=PAGE_WATCHED)).parsed.near for n in (3, 4)]
    assert asked == {"watch": [0, 3], "no": [0, 0]}.get(mode, [1, 1])
