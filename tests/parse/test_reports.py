"""What users of other crawlers reported of pages, links and bodies; the number names the report."""

from __future__ import annotations

import gzip
import time
import zlib
from typing import Any

import pytest

from larbinpy._native.linkfilter import LinkFilter
from larbinpy.parse import headers
from larbinpy.parse.charset import find_encoding
from larbinpy.parse.decode import decode
from larbinpy.parse.page import PageReader
from larbinpy.records import PAGE_TRUNCATED, Filtered, Outcome
from tests.records import HTML, page
from tests.reference.linkbuffers import read_links

AT = b"http://a.test/dir/page"


def read(body: bytes, **more: Any) -> tuple[Outcome, list[bytes], dict[int, int]]:
    """Outcome, links and refused links of a page at ``AT``."""
    links = LinkFilter(key=bytes(16), shards=1, domain_of=lambda host: host, cgi=True)
    reader = PageReader(links, accept=(b"text/html",), max_redirects=3, max_bytes=1 << 20)
    reading = reader.read(page(AT, body, **more))
    found = read_links(reading.links.entries[0]) if reading.links else []
    return reading.parsed.outcome, [link.url for link in found], reading.parsed.filtered


def links(body: bytes) -> list[bytes]:
    return read(body)[1]


# --- links ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        (b"<base href=/x/>", b"http://a.test/x/y"),
        (b"<base href='mailto:z'>", b"http://a.test/dir/y"),
        (b"<base href='data:,'>", b"http://a.test/dir/y"),
        (b"<base target=t><base href=/1/><base href=/2/>", b"http://a.test/1/y"),
    ],
)
def test_base_is_relative_to_the_document(base: bytes, expected: bytes) -> None:
    """heritrix3#208, Norconex#312: relative ones count, the first one, and no other scheme."""
    assert links(base + b"<a href=y>") == [expected]


def test_refresh_uses_the_base() -> None:
    """scrapy#7042: a meta refresh is a link like any other."""
    body = b"<base href=/x/><meta http-equiv=refresh content='0; url=y'>"
    assert links(body) == [b"http://a.test/x/y"]


def test_long_attributes_are_not_cut() -> None:
    """heritrix3#697, #733: too long a URL is refused as a whole, and takes no time."""
    fits, too_long = b"/" + b"a" * 2060, b"/" + b"b" * 3000
    outcome, found, filtered = read(b"<a href=%b><a href=%b>" % (fits, too_long))
    assert (outcome, found) == (Outcome.SUCCESS, [b"http://a.test" + fits])
    assert filtered == {Filtered.TOO_LONG: 1}


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        (b"/%E2%82%AC", b"/%E2%82%AC"),
        (b"/100%", b"/100%"),
        ("/é".encode(), b"/%C3%A9"),
        (b"?a=1&amp;b=2", b"/dir/page?a=1&b=2"),
        (b"?&amp;amp;p=2", b"/dir/page?&amp;p=2"),
    ],
)
def test_escapes_are_made_once(href: bytes, expected: bytes) -> None:
    """stormcrawler#118, crawler-commons#263, httrack#516, Norconex#28: nothing grows."""
    found = links(b"<a href='%b'>" % href)
    assert found == [b"http://a.test" + expected]
    again = links(b"<a href='%b'>" % found[0].replace(b"&", b"&amp;"))
    assert again == found


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        (b"http://%61.test/", b"http://a.test/"),
        (b"http://b.test:8080/x", b"http://b.test:8080/x"),
        (b"http://under_score.test/", b"http://under_score.test/"),
        (b"http://b.test/\x0bc", b"http://b.test/%0Bc"),
    ],
)
def test_hosts_and_ports_are_kept(href: bytes, expected: bytes) -> None:
    """crawler-commons#303, NUTCH-2858, heritrix3#718, scrapy#4330, httrack#1005."""
    assert links(b"<a href='%b'>" % href) == [expected]


