"""Cookies of a shard: RFC 6265 with public suffixes, and with a bound on everything.

Kept by registered domain, since a shard owns whole domains and a cookie never leaves its own.
Pure: the caller brings the time, and nothing is kept on disk.

Deliberate differences from the RFC, all of them stricter: a Secure cookie is only taken over https,
and no http response can replace it; the prefixes ``__Secure-`` and ``__Host-`` are honoured; a
cookie is at most 4096 bytes, a domain keeps 50, a request carries 8 KiB of them.
"""

from __future__ import annotations

import calendar
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_COOKIE_BYTES: Final = 4096
MAX_ATTRIBUTE_BYTES: Final = 1024
MAX_PER_DOMAIN: Final = 50
MAX_SENT_BYTES: Final = 8192
DEFAULT_BYTES: Final = 32 << 20
_OVERHEAD_BYTES: Final = 400
"""What a cookie costs beside its strings, about."""
_NEVER_S: Final = float("inf")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_ADDRESS: Final = re.compile(rb"\[.*\]|[0-9.]*[0-9]")


@dataclass(slots=True)
class _Cookie:
    """One cookie; within its domain it is known by name, host and path."""

    name: bytes
    value: bytes
    host: bytes
    """The Domain attribute, or the host that set it."""
    path: bytes
    is_host_only: bool
    is_secure: bool
    expires_s: float

    @property
    def size(self) -> int:
        """Bytes that it counts for."""
        return len(self.name) + len(self.value) + len(self.path) + _OVERHEAD_BYTES

    def is_for(self, host: bytes, path: bytes, *, https: bool) -> bool:
        """Whether a request carries it."""
        if self.is_secure and not https:
            return False
        if host != self.host and (self.is_host_only or not _is_under(host, self.host)):
            return False
        return _is_path_under(path, self.path)


_Domain = dict[tuple[bytes, bytes, bytes], _Cookie]


class CookieJar:
    """Takes Set-Cookie fields and says what to send.

    Args of ``__init__``:
        domain_of: the registered domain of a host.
        is_suffix: whether a name is a public suffix, under which nobody may set cookies for all.
        max_bytes: bound of the whole jar; the domain asked longest ago is forgotten first.

    Cost: O(cookies of the domain) a request.
    """

    __slots__ = ("_domain_of", "_domains", "_is_suffix", "_max_bytes", "nbytes")

    def __init__(
        self,
        domain_of: Callable[[bytes], bytes],
        is_suffix: Callable[[bytes], bool],
        *,
        max_bytes: int = DEFAULT_BYTES,
    ) -> None:
        self._domain_of = domain_of
        self._is_suffix = is_suffix
        self._max_bytes = max_bytes
        self._domains: OrderedDict[bytes, _Domain] = OrderedDict()
        self.nbytes = 0
        """Bytes that are held, about."""

    def header(self, host: bytes, path: bytes, *, https: bool, now_s: float) -> bytes:
        """Return the value of the Cookie field for a request; empty sends none.

        Args:
            host: without port, lower case.
            path: of the URL; a query may follow it.
            now_s: seconds since 1970.
        """
        key = self._domain_of(host)
        cookies = self._domains.get(key)
        if cookies is None:
            return b""
        self._domains.move_to_end(key)
        path = path.partition(b"?")[0]
        chosen = [
            cookie
            for cookie in cookies.values()
            if cookie.expires_s > now_s and cookie.is_for(host, path, https=https)
        ]
        chosen.sort(key=lambda cookie: -len(cookie.path))
        return b"; ".join(_that_fit(chosen))

    def take(self, headers: bytes, host: bytes, path: bytes, *, https: bool, now_s: float) -> None:
        """Take the Set-Cookie fields of a response; what is malformed or not allowed is dropped.

        Args:
            headers: the header block, lines ended by CR LF.
        """
        for line in headers.split(b"\r\n"):
            if line[:11].lower() == b"set-cookie:":
                cookie = _parse(line[11:], host, path.partition(b"?")[0], now_s)
                if cookie is not None and self._may_set(cookie, host, https=https):
                    self._put(cookie, https=https, now_s=now_s)
        self._shrink()

    def _may_set(self, cookie: _Cookie, host: bytes, *, https: bool) -> bool:
        if cookie.is_secure and not https:
            return False
        if not cookie.is_host_only:
            if self._is_suffix(cookie.host):
                cookie.is_host_only = True
            if cookie.host != host and (cookie.is_host_only or not _is_under(host, cookie.host)):
                return False
        return _is_prefix_kept(cookie)

    def _put(self, cookie: _Cookie, *, https: bool, now_s: float) -> None:
        cookies = self._domains.setdefault(self._domain_of(cookie.host), {})
        key = (cookie.name, cookie.host, cookie.path)
        known = cookies.get(key)
        if known is not None and known.is_secure and not https:
            return
        if known is not None:
            self._drop(cookies, key)
        if cookie.expires_s <= now_s:
            return
        if len(cookies) >= MAX_PER_DOMAIN:
            self._make_room(cookies, now_s)
        cookies[key] = cookie
        self.nbytes += cookie.size

    def _make_room(self, cookies: _Domain, now_s: float) -> None:
        """Drop what has expired, or else the cookie that was set longest ago."""
        old = [key for key, cookie in cookies.items() if cookie.expires_s <= now_s]
        for key in old or [next(iter(cookies))]:
            self._drop(cookies, key)

    def _drop(self, cookies: _Domain, key: tuple[bytes, bytes, bytes]) -> None:
        self.nbytes -= cookies.pop(key).size

    def _shrink(self) -> None:
        while self.nbytes > self._max_bytes:
            _, cookies = self._domains.popitem(last=False)
            self.nbytes -= sum(cookie.size for cookie in cookies.values())


