"""What the program may ask of a URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larbinpy import url
from tests.reference.linkbuffers import FOUND_HEAD, RESOLVED_HEAD

ELEMENT_A, ELEMENT_IMG, ATTRIBUTE_HREF, REL_NOFOLLOW = 1, 7, 1, 1
PAGE = b"http://www.example.org/dir/page.html"


def link(value: str, element: int = ELEMENT_A, rel: int = 0) -> bytes:
    text = value.encode()
    return FOUND_HEAD.pack(element, ATTRIBUTE_HREF, rel, 0, len(text)) + text


def items_of(resolved: bytes) -> list[tuple[int, int, int, int, bytes]]:
    """(status, element, rel, port, URL) of each item."""
    found, at = [], 0
    while at < len(resolved):
        status, _, element, rel, _, _, port, size = RESOLVED_HEAD.unpack_from(resolved, at)
        at += RESOLVED_HEAD.size + size
        found.append((status, element, rel, port, resolved[at - size : at]))
    return found


def urls_of(base: bytes, *values: str, encoding: str = "utf-8") -> list[bytes]:
    found = url.base_of(base)
    assert found is not None
    resolved = url.resolve(found, b"".join(link(value) for value in values), encoding)
    return [item[-1] for item in items_of(resolved)]


def test_parse_tells_the_parts() -> None:
    """A URL is normalised; its host, port and scheme are told."""
    expected = url.Url(
        url=b"https://www.example.org:8443/b?q",
        https=True,
        host=b"www.example.org",
        port=8443,
        host_start=8,
    )
    assert expected == url.parse(b"HTTPS://me@WWW.example.org:8443/a/../b?q#f")


def test_parse_takes_text() -> None:
    """Text may hold anything, be it a surrogate that stands alone."""
    found = url.parse("http://bücher.example/ü\ud800")
    assert found is not None
    assert found.url == b"http://xn--bcher-kva.example/%C3%BC%EF%BF%BD"
    assert found.host == b"xn--bcher-kva.example"


@pytest.mark.parametrize(
    "text",
    [
        b"", b"/x", b"mailto:x", b"http://", b"http://xn--a.\xc3\x9f/", b"http://\xff/",
        b"http://h.test:105579/", b"http://%b.test/" % (b"a." * 300),
    ],
)  # fmt: skip
def test_parse_refuses(text: bytes) -> None:
    """xroche/httrack#620, #550: what is no http URL of a possible host and port is None."""
    assert url.parse(text) is None


def test_bytes_that_are_not_utf8_are_escaped_as_they_stand() -> None:
    """A redirection in Latin-1 asks for what its server wrote."""
    found = url.parse(b"/caf\xe9?\xe9", PAGE)
    assert found is not None
    assert found.url == b"http://www.example.org/caf%E9?%E9"


@given(st.text(max_size=12))
def test_parsing_twice_changes_nothing(host: str) -> None:
    """A URL that came out comes out again unchanged, whatever its host was mapped from."""
    found = url.parse(f"http://{host}/")
    assert found is None or url.parse(found.url) == found


def test_parse_against_a_base() -> None:
    """A base of another scheme is none."""
    found = url.parse(b"../x", PAGE)
    assert found is not None
    assert found.url == b"http://www.example.org/x"
    assert url.parse(b"x", b"ftp://h/") is None


@pytest.mark.parametrize(
    ("text", "host"),
    [
        (b"http://h/", b"h"),
        (b"https://h.example:444/a:b", b"h.example"),
        (b"http://[::1]/", b"[::1]"),
        (b"http://[::1]:81/", b"[::1]"),
    ],
)
def test_host_of(text: bytes, host: bytes) -> None:
    """The host of a normalised URL, without its port."""
    assert host == url.host_of(text)


def test_resolve_does_what_the_kernel_leaves() -> None:
    """Slow links stand in their places, with their element and rel, among the others."""
    base = url.Base(PAGE)
    links = [
        link("a"),
        link("https://bücher.example:81/ü?ü#ü", ELEMENT_IMG, REL_NOFOLLOW),
        link("b"),
        link("//xn--a.ß/"),
        link("//ü\u3002example"),
    ]
    expected = [
        (url.OK, ELEMENT_A, 0, 80, b"http://www.example.org/dir/a"),
        (url.OK, ELEMENT_IMG, 1, 81, b"https://xn--bcher-kva.example:81/%C3%BC?%C3%BC"),
        (url.OK, ELEMENT_A, 0, 80, b"http://www.example.org/dir/b"),
        (url.INVALID, ELEMENT_A, 0, 0, b""),
        (url.OK, ELEMENT_A, 0, 80, b"http://xn--tda.example/"),
    ]
    assert expected == items_of(url.resolve(base, b"".join(links)))


def test_queries_are_in_the_encoding_of_the_document() -> None:
    """Only the query is; a host and a path are UTF-8 in any document."""
    expected = [
        b"http://xn--tda/%C3%BC?%FC%26%239731%3B",
        b"http://www.example.org/dir/page.html?%FC",
    ]
    found = urls_of(PAGE, "//ü/ü?ü☃#ü", " ?\tü\n ", encoding="windows-1252")
    assert expected == found


def test_encodings_that_urls_write_as_utf8() -> None:
    """UTF-16 and unknown names mean UTF-8."""
    for encoding in ("UTF-8", "UTF-16LE", "replacement", "idna"):
        assert urls_of(PAGE, "?ü", encoding=encoding) == [
            b"http://www.example.org/dir/page.html?%C3%BC"
        ]


def test_larbin_mode() -> None:
    """larbin's URLs keep their quirks and are resolved in its way."""
    expected = url.Url(b"http://h:99/a~b", https=False, host=b"h", port=99, host_start=7)
    assert expected == url.parse_larbin(b"http://H:99/x/../a%7Eb#f")
    assert url.parse_larbin(b"https://h/") is None
    items = items_of(url.resolve(url.LarbinBase(b"http://h/a/b"), link("ü") + link("//x")))
    assert [item[-1] for item in items] == [b"http://h/a/%c3%bc", b"http://h/x"]
