"""``_native.urlnorm`` against its reference, and rules that this does not spell out."""

from __future__ import annotations

import hashlib
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import urlnorm
from tests.reference import urlnorm as reference
from tests.reference.linkbuffers import FOUND_HEAD, RESOLVED_HEAD
from tests.reference.urlnorm import EMPTY, INVALID, OK, SCHEME, SLOW, TOO_LONG

ELEMENT_A, ELEMENT_LINK, ELEMENT_IFRAME, ELEMENT_IMG = 1, 3, 6, 7

# Pieces of which URLs are made, right and wrong; a join of them reaches every branch of the parser.
PIECES = [
    "http", "https", "HTTP", "ftp", "mailto", ":", "//", "/", "\\", "?", "#", "@", "[", "]", ".",
    "..", "%2e", "%2E", "%", "%25", "%41", "%C3%BC", "%00", "%2F", "%20", "a", "B", "0x", "0xF",
    "1", "08", "256", "65535", "65536", "4294967295", "::", "::1", "ff", "ffff", "1.2.3.4", "xn--",
    "www.example.org", "example", " ", "\t", "\n", "\x00", "\x1f", "\x7f", "\"", "'", "<", ">",
    "^", "`", "{", "|", "}", "~", "+", "-", "=", "&", ";", ",", "ü", "☃", "\u3002", "x" * 64,
]  # fmt: skip
PIECED = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
AUTHORITIES = st.builds("{}://{}{}".format, st.sampled_from(["http", "https"]), PIECED, PIECED)
IPV6 = st.lists(st.sampled_from(["", "", "0", "0", "1", "ff", "1.2.3.4", "12345"]), max_size=10)
URLS = st.one_of(
    PIECED.map(str.encode),
    AUTHORITIES.map(str.encode),
    IPV6.map(lambda pieces: f"http://[{':'.join(pieces)}]/".encode()),
    st.binary(max_size=40),
    st.binary(max_size=20).map(lambda tail: b"http://h/" + tail),
)
BASES = st.sampled_from(
    [
        b"http://www.example.org/",
        b"https://www.example.org/dir/sub/page.html?q=/a",
        b"http://h:8080/a/b//?",
        b"http://[::1]/x/",
    ]
)
LARBIN_URLS = st.one_of(
    URLS, st.lists(st.sampled_from(["/", ".", "..", "%2f", "a", "%41", "?"])).map("".join).map(
        lambda path: f"http://h/{path}".encode()
    ),
    URLS.map(lambda tail: b"http://h/" + tail),
)  # fmt: skip
LINKS = st.lists(st.tuples(st.integers(0, 18), st.integers(0, 31), URLS), max_size=8)
EXAMPLES = settings(max_examples=200, deadline=None)


def packed(links: list[tuple[int, int, bytes]]) -> bytes:
    """``found_link`` items of (element, rel, value)."""
    return b"".join(
        FOUND_HEAD.pack(element, 1, rel, 0, len(value)) + value for element, rel, value in links
    )


def statuses(items: bytes) -> list[int]:
    found, at = [], 0
    while at < len(items):
        head = RESOLVED_HEAD.unpack_from(items, at)
        found.append(head[0])
        at += RESOLVED_HEAD.size + head[-1]
    return found


def resolved(base: bytes, *values: bytes, element: int = ELEMENT_A) -> list[bytes]:
    """The URLs that the references come to; empty where they come to none."""
    items = urlnorm.Base(base).resolve(packed([(element, 0, value) for value in values]))
    found, at = [], 0
    while at < len(items):
        size = RESOLVED_HEAD.unpack_from(items, at)[-1]
        found.append(items[at + RESOLVED_HEAD.size : at + RESOLVED_HEAD.size + size])
        at += RESOLVED_HEAD.size + size
    return found


@EXAMPLES
@given(URLS)
def test_parse_is_the_standard(url: bytes) -> None:
    """One URL comes out as from the standard's state machine."""
    assert reference.parse(url) == urlnorm.parse(url)


@EXAMPLES
@given(URLS, BASES, st.sampled_from([None, b"xn--bcher-kva", b"1.2.3", b"a b", "ü".encode()]))
def test_parse_with_base_and_host_is_the_standard(
    url: bytes, base: bytes, host: bytes | None
) -> None:
    """A reference resolves, and takes a host that was mapped for it, as the reference does."""
    expected = reference.parse(url, reference.Base(base), host)
    assert expected == urlnorm.parse(url, urlnorm.Base(base), host)


