"""What is done as pages ask of robots, and which URL they call their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.links.choice import Acceptance, Link
from larbinpy.parse.page import PageReader
from larbinpy.records import Directive, Filtered, Outcome
from larbinpy.url import Base, Equal
from tests.parse.test_page import MOVED, fields, links_of, reader, urls
from tests.records import page

if TYPE_CHECKING:
    from larbinpy.records import Reading


def asks(headers: bytes, body: bytes, **more: Any) -> Reading:  # Any: arguments of PageReader
    """A page read by a robot named larbin."""
    known = PageReader(links_of(), accept=(), max_redirects=3, agent=b"Larbin", **more)
    return known.read(page(body=body, headers=headers))


@pytest.mark.parametrize(
    ("headers", "meta"),
    [
        (fields(Content_Type="text/html"), b"<meta name=robots content=nofollow>"),
        (fields(Content_Type="text/html"), b"<meta name=larbin content=none>"),
        (fields(Content_Type="text/html", X_Robots_Tag="larbin: nofollow"), b""),
    ],
)
def test_links_of_a_nofollow_page(headers: bytes, meta: bytes) -> None:
    """None is followed, by meta or by header; it is logged, and can be switched off."""
    body = meta + b"<a href=x>"
    reading = asks(headers, body)
    assert reading.is_good
    assert urls(reading) == []
    assert reading.parsed.filtered == {Filtered.NOFOLLOW: 1}
    assert Directive.NOFOLLOW in reading.parsed.directives
    reading = asks(headers, body, obeyed=Directive.NOINDEX)
    assert urls(reading) == [b"http://a.test/x"]
    assert Directive.NOFOLLOW in reading.parsed.directives


def test_every_type_of_page_may_ask() -> None:
    """The header speaks for pages that are not read, too."""
    headers = fields(Content_Type="image/png", X_Robots_Tag="noarchive")
    assert asks(headers, b"").parsed.directives == Directive.NOARCHIVE


def test_a_redirection_is_followed_whatever_it_asks() -> None:
    """It is no link of a page."""
    headers = MOVED.replace(b"\r\n\r\n", b"\r\nX-Robots-Tag: none\r\n\r\n") % b"/y"
    moved = page(outcome=Outcome.ERR_30X, status=301, headers=headers)
    assert urls(reader().read(moved)) == [b"http://a.test/y"]


def test_a_canonical_url_is_queued_and_named() -> None:
    """It is a link, resolved like one; a page that names itself names nothing."""
    body = b"<base href=/b/><link rel=canonical href=c>"
    reading = reader().read(page(body=body))
    assert urls(reading) == [b"http://a.test/b/c"]
    assert reading.parsed.canonical == b"http://a.test/b/c"
    itself = b"<link rel=canonical href=http://A.test/#x>"
    assert reader().read(page(body=itself)).parsed.canonical == b""
    assert reader().read(page(body=b"<link rel=canonical href=ftp:x>")).parsed.canonical == b""


LINKED = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nLink: %b\r\nLink: </s>; rel=next\r\n\r\n"


def test_a_header_may_name_the_canonical_url() -> None:
    """Relative to the page itself, before what the page says; both are queued."""
    body = b"<base href=/b/><link rel=canonical href=c><a href=d>"
    headers = LINKED % (b"text/html", b'<h#x>; rel="canonical"')
    reading = reader().read(page(b"http://a.test/x/y", body, headers=headers))
    assert reading.parsed.canonical == b"http://a.test/x/h"
    assert urls(reading) == [b"http://a.test/x/h", b"http://a.test/b/c", b"http://a.test/b/d"]
    assert reading.parsed.links == 4  # base too


@pytest.mark.parametrize("target", [b"ftp:x", b"http://[bad", b"mailto:x"])
def test_a_header_that_names_nothing_leaves_it_to_the_page(target: bytes) -> None:
    """It is a link that is refused."""
    headers = LINKED % (b"text/html", b"<%b>; rel=canonical" % target)
    reading = reader().read(page(body=b"<link rel=canonical href=/c>", headers=headers))
    assert (reading.parsed.canonical, urls(reading)) == (b"http://a.test/c", [b"http://a.test/c"])
    assert sum(reading.parsed.filtered.values()) == 1


def test_a_header_names_the_url_of_every_type_of_page() -> None:
    """What is no HTML can say it in no other way."""
    headers = LINKED % (b"application/pdf", b"</c>; rel=canonical")
    reading = reader(accept=()).read(page(body=b"%PDF <a href=/no>", headers=headers))
    assert (reading.parsed.canonical, urls(reading)) == (b"http://a.test/c", [b"http://a.test/c"])
    itself = LINKED % (b"application/pdf", b"<>; rel=canonical")
    assert reader(accept=()).read(page(body=b"%PDF", headers=itself)).parsed.canonical == b""


def test_a_page_that_asks_not_to_be_followed_is_not_by_its_header() -> None:
    """Its canonical URL is a link like others, and told all the same."""
    headers = LINKED % (b"text/html", b"</c>; rel=canonical")
    reading = reader().read(page(body=b"<meta name=robots content=nofollow>", headers=headers))
    assert (reading.parsed.canonical, urls(reading)) == (b"http://a.test/c", [])


def test_the_operators_function_is_asked_about_it() -> None:
    """With its rel; the links behind it keep their own."""
    asked: list[tuple[str, str, str]] = []

    def accept(link: Link) -> bool:
        asked.append((link.url, link.rel, link.text))
        return True

    headers = LINKED % (b"text/html", b"</c>; rel=canonical")
    maker = PageReader(links_of(), accept=(), max_redirects=3, acceptance=Acceptance(accept, print))
    maker.read(page(body=b"<a href=/d rel=x>text</a>", headers=headers))
    assert asked == [("http://a.test/c", "canonical", ""), ("http://a.test/d", "x", "text")]


# --- where a header sends a visitor ------------------------------------------------------------

REFRESHED = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nRefresh: %b\r\n\r\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"0; url=y", [b"http://a.test/x/y"]),
        (b"5,URL = '/y'z", [b"http://a.test/y"]),
        (b"0;//b.test/", [b"http://b.test/"]),
    ],
)
@pytest.mark.parametrize("kind", [b"text/html", b"application/pdf"])
def test_a_header_may_send_elsewhere(value: bytes, expected: list[bytes], kind: bytes) -> None:
    """As a meta element does, from every type of page, relative to the page itself."""
    body = b"<base href=/b/>"
    got = page(b"http://a.test/x/y?", body, headers=REFRESHED % (kind, value))
    assert urls(reader(accept=()).read(got)) == expected


@pytest.mark.parametrize("value", [b"30", b"now; url=y", b""])
def test_a_header_that_sends_nowhere(value: bytes) -> None:
    """It reloads the page, or says nothing that anybody would understand."""
    assert urls(reader().read(page(headers=REFRESHED % (b"text/html", value)))) == []


def test_a_header_that_sends_elsewhere_goes_before_the_page() -> None:
    """It is a link like any other, also for the operator's function and where none is followed."""
    asked: list[tuple[str, str, str]] = []

    def accept(link: Link) -> bool:
        asked.append((link.url, link.rel, link.text))
        return True

    headers = REFRESHED % (b"text/html", b"0;/r\r\nLink: </c>; rel=canonical")
    body = b"<a href=/d rel=x>text</a>"
    maker = PageReader(links_of(), accept=(), max_redirects=3, acceptance=Acceptance(accept, print))
    maker.read(page(body=body, headers=headers))
    assert asked == [
        ("http://a.test/c", "canonical", ""), ("http://a.test/r", "", ""),
        ("http://a.test/d", "x", "text"),
    ]  # fmt: skip
    nofollow = b"<meta name=robots content=nofollow>"
    assert urls(reader().read(page(body=nofollow, headers=headers))) == []


