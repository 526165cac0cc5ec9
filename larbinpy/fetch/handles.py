"""Easy handles: their constants, set once, and the little that changes from request to request."""

from __future__ import annotations

import ipaddress
import time
from typing import TYPE_CHECKING, Any, Final

import certifi
import pycurl

from larbinpy._native.easyslots import Slot
from larbinpy._native.transfer import Transfer
from larbinpy.proxy import HTTP
from larbinpy.records import FetchJob, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.fetch.base import FetchOptions
    from larbinpy.fetch.cookies import CookieJar
    from larbinpy.proxy import Proxy

_HTTP_ONLY: Final = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
_VERSIONS: Final = {
    "1.1": pycurl.CURL_HTTP_VERSION_1_1,
    "auto": pycurl.CURL_HTTP_VERSION_2TLS,
    "2": pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
}
CUT_KINDS: Final = (Kind.ROBOTS, Kind.SITEMAP)
"""Of these, what comes before the limit is taken; a page that is longer is refused."""
SETOPT_ERRORS: Final = (pycurl.error, UnicodeError, ValueError, TypeError)
"""What ``setopt`` raises for a value that it will not take."""


class SlotMaker:
    """Makes slots that all have the same constants."""

    def __init__(
        self, options: FetchOptions, opened: Callable[[int], None], jar: CookieJar | None = None
    ) -> None:
        self._options = options
        self._opened = opened
        self._jar = jar
        self._ca_file = options.ca_file or certifi.where()
        constant = _constant_headers(options)
        self._own_headers = {
            origin: _with_own(constant, own) for origin, own in options.headers.items()
        }
        # A field of HTTPHEADER costs libcurl 1,600 instructions in each request.  The agent is sent
        # as it is, and what follows it in a line of its own is a field too.  A proxy would see the
        # agent in CONNECT, and with it what is not for its eyes.
        is_same = not (self._own_headers or options.proxy)
        self._agent = b"\r\n".join([options.user_agent, *(constant if is_same else ())])
        self._headers = [] if is_same else constant
        self._proxy_ip = ipaddress.ip_address(options.proxy_ip).packed if options.proxy else b""

    @property
    def is_plain(self) -> bool:
        """Whether handles differ in nothing but their URL, address and keeping."""
        options = self._options
        is_dressed = bool(self._own_headers) or self._jar is not None
        return not (options.proxy or is_dressed or options.is_tls_recorded)

    def make(self) -> Slot:
        """Return a fresh slot."""
        options = self._options
        transfer = Transfer(self._opened, options.types)
        easy = pycurl.Curl()
        _set_safety(easy)
        _set_limits(easy, options)
        if options.is_tls_old:
            easy.setopt(pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_0)
            easy.setopt(pycurl.SSL_CIPHER_LIST, "DEFAULT:@SECLEVEL=0")
        if options.proxy:
            _set_proxy(easy, options.proxy, options.proxy_ip)
        easy.setopt(pycurl.USERAGENT, self._agent)
        easy.setopt(pycurl.HTTP_VERSION, _VERSIONS[options.http_version])
        easy.setopt(pycurl.CAINFO, self._ca_file)
        easy.setopt(pycurl.WRITEFUNCTION, transfer.write)
        easy.setopt(pycurl.HEADERFUNCTION, transfer.header)
        easy.setopt(pycurl.OPENSOCKETFUNCTION, transfer.open_socket)
        easy.setopt(pycurl.PREREQFUNCTION, transfer.before_request)
        easy.setopt(pycurl.HTTPHEADER, self._headers)
        slot = Slot(easy, transfer)
        slot.headers = self._headers
        return slot

    def prepare(self, slot: Slot, job: FetchJob, *, keep: bool, unverified: str = "") -> None:
        """Make the slot ready for this job.

        Args:
            unverified: why the server is not verified; empty: it is.

        Raises:
            SETOPT_ERRORS: libcurl does not take the URL.
        """
        slot.easy.setopt(pycurl.URL, job.url)
        slot.keep(keep)
        slot.unverified = unverified
        self._verify(slot, is_verified=not unverified)
        self._dress(slot, job, is_trusted=not unverified)
        if self._options.proxy:
            self._expect(slot, job, self._proxy_ip, self._options.proxy.port)
        else:
            slot.aim(job)
            self._expect(slot, job, job.ip, job.port)

    def _verify(self, slot: Slot, *, is_verified: bool) -> None:
        # libcurl keeps connections that were verified apart from those that were not.
        if slot.is_verified is not is_verified:
            slot.easy.setopt(pycurl.SSL_VERIFYPEER, int(is_verified))
            slot.easy.setopt(pycurl.SSL_VERIFYHOST, 2 if is_verified else 0)
            slot.is_verified = is_verified

    def _dress(self, slot: Slot, job: FetchJob, *, is_trusted: bool) -> None:
        """Set what this origin alone may see; a server that is not verified sees none of it."""
        headers, cookie = self._headers, b""
        if is_trusted and self._own_headers:
            headers = self._own_headers.get(job.origin, headers)
        if is_trusted and self._jar:
            now_s = time.time()
            cookie = self._jar.header(job.host, job.path, https=job.https, now_s=now_s)
        if headers is not slot.headers:
            slot.easy.setopt(pycurl.HTTPHEADER, headers)
            slot.headers = headers
        if cookie != slot.cookie:
            if cookie:
                slot.easy.setopt(pycurl.COOKIE, cookie)
            else:  # an empty one would be sent as a field without a value
                slot.easy.unsetopt(pycurl.COOKIE)
            slot.cookie = cookie

    def _expect(self, slot: Slot, job: FetchJob, address: bytes, port: int) -> None:
        options = self._options
        is_robots = job.kind is Kind.ROBOTS
        slot.transfer.reset(
            address,
            port,
            options.robots_bytes if is_robots else options.page_bytes,
            job.kind is Kind.PAGE and not options.is_any_type,
            job.kind not in CUT_KINDS,
        )


