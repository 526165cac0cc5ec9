"""The plain way of a page leads where the long way does, or is not taken."""

from __future__ import annotations

import sys
import time
from functools import partial
from mmap import mmap
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.heldpages import encode
from larbinpy._native.linkfilter import LinkFilter
from larbinpy._native.pages import decode_pages
from larbinpy._native.plainpage import PlainPages
from larbinpy.dedup.content import exact_digest
from larbinpy.parse import directives
from larbinpy.parse.page import PageReader
from larbinpy.parse.pagetypes import HTML_TYPES, plain_type
from larbinpy.records import (
    ALL_DIRECTIVES,
    PAGE_BODY_IN_FILE,
    PAGE_FIRST,
    PAGE_TRUNCATED,
    PAGE_WATCHED,
    Directive,
    Filtered,
    Kind,
    Outcome,
)
from larbinpy.shared import ParserMemory
from larbinpy.url import Base, Equal
from tests.nearpages import near_pages
from tests.records import UTF8, page, result

if TYPE_CHECKING:
    from larbinpy.records import Page, Reading

MAX_BYTES = 5000


class Both:
    """The two ways of one parser."""

    def __init__(
        self, *, is_new: Any = None, digest: Any = exact_digest, near: Any = None, **keys: Any
    ) -> None:
        """``near``: how pages are compared; each way has a table of its own."""
        tables = [None if near is None else near_pages(**near).is_left for _ in range(2)]
        equal = Equal.SORT_QUERY | Equal.SLASH
        links = LinkFilter(
            key=bytes(16), shards=3, domain_of=lambda host: host, forbidden=[b".jpg"],
            links_per_page=6, **keys,
        )  # fmt: skip
        self.long = PageReader(
            links, accept=HTML_TYPES, max_redirects=5, max_bytes=MAX_BYTES, agent=b"larbin",
            make_base=partial(Base, equal=equal), digest=digest, is_new=is_new,
            obeyed=ALL_DIRECTIVES, near=tables[0],
        )  # fmt: skip
        self.plain = PlainPages(
            links, type_of=partial(plain_type, accept=HTML_TYPES), digest=digest,
            directives_of=directives.of_meta, is_new=is_new, max_bytes=MAX_BYTES, equal=equal,
            agent=b"larbin", nofollow=True, near=tables[1],
            compares_all=bool(near and near.get("compares_all")),
        )  # fmt: skip


BOTH = Both()


def told(reading: Reading) -> tuple[object, ...]:
    """All that is told of a page."""
    links = reading.links
    batch = links and (links.entries, links.counts, links.fingerprints, links.found)
    is_page = reading.page, reading.parsed, reading.mime, reading.body, reading.via
    return *is_page, type(reading.parsed.directives), batch


def is_plain(got: Page, both: Both = BOTH) -> bool:
    """Whether a page is plain; if so, it is read as the long way does.

    Its body lies in a frame, where what follows it would be links if it were of the page.
    """
    body = bytes(got.body)
    got.body = memoryview(b"<" + body + b"> <a href=/behind>' <a href=/behind>")[1 : len(body) + 1]
    reading = both.plain.read(got)
    got.body = body
    if reading is None:
        return False
    assert told(both.long.read(got)) == told(reading)
    return True