# --- URLs that are taken for one ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "location", "expected"),
    [
        (b"http://a.test/x", b"/y/", [b"http://a.test/y"]),
        (b"http://a.test/x", b"/x/", [b"http://a.test/x/"]),
        (b"http://a.test/x/", b"/x", [b"http://a.test/x"]),
    ],
)
def test_a_server_may_tell_apart_what_is_taken_for_one(
    url: bytes, location: bytes, expected: list[bytes]
) -> None:
    """A redirection to the page itself, as we see it, is followed as it is written."""
    known = PageReader(
        links_of(), accept=(), max_redirects=3, make_base=lambda base: Base(base, Equal.SLASH)
    )
    moved = page(url, outcome=Outcome.ERR_30X, status=301, headers=MOVED % location)
    assert urls(known.read(moved)) == expected


def test_links_are_relative_to_the_page_as_it_was_asked_for() -> None:
    """A page with a slash at its end keeps it for that, whatever is done with its links."""
    known = PageReader(
        links_of(), accept=(), max_redirects=3, make_base=lambda base: Base(base, Equal.SLASH)
    )
    body = b"<a href=y/><base href=/z/><a href=y/>"
    assert urls(known.read(page(b"http://a.test/x/", b"<a href=y/>"))) == [b"http://a.test/x/y"]
    assert urls(known.read(page(b"http://a.test/x/", body))) == [b"http://a.test/z/y"]
