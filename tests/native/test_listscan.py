"""The scanner of sitemaps, feeds and texts against its oracle, on soup; and its rules."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import listscan
from tests.reference import listscan as reference
from tests.reference.linkbuffers import read_found
from tests.reference.listscan import fields

if TYPE_CHECKING:
    from collections.abc import Callable

PIECES = [
    *b"<loc> </loc> <image:loc> </image:loc> <link> </link> <link/> <LINK> <guid> </guid>".split(),
    *b"<urlset> </urlset> <rss> <feed> <a:b:loc> <!-- --> <![CDATA[ ]]> <? ?> <! > [ ]".split(),
    b"<link href='http://h/1' rel=alternate>", b'<link href="/2" rel=" enclosure ">',
    b"<atom:link href=/3/>", b'<guid isPermaLink="false">', b"<guid isPermaLink=true>",
    b"<x src=s href=h>", b"<feed xml:base='http://b/'>", b"<rss XML:BASE=&#98;>", b"</rss>",
    b"<link href=4 xml:base=c />", b"<link xml:base=''>", b"</feed>",
    b"<!DOCTYPE x [<!ENTITY a '>'>]>",
    b"http://u/", b"HTTPS://v/?a=1&amp;b", b"&#47;", b"&#x2f;", b"&#0;", b"&#1114112;", b"&#xD800;",
    b"&lt;", b"&copy;", b"&amp", b"&", b"&#;", b"&#x;", b"&#00000000047;", b"'", b'"', b"=", b"/",
    b"<", b">", b" ", b"\n", b"\r", b"\0", b"\x0b", b"\xe9", b"\xc3\xa9", b"\xff", b"(", b").",
]  # fmt: skip
soup = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=30).map(b"".join)
limits = st.sampled_from([0, 1, 3, 50_000])


def values(found: listscan.Listing) -> list[bytes]:
    """The values that were found."""
    return [value for _, _, _, value in read_found(found.links)]


@settings(max_examples=500, deadline=None)
@given(soup, limits, st.booleans())
def test_xml_soup_equals_reference(text: bytes, max_links: int, every: bool) -> None:
    """Whatever the bytes, kernel and oracle agree in every field."""
    expected = reference.scan_xml(text, max_links, every)
    found = listscan.scan_xml(text, max_links, every, details=True)
    assert fields(expected) == fields(found)  # type: ignore[arg-type]
    assert expected.details == found.details
    assert listscan.scan_xml(text, max_links, every).details == []


@settings(max_examples=300, deadline=None)
@given(soup, limits)
def test_text_soup_equals_reference(text: bytes, max_links: int) -> None:
    """The same for lines and for texts."""
    for name in ("scan_lines", "scan_text"):
        expected = getattr(reference, name)(text, max_links)
        assert fields(expected) == fields(getattr(listscan, name)(text, max_links))


# --- rules ----------------------------------------------------------------------------------------


def test_a_sitemap() -> None:
    """The text of each loc counts, blanks cut off, references decoded, with any prefix."""
    text = (
        b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        b"<url><loc>\n http://a.test/?x=1&amp;y=2 </loc><priority>1</priority></url>"
        b"<s:url><s:loc><![CDATA[http://a.test/b&c]]></s:loc></s:url></urlset>"
    )
    found = listscan.scan_xml(text)
    assert found.root == b"urlset"
    assert values(found) == [b"http://a.test/?x=1&y=2", b"http://a.test/b&c"]


def test_images_of_a_sitemap_are_images() -> None:
    """image:loc is listed as an img, so that getImage decides."""
    text = b"<urlset><loc>http://a.test/1</loc><image:loc>http://a.test/2</image:loc></urlset>"
    assert [link[0] for link in read_found(listscan.scan_xml(text).links)] == [1, 7]


def test_an_rss_feed() -> None:
    """The text of link, and guid where it is a permanent link."""
    text = (
        b"<rss><channel><link>http://a.test/</link><item><link>/1</link>"
        b'<guid isPermaLink="false">http://a.test/no</guid></item>'
        b"<item><guid>http://a.test/2</guid></item><item><guid>2026-11-30</guid></item>"
    )
    assert values(listscan.scan_xml(text)) == [b"http://a.test/", b"/1", b"http://a.test/2"]


def test_an_atom_feed() -> None:
    """The href of link, but not of media."""
    text = (
        b'<feed><link rel="self" href="feed"/>'
        b"<entry><link href='1'/><link rel='enclosure' href='a.mp3'/><id>no</id></entry></feed>"
    )
    found = listscan.scan_xml(text)
    assert found.root == b"feed"
    assert values(found) == [b"feed", b"1"]


HEAD = 8
"""Bytes before the value of a link."""


def test_bases_are_told_where_they_change() -> None:
    """A row for each that begins before a link, and one where only some end."""
    text = (
        b"<feed xml:base='a'><entry xml:base='&#98;'><link href=1 /><link href=2 /></entry>"
        b"<entry xml:base='c'></entry><link href=3 /><entry xml:base=''><link>4</link></entry>"
    )
    at = HEAD + 1
    assert listscan.scan_xml(text).bases == [
        (0, 0, b"a"), (0, 1, b"b"), (2 * at, 1, None), (3 * at, 1, b""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"<r xml:base=a><r><r/></r><x href=1></r><x href=2>", [(0, 0, b"a"), (9, 0, None)]),
        (
            b"<p xml:base=a><q xml:base=b><i href=1></p><i href=2>",
            [(0, 0, b"a"), (0, 1, b"b"), (9, 0, None)],
        ),
        (b"<p xml:base=a/></q></r><i href=1>", [(0, 0, b"a/")]),
        (b"<p xml:base=a /><i href=1>", []),
    ],
)
def test_an_end_tag_ends_its_element_and_all_in_it(
    text: bytes, expected: list[tuple[int, int, bytes | None]]
) -> None:
    """What is not well-formed loses a base and nothing else."""
    assert listscan.scan_xml(text, every=True).bases == expected


def test_bases_that_are_too_deep_are_passed_over() -> None:
    """Their number is bounded, whatever a document nests."""
    text = b"".join(b"<x%d xml:base=%d/>" % (n, n) for n in range(10)).replace(b"/", b"")
    rows = listscan.scan_xml(text + b"<i href=1>", every=True).bases
    assert rows == [(0, n, b"%d" % n) for n in range(8)]


def test_every_link_of_xml() -> None:
    """With ``every``: href and src of all elements, and texts that are absolute URLs."""
    text = b"<r><a xlink:href='1'/><i src='2'>x</i><t> http://a.test/ </t><t>see http://b/</t></r>"
    assert values(listscan.scan_xml(text, every=True)) == [b"1", b"2", b"http://a.test/"]


def test_entities_do_not_grow() -> None:
    """What a doctype declares is skipped: neither expanded nor loaded."""
    text = (
        b'<!DOCTYPE x [<!ENTITY a "http://a.test/"><!ENTITY b "&a;&a;&a;&a;">'
        b'<!ENTITY c SYSTEM "file:///etc/passwd">]><x><loc>&b;</loc><loc>&c;</loc></x>'
    )
    assert values(listscan.scan_xml(text)) == [b"&b;", b"&c;"]


def test_comments_and_cdata_hold_no_tags() -> None:
    """Nothing in them is an element."""
    text = b"<r><!-- <loc>http://1/</loc> --><![CDATA[<loc>http://2/</loc>]]><loc>3</loc></r>"
    assert values(listscan.scan_xml(text)) == [b"3"]


def test_a_cut_document_keeps_what_was_whole() -> None:
    """A sitemap that ends too early gives the URLs before its end, and no part of one."""
    text = b"<urlset><loc>http://a.test/1</loc><loc>http://a.test/2"
    assert values(listscan.scan_xml(text)) == [b"http://a.test/1"]


def test_links_behind_the_limit_are_counted() -> None:
    """The protocol allows 50,000 URLs in a sitemap."""
    found = listscan.scan_xml(b"<loc>/</loc>" * 50_010)
    assert (found.count, found.dropped) == (50_000, 10)


def test_a_text_sitemap() -> None:
    """A line a URL; what is none is passed over."""
    text = b"\xef\xbb\xbfx\r\n http://a.test/1 \r\nhttps://a.test/2\n/3\nftp://a.test/\n"
    assert values(listscan.scan_lines(text)) == [b"http://a.test/1", b"https://a.test/2"]


def test_urls_in_prose() -> None:
    """URLs end where the text around them goes on."""
    text = (
        b'See http://a.test/1, <https://a.test/2> or (HTTP://a.test/3). xhttp://a.test/4 "http://'
    )
    assert values(listscan.scan_text(text)) == [
        b"http://a.test/1", b"https://a.test/2", b"HTTP://a.test/3", b"http://",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "piece",
    [b"<", b"<a ", b"<!", b"<!--", b"<![CDATA[", b"<?", b"</", b"<a b='", b"<loc>", b"&", b"&#",
     b":", b"http:", b"http://", b"<!DOCTYPE [", b"<a b=", b"<link href=x ", b"</loc", b"\n"],
)  # fmt: skip
@pytest.mark.parametrize("scan", [listscan.scan_xml, listscan.scan_lines, listscan.scan_text])
def test_time_is_linear(piece: bytes, scan: Callable[[bytes], object]) -> None:
    """A megabyte of what never ends is read in far less than a second (it takes about 5 ms)."""
    text = piece * ((1 << 20) // len(piece))
    start = time.process_time()
    scan(text)
    assert time.process_time() - start < 1
