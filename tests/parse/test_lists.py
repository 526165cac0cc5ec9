"""Sitemaps and feeds on their way: what they end as, and where their links lead."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy._native.linkfilter import LinkFilter
from larbinpy.parse.listing import Lists
from larbinpy.parse.lists import MAX_HOPS, ListReader
from larbinpy.parse.page import PageReader
from larbinpy.records import PAGE_TRUNCATED, Filtered, Kind, Outcome
from larbinpy.url import Base
from tests.records import page
from tests.reference.linkbuffers import Link, read_links

if TYPE_CHECKING:
    from larbinpy.records import Reading

ROBOTS = b"http://a.test/robots.txt"
XML = b"Content-Type: application/xml\r\n\r\n"
MOVED = b"HTTP/1.1 301 Moved\r\nLocation: %b\r\n\r\n"
INDEX = b"<sitemapindex><sitemap><loc>%b</loc></sitemap></sitemapindex>"
ALL = Lists.SITEMAPS | Lists.FEEDS


def urlset(*urls: bytes) -> bytes:
    return b"<urlset>" + b"".join(b"<loc>%b</loc>" % url for url in urls) + b"</urlset>"


def reader(
    lists: Lists = ALL,
    *,
    accept: tuple[bytes, ...] = (b"text/html",),
    max_sitemaps: int = 0,
    **more: Any,
) -> PageReader:
    """A reader with real kernels; ``more``: settings of the link filter."""
    links = LinkFilter(key=bytes(16), shards=1, domain_of=lambda host: host, **more)
    of_lists = ListReader(
        links, lists, max_bytes=1 << 20, make_base=Base, max_sitemaps=max_sitemaps
    )
    return PageReader(links, accept=accept, max_redirects=3, max_bytes=1 << 20, lists=of_lists)


def sitemap(body: bytes, *, using: PageReader | None = None, **more: Any) -> Reading:
    """What is made of the answer for ``http://a.test/s/map``, named by the robots.txt of a.test."""
    fields = {"kind": Kind.SITEMAP, "via": ROBOTS, "headers": XML, **more}
    url = fields.pop("url", b"http://a.test/s/map")
    return (using or reader()).read(page(url, body, **fields))


def found(reading: Reading) -> list[Link]:
    assert reading.links is not None
    return read_links(reading.links.entries[0])


def urls(reading: Reading) -> list[bytes]:
    return [link.url for link in found(reading)]


# --- robots.txt ----------------------------------------------------------------------------------


def robots(text: bytes, *, using: PageReader | None = None, **more: Any) -> Reading:
    fields = {"kind": Kind.ROBOTS, "tag": b"http://a.test:80", **more}
    return (using or reader()).read_robots(page(ROBOTS, text, **fields))


def test_sitemaps_of_robots_are_followed() -> None:
    """Each line is a link of the kind sitemap, on whatever host; it costs no depth."""
    reading = robots(
        b"Sitemap: http://a.test/1.xml.gz\nUser-agent: x\nsitemap: https://b.test/2?q\n"
    )
    links = found(reading)
    assert [link.url for link in links] == [b"http://a.test/1.xml.gz", b"https://b.test/2?q"]
    assert {(link.kind, link.depth, link.left, link.hops) for link in links} == {(2, 0, 5, 0)}
    assert (reading.via, reading.body[:7]) == (ROBOTS, b"Sitemap")


def test_few_sitemaps_count_of_many() -> None:
    """Of a robots.txt and of an index, not of a sitemap; the others are counted as refused."""
    few = reader(max_sitemaps=2)
    urls_ = [b"http://a.test/%d" % n for n in range(5)]
    of_robots = robots(b"".join(b"Sitemap: %b\n" % url for url in urls_), using=few)
    of_index = sitemap(urlset(*urls_).replace(b"urlset", b"sitemapindex"), using=few)
    for reading in (of_robots, of_index):
        assert urls(reading) == urls_[:2]
        assert reading.parsed.links == 5
        assert reading.parsed.filtered == {Filtered.LINKS_PER_PAGE: 3}
    assert urls(sitemap(urlset(*urls_), using=few)) == urls_


def test_a_moved_robots_txt_speaks_for_the_host_that_was_asked() -> None:
    """Its sitemaps are found through the robots.txt of that host."""
    text = b"Sitemap: /map"
    reading = reader().read_robots(
        page(b"http://b.test/r", text, kind=Kind.ROBOTS, tag=b"https://a.test:443")
    )
    assert (urls(reading), reading.via) == ([b"http://b.test/map"], b"https://a.test/robots.txt")


@pytest.mark.parametrize("status", [404, 503])
def test_an_error_page_names_no_sitemaps(status: int) -> None:
    """Only a file that is there counts."""
    assert robots(b"Sitemap: /map", status=status).links is None


def test_sitemaps_are_found_only_when_asked_for() -> None:
    """Without useSitemaps no line is followed."""
    assert robots(b"Sitemap: /map", using=reader(Lists.FEEDS)).links is None