PIECES = [
    b"<a href=", b"<a href='", b'<a href="', b"'>", b'">', b">", b"</a>", b"/x",
    b"../y?b=1&a=2#f", b"http://b.test/", b"//c.test:81/d/", b"mailto:m", b"x.jpg",
    b"http://\xc3\xa9.test/", b"?q=\xff",
    b"<base href=/b/>", b"<link rel=canonical href=/c>",
    b"<link rel=canonical href=http://a.test/>",
    b"<link rel=canonical href=http://\xc3\xa9.test/>", b"<link rel=canonical href=''>",
    b"<meta name=robots content=nofollow>", b"<meta name=larbin content='noindex, none'>",
    b"<meta http-equiv=refresh content='0; url=/r'>", b"<meta http-equiv=refresh content=0>",
    b"<meta charset=koi8-r>", b"<img src=i>", b"<a rel=nofollow href=/n>", b"&amp;", b" ", b"\n",
    b"<script>", b"<script/>", b"</script>", b"<title />", b"<!--", b"-->", b"text",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\x00",
]  # fmt: skip
BODIES = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=40).map(b"".join)
FIELDS = [
    b"Content-Type: text/html; charset=utf-8\r\n", b"content-type:TEXT/HTML;charset=UTF8\n",
    b"Content-Type: text/html\r\n", b"Content-Type: text/plain; charset=utf-8\r\n",
    b"Content-Type: application/xhtml+xml;charset=utf-8\r\n", b"Content-Encoding: gzip\r\n",
    b"Content-Encoding:\r\n", b"X-Robots-Tag: nofollow\r\n", b"Content-Type\r\n", b"ETag: x\r\n",
    b"refresh: 0;url=/r\r\n",
    b"Link: </s>; rel=shortlink\r\n", b"LINK: </c>; rel=CANONICAL\n",
]  # fmt: skip
HEADS = st.lists(st.sampled_from(FIELDS) | st.binary(max_size=4), max_size=4).map(b"".join)
MORE = st.sampled_from([b"", *FIELDS[-3:]]).map(lambda field: UTF8[:-2] + field + b"\r\n")
MANY = st.sampled_from
PAGES = st.builds(
    page,
    url=MANY([b"http://a.test/", b"https://a.test:444/d/e?f", b"http://[::1]/", b"HTTP://A.test"]),
    body=BODIES,
    headers=MORE | HEADS,
    kind=MANY([Kind.PAGE] * 9 + [*Kind]),
    outcome=MANY([Outcome.SUCCESS] * 9 + [Outcome.TRUNCATED, Outcome.ERR_40X]),
    flags=MANY([0] * 9 + [PAGE_TRUNCATED]),
    depth=MANY([0, 1, 65_535]),
    left=MANY([5, 1, 0]),
)


@settings(max_examples=500)
@given(PAGES)
def test_the_plain_way_is_the_long_way(got: Page) -> None:
    """Whatever the page is, also one behind the other through the same buffers."""
    is_plain(got)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<a href=1><a href=2><a href=1>",
        b"".join(b"<a href=/%d>" % n for n in range(9)),
        b"<link rel=canonical href=/c><a href=/d>",
        b"<link rel=canonical href=http://a.test/>",
        b"<meta name=robots content=nofollow><a href=/d>",
        b"<meta charset=koi8-r><a href=?\xc3\xa9>",
        b"\xff<a href=x.jpg>",
    ],
)
def test_most_pages_are_plain(body: bytes) -> None:
    """What they link to and what they say of themselves does not matter."""
    assert is_plain(page(body=body, headers=UTF8))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": Kind.RETRY}, "it is only logged"),
        ({"outcome": Outcome.TRUNCATED}, "it did not come whole"),
        ({"flags": PAGE_BODY_IN_FILE}, "its body came in a file"),
        ({"headers": b"Content-Type: text/html\r\n"}, "its encoding has to be found"),
        ({"headers": UTF8.replace(b"html", b"plain")}, "it is of another type"),
        ({"headers": UTF8 + b"Content-Encoding: br\r\n"}, "it is packed"),
        ({"headers": UTF8 + b"x-robots-tag : none\n"}, "its head asks something"),
        ({"headers": UTF8 + b"REFRESH:0;/x\n"}, "its head sends elsewhere"),
        ({"body": b"\xfe\xff\0<"}, "it begins with a byte order mark"),
        ({"body": b" " * (MAX_BYTES + 1)}, "it is too long"),
        ({"body": b"<base href=/b/>"}, "its links are relative to something else"),
        ({"body": b"<a href=http://\xc3\xa9.test>"}, "a host is no ASCII"),
        ({"url": b"http://A.test/"}, "its URL has another form"),
        ({"depth": 65_536}, "no entry of a link holds its depth"),
    ],
)
def test_some_pages_are_not(changes: dict[str, Any], why: str) -> None:
    """The long way knows what to do with them."""
    assert not is_plain(page(**{"headers": UTF8, **changes})), why


