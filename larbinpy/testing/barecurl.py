"""Fetch a list of URLs with pycurl multi and nothing else: what the crawler's speed is measured by.

``python -m larbinpy.testing.barecurl URLS HOSTS --connections N`` prints one JSON line.
The loop is what a careful user of pycurl writes: epoll, reused handles, keep-alive, one connection
a host, no DNS cache, no connection that is closed to make room for another.
What it shares with a shard is the work on the wire and its result: as many connections, one request
at a time to each host, and of every page the status, the header block and the body as ``bytes``.
It has no limits, guards, delays or records, stores nothing, finds no links, asks no robots.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import socket
import sys
import time
from collections import deque
from pathlib import Path
from typing import Final, NoReturn

import pycurl

EVENTS: Final = 1024
IDLE_S: Final = 1.0
WRITABLE: Final = select.EPOLLOUT
READABLE: Final = select.EPOLLIN
HEADERS: Final = ["Accept-Encoding: gzip, br, zstd, deflate", "From: operator@web.test"]
"""A crawler sends them, so the bare loop does."""


class Response:
    """What a handle receives: libcurl appends the pieces, without a function of ours between."""

    __slots__ = ("body", "headers")

    def __init__(self, handle: pycurl.Curl) -> None:
        self.headers: list[bytes] = []
        self.body: list[bytes] = []
        handle.setopt(pycurl.HEADERFUNCTION, self.headers.append)
        handle.setopt(pycurl.WRITEFUNCTION, self.body.append)

    def take(self) -> tuple[bytes, bytes]:
        """Header block and body, which are forgotten here."""
        taken = b"".join(self.headers), b"".join(self.body)
        self.headers.clear()
        self.body.clear()
        return taken


class BareCurl:
    """One multi handle that works off the URLs of many hosts, each over one connection.

    Args:
        urls: absolute URLs; those of one host are fetched one after the other.
        addresses: host name to address, for hosts that are not called by address.
        connections: transfers at a time.
        seconds: begin no more transfers after so long.
        ca: file of the certificates that vouch for servers; None: libcurl's own.
    """

    def __init__(
        self,
        urls: list[str],
        addresses: dict[str, str],
        *,
        connections: int,
        seconds: float,
        ca: str | None = None,
    ) -> None:
        self._ca = ca
        self.pages = 0
        self.failed = 0
        self.bytes = 0
        """Of headers and bodies of pages."""
        self._addresses = addresses
        self._queues: dict[str, deque[str]] = {}
        for url in urls:
            self._queues.setdefault(url.split("/", 3)[2], deque()).append(url)
        self._hosts = deque(self._queues)
        self._end_s = time.monotonic() + seconds
        self._due_s: float | None = None
        self._epoll = select.epoll()
        self._watched: dict[int, int] = {}
        self._multi = self._new_multi()
        self._responses: dict[pycurl.Curl, Response] = {}
        self._free = [self._new_handle() for _ in range(connections)]
        self._host_of: dict[pycurl.Curl, str] = {}

    def _new_multi(self) -> pycurl.CurlMulti:
        multi = pycurl.CurlMulti()
        # A full pool is searched for its oldest connection at every new one.
        multi.setopt(pycurl.M_MAXCONNECTS, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        return multi

    def _new_handle(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        self._responses[handle] = Response(handle)
        handle.setopt(pycurl.OPENSOCKETFUNCTION, self._opened)
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.DNS_CACHE_TIMEOUT, 0)  # else each transfer scans the whole cache
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.PROXY, "")
        handle.setopt(pycurl.USERAGENT, "barecurl")
        handle.setopt(pycurl.HTTPHEADER, HEADERS)
        handle.setopt(pycurl.TIMEOUT, 30)
        if self._ca:
            handle.setopt(pycurl.CAINFO, self._ca)
        return handle

    def _watch(self, what: int, fd: int, multi: object, data: object) -> None:
        """libcurl's wish for a socket; idle ones stay registered, they wake nobody."""
        if what == pycurl.POLL_REMOVE:
            return
        mask = (READABLE if what & pycurl.POLL_IN else 0) | (
            WRITABLE if what & pycurl.POLL_OUT else 0
        )
        if self._watched.get(fd) == mask:
            return
        try:
            self._epoll.modify(fd, mask)
        except FileNotFoundError:  # new, or closed and opened again
            self._epoll.register(fd, mask)
        self._watched[fd] = mask

    def _opened(self, purpose: int, address: tuple[int, int, int, object]) -> int:
        """Open a socket; what was known of its number belongs to another one."""
        family, kind, protocol, _ = address
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)
        self._watched.pop(opened.fileno(), None)
        return opened.detach()

    def _set_timer(self, timeout_ms: int) -> None:
        self._due_s = None if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000

    def run(self) -> None:
        """Fetch all URLs, or what the time allows."""
        while self._start() or self._host_of:
            wait_s = IDLE_S if self._due_s is None else max(self._due_s - time.monotonic(), 0)
            for fd, events in self._epoll.poll(wait_s, EVENTS):
                self._multi.socket_action(fd, _curl_events(events))
            if self._due_s is not None and self._due_s <= time.monotonic():
                self._due_s = None
                self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
            self._finish()

    def _start(self) -> int:
        """Begin as many transfers as there are handles and hosts at rest."""
        started = 0
        if time.monotonic() >= self._end_s:
            return started
        while self._free and self._hosts:
            host = self._hosts.popleft()
            handle = self._free.pop()
            handle.setopt(pycurl.URL, self._queues[host].popleft())
            self._connect_to(handle, host)
            self._host_of[handle] = host
            self._multi.add_handle(handle)
            started += 1
        return started

    def _connect_to(self, handle: pycurl.Curl, host: str) -> None:
        name, _, port = host.partition(":")
        address = self._addresses.get(name)
        if address:
            handle.setopt(pycurl.CONNECT_TO, [f"{name}:{port}:{address}:{port}"])
        elif self._addresses:
            handle.unsetopt(pycurl.CONNECT_TO)

    def _finish(self) -> None:
        more = 1
        while more:
            more, good, bad = self._multi.info_read(EVENTS)
            for handle in good:
                headers, body = self._release(handle)
                is_page = handle.getinfo(pycurl.RESPONSE_CODE) == 200
                self.pages += is_page
                self.failed += not is_page
                self.bytes += len(headers) + len(body)
            for handle, _, _ in bad:
                self.failed += 1
                self._release(handle)

    def _release(self, handle: pycurl.Curl) -> tuple[bytes, bytes]:
        self._multi.remove_handle(handle)
        host = self._host_of.pop(handle)
        if self._queues[host]:
            self._hosts.append(host)
        self._free.append(handle)
        return self._responses[handle].take()


