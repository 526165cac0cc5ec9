"""Reading of whole pages."""

from __future__ import annotations

from larbinpy.parse.html import read


def test_a_page_is_read_in_its_encoding() -> None:
    """Links are UTF-8 whatever the page is written in; the title has single spaces."""
    body = b"<meta charset=koi8-r><title>\n a  \xd1 </title><base href=/b/><a href='?\xd1'>x</a>"
    reading = read(body, b"text/html")
    assert (reading.encoding, reading.encoding_from) == ("KOI8-R", "meta")
    assert ("a я".encode(), b"/b/", 2, 0) == (
        reading.title,
        reading.base,
        reading.count,
        reading.dropped,
    )
    assert reading.links.endswith("?я".encode())


def test_links_behind_the_limit_are_counted() -> None:
    """The limit is handed through."""
    reading = read(b"<a href=1><a href=2><a href=3>", b"", 2)
    assert (reading.count, reading.dropped) == (2, 1)


def test_a_meta_may_be_for_us_alone() -> None:
    """By our name instead of robots, in any case; metas for others say nothing."""
    metas = b"<meta name=robots content=a><meta name=LARBIN content=b><meta name=bot content=c>"
    assert (read(metas, b"").robots, read(metas, b"", agent=b"larbin").robots) == (b"a", b"a,b")


def test_xhtml_has_empty_elements() -> None:
    """By its type: browsers read it so, and many sites are written so."""
    body = b'<html><head><script src="x"/></head><body><a href="/y">y</a></body></html>'
    assert b"/y" in read(body, b"application/xhtml+xml; charset=utf-8").links
    assert b"/y" not in read(body, b"text/html; charset=utf-8").links
