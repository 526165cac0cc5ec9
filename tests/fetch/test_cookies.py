"""Cookies: who may set them, who gets them back, and that nothing grows without a bound."""

from __future__ import annotations

import pytest

from larbinpy.domain import Domains
from larbinpy.fetch import cookies
from larbinpy.fetch.cookies import CookieJar, parse_date

NOW_S = 1_700_000_000.0
DOMAINS = Domains()


def jar_with(
    *fields: bytes, host: bytes = b"www.a.co.uk", path: bytes = b"/d/p", https: bool = True
) -> CookieJar:
    jar = CookieJar(DOMAINS.of, DOMAINS.is_suffix)
    take(jar, *fields, host=host, path=path, https=https)
    return jar


def take(
    jar: CookieJar,
    *fields: bytes,
    host: bytes = b"www.a.co.uk",
    path: bytes = b"/d/p",
    https: bool = True,
    now_s: float = NOW_S,
) -> None:
    block = b"HTTP/1.1 200 OK\r\n" + b"".join(b"Set-Cookie: %b\r\n" % field for field in fields)
    jar.take(block, host, path, https=https, now_s=now_s)


def sent(
    jar: CookieJar, host: bytes = b"www.a.co.uk", path: bytes = b"/d/p?q", *, https: bool = True
) -> bytes:
    return jar.header(host, path, https=https, now_s=NOW_S)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (b"a=b", b"a=b"),
        (b"a=b=c", b"a=b=c"),
        (b' a = "b c" ; HttpOnly', b'a="b c"'),
        (b"a=", b"a="),
        (b"=b", b""),
        (b"a", b""),
        (b"", b""),
        (b"a=b\x01", b""),
        (b"a=b; Domain=a.co.uk", b"a=b"),
        (b"a=b; Domain=.A.co.uk", b"a=b"),
        (b"a=b; domain=WWW.a.co.uk", b"a=b"),
        (b"a=b; Domain=co.uk", b""),
        (b"a=b; Domain=uk", b""),
        (b"a=b; Domain=b.co.uk", b""),
        (b"a=b; Domain=x.www.a.co.uk", b""),
        (b"a=b; Domain=ww.a.co.uk", b""),
        (b"a=b; Domain=", b"a=b"),
        (b"a=b; Domain=" + b"a." * 300 + b"a.co.uk", b""),  # xroche/httrack#550
        (b"a=b; Path=/", b"a=b"),
        (b"a=b; Path=/d", b"a=b"),
        (b"a=b; Path=/d/", b"a=b"),
        (b"a=b; Path=/d/p", b"a=b"),
        (b"a=b; Path=/d/p/", b""),
        (b"a=b; Path=/e", b""),
        (b"a=b; Path=d", b"a=b"),
        (b"a=b; Secure", b"a=b"),
        (b"a=b; Max-Age=1", b"a=b"),
        (b"a=b; Max-Age=0", b""),
        (b"a=b; Max-Age=-1", b""),
        (b"a=b; Max-Age=x", b"a=b"),
        (b"a=b; Expires=Thu, 01 Jan 1970 00:00:10 GMT", b""),
        (b"a=b; Expires=Thu, 01 Jan 2099 00:00:10 GMT", b"a=b"),
        (b"a=b; Expires=Thu, 01 Jan 1970 00:00:10 GMT; Max-Age=5", b"a=b"),
        (b"__Host-a=b; Secure; Path=/", b"__Host-a=b"),
        (b"__Host-a=b; Secure", b""),
        (b"__Host-a=b; Secure; Path=/; Domain=a.co.uk", b""),
        (b"__Secure-a=b", b""),
        (b"a=" + b"b" * 4095, b"a=" + b"b" * 4095),
        (b"a=" + b"b" * 4096, b""),
    ],
)
def test_what_is_taken_and_sent_back(field: bytes, expected: bytes) -> None:
    """To the page that set it."""
    assert sent(jar_with(field)) == expected


def test_a_cookie_goes_to_its_host_only_unless_it_names_a_domain() -> None:
    """internetarchive/heritrix3#259: and never to another registered domain."""
    hosts = [b"www.a.co.uk", b"a.co.uk", b"x.www.a.co.uk", b"b.co.uk", b"wwwa.co.uk"]
    own, shared = jar_with(b"a=b"), jar_with(b"a=b; Domain=a.co.uk")
    assert [bool(sent(own, host)) for host in hosts] == [True, False, False, False, False]
    assert [bool(sent(shared, host)) for host in hosts] == [True, True, True, False, False]


def test_paths_are_compared_by_whole_segments() -> None:
    """The default is the directory of the page; the query does not count."""
    jar = jar_with(b"a=b")
    paths = [b"/d/p", b"/d/", b"/d", b"/d/e/f", b"/dx", b"/", b"/?/d/"]
    assert [bool(sent(jar, path=path)) for path in paths] == [True] * 4 + [False] * 3
    assert sent(jar_with(b"a=b", path=b"/p?x/y"), path=b"/q") == b"a=b"