def test_a_page_that_was_seen_is_not_plain() -> None:
    """The long way is told the same again."""
    seen = set[bytes]()

    def is_new(digest: bytes, page_id: int) -> bool:
        is_known = digest in seen
        seen.add(digest)
        return page_id == 1 or not is_known

    both = Both(is_new=is_new)
    assert is_plain(page(body=b"same", headers=UTF8), both)
    assert not is_plain(page(body=b"same", headers=UTF8, id=2), both)


TEXTS = [b" ".join(b"%c%d" % (letter, n) for n in range(30)) for letter in b"ab"]
MARKS = [b"", b"<a href=/x>", b"<link rel=canonical href=/c>", b"<meta name=robots content=none>"]
COMPARED = st.lists(
    st.builds(
        page,
        url=MANY([b"http://x.a.test/", b"http://y.a.test/", b"http://b.test/"]),
        body=st.builds(bytes.__add__, MANY(MARKS), MANY([*TEXTS, b"few words"])),
        headers=st.just(UTF8),
        flags=MANY([0, PAGE_WATCHED, PAGE_FIRST, PAGE_FIRST | PAGE_WATCHED]),
        id=st.integers(1, 9),
    ),
    max_size=9,
)


@given(COMPARED, st.booleans(), st.booleans())
def test_pages_are_compared_as_on_the_long_way(
    pages: list[Page], compares_all: bool, leaves: bool
) -> None:
    """Those that the shard asks about, or all; what is near to another one may lose its links."""
    both = Both(near={"compares_all": compares_all, "leaves": leaves})
    assert all(is_plain(got, both) for got in pages)


def test_a_page_near_to_another_one_is_plain() -> None:
    """It is told what it is near to, and what by."""
    both = Both(near={"leaves": True})
    pages = [page(body=TEXTS[0], headers=UTF8, flags=PAGE_WATCHED, id=n) for n in (1, 2)]
    first, second = map(both.plain.read, pages)
    assert first and second  # noqa: PT018 - both are plain
    assert (first.parsed.near, second.parsed.near, second.links) == (0, 1, None)
    assert first.parsed.simhash == second.parsed.simhash != 0


def test_what_pages_ask_can_be_ignored() -> None:
    """It is told all the same."""
    body = b"<meta name=robots content=nofollow><a href=/x>"
    links = LinkFilter(key=bytes(16), shards=1, domain_of=lambda host: host)
    plain = PlainPages(
        links, type_of=lambda _: b"text/html", digest=exact_digest, is_new=None, equal=0,
        directives_of=directives.of_meta, max_bytes=MAX_BYTES, agent=b"larbin", nofollow=False,
    )  # fmt: skip
    reading = plain.read(page(body=body, headers=UTF8))
    assert reading is not None
    assert reading.parsed.directives == Directive.NOFOLLOW
    assert (reading.parsed.links, reading.parsed.filtered) == (1, {})


def test_types_are_asked_for_once() -> None:
    """Until there are so many different ones that they must be hostile."""
    asked: list[bytes] = []

    def type_of(value: bytes) -> bytes | None:
        asked.append(value)
        return b"text/html"

    links = LinkFilter(key=bytes(16), shards=1, domain_of=lambda host: host)
    plain = PlainPages(
        links, type_of=type_of, digest=exact_digest, is_new=None, equal=0, max_bytes=MAX_BYTES,
        directives_of=directives.of_meta, agent=b"larbin", nofollow=True,
    )  # fmt: skip
    for number in [*range(3), *range(3), *range(1030), 0]:
        assert plain.read(page(headers=b"Content-Type: %d\r\n" % number))
    assert len(asked) == 1030 + 1