def _with_own(constant: list[bytes], own: tuple[bytes, ...]) -> list[bytes]:
    """The constant headers with an origin's own, which go before those of the same name."""
    names = {_name(header) for header in own}
    return _checked([*(header for header in constant if _name(header) not in names), *own])


def _name(header: bytes) -> bytes:
    return header.partition(b":")[0].strip().lower()


def _checked(headers: list[bytes]) -> list[bytes]:
    for header in headers:
        if b"\r" in header or b"\n" in header:
            raise ValueError("a line break in a header")  # libcurl would send it as it is
    return headers


def _constant_headers(options: FetchOptions) -> list[bytes]:
    headers = [b"Accept-Encoding: " + options.accept_encoding]
    if options.sender:
        headers.append(b"From: " + options.sender)
    _checked([options.user_agent])
    return _checked(headers)


def _set_safety(easy: Any) -> None:
    """Set what no option changes: only what we asked for is ever fetched or connected to."""
    easy.setopt(pycurl.NOSIGNAL, 1)
    easy.setopt(pycurl.PROXY, "")  # or http_proxy of the environment would defeat the guard
    easy.setopt(pycurl.NOPROXY, "")  # or no_proxy would lead around our own
    easy.setopt(pycurl.NETRC, 0)
    easy.setopt(pycurl.PROTOCOLS, _HTTP_ONLY)
    easy.setopt(pycurl.REDIR_PROTOCOLS, _HTTP_ONLY)
    easy.setopt(pycurl.FOLLOWLOCATION, 0)
    easy.setopt(pycurl.PATH_AS_IS, 1)
    easy.setopt(pycurl.HTTP_CONTENT_DECODING, 0)
    easy.setopt(pycurl.HTTP09_ALLOWED, 0)
    # With the default each transfer scans the whole cache; addresses come from us anyway.
    easy.setopt(pycurl.DNS_CACHE_TIMEOUT, 0)


def _set_proxy(easy: Any, proxy: Proxy, ip: str) -> None:
    """Send everything to the proxy, which looks names up; CONNECT_TO would force a tunnel."""
    is_http = proxy.kind == HTTP
    easy.setopt(pycurl.PROXY, f"[{ip}]" if ":" in ip else ip)
    easy.setopt(pycurl.PROXYPORT, proxy.port)
    easy.setopt(
        pycurl.PROXYTYPE, pycurl.PROXYTYPE_HTTP if is_http else pycurl.PROXYTYPE_SOCKS5_HOSTNAME
    )
    if proxy.user:
        easy.setopt(pycurl.PROXYUSERNAME, proxy.user)
        easy.setopt(pycurl.PROXYPASSWORD, proxy.password)


def _set_limits(easy: Any, options: FetchOptions) -> None:
    easy.setopt(pycurl.CONNECTTIMEOUT_MS, round(options.connect_timeout_s * 1000))
    easy.setopt(pycurl.TIMEOUT_MS, round(options.total_timeout_s * 1000))
    easy.setopt(pycurl.LOW_SPEED_LIMIT, 1)
    easy.setopt(pycurl.LOW_SPEED_TIME, options.stall_s)
    easy.setopt(pycurl.MAXAGE_CONN, options.idle_s)
