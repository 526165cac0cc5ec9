"""URLs are read as the configuration wants."""

from __future__ import annotations

from typing import Any

import pytest

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy.config import Config
from larbinpy.links.found import found_link


def test_the_url_mode() -> None:
    """Seeds and links are read in the same way."""
    assert wiring.base_maker(Config(url_mode="larbin")) is urls.LarbinBase
    assert wiring.url_parser(Config(url_mode="larbin")) is urls.parse_larbin
    assert wiring.url_parser(Config()) is urls.parse


@pytest.mark.parametrize(
    ("key", "url", "expected"),
    [
        ("ignore_trailing_slash", b"/a/", b"/a"),
        ("ignore_index", b"/index.html", b"/"),
        ("sort_query", b"/?b&a", b"/?a&b"),
        ("drop_session_ids", b"/;jsessionid=1", b"/"),
        ("drop_tracking", b"/?gclid=1", b"/"),
    ],
)
def test_urls_that_are_taken_for_one(key: str, url: bytes, expected: bytes) -> None:
    """Each key does what it says, and nothing is done without."""
    host = b"http://a.test"
    plain = wiring.base_maker(Config())(host)
    on: Any = {key: True}
    assert urls.resolve(plain, found_link(1, url))[urls.ITEM_BYTES :] == host + url
    base = wiring.base_maker(Config(**on))(host)
    assert urls.resolve(base, found_link(1, url))[urls.ITEM_BYTES :] == host + expected
