"""What a page means: every way it can end, with the real kernels."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest
import xxhash

from larbinpy._native.linkfilter import LinkFilter
from larbinpy.parse.page import PageReader
from larbinpy.parse.robotspage import MAX_ROBOTS_BYTES, robots_reading
from larbinpy.politeness.gate import answer_status
from larbinpy.records import PAGE_TRUNCATED, Directive, Filtered, Kind, Outcome
from larbinpy.url import LarbinBase
from tests.records import page
from tests.reference.linkbuffers import FORCE, Link, read_links

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.records import Page, ParsedPage, Reading

KEY = bytes(range(16))
MOVED = b"HTTP/1.1 301 Moved\r\nLocation: %b\r\n\r\n"


def links_of(shards: int = 1) -> LinkFilter:
    return LinkFilter(key=KEY, shards=shards, domain_of=lambda host: host)


def reader(
    *,
    shards: int = 1,
    max_bytes: int = 1 << 20,
    is_new: Callable[[bytes, int], bool] | None = None,
    accept: tuple[bytes, ...] = (b"text/html",),
) -> PageReader:
    return PageReader(
        links_of(shards), accept=accept, max_redirects=3, max_bytes=max_bytes, is_new=is_new
    )


def found(reading: Reading, shard: int = 0) -> list[Link]:
    assert reading.links is not None
    return read_links(reading.links.entries[shard])


def urls(reading: Reading) -> list[bytes]:
    return [link.url for link in found(reading)]


def fields(**named: str) -> bytes:
    lines = (f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
    return "".join(lines).encode() + b"\r\n"


# --- good pages ------------------------------------------------------------------------------


def test_a_page_gives_its_links() -> None:
    """Resolved against the page, without repetitions; the counts add up."""
    body = b'<a href=one>1</a><a href="http://b.test/#x">2</a><a href=/one>3</a><a href=mailto:x>'
    reading = reader().read(page(b"http://a.test/", body))
    assert urls(reading) == [b"http://a.test/one", b"http://b.test/"]
    parsed = reading.parsed
    assert reading.is_good
    assert (parsed.outcome, parsed.status, parsed.body_bytes) == (Outcome.SUCCESS, 200, len(body))
    assert (parsed.links, parsed.duplicates, parsed.filtered) == (4, 1, {Filtered.SCHEME: 1})
    assert parsed.digest == xxhash.xxh3_128_digest(body)
    assert (reading.mime, reading.body) == (b"text/html", body)


def test_identity_of_a_page_is_carried() -> None:
    """Its id, epoch and status are those that came."""
    parsed = reader().read(page(id=1 << 56 | 3, epoch=9, status=203)).parsed
    assert (parsed.id, parsed.epoch, parsed.status) == (1 << 56 | 3, 9, 203)


def test_links_are_one_deeper() -> None:
    """``depth`` counts up, ``left`` down; with nothing left nothing follows."""
    body = b"<a href=x>"
    (link,) = found(reader().read(page(body=body, depth=3, left=2)))
    assert (link.depth, link.left, link.kind, link.hops) == (4, 1, Kind.PAGE, 0)
    reading = reader().read(page(body=body, depth=5, left=0))
    assert found(reading) == []
    assert reading.parsed.filtered == {Filtered.TOO_DEEP: 1}


def test_links_go_to_their_shards() -> None:
    """Each link is for exactly one, and the counts say how many."""
    body = b"".join(b"<a href=http://h%d.test/>" % number for number in range(40))
    reading = reader(shards=4).read(page(body=body))
    assert reading.links is not None
    by_shard = [found(reading, shard) for shard in range(4)]
    assert [len(part) for part in by_shard] == reading.links.counts
    everything = sorted(link.url for part in by_shard for link in part)
    assert everything == sorted(b"http://h%d.test/" % number for number in range(40))


def test_links_behind_the_limit_are_counted() -> None:
    """``linksPerPage``; the counts still add up."""
    body = b"".join(b"<a href=%d>" % number for number in range(50_010))
    reading = reader().read(page(body=body))
    assert len(found(reading)) == 50_000
    parsed = reading.parsed
    assert (parsed.links, parsed.filtered) == (50_010, {Filtered.LINKS_PER_PAGE: 10})


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        (b"http://c.test/d/", b"http://c.test/d/x"),
        (b"/e/", b"http://a.test/e/x"),
        (b"mailto:nobody", b"http://a.test/x"),
        (b"http://[broken/", b"http://a.test/x"),
    ],
)
def test_base_href(base: bytes, expected: bytes) -> None:
    """Links resolve against it, itself against the page; a bad one is passed over."""
    body = b'<base href="%b"><a href=x>' % base
    assert urls(reader().read(page(b"http://a.test/", body))) == [expected]


def test_queries_are_in_the_encoding_of_the_page() -> None:
    """As browsers do, and the header says which it is."""
    body = '<a href="?ö">'.encode("latin-1")
    headers = fields(Content_Type="text/html; charset=iso-8859-1")
    reading = PageReader(
        LinkFilter(key=KEY, shards=1, domain_of=lambda host: host, cgi=True),
        accept=(),
        max_redirects=0,
    ).read(page(body=body, headers=headers))
    assert urls(reading) == [b"http://a.test/?%F6"]


def test_larbins_urls() -> None:
    """The URL mode decides what links resolve against."""
    larbin = PageReader(links_of(), accept=(), max_redirects=0, make_base=LarbinBase)
    assert urls(larbin.read(page(body=b"<a href=x/../y>"))) == [b"http://a.test/y"]


@pytest.mark.parametrize("mime", ["text/plain", "text/css", "image/png"])
def test_only_html_has_links(mime: str) -> None:
    """Other types that are pages are stored, not read."""
    headers = fields(Content_Type=mime)
    reading = reader(accept=()).read(page(body=b"<a href=x>", headers=headers))
    assert (reading.is_good, reading.links, reading.mime) == (True, None, mime.encode())


@pytest.mark.parametrize("header", ["application/xhtml+xml", "TEXT/HTML;charset=utf-8"])
def test_html_by_its_names(header: str) -> None:
    """Case and parameters do not count."""
    reading = reader(accept=()).read(page(body=b"<a href=x>", headers=fields(Content_Type=header)))
    assert urls(reading) == [b"http://a.test/x"]


def test_a_page_without_a_type_is_read() -> None:
    """A server that says nothing mostly means a page."""
    reading = reader().read(page(body=b"<a href=x>", headers=b"\r\n"))
    assert (reading.mime, urls(reading)) == (b"", [b"http://a.test/x"])


def test_an_empty_page_is_a_page() -> None:
    """No links, no fault."""
    reading = reader().read(page())
    assert (reading.is_good, urls(reading), reading.parsed.body_bytes) == (True, [], 0)


# --- bodies ------------------------------------------------------------------------------------


def test_content_encoding_is_removed() -> None:
    """Size, digest and output are those of the decoded body."""
    body = b"<a href=x>" + b" " * 5000
    headers = fields(Content_Type="text/html", Content_Encoding="gzip")
    reading = reader().read(page(body=gzip.compress(body), headers=headers))
    assert (reading.body, reading.parsed.body_bytes) == (body, len(body))
    assert reading.parsed.digest == xxhash.xxh3_128_digest(body)
    assert urls(reading) == [b"http://a.test/x"]


def test_an_unknown_encoding_is_a_bad_type() -> None:
    """What cannot be decoded is not parsed."""
    headers = fields(Content_Type="text/html", Content_Encoding="rot13")
    reading = reader().read(page(body=b"<a href=x>", headers=headers))
    assert (reading.parsed.outcome, reading.links) == (Outcome.BAD_TYPE, None)


@pytest.mark.parametrize(
    ("coding", "body", "reason"),
    [
        (
            b"rot13" + b"x" * 60_000,
            b"<p>",
            b"cannot be decoded: Content-Encoding rot13" + b"x" * 55,
        ),
        (b"gzip, gzip, br", b"<p>", b"cannot be decoded: Content-Encoding gzip, gzip, br"),
        (b"gzip", gzip.compress(b"<p>")[:-9], b"compressed body cut or broken"),
        (b"gzip", gzip.compress(b" " * (2 << 20)), b"decoded body over the limit"),
        (b"gzip", gzip.compress(b"<p>"), b""),
        (b"gzip", b"<p>", b""),
    ],
)
def test_what_is_wrong_with_a_body_is_told(coding: bytes, body: bytes, reason: bytes) -> None:
    """The outcome does not say it all."""
    headers = b"Content-Type: text/html\r\nContent-Encoding: %b\r\n\r\n" % coding
    assert reader().read(page(body=body, headers=headers)).parsed.reason == reason


def test_a_type_that_is_not_wanted_is_bad() -> None:
    """By prefix of the content type."""
    headers = fields(Content_Type="image/png")
    reading = reader().read(page(body=b"<a href=x>", headers=headers))
    assert (reading.parsed.outcome, reading.links) == (Outcome.BAD_TYPE, None)
    assert reading.parsed.digest == bytes(16)


@pytest.mark.parametrize(("size", "outcome"), [(99, 0), (100, 0), (101, Outcome.TOO_BIG)])
def test_too_big(size: int, outcome: int) -> None:
    """Of the decoded body; the limit itself is allowed."""
    reading = reader(max_bytes=100).read(page(body=bytes(size)))
    assert reading.parsed.outcome == outcome


def test_a_bomb_is_too_big() -> None:
    """It is not decoded to its end."""
    headers = fields(Content_Type="text/html", Content_Encoding="gzip")
    bomb = gzip.compress(bytes(1 << 20))
    reading = reader(max_bytes=1000).read(page(body=bomb, headers=headers))
    assert reading.parsed.outcome == Outcome.TOO_BIG
    assert reading.parsed.body_bytes == 1000


def test_truncated_pages_are_read_and_not_stored() -> None:
    """What came is used for its links; so is half a gzip stream."""
    body = b"<a href=x>" + bytes(range(256)) * 20
    flagged = reader().read(page(body=body, flags=PAGE_TRUNCATED))
    headers = fields(Content_Type="text/html", Content_Encoding="gzip")
    cut = reader().read(page(body=gzip.compress(body)[:-20], headers=headers))
    early = reader().read(page(body=body, outcome=Outcome.TRUNCATED, flags=PAGE_TRUNCATED))
    for reading in (flagged, cut, early):
        assert reading.parsed.outcome == Outcome.TRUNCATED
        assert not reading.is_good
        assert urls(reading) == [b"http://a.test/x"]


# --- duplicates --------------------------------------------------------------------------------


def test_duplicates_have_no_links() -> None:
    """The second page with a body is one, and is not stored."""
    known: set[bytes] = set()

    def is_new(digest: bytes, _page_id: int) -> bool:
        return digest not in known and not known.add(digest)  # type: ignore[func-returns-value]

    one = reader(is_new=is_new)
    body = b"<a href=x>"
    assert one.read(page(body=body)).is_good
    again = one.read(page(b"http://b.test/", body))
    assert (again.parsed.outcome, again.links) == (Outcome.DUPLICATE, None)
    assert again.parsed.digest == xxhash.xxh3_128_digest(body)
    assert one.read(page(body=b"other")).is_good


def test_a_page_sent_again_is_no_duplicate_of_itself() -> None:
    """The parser that died may have noted its digest, and nothing else."""
    reading = reader(is_new=lambda _digest, _page_id: False).read(page(attempt=1))
    assert reading.is_good


# --- redirections --------------------------------------------------------------------------------


# Any: fields of a Page.
def moved(target: bytes, **more: Any) -> Reading:
    return reader().read(page(outcome=Outcome.ERR_30X, status=301, headers=MOVED % target, **more))


def test_a_redirection_is_a_link_at_the_same_depth() -> None:
    """It costs a hop and no depth."""
    reading = moved(b"/to", depth=2, left=3, hops=1)
    (link,) = found(reading)
    assert (link.url, link.depth, link.left, link.hops) == (b"http://a.test/to", 2, 3, 2)
    assert (reading.parsed.outcome, reading.parsed.links) == (Outcome.ERR_30X, 1)


def test_a_redirection_at_the_last_depth_is_followed() -> None:
    """The page that it leads to is where the link meant to go."""
    assert urls(moved(b"/to", left=0)) == [b"http://a.test/to"]


@pytest.mark.parametrize(("hops", "count"), [(2, 1), (3, 0), (4, 0)])
def test_redirections_end(hops: int, count: int) -> None:
    """After ``max_redirects`` in a row, and the link is counted as refused."""
    reading = moved(b"/to", hops=hops)
    assert reading.parsed.links == 1
    if count:
        assert len(found(reading)) == 1
    else:
        assert (reading.links, reading.parsed.filtered) == (None, {Filtered.REDIRECTS: 1})


def test_a_redirection_to_nowhere() -> None:
    """Without a Location there is no link; with a bad one it is refused."""
    reading = reader().read(page(outcome=Outcome.ERR_30X, status=304, headers=b"\r\n"))
    assert (reading.links, reading.parsed.links) == (None, 0)
    bad = moved(b"mailto:x")
    assert (found(bad), bad.parsed.filtered) == ([], {Filtered.SCHEME: 1})


@pytest.mark.parametrize(
    ("target", "hops", "told"),
    [(b"/to#x", 0, b"http://a.test/to"), (b"/to", 3, b"http://a.test/to"), (b"mailto:x", 0, b"")],
)
def test_a_redirection_tells_where_it_leads(target: bytes, hops: int, told: bytes) -> None:
    """As it is queued, and also where it is not followed any more."""
    assert moved(target, hops=hops).parsed.canonical == told


A, B = b"http://a.test/a", b"http://b.test/b"


@pytest.mark.parametrize(
    ("url", "via", "hops", "target", "sets", "is_again"),
    [
        (A, b"", 0, A, True, True),  # to itself with a cookie
        (A, b"", 0, A, False, False),
        (A, A, 1, A, True, False),  # and again
        (B, A, 1, A, False, True),  # away and back, whoever has set a cookie
        (B, A, 3, A, True, True),
        (B, A, 0, A, True, False),  # a link led to it
        (A, A, 2, B, True, False),  # away again, from the page that was asked for again
        (B, A, 1, b"http://b.test/c", True, False),
    ],
)
def test_a_redirection_back_with_cookies_is_followed_once(
    url: bytes, via: bytes, hops: int, target: bytes, sets: bool, is_again: bool
) -> None:
    """httrack#537: with a cookie the answer may be another one; then via is the page itself."""
    known = PageReader(links_of(), accept=(), max_redirects=9, has_cookies=True)
    moved_to = MOVED.replace(b"\r\n\r\n", b"\r\nSet-Cookie: a=b\r\n\r\n" if sets else b"\r\n\r\n")
    got = page(url, via=via, hops=hops, outcome=Outcome.ERR_30X, headers=moved_to % target)
    reading = known.read(got)
    (link,) = found(reading)
    assert (link.url, bool(link.flags & FORCE), link.hops) == (target, is_again, hops + 1)
    assert reading.via == (target if is_again else b"")
    assert not found(PageReader(links_of(), accept=(), max_redirects=9).read(got))[0].flags & FORCE


