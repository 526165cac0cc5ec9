"""The filter's settings as a configuration gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.links.filters import make_filter
from larbinpy.records import Filtered
from tests.reference.linkbuffers import resolved

if TYPE_CHECKING:
    from larbinpy._native.linkfilter import LinkFilter

URLS = [b"http://a.fr/x.html", b"http://a.fr/x.zip", b"http://a.fr/?q", b"http://b.com/"]


def refused(known: LinkFilter) -> dict[int, int]:
    """What is refused of the URLs above on a page of ``a.fr``."""
    links = b"".join(resolved(url).pack() for url in URLS)
    return known.run(links, host=b"a.fr", depth=0, left=5).filtered


def test_defaults_are_larbins() -> None:
    """Anything goes but programs."""
    known = make_filter(key=bytes(16), shards=1, domain_of=lambda host: host)
    assert refused(known) == {Filtered.CGI: 1}


def test_settings_are_text_or_bytes() -> None:
    """Suffixes and hosts come as the configuration holds them."""
    known = make_filter(
        key=bytes(16),
        shards=2,
        domain_of=lambda host: host,
        cgi=True,
        forbidden=[".ZIP"],
        domains=[".fr", b".com"],
        sites={"a.fr"},
    )
    assert refused(known) == {Filtered.EXTENSION: 1, Filtered.OUT_SITE: 1}


def test_suffixes_are_ascii() -> None:
    """URLs are, so nothing else could match."""
    with pytest.raises(ValueError, match="ascii"):
        make_filter(key=bytes(16), shards=1, domain_of=lambda host: host, domains=[".é"])
