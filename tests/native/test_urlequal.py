"""URLs that are taken for one, against the reference, and what that must never do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy import url as urls
from larbinpy.url import Base, Equal
from tests.native.test_urlnorm import URLS
from tests.reference.linkbuffers import FOUND_HEAD
from tests.reference.urlequal import equal_url

HOST = b"http://a.test"
NONE, ALL = Equal(0), Equal(31)
SLASH, INDEX, SORT = Equal.SLASH, Equal.INDEX, Equal.SORT_QUERY
SESSIONS, TRACKING = Equal.DROP_SESSIONS, Equal.DROP_TRACKING

PIECES = [
    b"/", b"/", b"/", b"?", b"&", b"&", b"=", b";", b".", b"..", b"%2e", b"%2F", b"a", b"b", b"B",
    b"index.html", b"INDEX.php", b"default.aspx", b"jsessionid=1", b";JSessionID=x", b"sid=",
    b"sid=0123456789abcdef", b"ASPSESSIONIDx=y", b"utm_source=x", b"UTM_", b"gclid", b"gclid=1",
    b"a=2", b"a=1", b"aa=0", b"\xff",
]  # fmt: skip
TAILS = st.lists(st.sampled_from(PIECES), max_size=16).map(lambda pieces: b"/" + b"".join(pieces))
OPTIONS = st.integers(0, 31).map(Equal)


def normalised(url: bytes, equal: Equal = NONE, *, exact: bool = False) -> bytes:
    """What a link to this URL is queued as; empty when it is no URL."""
    link = FOUND_HEAD.pack(1, 1, 0, 0, len(url)) + url
    return urls.resolve(Base(HOST, equal), link, exact=exact)[urls.ITEM_BYTES :]


@settings(max_examples=400, deadline=None)
@given(TAILS.map(lambda tail: HOST + tail) | URLS, OPTIONS)
def test_equals_reference_and_twice_is_once(url: bytes, equal: Equal) -> None:
    """With any of the options; and what comes out comes out again when it goes in again."""
    plain = normalised(url)
    found = normalised(url, equal)
    assert found == (equal_url(plain, equal) if plain else b"")
    assert normalised(url, equal, exact=True) == plain
    if found:
        assert normalised(found, equal) == normalised(found) == found


@pytest.mark.parametrize("equal", [Equal(bits) for bits in range(32)])
def test_twice_is_once(equal: Equal) -> None:
    """All options together with each other, on a URL that has something for each."""
    url = HOST + b"/index.html/a;jsessionid=1/;sid=1/index.html//?b=2&gclid=1&a=1&phpsessid=3"
    found = normalised(url, equal)
    assert normalised(found, equal) == found == equal_url(normalised(url), equal)


@pytest.mark.parametrize(
    ("equal", "tail", "expected"),
    [
        (SLASH, b"/", b"/"),
        (SLASH, b"/a/", b"/a"),
        (SLASH, b"/a/?b/", b"/a?b/"),
        (SLASH, b"//a//", b"//a"),
        (SLASH, b"//", b"/"),
        (INDEX, b"/index.html", b"/"),
        (INDEX, b"/a/Default.ASPX", b"/a/"),
        (INDEX, b"/index.html?a", b"/index.html?a"),
        (INDEX, b"/index.html=", b"/index.html="),
        (INDEX, b"/xindex.html", b"/xindex.html"),
        (INDEX | SLASH, b"/a/index.html", b"/a"),
        (INDEX | SLASH, b"/index.html/index.php//", b"/"),
        (INDEX | TRACKING, b"/index.html?gclid=1", b"/"),
        (SORT, b"/?b=1&a=2&a=1&&B", b"/?&B&a=2&a=1&b=1"),
        (SORT, b"/?ab&a=1", b"/?a=1&ab"),
        (SORT, b"/?", b"/?"),
        (SESSIONS, b"/a;jsessionid=1;v=2/b;JSESSIONID", b"/a;v=2/b"),
        (SESSIONS, b"/..;jsessionid=1/b", b"/..;jsessionid=1/b"),
        (SESSIONS, b"/?sid=12&sid=0123456789abcdef&ASPSESSIONIDQ=1", b"/?sid=12"),
        (SESSIONS, b"/?PHPSESSID=1", b"/"),
        (SESSIONS, b"/?jsessionidx=1&utm_a=1", b"/?jsessionidx=1&utm_a=1"),
        (TRACKING, b"/?utm_source=a&b=utm_c&fbclid=1&", b"/?b=utm_c&"),
        (TRACKING, b"/?gclids=1&sessid=1", b"/?gclids=1&sessid=1"),
    ],
)
def test_each_option(equal: Equal, tail: bytes, expected: bytes) -> None:
    """What it takes, and what it leaves."""
    assert normalised(HOST + tail, equal) == HOST + expected


def test_hosts_that_need_idna_are_no_exception() -> None:
    """The slow path has the same options."""
    assert normalised("http://b\u00fc.test/a/".encode(), SLASH) == b"http://xn--b-eha.test/a"
    absolute = urls.parse("http://b\u00fc.test/a/?gclid", Base(HOST, ALL))
    assert absolute is not None
    assert absolute.url == b"http://xn--b-eha.test/a"


def test_the_longest_query_of_parameters_alone() -> None:
    """There is room for as many as a URL can hold."""
    url = HOST + b"/?" + b"&" * 2000 + b"b&a"
    assert normalised(url, ALL) == HOST + b"/?" + b"&" * 2000 + b"a&b"