@pytest.mark.parametrize(
    ("target", "hops", "reason"),
    [
        (b"/to", 0, b""),
        (b"/to", 3, b"not followed: redirects"),
        (b"ftp://b.test/", 0, b"not followed: scheme"),
        (b"/" + b"x" * 2084, 0, b"not followed: tooLong"),
        (b"/x.jpg", 0, b"not followed: extension"),
    ],
)
def test_why_a_redirection_is_not_followed(target: bytes, hops: int, reason: bytes) -> None:
    """In the words that count refused links."""
    links = LinkFilter(key=KEY, shards=1, domain_of=lambda host: host, forbidden=[b".jpg"])
    known = PageReader(links, accept=(), max_redirects=3)
    got = page(outcome=Outcome.ERR_30X, status=301, headers=MOVED % target, hops=hops)
    assert known.read(got).parsed.reason == reason


@pytest.mark.parametrize(
    "outcome",
    sorted(set(Outcome) - {Outcome.SUCCESS, Outcome.TRUNCATED, Outcome.ERR_30X}),
)
def test_what_the_shard_decided_stands(outcome: Outcome) -> None:
    """Such a page is not looked at, whatever is in it: one of them may have killed parsers."""
    reading = reader().read(page(body=b"<a href=x>", outcome=outcome))
    assert (reading.parsed.outcome, reading.links, reading.body) == (outcome, None, b"")


