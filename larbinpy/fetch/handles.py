"""Easy handles: their constants, set once, and the little that changes from request to request."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, Final

import certifi
import pycurl

from larbinpy._native.transfer import Transfer
from larbinpy.records import FetchJob, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.fetch.base import FetchOptions

_HTTP_ONLY: Final = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
SETOPT_ERRORS: Final = (pycurl.error, UnicodeError, ValueError, TypeError)
"""What ``setopt`` raises for a value that it will not take."""


class Slot:
    """An easy handle with its transfer, used for one request after another."""

    __slots__ = (
        "easy",
        "is_kept",
        "job",
        "since_ns",
        "start_ns",
        "start_us",
        "target",
        "transfer",
    )

    def __init__(self, easy: Any, transfer: Transfer) -> None:
        self.easy = easy
        """A ``pycurl.Curl``; pycurl has no types."""
        self.transfer = transfer
        self.job: FetchJob | None = None
        self.target = ""
        self.is_kept = True
        self.since_ns = 0
        """When the job was first tried: the start, unless it had to wait for a descriptor."""
        self.start_us = 0
        self.start_ns = 0


class SlotMaker:
    """Makes slots that all have the same constants."""

    def __init__(self, options: FetchOptions, opened: Callable[[int], None]) -> None:
        self._options = options
        self._opened = opened
        self._ca_file = options.ca_file or certifi.where()
        self._headers = _constant_headers(options)

    def make(self) -> Slot:
        """Return a fresh slot."""
        options = self._options
        transfer = Transfer(self._opened, options.types)
        easy = pycurl.Curl()
        _set_safety(easy)
        _set_limits(easy, options)
        easy.setopt(pycurl.USERAGENT, options.user_agent)
        easy.setopt(pycurl.HTTPHEADER, self._headers)
        easy.setopt(pycurl.CAINFO, self._ca_file)
        easy.setopt(pycurl.SSL_VERIFYPEER, int(options.is_tls_verified))
        easy.setopt(pycurl.SSL_VERIFYHOST, 2 if options.is_tls_verified else 0)
        easy.setopt(pycurl.WRITEFUNCTION, transfer.write)
        easy.setopt(pycurl.HEADERFUNCTION, transfer.header)
        easy.setopt(pycurl.OPENSOCKETFUNCTION, transfer.open_socket)
        return Slot(easy, transfer)

    def prepare(self, slot: Slot, job: FetchJob, *, keep: bool) -> None:
        """Make the slot ready for this job.

        Raises:
            SETOPT_ERRORS: libcurl does not take the URL.
        """
        easy = slot.easy
        ip = job.ip
        easy.setopt(pycurl.URL, job.url)
        family = socket.AF_INET if len(ip) == 4 else socket.AF_INET6
        address = socket.inet_ntop(family, ip)
        target = f"::{address}:{job.port}" if len(ip) == 4 else f"::[{address}]:{job.port}"
        if target != slot.target:
            # Any host and port of this one request go to this address; SNI and Host stay the URL's.
            easy.setopt(pycurl.CONNECT_TO, [target])
            slot.target = target
        if keep is not slot.is_kept:
            easy.setopt(pycurl.FORBID_REUSE, int(not keep))
            slot.is_kept = keep
        self._expect(slot, job, address)

    def _expect(self, slot: Slot, job: FetchJob, address: str) -> None:
        options = self._options
        is_robots = job.kind is Kind.ROBOTS
        slot.transfer.reset(
            address,
            job.port,
            options.robots_bytes if is_robots else options.page_bytes,
            job.kind is Kind.PAGE and not options.is_any_type,
            not is_robots,
        )


def _constant_headers(options: FetchOptions) -> list[bytes]:
    headers = [b"Accept: " + options.accept, b"Accept-Encoding: " + options.accept_encoding]
    if options.sender:
        headers.append(b"From: " + options.sender)
    for header in [options.user_agent, *headers]:
        if b"\r" in header or b"\n" in header:
            raise ValueError("a line break in a header")  # libcurl would send it as it is
    return headers


def _set_safety(easy: Any) -> None:
    """Set what no option changes: only what we asked for is ever fetched or connected to."""
    easy.setopt(pycurl.NOSIGNAL, 1)
    easy.setopt(pycurl.PROXY, "")  # or http_proxy of the environment would defeat the guard
    easy.setopt(pycurl.NETRC, 0)
    easy.setopt(pycurl.PROTOCOLS, _HTTP_ONLY)
    easy.setopt(pycurl.REDIR_PROTOCOLS, _HTTP_ONLY)
    easy.setopt(pycurl.FOLLOWLOCATION, 0)
    easy.setopt(pycurl.PATH_AS_IS, 1)
    easy.setopt(pycurl.HTTP_CONTENT_DECODING, 0)
    easy.setopt(pycurl.HTTP09_ALLOWED, 0)
    easy.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
    # With the default each transfer scans the whole cache; addresses come from us anyway.
    easy.setopt(pycurl.DNS_CACHE_TIMEOUT, 0)


def _set_limits(easy: Any, options: FetchOptions) -> None:
    easy.setopt(pycurl.CONNECTTIMEOUT_MS, round(options.connect_timeout_s * 1000))
    easy.setopt(pycurl.TIMEOUT_MS, round(options.total_timeout_s * 1000))
    easy.setopt(pycurl.LOW_SPEED_LIMIT, 1)
    easy.setopt(pycurl.LOW_SPEED_TIME, options.stall_s)
    easy.setopt(pycurl.MAXAGE_CONN, options.idle_s)
