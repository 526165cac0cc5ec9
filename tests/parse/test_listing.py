"""Which documents list links, and what they list."""

from __future__ import annotations

import gzip

import pytest

from larbinpy.parse import decode, listing
from larbinpy.parse.listing import Lists
from tests.reference.linkbuffers import read_found

ALL = Lists.SITEMAPS | Lists.FEEDS | Lists.PLAIN
XML = b"application/xml"
SITEMAP = b"<urlset><url><loc>http://a.test/1</loc></url></urlset>"
RSS = b"<rss><channel><link>http://a.test/2</link></channel></rss>"
ATOM = b"<feed xml:base='/x/'><link href='3'/></feed>"
OTHER = b"<doc href='4'><link>5</link></doc>"


def values(found: listing.Listing | None) -> list[bytes]:
    assert found is not None
    return [value for _, _, _, value in read_found(found.links)]


@pytest.mark.parametrize(
    ("body", "lists", "expected"),
    [
        (SITEMAP, Lists.SITEMAPS, [b"http://a.test/1"]),
        (SITEMAP, Lists.FEEDS, None),
        (RSS, Lists.FEEDS, [b"http://a.test/2"]),
        (RSS, Lists.SITEMAPS, None),
        (ATOM, Lists.FEEDS, [b"3"]),
        (b"<rdf:RDF><item><link>6</link></item></rdf:RDF>", Lists.FEEDS, [b"6"]),
        (OTHER, Lists.SITEMAPS | Lists.FEEDS, None),
        (OTHER, ALL, [b"4"]),
        (b"", ALL, []),
    ],
)
def test_the_root_says_what_it_is(body: bytes, lists: Lists, expected: list[bytes] | None) -> None:
    """Only what is asked for is read; any XML with PLAIN."""
    found = listing.read(body, XML, XML, lists)
    assert (found if expected is None else values(found)) == expected


@pytest.mark.parametrize("mime", [b"text/html", b"image/svg+xml", b"", b"application/gzip"])
def test_other_types_are_not_looked_into(mime: bytes) -> None:
    """What is said to be something else is no list."""
    assert listing.read(SITEMAP, mime, mime, ALL) is None


def test_texts_are_read_with_plain_only() -> None:
    """Absolute URLs in a text are links where plainLinks says so."""
    text = b"see http://a.test/1."
    assert listing.read(text, b"text/plain", b"text/plain", Lists.SITEMAPS | Lists.FEEDS) is None
    assert values(listing.read(text, b"text/plain", b"text/plain", ALL)) == [b"http://a.test/1"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SITEMAP, [b"http://a.test/1"]),
        (b"\n\n" + SITEMAP, [b"http://a.test/1"]),
        (b"\xef\xbb\xbf" + SITEMAP, [b"http://a.test/1"]),
        (SITEMAP.decode().encode("utf-16"), [b"http://a.test/1"]),
        (RSS, [b"http://a.test/2"]),
        (b"http://a.test/1\r\nhttp://a.test/2\r\n", [b"http://a.test/1", b"http://a.test/2"]),
        (b"\xef\xbb\xbfhttp://a.test/1", [b"http://a.test/1"]),
        (b"<html><a href=x>not found</a>", None),
        (OTHER, None),
        (b"not found", None),
        (b"", None),
    ],
)
def test_a_sitemap_in_every_form(body: bytes, expected: list[bytes] | None) -> None:
    """XML or lines, whatever its type says; a page that says "not found" is none."""
    found = listing.read_sitemap(body, b"text/html")
    assert (found if expected is None else values(found)) == expected


def test_an_index_is_told_from_a_sitemap() -> None:
    """What an index lists are sitemaps."""
    index = SITEMAP.replace(b"urlset", b"sitemapindex")
    found = [listing.read_sitemap(body, b"") for body in (SITEMAP, index)]
    assert [(one.is_sitemap, one.is_index) for one in found if one] == [(True, False), (True, True)]


def test_the_encoding_of_xml() -> None:
    """The header goes before the declaration; XML that says nothing is in UTF-8."""
    declared = b'<?xml version="1.0" encoding="iso-8859-1"?><urlset><loc>\xe9</loc></urlset>'
    assert values(listing.read_sitemap(declared, b"text/xml")) == ["é".encode()]
    assert values(listing.read_sitemap(declared, b"text/xml; charset=koi8-r")) == ["И".encode()]
    plain = "<urlset><loc>é</loc></urlset>".encode()
    assert values(listing.read_sitemap(plain, b"text/xml")) == ["é".encode()]


def test_gzip_files_are_unpacked() -> None:
    """Also in two members; what a server has unpacked already stays as it is."""
    packed = gzip.compress(SITEMAP[:20]) + gzip.compress(SITEMAP[20:])
    for body in (packed, SITEMAP):
        found = listing.gunzip(decode.Decoded(body), 1000)
        assert (found.body, found.is_truncated, found.is_too_big) == (SITEMAP, False, False)


def test_a_gzip_bomb_ends_at_the_limit() -> None:
    """A kilobyte may stand for a megabyte; no more than the limit is made of it."""
    bomb = gzip.compress(SITEMAP + b" " * (1 << 20))
    found = listing.gunzip(decode.Decoded(bomb), 1000)
    assert (len(found.body), found.is_too_big) == (1000, True)