def _that_fit(cookies: list[_Cookie]) -> Iterator[bytes]:
    left = MAX_SENT_BYTES
    for cookie in cookies:
        left -= len(cookie.name) + len(cookie.value) + len(b"=; ")
        if left < 0:
            return
        yield cookie.name + b"=" + cookie.value


def _is_under(host: bytes, domain: bytes) -> bool:
    """Whether a host is a subdomain; an address has none."""
    return host.endswith(b"." + domain) and not _ADDRESS.fullmatch(host)


def _is_path_under(path: bytes, of: bytes) -> bool:
    return path == of or (path.startswith(of) and (of.endswith(b"/") or path[len(of)] == ord("/")))


def _is_prefix_kept(cookie: _Cookie) -> bool:
    """Whether a name that promises something about its cookie keeps it."""
    if cookie.name.startswith(b"__Secure-"):
        return cookie.is_secure
    if cookie.name.startswith(b"__Host-"):
        return cookie.is_secure and cookie.is_host_only and cookie.path == b"/"
    return True


def _parse(field: bytes, host: bytes, path: bytes, now_s: float) -> _Cookie | None:
    """Read the value of one Set-Cookie field (RFC 6265, 5.2 and 5.3)."""
    pair, *rest = field.split(b";")
    name, equals, value = (part.strip(b" \t") for part in pair.partition(b"="))
    size = len(name) + len(value)
    if not (equals and name) or size > MAX_COOKIE_BYTES or _CONTROL.search(pair):
        return None
    attributes = dict(filter(None, map(_attribute, rest)))
    domain = attributes.get(b"domain", b"").removeprefix(b".").lower()
    given = attributes.get(b"path", b"")
    return _Cookie(
        name,
        value,
        domain or host,
        given if given.startswith(b"/") else _default_path(path),
        is_host_only=not domain,
        is_secure=b"secure" in attributes,
        expires_s=_expiry(attributes, now_s),
    )


def _attribute(text: bytes) -> tuple[bytes, bytes] | None:
    name, _, value = (part.strip(b" \t") for part in text.partition(b"="))
    if len(value) > MAX_ATTRIBUTE_BYTES or _CONTROL.search(value):
        return None
    return name.lower(), value


def _default_path(path: bytes) -> bytes:
    return path[: path.rfind(b"/")] or b"/"


def _expiry(attributes: dict[bytes, bytes], now_s: float) -> float:
    """Seconds since 1970; a session's cookie lives as long as the process."""
    age = attributes.get(b"max-age", b"")
    if re.fullmatch(rb"-?[0-9]{1,12}", age):
        return now_s + int(age)
    date = parse_date(attributes.get(b"expires", b""))
    return _NEVER_S if date is None else date


_MONTHS: Final = (b"jan feb mar apr may jun jul aug sep oct nov dec").split()
_DELIMITERS: Final = re.compile(rb"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME: Final = re.compile(rb"(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)")
_DAY: Final = re.compile(rb"(\d{1,2})(?!\d)")
_YEAR: Final = re.compile(rb"(\d{2,4})(?!\d)")


def parse_date(text: bytes) -> float | None:
    """Read a date as RFC 6265, 5.1.1 does: words in any order; None when something is missing."""
    found: dict[str, tuple[int, ...]] = {}
    for word in _DELIMITERS.split(text):
        month = word[:3].lower()
        if "time" not in found and (match := _TIME.match(word)):
            found["time"] = tuple(map(int, match.groups()))
        elif "day" not in found and (match := _DAY.match(word)):
            found["day"] = (int(match[1]),)
        elif "month" not in found and month in _MONTHS:
            found["month"] = (_MONTHS.index(month) + 1,)
        elif "year" not in found and (match := _YEAR.match(word)):
            found["year"] = (_full_year(int(match[1])),)
    if len(found) < 4:
        return None
    (year,), (month,), (day,) = found["year"], found["month"], found["day"]
    return _seconds(year, month, day, found["time"])


def _full_year(year: int) -> int:
    if year < 70:
        return year + 2000
    return year + 1900 if year < 100 else year


def _seconds(year: int, month: int, day: int, time: tuple[int, ...]) -> float | None:
    hour, minute, second = time
    if year < 1601 or not 1 <= day <= 31 or hour > 23 or minute > 59 or second > 59:
        return None
    return float(calendar.timegm((year, month, day, hour, minute, second)))