def test_sitemaps_stay_in_scope() -> None:
    """limitToDomain holds; forbidden extensions and getCGI do not, for it is no page."""
    using = reader(domains=[b"a.test"], forbidden=[b".gz"])
    reading = robots(b"Sitemap: /1.gz?x\nSitemap: http://b.test/2\n", using=using)
    assert urls(reading) == [b"http://a.test/1.gz?x"]
    assert reading.parsed.filtered == {Filtered.OUT_SITE: 1}


# --- sitemaps ------------------------------------------------------------------------------------


def test_urls_of_a_sitemap_are_pages() -> None:
    """One deeper than what led to the sitemap; the sitemap itself is no page and is not kept."""
    reading = sitemap(urlset(b"http://a.test/1", b"http://a.test/2"))
    assert {(link.kind, link.depth, link.left) for link in found(reading)} == {(0, 1, 4)}
    parsed = reading.parsed
    assert (parsed.outcome, parsed.links, reading.mime) == (
        Outcome.LINK_LIST,
        2,
        b"application/xml",
    )
    assert not reading.is_good
    assert not any(parsed.digest)


def test_a_sitemap_lists_its_own_host_and_the_one_that_names_it() -> None:
    """By its protocol; all others are out of site, and pages of both schemes are one host's."""
    body = urlset(b"http://a.test/1", b"https://c.test/2", b"http://b.test/3")
    reading = sitemap(body, url=b"http://c.test/map")
    assert urls(reading) == [b"http://a.test/1", b"https://c.test/2"]
    assert reading.parsed.filtered == {Filtered.OUT_SITE: 1}
    reading = sitemap(body, url=b"http://c.test/map", via=b"http://b.test/page")
    assert urls(reading) == [b"https://c.test/2"]


def test_pages_of_a_sitemap_elsewhere_are_internal() -> None:
    """noExternalLinks is about the host whose robots.txt names the sitemap."""
    body = urlset(b"http://a.test/1", b"http://c.test/2")
    reading = sitemap(body, using=reader(external=False), url=b"http://c.test/map")
    assert urls(reading) == [b"http://a.test/1"]


def test_an_index_leads_to_sitemaps() -> None:
    """Each is a hop further, found through the same robots.txt, at the same depth."""
    reading = sitemap(INDEX % b"http://a.test/2.xml", hops=1, depth=3)
    (link,) = found(reading)
    assert (link.kind, link.hops, link.depth, link.left) == (Kind.SITEMAP, 2, 3, 5)
    assert reading.via == ROBOTS


def test_endless_indexes_end() -> None:
    """After so many indexes nothing is followed, and that is counted."""
    reading = sitemap(INDEX % b"http://a.test/2.xml", hops=MAX_HOPS)
    assert reading.links is None
    assert (reading.parsed.links, reading.parsed.filtered) == (1, {Filtered.REDIRECTS: 1})


def test_a_moved_sitemap_is_still_one() -> None:
    """A redirection keeps the kind, and the robots.txt that speaks for it."""
    reading = sitemap(b"", outcome=Outcome.ERR_30X, status=301, headers=MOVED % b"/map2")
    (link,) = found(reading)
    assert (link.url, link.kind, link.hops) == (b"http://a.test/map2", Kind.SITEMAP, 1)
    assert reading.via == ROBOTS


def test_a_page_in_place_of_a_sitemap_is_none() -> None:
    """A "not found" with status 200 ends as badType, and its links are not followed."""
    reading = sitemap(b"<html><a href=/x>home</a>", headers=b"Content-Type: text/html\r\n\r\n")
    assert (reading.parsed.outcome, reading.links) == (Outcome.BAD_TYPE, None)


def test_gzip_once_twice_or_not_at_all() -> None:
    """A .gz file, the same in a content encoding, and one that the server has unpacked."""
    plain = urlset(b"http://a.test/1")
    packed = gzip.compress(plain)
    encoded = b"Content-Encoding: gzip\r\n\r\n"
    for body, head in ((packed, XML), (gzip.compress(packed), encoded), (packed, encoded)):
        reading = sitemap(body, headers=head)
        assert (reading.parsed.outcome, urls(reading)) == (Outcome.LINK_LIST, [b"http://a.test/1"])
        assert reading.parsed.body_bytes == len(plain)


def test_a_gzip_bomb_is_bounded() -> None:
    """50 KB that stand for 40 MB: what lies within the limit is read, and the outcome says so."""
    bomb = gzip.compress(urlset(b"http://a.test/1")[:-9] + b" " * (40 << 20))
    reading = sitemap(bomb)
    assert (reading.parsed.outcome, reading.parsed.body_bytes) == (Outcome.TOO_BIG, 1 << 20)
    assert reading.parsed.reason == b"decoded body over the limit"
    assert urls(reading) == [b"http://a.test/1"]


