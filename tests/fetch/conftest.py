from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy._native.eventloop import EventLoop
from larbinpy.fetch.base import FetchOptions
from larbinpy.fetch.curl import CurlFetcher
from larbinpy.records import FetchJob, FetchResult, Kind
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from larbinpy.fetch.cookies import CookieJar
    from larbinpy.testing.servers import Server

LOOPBACK = b"\x7f\x00\x00\x01"
SCALES = (1, 6, 36)
"""A busy machine may be late with what must come before a limit: then all times are so much longer,
and what must hold is to hold with one of them."""
OPTIONS = FetchOptions(user_agent=b"larbin-test", allow_private=True)


def job_for(port: int, path: bytes = b"/", *, host: bytes = b"a.test", **more: Any) -> FetchJob:
    """A job for loopback; ``more`` are fields of the job."""
    url = b"http://%b:%d%b" % (host, port, path)
    job = FetchJob(id=1, url=url, host=host, port=port, https=False, ip=LOOPBACK)
    return replace(job, **more)


def self_signed(directory: Path, *key: str) -> Path:
    """A certificate for a.test, with its key in the same file; skips without openssl.

    Args:
        key: openssl's words for the kind of key.
    """
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command")
    file = directory / "pem"
    secret = file.with_name("key")
    words = ["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "2"]
    words += ["-subj", "/CN=a.test", "-addext", "subjectAltName=DNS:a.test"]
    words += ["-keyout", str(secret), "-out", str(file)]
    subprocess.run(words, check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + secret.read_bytes())
    return file


class Client:
    """A fetcher with its loop, for tests: bounded waiting.

    ``is_plain``: requests take the plain way as far as it goes, as those of a shard do.
    """

    is_plain = True

    def __init__(self, *, jar: CookieJar | None = None, **changes: Any) -> None:
        self.loop = EventLoop()
        self.fetcher = CurlFetcher(replace(OPTIONS, **changes), self.loop, jar=jar)

    def submit(self, job: FetchJob, *, keep: bool = True, is_named: bool = False) -> None:
        """Make a request."""
        if not (self.is_plain and self.fetcher.begin([job], keep=keep) == []):
            self.fetcher.submit(job, keep=keep, is_named=is_named)

    def wait(self, count: int, *, within_s: float = PATIENCE_S) -> list[FetchResult]:
        """The next results; fails when they do not come in time."""
        found: list[FetchResult] = []
        deadline = time.monotonic() + within_s
        while len(found) < count:
            left_s = deadline - time.monotonic()
            assert left_s > 0, f"{len(found)} of {count} results after {within_s} s"
            found += self.fetcher.poll(left_s)
        return found

    def get(self, server: Server, path: bytes = b"/", **more: Any) -> FetchResult:
        """One page of a server."""
        self.submit(replace(job_for(server.port, path), **more))
        (result,) = self.wait(1)
        return result

    def robots(self, server: Server) -> FetchResult:
        """The robots.txt of a server."""
        return self.get(server, b"/robots.txt", kind=Kind.ROBOTS)

    def close(self) -> None:
        """Close fetcher and loop."""
        self.fetcher.close()
        self.loop.close()


@pytest.fixture(params=["plain", "long"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of a request through the fetcher must come to the same."""
    monkeypatch.setattr(Client, "is_plain", request.param == "plain")


@pytest.fixture
def client() -> Iterator[Client]:
    client = Client()
    yield client
    client.close()
