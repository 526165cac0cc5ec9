"""Asks for the robots.txt of a URL as a crawl would, one request at a time.

Names, addresses, guards, identity, delays, redirections, decoding and what a status means are those
of a crawl with the same configuration; only retries are left out.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from larbinpy import entries
from larbinpy._native.eventloop import EventLoop
from larbinpy._native.heldpages import encode
from larbinpy.clock import SystemClock
from larbinpy.dns.names import is_stand_in
from larbinpy.fetch.curl import CurlFetcher
from larbinpy.parse import headers
from larbinpy.parse.robotspage import robots_reading
from larbinpy.politeness.gate import Gate, answer_status, moved_to
from larbinpy.records import FetchJob, FetchResult, Outcome
from larbinpy.shard import network
from larbinpy.shard.options import fetch_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.config import Config
    from larbinpy.politeness.robots import Rules
    from larbinpy.url import Url

TOLD_NS: Final = 2 * 10**9
"""A longer delay is told to the operator."""
NO_NAME: Final = "its name has no address"
MOVED_AWAY: Final = "moved to where we do not follow"


@dataclass(frozen=True, slots=True)
class Found:
    """What came of asking for a robots.txt."""

    url: bytes
    """Where it was asked for last."""
    status: int
    """HTTP status; 0 = no answer."""
    text: bytes
    """Decoded."""
    rules: Rules | None
    """None: it cannot be read, so nothing may be asked."""
    reason: str = ""
    """Why there is no text, where the status does not say it."""


class RobotsAsker:
    """Asks for robots.txt files; the delays between its requests are those of the configuration.

    Args of ``__init__``:
        token: the product token that rules are read for.
        say: tells the operator that a delay is waited for.

    Raises:
        ConfigError: a file that the configuration names cannot be used.
    """

    def __init__(self, config: Config, token: bytes, say: Callable[[str], None]) -> None:
        self._config = config
        self._say = say
        self._clock = SystemClock()
        self._loop = EventLoop()
        self._gate = Gate(token)
        self._next_ns: dict[bytes, int] = {}
        self._is_askable = network.askable(config)
        self._is_allowed = network.allowed(config)
        self._resolver = network.make_resolver(config, self._loop, self._clock, is_patient=False)
        self._directory = tempfile.TemporaryDirectory()  # of caFile's certificates
        options = fetch_options(config, 1, Path(self._directory.name))
        self._fetcher = CurlFetcher(options, self._loop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._resolver.close()
        self._fetcher.close()
        self._directory.cleanup()

    def ask(self, url: Url) -> Found:
        """Get the robots.txt that holds for a URL."""
        page = FetchJob(0, url.url, url.host, url.port, url.https)
        request = self._gate.job(page, 0)
        result = self._fetch(request, is_named=True)
        while result.outcome is Outcome.ERR_30X:
            target = moved_to(headers.field(result.headers, b"location"), request.url)
            if not self._gate.redirect(page.origin, target, self._clock.now_ns()):
                return Found(request.url, result.status, b"", self._gate.rules(page.origin),
                             MOVED_AWAY)  # fmt: skip
            request = self._gate.job(page, 0)
            result = self._fetch(request, is_named=request.host == url.host)
        return self._learn(page.origin, result)

    def _learn(self, origin: bytes, result: FetchResult) -> Found:
        """Read an answer as a parser does."""
        entry = encode(result, 0)
        reading = robots_reading(entries.decode_pages(entry, 1)[0])
        status = answer_status(reading.parsed.outcome, result.status)
        rules = self._gate.learn(origin, status, reading.body, self._clock.now_ns())
        reason = result.reason
        if not status and not reason and result.status < 300:
            reason = reading.parsed.outcome.label
        return Found(result.job.url, result.status, reading.body, rules, reason)

    # --- a request -------------------------------------------------------------------------

    def _fetch(self, request: FetchJob, *, is_named: bool) -> FetchResult:
        """Ask the addresses of a host in turn, until one takes the request."""
        tried: set[bytes] = set()
        result = FetchResult(request, Outcome.NO_DNS, reason=NO_NAME)
        for submit in (self._resolver.submit, self._resolver.submit_further):
            for ip in self._look_up(request.host, submit):
                if ip in tried:
                    continue
                tried.add(ip)
                result = self._fetch_from(request, ip, is_named=is_named)
                if result.outcome is not Outcome.NO_CONNECTION:
                    return result
        return result

    def _look_up(self, host: bytes, submit: Callable[[bytes], None]) -> tuple[bytes, ...]:
        submit(host)
        while not (answers := self._resolver.answers()):
            self._fetcher.poll(max(self._resolver.wait_s(), 0.0))
        return answers[0].ips

    def _fetch_from(self, request: FetchJob, ip: bytes, *, is_named: bool) -> FetchResult:
        if not self._is_askable(ip) or not (is_named or self._is_allowed(ip)):
            reason = network.refusal(self._config)
            return FetchResult(request, Outcome.FORBIDDEN_ADDRESS, reason=reason)
        request.ip = b"" if is_stand_in(ip) else ip
        self._wait(request.host, ip)
        start_ns = self._clock.now_ns()
        self._fetcher.submit(request, is_named=is_named)
        while not (results := self._fetcher.poll(1.0)):
            pass
        self._next_ns[request.host] = start_ns + round(self._config.wait_duration_s * 1e9)
        self._next_ns[ip] = start_ns + round(self._config.ip_wait_s * 1e9)
        return results[0]

    def _wait(self, host: bytes, ip: bytes) -> None:
        """Leave host and address their delays since our last request to them."""
        next_ns = max(self._next_ns.get(host, 0), self._next_ns.get(ip, 0))
        wait_ns = next_ns - self._clock.now_ns()
        if wait_ns > TOLD_NS:
            self._say(f"waiting {wait_ns / 1e9:.0f} s (waitDuration)")
        if wait_ns > 0:
            time.sleep(wait_ns / 1e9)
