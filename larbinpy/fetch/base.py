"""The edge to the web, as the shard sees it, and what can be set about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from larbinpy.proxy import Proxy
    from larbinpy.records import FetchJob, FetchResult

HTML_TYPES: Final = (b"text/html", b"application/xhtml+xml", b"text/plain")
"""Prefixes of the content types that are read when nothing else is said."""


class Fetcher(Protocol):
    """Makes requests, many at a time."""

    def free(self) -> int:
        """How many more jobs may be submitted now."""
        ...

    def begin(self, jobs: list[FetchJob], *, keep: bool) -> list[FetchJob]:
        """Start what needs nothing but an address; returns the jobs that are left to ``submit``."""
        ...

    def submit(self, job: FetchJob, *, keep: bool = True, is_named: bool = False) -> None:
        """Start a request.

        Args:
            job: its ``ip`` is where the connection goes, whatever its URL says.
            keep: leave the connection open; False when the host's next request is far off.
            is_named: the operator named this host, so it may have a private address.
        """
        ...

    def poll(self, timeout_s: float) -> list[FetchResult]:
        """Work for at most this long, and return what has ended."""
        ...

    def allow(self, connections: int) -> None:
        """Run so many requests at a time from now on; those that are running go on."""
        ...

    def shed(self) -> None:
        """Close the connections that are kept, unless a request is running: call it again then."""
        ...

    def close(self) -> None:
        """Drop everything that is running, without results."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """Everything that can be set about fetching; plain values, no configuration object."""

    user_agent: bytes
    sender: bytes = b""
    """Value of the From field; empty sends none."""
    accept_encoding: bytes = b"gzip, br, zstd, deflate"
    connections: int = 1000
    """Most requests at a time."""
    kept_connections: int = 4096
    """Most open connections, idle ones included; keep it under the descriptor limit."""
    idle_s: int = 10
    """An idle connection older than this is not used again."""
    connect_timeout_s: float = 10.0
    first_byte_timeout_s: float = 20.0
    stall_s: int = 30
    """A transfer that gets less than a byte a second for this long ends."""
    total_timeout_s: float = 120.0
    page_bytes: int = 8 << 20
    """Most body bytes of a page, as sent; a longer sitemap is cut, not refused."""
    robots_bytes: int = 512 << 10
    """A longer robots.txt is cut, not refused."""
    types: tuple[bytes, ...] = HTML_TYPES
    """Prefixes of acceptable content types, lower case; not asked of robots.txt and sitemaps."""
    is_any_type: bool = False
    allow_private: bool = False
    own_ports: frozenset[int] = frozenset()
    """Ports of our own listeners: never asked on this machine, whatever else is allowed."""
    ca_file: str = ""
    """Certificates that vouch for servers; empty: certifi's."""
    is_tls_recorded: bool = False
    """A page whose server nobody vouches for is fetched all the same, and its result says so."""
    is_tls_old: bool = False
    """Servers may speak TLS 1.0, and use keys and ciphers that OpenSSL holds to be weak."""
    http_version: str = "1.1"
    """``1.1``; ``auto``: 2 where a TLS server speaks it; ``2``: that alone, without TLS too."""
    headers: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    """Own header lines by origin (``https://a.test:443``); they hold secrets."""
    proxy: Proxy | None = None
    proxy_ip: str = ""
    """Address of the proxy."""