# --- robots.txt ----------------------------------------------------------------------------------


def robots(body: bytes, headers: bytes = b"Content-Type: text/plain\r\n", **more: Any) -> Reading:
    return robots_reading(page(body=body, headers=headers, kind=Kind.ROBOTS, **more))


def test_robots_text() -> None:
    """The decoded text; a part of one is used too."""
    text = b"User-agent: *\nDisallow: /\n"
    assert robots(text).body == text
    packed = robots(gzip.compress(text), b"Content-Encoding: gzip\r\n")
    assert (packed.body, packed.parsed.body_bytes) == (text, len(text))
    assert robots(text, outcome=Outcome.TRUNCATED).body == text


def test_long_robots_are_cut() -> None:
    """At 512 KiB, as the RFC wants at least."""
    assert robots(b"x" * MAX_ROBOTS_BYTES).body == b"x" * MAX_ROBOTS_BYTES
    assert robots(b"x" * (MAX_ROBOTS_BYTES + 1)).body == b"x" * MAX_ROBOTS_BYTES


@pytest.mark.parametrize("outcome", [Outcome.ERR_40X, Outcome.TIMEOUT, Outcome.POISON])
def test_no_robots_text_without_an_answer(outcome: Outcome) -> None:
    """Nothing is read of a request that failed."""
    reading = robots(b"Disallow: /", outcome=outcome)
    assert (reading.body, reading.parsed.outcome) == (b"", outcome)