def test_a_cut_sitemap_gives_what_it_has() -> None:
    """Whole URLs before the cut are followed; the outcome tells."""
    body = urlset(b"http://a.test/1", b"http://a.test/2")[:-20]
    reading = sitemap(body, flags=PAGE_TRUNCATED)
    assert (reading.parsed.outcome, urls(reading)) == (Outcome.TRUNCATED, [b"http://a.test/1"])


@pytest.mark.parametrize("size", [-1, -5, -16])
def test_the_last_line_of_a_cut_sitemap_may_be_half_a_url(size: int) -> None:
    """Only the lines that have ended are followed, whatever cut it."""
    text = b"http://a.test/1\nhttp://a.test/23\n"
    for reading in (
        sitemap(text[:size], flags=PAGE_TRUNCATED),
        sitemap(gzip.compress(text[:size])[:-1]),
        sitemap(gzip.compress(text[:size]), headers=b"Content-Encoding: gzip\r\n\r\n",
                flags=PAGE_TRUNCATED),
    ):  # fmt: skip
        assert reading.parsed.outcome == Outcome.TRUNCATED
        assert urls(reading) == [b"http://a.test/1"]
    assert urls(sitemap(text[:-1])) == [b"http://a.test/1", b"http://a.test/23"]


def test_more_urls_than_the_protocol_allows_are_counted() -> None:
    """50,000 of a sitemap count, or linksPerPage."""
    body = urlset(*(b"http://a.test/%d" % n for n in range(12)))
    reading = sitemap(body, using=reader(links_per_page=10))
    assert (reading.parsed.links, len(found(reading))) == (12, 10)
    assert reading.parsed.filtered == {Filtered.LINKS_PER_PAGE: 2}


# --- feeds and other documents -------------------------------------------------------------------


def linked(body: bytes, **more: Any) -> Reading:
    fields = {"headers": b"Content-Type: application/rss+xml\r\n\r\n", **more}
    using = fields.pop("using", None) or reader()
    return using.read(page(b"http://a.test/x/feed", body, **fields))


def test_a_feed_is_followed_like_a_page() -> None:
    """Its links are those of a page, to all hosts; it is not one itself."""
    reading = linked(b"<rss><link>http://b.test/</link><item><link>1</link></item></rss>")
    assert urls(reading) == [b"http://b.test/", b"http://a.test/x/1"]
    assert (reading.parsed.outcome, reading.is_good) == (Outcome.LINK_LIST, False)


def test_links_of_a_feed_are_relative_to_its_base() -> None:
    """xml:base of each element around a link counts (RFC 4287, section 2)."""
    reading = linked(
        b"<feed xml:base='../y/'><link href='1'/>"
        b"<entry xml:base='z/'><link href='2'/><link xml:base='/&amp;/' href='3'/></entry>"
        b"<entry xml:base='http://b.test/'><link>4</link></entry><link href='5'/>"
        b"<entry xml:base='mailto:x'><link href='6'/></entry></feed>"
    )
    assert urls(reading) == [
        b"http://a.test/y/1", b"http://a.test/y/z/2", b"http://a.test/&/3", b"http://b.test/4",
        b"http://a.test/y/5", b"http://a.test/y/6",
    ]  # fmt: skip


def test_a_feed_is_a_page_where_its_type_is_accepted() -> None:
    """Then it is stored like one, and its links are followed all the same."""
    reading = linked(b"<rss><link>1</link></rss>", using=reader(accept=()))
    assert (reading.parsed.outcome, urls(reading)) == (Outcome.SUCCESS, [b"http://a.test/x/1"])


def test_a_sitemap_that_a_page_links_to() -> None:
    """It may list its own host only: nobody's robots.txt speaks for it."""
    body = urlset(b"http://a.test/1", b"http://b.test/2")
    reading = linked(body, headers=XML, via=ROBOTS)
    assert urls(reading) == [b"http://a.test/1"]


def test_the_last_word_of_a_cut_text_may_be_half_a_url() -> None:
    """A text that a page links to; with plainLinks."""
    head: dict[str, Any] = {
        "headers": b"Content-Type: text/plain\r\n\r\n", "using": reader(Lists.PLAIN),
    }  # fmt: skip
    text = b"http://a.test/1 http://a.test/2"
    assert urls(linked(text, **head)) == [b"http://a.test/1", b"http://a.test/2"]
    assert urls(linked(text, flags=PAGE_TRUNCATED, **head)) == [b"http://a.test/1"]
    assert urls(linked(b"http://a.test/1", flags=PAGE_TRUNCATED, **head)) == []
    head["headers"] = b"Content-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n"
    assert urls(linked(gzip.compress(text)[:-1], **head)) == [b"http://a.test/1"]


def test_other_xml_is_of_no_type() -> None:
    """Unless plainLinks is on."""
    body = b"<doc><a href='1'/></doc>"
    assert linked(body, headers=XML).parsed.outcome == Outcome.BAD_TYPE
    reading = linked(body, headers=XML, using=reader(Lists.PLAIN))
    assert (reading.parsed.outcome, urls(reading)) == (Outcome.LINK_LIST, [b"http://a.test/x/1"])