@pytest.mark.parametrize(
    "href",
    [
        b"http://[email=%22info/",
        b"http://a.test:105579/",
        b"http://xn--%b/" % (b"a" * 5000),
        b"http://[::1/",
        b"http://a b.test/",
    ],
)
def test_what_is_no_url_is_skipped_alone(href: bytes) -> None:
    """wpull#442, httrack#620, cpython#98433: other links of the page are found, and soon."""
    start_s = time.process_time()
    outcome, found, filtered = read(b"<a href='%b'><a href=z>" % href)
    assert (outcome, found) == (Outcome.SUCCESS, [b"http://a.test/dir/z"])
    assert filtered == {Filtered.INVALID: 1}
    assert time.process_time() - start_s < 1  # takes a millisecond


@pytest.mark.parametrize(
    "body", [b"<svg><template>\n", b"<svg><template></svg>", b"<math><template><a href=x>"]
)
def test_templates_in_foreign_content_harm_nobody(body: bytes) -> None:
    """selectolax#91: no tree, no crash."""
    assert read(body)[0] == Outcome.SUCCESS


@pytest.mark.parametrize("piece", [b"<a href='", b"<<a ", b"<!--", b"<svg>", b"&", b"<a b=", b"</"])
def test_malformed_pages_take_linear_time(piece: bytes) -> None:
    """heritrix3#172: a megabyte of it takes milliseconds."""
    start_s = time.process_time()
    read(piece * ((1 << 20) // len(piece)))
    assert time.process_time() - start_s < 2


# --- charsets ------------------------------------------------------------------------------------


def test_header_and_meta_are_not_overruled() -> None:
    """stormcrawler#438, crawlee#2317: what is declared goes before any guess."""
    russian = "<meta charset=koi8-r><p>Съешь же ещё этих мягких булок".encode("cp1251")
    assert find_encoding(b"", russian) == ("KOI8-R", "meta")
    assert find_encoding(b"text/html; charset=cp866", russian) == ("IBM866", "header")


def test_a_charset_in_a_script_is_not_believed() -> None:
    """symfony#65519: only a meta declares."""
    body = b"<script>s = 'charset=koi8-r'; t = '<meta charset=koi8-r>'</script>" + b" " * 1100
    late = b" " * 1100 + body
    assert find_encoding(b"", b"<script>s='charset=koi8-r'</script>") == ("windows-1252", "none")
    assert find_encoding(b"", late) == ("windows-1252", "none")


def test_a_header_line_without_colon_is_passed_over() -> None:
    """scrapy#210: the others count."""
    block = b"garbage\r\nContent-Type: text/html\r\n\r\n"
    assert headers.field(block, b"content-type") == b"text/html"


# --- bodies --------------------------------------------------------------------------------------


def test_the_cap_is_on_what_is_unpacked() -> None:
    """colly#886, curl#21581: a kilobyte that stands for a megabyte ends at the cap."""
    packed = HTML.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    assert read(gzip.compress(bytes(2 << 20)), headers=packed)[0] == Outcome.TOO_BIG


def test_bytes_behind_a_deflate_body_are_ignored() -> None:
    """scrapy#7841: they neither hang nor flag."""
    for tail in (b"x", bytes(100), zlib.compress(b"more")):
        found = decode(zlib.compress(b"page") + tail, b"deflate")
        assert (found.body, found.is_truncated) == (b"page", False)


def test_gzip_that_is_none_is_the_page() -> None:
    """httrack#515: the page is kept, with its links."""
    packed = HTML.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    outcome, found, _ = read(b"<a href=x>", headers=packed)
    assert (outcome, found) == (Outcome.SUCCESS, [b"http://a.test/dir/x"])


def test_a_cut_page_is_no_success() -> None:
    """browsertrix-crawler#831, httrack#840: it says so, and its links are followed."""
    outcome, found, _ = read(b"<a href=x><a hre", flags=PAGE_TRUNCATED)
    assert (outcome, found) == (Outcome.TRUNCATED, [b"http://a.test/dir/x"])