@pytest.mark.parametrize(
    ("body", "coding", "outcome"),
    [
        (b"Disallow: /", b"rot13", Outcome.BAD_TYPE),
        (gzip.compress(b"Disallow: /")[:-9], b"gzip", Outcome.TRUNCATED),
    ],
)
def test_robots_that_cannot_be_decoded_are_no_text(
    body: bytes, coding: bytes, outcome: Outcome
) -> None:
    """Nor an empty one, which would allow everything: nobody knows what it forbids."""
    reading = robots(body, b"Content-Encoding: %b\r\n" % coding)
    assert (reading.body, reading.parsed.outcome) == (b"", outcome)
    assert reading.parsed.reason
    assert answer_status(reading.parsed.outcome, 200) == 0


def test_packed_robots_that_we_cut_are_used() -> None:
    """A stream that ends where our own limit is has told more than we must read."""
    packed = gzip.compress(b"User-agent: *\nDisallow: /x\n")[:-8]
    reading = robots(packed, b"Content-Encoding: gzip\r\n", flags=PAGE_TRUNCATED)
    assert reading.body.startswith(b"User-agent")
    assert reading.parsed.outcome == Outcome.SUCCESS


# --- near-duplicates --------------------------------------------------------------------------

TEXT = b" ".join(b"word%d" % number for number in range(40))


