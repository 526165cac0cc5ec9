"""What reaches the reader of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import wiring
from larbinpy.config import Config
from larbinpy.records import Directive, Filtered, Outcome
from tests.records import page
from tests.starts import start

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("key", "directive"),
    [
        ("ignore_nofollow", Directive.NOFOLLOW),
        ("ignore_noindex", Directive.NOINDEX),
        ("ignore_noarchive", Directive.NOARCHIVE),
    ],
)
def test_each_directive_can_be_switched_off(key: str, directive: Directive) -> None:
    """All are obeyed but those."""
    everything = Directive.NOFOLLOW | Directive.NOINDEX | Directive.NOARCHIVE
    assert wiring.obeyed(Config()) == everything
    off: Any = {key: True}
    assert wiring.obeyed(Config(**off)) == everything & ~directive


def test_rel_can_be_switched_off(tmp_path: Path) -> None:
    """A page's own nofollow can, too; each alone."""
    link, meta = b"<a rel=ugc href=/x>", b"<meta name=larbin content=nofollow><a href=/x>"
    for keys, body, count in [
        ({}, link, 0),
        ({"ignore_rel": True}, link, 1),
        ({"ignore_nofollow": True}, link, 0),
        ({}, meta, 0),
        ({"ignore_rel": True}, meta, 0),
        ({"ignore_nofollow": True}, meta, 1),
    ]:
        start_ = start(tmp_path, **keys)
        reading = wiring.make_reader(start_, wiring.make_links(start_)).read(page(body=body))
        assert reading.links is not None
        assert reading.links.counts == [count]


def test_limits_reach_the_reader(tmp_path: Path) -> None:
    """Sizes and redirections."""
    start_ = start(tmp_path, max_page_size_bytes=40, max_redirects=0)
    reader = wiring.make_reader(start_, wiring.make_links(start_))
    limit = start_.config.max_decoded_bytes
    assert reader.read(page(body=bytes(limit))).is_good
    assert reader.read(page(body=bytes(limit + 1))).parsed.outcome == Outcome.TOO_BIG
    moved = page(outcome=Outcome.ERR_30X, headers=b"Location: /x\r\n\r\n")
    assert reader.read(moved).parsed.filtered == {Filtered.REDIRECTS: 1}