@pytest.mark.parametrize(
    "byte", [b"\t", b"\n", b"\0", b"%", b"@", b":", b"[", b"\\", b"?", b"A", b"^"]
)
def test_each_byte_is_seen_wherever_it_stands(byte: bytes) -> None:
    """Texts are looked at some bytes at a time."""
    for text in (b"http://ab.example.org:80/path/to/page.html?query", b"../path/to/page.html"):
        for at in range(len(text) + 1):
            url, base = text[:at] + byte + text[at:], b"http://a.test/x/y"
            assert reference.parse(url) == urlnorm.parse(url), url
            expected = reference.parse(url, reference.Base(base))
            assert expected == urlnorm.parse(url, urlnorm.Base(base)), url


@EXAMPLES
@given(LINKS, BASES, st.booleans())
def test_resolve_is_the_standard(
    links: list[tuple[int, int, bytes]], base: bytes, is_utf8: bool
) -> None:
    """A page's links come out one for one, and the slow ones are found again."""
    items = packed(links)
    expected = reference.Base(base).resolve(items, encoding_is_utf8=is_utf8)
    found = urlnorm.Base(base).resolve(items, encoding_is_utf8=is_utf8)
    assert expected == found
    assert reference.slow_links(items, found) == urlnorm.slow_links(items, found)


@EXAMPLES
@given(URLS, BASES)
def test_normalising_twice_changes_nothing(url: bytes, base: bytes) -> None:
    """A URL that came out comes out again unchanged, alone and on any base."""
    status, text, *parts = urlnorm.parse(url, urlnorm.Base(base))
    if status == OK:
        again = (OK, text, *parts)
        assert (again, again) == (urlnorm.parse(text), urlnorm.parse(text, urlnorm.Base(base)))
        assert text == urlnorm.Base(text).url


@EXAMPLES
@given(LARBIN_URLS)
def test_larbin_parse_is_the_reference(url: bytes) -> None:
    """In larbin's mode a URL comes out as its rules rewrite it."""
    assert reference.larbin_parse(url) == urlnorm.larbin_parse(url)


@EXAMPLES
@given(
    st.lists(st.tuples(st.integers(0, 18), st.integers(0, 31), LARBIN_URLS), max_size=8),
    st.sampled_from([b"http://h", b"http://h:81/a/b/c?d=/e", b"http://h/a%25b/%20/"]),
)
def test_larbin_resolve_is_the_reference(links: list[tuple[int, int, bytes]], base: bytes) -> None:
    """In larbin's mode a page's links come out one for one."""
    items = packed(links)
    expected = reference.LarbinBase(base).resolve(items)
    assert expected == urlnorm.LarbinBase(base).resolve(items)


@given(LINKS, st.integers(min_value=1))
def test_torn_items_are_refused(links: list[tuple[int, int, bytes]], cut: int) -> None:
    """Items that do not fill their buffer exactly raise, wherever it is cut."""
    whole = packed([*links, (ELEMENT_A, 0, b"last")])
    torn = whole[: -1 - cut % (len(b"last") + FOUND_HEAD.size - 1)]
    with pytest.raises(ValueError, match="exactly"):
        urlnorm.Base(b"http://h/").resolve(torn)


def test_golden_values() -> None:
    """Normalised URLs lie in logs and decide shards: a change here orphans every stored crawl."""
    digest, larbin_digest = hashlib.sha256(), hashlib.sha256()
    base = urlnorm.Base(b"http://www.example.org/dir/page?q")
    for first, second in itertools.product(PIECES, PIECES):
        for head in ("", "http://", "http://www.example.org/a/"):
            text = f"{head}{first}{second}".encode()
            digest.update(b"%d %b\n" % urlnorm.parse(text, base)[:2])
            larbin_digest.update(repr(urlnorm.larbin_parse(text)).encode())
    assert digest.hexdigest()[:16] == "d6f351c9b6ec92f1"
    assert larbin_digest.hexdigest()[:16] == "6b0a1a066de57799"