def near_reader(*, is_left: bool, near: int = 0) -> tuple[PageReader, list[tuple[object, ...]]]:
    """A reader that is told that each page is near to this one, and what it asks."""
    asked: list[tuple[object, ...]] = []

    def ask(page: Page, parsed: ParsedPage, body: bytes) -> bool:
        asked.append((page.id, body))
        parsed.near = near
        return is_left

    return PageReader(links_of(), accept=(), max_redirects=3, near=ask), asked


def test_pages_are_compared_by_their_text() -> None:
    """Nobody asks where nobody wants to know, and of other types."""
    maker, asked = near_reader(is_left=False)
    body = TEXT + b"<a href=x>"
    parsed = maker.read(page(b"http://a.test/", body, id=7)).parsed
    assert asked == [(7, body)]
    assert (parsed.near, parsed.links) == (0, 1)
    maker.read(page(body=TEXT, headers=fields(Content_Type="text/plain")))
    assert len(asked) == 1
    assert reader().read(page(body=body)).parsed.simhash == 0


@pytest.mark.parametrize(("is_left", "links"), [(False, 2), (True, 0)])
def test_links_of_near_duplicates_may_be_left(is_left: bool, links: int) -> None:
    """The page itself is as good as any, and heard in what it says of itself."""
    maker, _ = near_reader(is_left=is_left, near=9)
    meta = b'<meta name=robots content=noindex><link rel=canonical href="/y">'
    reading = maker.read(page(body=meta + TEXT + b"<a href=x>"))
    parsed = reading.parsed
    assert (parsed.near, parsed.links, reading.is_good) == (9, links, True)
    assert (parsed.directives, parsed.canonical) == (Directive.NOINDEX, b"http://a.test/y")
