"""CPU per page of the fetcher beside a bare pycurl multi loop, against nginx on loopback.

Run: ``python -m tests.bench.micro_fetch [--pages N] [--hosts N] [--connections N]``

Workload: N pages of 7.6 kB, one request at a time per host, hosts in 127.0.0.0/8, keep-alive or a
connection per page.  Both sides reuse their easy handles and drop the bodies.
The bare side is the least that does the job: M_SOCKETFUNCTION and epoll in Python, lists as
callbacks, CONNECT_TO like ours, no guard, no limits, no record per page.
Six pairs A B A B; printed are the medians in microseconds of CPU and the median ratio.
"""

from __future__ import annotations

import argparse
import select
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pycurl

from larbinpy._native.eventloop import EventLoop
from larbinpy.fetch.base import FetchOptions
from larbinpy.fetch.curl import CurlFetcher
from larbinpy.records import FetchJob, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE_BYTES = 7600
CONF = """
worker_processes 1; pid {root}/pid; error_log {root}/error.log; daemon off;
worker_rlimit_nofile 20000;
events {{ worker_connections 8192; }}
http {{
  access_log off; keepalive_requests 100000000; types {{ text/html html; }}
  client_body_temp_path {root}/b; proxy_temp_path {root}/p; fastcgi_temp_path {root}/f;
  uwsgi_temp_path {root}/u; scgi_temp_path {root}/s;
  server {{ listen 0.0.0.0:{port} backlog=4096; root {root}; }}
}}
"""


@contextmanager
def nginx() -> Iterator[int]:
    """Serve one page of PAGE_BYTES at ``/p.html``; yields the port."""
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        port = probe.getsockname()[1]
    binary = shutil.which("nginx") or "/usr/sbin/nginx"
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "p.html").write_bytes(b"x" * PAGE_BYTES)
        (root / "conf").write_text(CONF.format(root=root, port=port))
        server = subprocess.Popen([binary, "-c", str(root / "conf")], stderr=subprocess.DEVNULL)
        try:
            _wait_for(port)
            yield port
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("nginx did not start")


def jobs_of(port: int, hosts: int) -> list[FetchJob]:
    """One job per host, each at an address of its own."""
    return [
        FetchJob(
            number,
            b"http://h%d.test:%d/p.html" % (number, port),
            b"h%d.test" % number,
            port,
            False,
            ip=bytes((127, 0, number >> 8, number & 255 or 1)),
        )
        for number in range(256, 256 + hosts)
    ]


def ours(jobs: list[FetchJob], pages: int, connections: int, keep: bool) -> float:
    """CPU seconds for all pages with the fetcher."""
    loop = EventLoop()
    options = FetchOptions(user_agent=b"bench", allow_private=True, connections=connections)
    fetcher = CurlFetcher(options, loop)
    waiting = deque(jobs)
    sent = done = 0
    begin = time.process_time()
    while done < pages:
        while waiting and sent < pages and fetcher.free():
            fetcher.submit(waiting.popleft(), keep=keep)
            sent += 1
        for result in fetcher.poll(1.0):
            if result.outcome is not Outcome.SUCCESS or len(result.body) != PAGE_BYTES:
                raise SystemExit(f"{result.outcome.label}: {result.reason}")
            done += 1
            waiting.append(result.job)
    used = time.process_time() - begin
    fetcher.close()
    loop.close()
    return used


class Bare:
    """A bare multi loop."""

    def __init__(self, connections: int, keep: bool) -> None:
        self.epoll = select.epoll()
        self.timeout = -1.0
        self.multi: Any = pycurl.CurlMulti()
        self.multi.setopt(pycurl.M_SOCKETFUNCTION, self.on_socket)
        self.multi.setopt(pycurl.M_TIMERFUNCTION, self.on_timer)
        self.multi.setopt(pycurl.M_MAXCONNECTS, 4096)
        self.known: set[int] = set()
        self.free: list[Any] = [self.handle(keep) for _ in range(connections)]

    def handle(self, keep: bool) -> Any:
        """One easy handle; its body goes to a list."""
        easy = pycurl.Curl()
        easy.body = []
        easy.head = []
        easy.setopt(pycurl.WRITEFUNCTION, easy.body.append)
        easy.setopt(pycurl.HEADERFUNCTION, easy.head.append)
        easy.setopt(pycurl.NOSIGNAL, 1)
        easy.setopt(pycurl.DNS_CACHE_TIMEOUT, 0)
        easy.setopt(pycurl.FORBID_REUSE, int(not keep))
        return easy

    def on_socket(self, what: int, fd: int, _multi: object, _data: object) -> None:
        """Follow every word of libcurl."""
        if what == pycurl.POLL_REMOVE:
            self.known.discard(fd)
            self.epoll.unregister(fd)
            return
        mask = (select.EPOLLIN if what & 1 else 0) | (select.EPOLLOUT if what & 2 else 0)
        if fd in self.known:
            self.epoll.modify(fd, mask)
        else:
            self.known.add(fd)
            self.epoll.register(fd, mask)

    def on_timer(self, timeout_ms: int) -> None:
        """Remember when libcurl wants to be called."""
        self.timeout = -1.0 if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000

    def step(self) -> list[Any]:
        """One turn; returns the handles that ended."""
        wait = 1.0 if self.timeout < 0 else max(self.timeout - time.monotonic(), 0.0)
        for fd, ready in self.epoll.poll(wait, 512):
            self.multi.socket_action(fd, (1 if ready & 1 else 0) | (2 if ready & 4 else 0))
        if 0 <= self.timeout <= time.monotonic():
            self.timeout = -1.0
            self.multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        _, ended, failed = self.multi.info_read()
        if failed:
            raise SystemExit(str(failed))
        return list(ended)


def bare(jobs: list[FetchJob], pages: int, connections: int, keep: bool) -> float:
    """CPU seconds for all pages with bare pycurl."""
    loop = Bare(connections, keep)
    waiting = deque((job, job.url, [f"::{socket.inet_ntoa(job.ip)}:{job.port}"]) for job in jobs)
    running: dict[Any, Any] = {}
    sent = done = 0
    begin = time.process_time()
    while done < pages:
        while waiting and sent < pages and loop.free:
            easy = loop.free.pop()
            item = waiting.popleft()
            easy.setopt(pycurl.URL, item[1])
            easy.setopt(pycurl.CONNECT_TO, item[2])
            running[easy] = item
            loop.multi.add_handle(easy)
            sent += 1
        for easy in loop.step():
            loop.multi.remove_handle(easy)
            if easy.getinfo(pycurl.RESPONSE_CODE) != 200:
                raise SystemExit("not 200")
            done += 1
            easy.body.clear()
            easy.head.clear()
            waiting.append(running.pop(easy))
            loop.free.append(easy)
    used = time.process_time() - begin
    loop.multi.close()
    loop.epoll.close()
    return used


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=8000)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=6)
    arguments = parser.parse_args()
    with nginx() as port:
        jobs = jobs_of(port, arguments.hosts)
        for keep in (True, False):
            pairs = [
                tuple(
                    side(jobs, arguments.pages, arguments.connections, keep) / arguments.pages * 1e6
                    for side in (ours, bare)
                )
                for _ in range(arguments.pairs)
            ]
            ratio = statistics.median(a / b for a, b in pairs)
            mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
            name = "keep-alive" if keep else "a connection per page"
            print(f"{name}: fetcher {mine:.1f} us, bare {theirs:.1f} us, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