def test_links_of_a_page() -> None:
    """The kinds of references that pages are full of."""
    base = b"https://www.example.org/dir/page.html?q=1#top"
    table = {
        b"": b"https://www.example.org/dir/page.html?q=1",
        b"#part": b"https://www.example.org/dir/page.html?q=1",
        b"?q=2": b"https://www.example.org/dir/page.html?q=2",
        b"other.html": b"https://www.example.org/dir/other.html",
        b"../up.html#x": b"https://www.example.org/up.html",
        b"../../../up.html": b"https://www.example.org/up.html",
        b"/root/./a/../b": b"https://www.example.org/root/b",
        b"//cdn.example.net/lib.js": b"https://cdn.example.net/lib.js",
        b" http://User:Pw@EXAMPLE.org:80/%7Ea b\n": b"http://example.org/%7Ea%20b",
        b"https:page": b"https://www.example.org/dir/page",
        b"http:page": b"http://page/",
        b"https://www.example.org": b"https://www.example.org/",
        b"https://www.example.org\\x?y": b"https://www.example.org/x?y",
        b"https://www.example.org:444/": b"https://www.example.org:444/",
        b"https://www.example.organic/": b"https://www.example.organic/",
        b"https://www.example.org@evil.example/": b"https://evil.example/",
        b"ht\ntp://h/": b"http://h/",
        b"mailto:me@example.org": b"",
        b"http://h:65536/": b"",
    }
    assert list(table.values()) == resolved(base, *table)


def test_only_hyperlinks_may_be_empty() -> None:
    """An empty href of a hyperlink is the document; an empty src or link href is never fetched."""
    base = urlnorm.Base(b"http://h/")
    links = [(ELEMENT_A, 0, b" "), (ELEMENT_IMG, 0, b"\t"), (ELEMENT_LINK, 0, b"")]
    assert statuses(base.resolve(packed(links))) == [OK, EMPTY, EMPTY]
    assert statuses(base.resolve(packed([(ELEMENT_IFRAME, 0, b"#")]))) == [OK]


def test_what_the_kernel_leaves_to_python() -> None:
    """Non-ASCII hosts are SLOW; queries are when the document's encoding is not UTF-8."""
    base = urlnorm.Base(b"http://h/")
    links = packed([(ELEMENT_A, 0, text.encode()) for text in ["//ü/", "?ü", "ü?x", "//%C3%BC"]])
    assert statuses(base.resolve(links)) == [SLOW, OK, OK, SLOW]
    assert statuses(base.resolve(links, encoding_is_utf8=False)) == [SLOW, SLOW, OK, SLOW]
    assert (SLOW, "bü".encode(), False, 0, 0, 0) == urlnorm.parse(b"http://B%C3%BC:81/")
    assert urlnorm.parse("http://ü:81/".encode(), None, b"xn--tda")[1] == b"http://xn--tda:81/"


def test_limits_of_length() -> None:
    """Hosts go up to 253 bytes, labels to 63, URLs to 2083 after normalising."""
    host = b".".join([b"x" * 61] * 4) + b".xxxxx"
    assert len(host) == 253
    fitting = [b"http://%b/" % host, b"http://%b/" % (b"x" * 63), b"http://h/".ljust(2083, b"x")]
    assert [urlnorm.parse(url)[0] for url in fitting] == [OK] * 3
    too_long = [b"http://%bx/" % host, b"http://%b/" % (b"x" * 64), b"http://h/".ljust(2084, b"x")]
    assert [urlnorm.parse(url)[0] for url in too_long] == [INVALID] * 2 + [TOO_LONG]
    assert urlnorm.parse(b"http://h/" + b"a/../" * 1000 + b"#" + b"x" * 5000)[0] == OK
    assert b"%C3" * 600 not in resolved(b"http://h/", b"\xc3" * 700)[0]


def test_a_base_is_absolute_and_http() -> None:
    """What cannot be resolved against raises."""
    for url in [b"", b"/x", b"mailto:x", b"http://", "http://ü/".encode()]:
        with pytest.raises(ValueError, match="no absolute URL"):
            urlnorm.Base(url)
    with pytest.raises(ValueError, match="no absolute URL"):
        urlnorm.LarbinBase(b"https://h/")
    assert urlnorm.parse(b"ftp://h/")[0] == SCHEME


def test_larbin_references() -> None:
    """In larbin's mode a reference is appended to the directory; other schemes are dropped."""
    base = urlnorm.LarbinBase(b"http://H:8080/a/b.html?x")
    values = [b"c", b"../c", b"../../c", b"/c//d", b"//c/d", b"http:c", b"?y", b"", b"https://h/"]
    items = base.resolve(packed([(ELEMENT_A, 0, value) for value in values]))
    assert statuses(items) == [OK, OK, INVALID, OK, OK, OK, OK, OK, SCHEME]
    assert base.url == b"http://h:8080/a/b.html?x"
    assert items[RESOLVED_HEAD.size : RESOLVED_HEAD.size + 17] == b"http://h:8080/a/c"