def _curl_events(events: int) -> int:
    mask = pycurl.CSELECT_IN if events & ~WRITABLE else 0
    return int(mask | (pycurl.CSELECT_OUT if events & WRITABLE else 0))


def read_hosts(path: Path) -> dict[str, str]:
    """Host name to address, from a hosts file."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {name: address for address, name in lines}


def main(argv: list[str]) -> NoReturn:
    """Fetch the URLs of a file, print what it took, and end the process."""
    parser = argparse.ArgumentParser(prog="python -m larbinpy.testing.barecurl")
    parser.add_argument("urls", type=Path, help="one URL a line")
    parser.add_argument("hosts", type=Path, help="hosts file")
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--ca", help="certificates that vouch for servers")
    given = parser.parse_args(argv)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    loop = BareCurl(
        given.urls.read_text().split(),
        read_hosts(given.hosts),
        connections=given.connections,
        seconds=given.seconds,
        ca=given.ca,
    )
    begun_s, begun_cpu_s = time.monotonic(), time.process_time()
    loop.run()
    took = {
        "pages": loop.pages,
        "failed": loop.failed,
        "bytes": loop.bytes,
        "seconds": time.monotonic() - begun_s,
        "cpu_seconds": time.process_time() - begun_cpu_s,
    }
    sys.stdout.write(json.dumps(took) + "\n")
    sys.stdout.flush()
    os._exit(0)  # closing thousands of handles is no part of the measurement


if __name__ == "__main__":
    main(sys.argv[1:])