def test_a_run_of_pages_ends_before_one_that_is_not_plain() -> None:
    """It goes on where it ended."""
    pages = [page(body=b"<a href=%d>" % n, headers=UTF8, id=n) for n in range(1, 6)]
    pages[3].headers = b""
    expected = [BOTH.long.read(got).parsed for got in pages]
    readings: list[Reading] = []
    slot = ParserMemory(mmap(-1, 4096), 0)
    assert not BOTH.plain.read_run(pages, readings, slot, keeps=False)
    assert [reading.parsed for reading in readings] == expected[:3]
    readings.append(BOTH.long.read(pages[3]))
    assert BOTH.plain.read_run(pages, readings, slot, keeps=False)
    assert [reading.parsed for reading in readings] == expected
    assert BOTH.plain.read_run(pages, readings, slot, keeps=False)


def test_pages_that_are_stored_are_read_one_at_a_time() -> None:
    """Each with its body, which nobody needs of the others."""
    pages = [page(body=b"%d" % n, headers=UTF8, id=n) for n in range(1, 4)]
    readings: list[Reading] = []
    slot = ParserMemory(mmap(-1, 4096), 0)
    assert BOTH.plain.read_run(pages, readings, slot, keeps=True)
    assert [reading.body for reading in readings] == [b"1"]
    assert BOTH.plain.read_run(pages, readings, slot, keeps=False)
    assert [reading.body for reading in readings] == [b"1", b"", b""]


def test_a_frame_is_let_go_when_its_pages_are_read() -> None:
    """It is kept by the bodies of those that were not, and by nothing else."""
    payload = b"".join(encode(result(body=b"%d" % n, headers=UTF8), 1) for n in range(2))
    references = sys.getrefcount(payload)
    pages = decode_pages(payload, 2)
    assert sys.getrefcount(payload) > references
    readings: list[Reading] = []
    assert BOTH.plain.read_run(pages, readings, ParserMemory(mmap(-1, 4096), 0), keeps=False)
    assert (len(readings), sys.getrefcount(payload)) == (2, references)


def test_the_page_in_hand_is_shown() -> None:
    """Each by itself with its own time, so that the one that brings a parser down is blamed."""
    slot = ParserMemory(mmap(-1, 4096), 0)
    shown: list[int] = []

    def digest(body: bytes | memoryview) -> bytes:
        page_id, began_ns = slot.blamed() or (0, 0)
        assert before_ns <= began_ns <= time.monotonic_ns()
        assert body == b"%d" % page_id
        shown.append(page_id)
        return exact_digest(body)

    pages = [page(body=b"%d" % n, headers=UTF8, id=n) for n in range(1, 4)]
    before_ns = time.monotonic_ns()
    Both(digest=digest).plain.read_run(pages, [], slot, keeps=False)
    assert shown == [1, 2, 3]
    assert slot.blamed() is not None


def test_large_pages_leave_small_ones_alone() -> None:
    """What was found in one is not found in the next, whose buffers are other ones."""
    large = b"<link rel=canonical href=/%b><title>%b</title>" % (b"x" * 1000, b"y" * 3000)
    for body in (large, b"", large, b"<a href=1>"):
        assert is_plain(page(body=body, headers=UTF8))


def test_links_behind_the_limit_are_counted() -> None:
    """As refused for it."""
    body = b"".join(b"<a href=/%d>" % n for n in range(9))
    reading = BOTH.plain.read(page(body=body, headers=UTF8))
    assert reading is not None
    assert reading.parsed.links == 9
    assert reading.parsed.filtered == {Filtered.LINKS_PER_PAGE: 3}