def test_longer_paths_go_first_then_older_cookies() -> None:
    """As RFC 6265 asks for."""
    jar = jar_with(b"a=1; Path=/", b"b=2; Path=/d", b"c=3; Path=/")
    assert sent(jar) == b"b=2; a=1; c=3"


def test_a_cookie_is_replaced_by_name_host_and_path() -> None:
    """And deleted by one that has expired."""
    jar = jar_with(b"a=1", b"a=2", b"a=3; Path=/")
    assert sent(jar) == b"a=2; a=3"
    take(jar, b"a=; Max-Age=0")
    assert sent(jar) == b"a=3"


def test_secure_cookies_belong_to_https() -> None:
    """They are not sent, not taken and not replaced over http."""
    assert sent(jar_with(b"a=b; Secure"), https=False) == b""
    assert sent(jar_with(b"a=b; Secure", https=False)) == b""
    jar = jar_with(b"a=b; Secure")
    take(jar, b"a=evil", https=False)
    assert sent(jar) == b"a=b"


@pytest.mark.parametrize("host", [b"127.0.0.1", b"[::1]", b"localhost"])
def test_addresses_and_single_labels_have_cookies_of_their_own(host: bytes) -> None:
    """Exactly theirs: an address is no subdomain of its tail."""
    assert sent(jar_with(b"a=b", host=host), host) == b"a=b"
    assert sent(jar_with(b"a=b; Domain=" + host, host=host), host) == b"a=b"
    jar = jar_with(b"a=b; Domain=0.1", host=b"127.0.0.1")
    assert sent(jar, b"127.0.0.1") == sent(jar, b"0.1") == b""


def test_a_host_that_is_a_public_suffix_has_cookies_of_its_own() -> None:
    """They do not go to those under it."""
    jar = jar_with(b"a=b; Domain=github.io", host=b"github.io")
    assert (sent(jar, b"github.io"), sent(jar, b"evil.github.io")) == (b"a=b", b"")


def test_a_domain_keeps_its_fifty_newest() -> None:
    """Expired ones go first."""
    jar = jar_with(b"old=1; Max-Age=5", *(b"c%d=1" % n for n in range(49)))
    take(jar, b"new=1", now_s=NOW_S + 10)
    assert (b"old" in sent(jar), b"c0=" in sent(jar)) == (False, True)
    take(jar, b"newer=1")
    names = [pair.split(b"=")[0] for pair in sent(jar).split(b"; ")]
    assert names == [b"c%d" % n for n in range(1, 49)] + [b"new", b"newer"]


def test_a_request_carries_8_kib_at_most() -> None:
    """Servers refuse more."""
    jar = jar_with(*(b"c%d=%b" % (n, b"x" * 3000) for n in range(9)))
    assert len(sent(jar)) == len(b"c0=; c1=") + 6000


def test_the_jar_forgets_the_domain_asked_longest_ago() -> None:
    """When it holds more than it may."""
    jar = CookieJar(DOMAINS.of, DOMAINS.is_suffix, max_bytes=13_000)
    for n in range(3):
        take(jar, b"a=" + b"x" * 3000, host=b"h%d.com" % n)
    assert sent(jar, b"h0.com")
    take(jar, b"a=" + b"x" * 4000, b"b=" + b"x" * 3000, host=b"h3.com")
    kept = [bool(sent(jar, b"h%d.com" % n)) for n in range(4)]
    assert kept == [True, False, False, True]
    assert jar.nbytes <= 13_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"Wed, 09 Jun 2021 10:18:14 GMT", 1623233894.0),
        (b"Wed, 09-Jun-21 10:18:14 GMT", 1623233894.0),
        (b"Wed Jun  9 10:18:14 2021", 1623233894.0),
        (b"9 june 2021 10:18:14", 1623233894.0),
        (b"Thu, 01-Jan-70 00:00:01 GMT", 1.0),
        (b"Wed, 09 Jun 1500 10:18:14 GMT", None),
        (b"Wed, 99 Jun 2021 10:18:14 GMT", None),
        (b"Wed, 09 Jun 2021 25:18:14 GMT", None),
        (b"Wed, 09 Jun 2021", None),
        (b"never", None),
        (b"", None),
    ],
)
def test_dates(text: bytes, expected: float | None) -> None:
    """Of all the forms that servers send."""
    assert parse_date(text) == expected


def test_hostile_fields_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A header block of nothing but attributes is read once."""
    monkeypatch.setattr(cookies, "MAX_ATTRIBUTE_BYTES", 10)
    field = b"a=b; " + b"x=y; " * 10_000 + b"Path=/too-long-a-value"
    assert sent(jar_with(field)) == b"a=b"
