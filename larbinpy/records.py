"""What moves between the stages: outcomes, jobs, results, pages.

Only these records and ``bytes`` cross the border of a stage or of a process.
Records that exist once per page are ``slots`` without ``frozen``, which would cost a microsecond.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Final

MAX_URL_BYTES: Final = 2083
MAX_HOST_BYTES: Final = 253

ID_SHARD_SHIFT: Final = 56
ID_LSN_MASK: Final = (1 << ID_SHARD_SHIFT) - 1
ID_WITHOUT_ENQ: Final = 1 << 55
"""Set in the ids of requests that stand in no log: robots.txt."""


PAGE_TRUNCATED: Final = 1
PAGE_BODY_IN_FILE: Final = 2


class Outcome(IntEnum):
    """How a URL ended; larbin's numbers up to 16, never renumbered."""

    SUCCESS = 0
    NO_DNS = 1
    NO_CONNECTION = 2
    FORBIDDEN_ROBOTS = 3
    TIMEOUT = 4
    BAD_TYPE = 5
    TOO_BIG = 6
    ERR_30X = 7
    ERR_40X = 8
    EARLY_STOP = 9
    DUPLICATE = 10
    FAST_ROBOTS = 11
    FAST_NO_CONN = 12
    FAST_NO_DNS = 13
    TOO_DEEP = 14
    URL_DUP = 15
    OUT_SITE = 16
    PROTOCOL_ERROR = 17
    TRUNCATED = 18
    FORBIDDEN_ADDRESS = 19
    TLS_ERROR = 20
    POISON = 21
    LINK_LIST = 22
    """A sitemap or a feed: read for its links, and no page."""

    @property
    def label(self) -> str:
        """The name users read: larbin's spelling (``noDNS``, ``err40X``)."""
        return _LABELS[self]


_LABELS: Final = {
    Outcome.SUCCESS: "success",
    Outcome.NO_DNS: "noDNS",
    Outcome.NO_CONNECTION: "noConnection",
    Outcome.FORBIDDEN_ROBOTS: "forbiddenRobots",
    Outcome.TIMEOUT: "timeout",
    Outcome.BAD_TYPE: "badType",
    Outcome.TOO_BIG: "tooBig",
    Outcome.ERR_30X: "err30X",
    Outcome.ERR_40X: "err40X",
    Outcome.EARLY_STOP: "earlyStop",
    Outcome.DUPLICATE: "duplicate",
    Outcome.FAST_ROBOTS: "fastRobots",
    Outcome.FAST_NO_CONN: "fastNoConn",
    Outcome.FAST_NO_DNS: "fastNoDns",
    Outcome.TOO_DEEP: "tooDeep",
    Outcome.URL_DUP: "urlDup",
    Outcome.OUT_SITE: "outSite",
    Outcome.PROTOCOL_ERROR: "protocolError",
    Outcome.TRUNCATED: "truncated",
    Outcome.FORBIDDEN_ADDRESS: "forbiddenAddress",
    Outcome.TLS_ERROR: "tlsError",
    Outcome.POISON: "poison",
    Outcome.LINK_LIST: "linkList",
}


class Filtered(IntEnum):
    """Why a found link was refused before queueing; counted, never logged. Never renumbered."""

    SCHEME = 0
    INVALID = 1
    TOO_LONG = 2
    TOO_DEEP = 3
    OUT_SITE = 4
    EXTENSION = 5
    CGI = 6
    ELEMENT = 7
    EMPTY = 8
    LINKS_PER_PAGE = 9
    REDIRECTS = 10
    PATH_SEGMENTS = 11
    SEGMENT_REPEATS = 12
    QUERY = 13
    NOFOLLOW = 14

    @property
    def label(self) -> str:
        """The name users read in ``report.json``: camelCase."""
        head, *tail = self.name.lower().split("_")
        return head + "".join(word.capitalize() for word in tail)


class Directive(IntFlag):
    """What a page asks of robots."""

    NOINDEX = 1
    """It is not given to outputs that make it known to others: index and text."""
    NOFOLLOW = 2
    """Its links are not followed."""
    NOARCHIVE = 4
    """It is not given to outputs that keep a copy: save, mirror and warc."""


NO_DIRECTIVES: Final = Directive(0)
ALL_DIRECTIVES: Final = ~NO_DIRECTIVES


class Kind(IntEnum):
    """What a request is for; never renumbered."""

    PAGE = 0
    ROBOTS = 1
    SITEMAP = 2
    RETRY = 3
    """An attempt that is only logged: its URL is tried again, or it was a probe of ours."""


@dataclass(slots=True)
class FetchJob:
    """One request to make."""

    id: int
    url: bytes
    host: bytes
    port: int
    https: bool
    kind: Kind = Kind.PAGE
    host_id: int = -1
    """Number of the host in the shard's table."""
    ip: bytes = b""
    """4 or 16 bytes, network order."""
    depth: int = 0
    left: int = 0
    level: int = 0
    hops: int = 0
    flags: int = 0
    """``LINK_*`` bits of ``ext/layout.h``."""
    attempt: int = 0
    """How often its URL was tried in vain."""
    position: int = 0
    """Where the ENQ or MOVE record lies; see ``docs/format-queue.md``."""
    score: float = 0.0
    relevance: float = 0.0
    via: bytes = b""
    tag: bytes = b""

    @property
    def origin(self) -> bytes:
        """``scheme://host:port``, the key of robots rules."""
        scheme = b"https" if self.https else b"http"
        return b"%b://%b:%d" % (scheme, self.host, self.port)

    @property
    def path(self) -> bytes:
        """Path and query, as robots rules see them."""
        return self.url[self.url.index(b"/", 8) :]


@dataclass(slots=True)
class FetchResult:
    """What came of a ``FetchJob``: always one of these, never an exception."""

    job: FetchJob
    outcome: Outcome
    """``SUCCESS`` means that a whole response arrived; the parser decides the rest."""
    status: int = 0
    headers: bytes = b""
    """Header block of the final response, lines ended by CR LF."""
    body: bytes = b""
    """As received: content encodings are not removed."""
    is_truncated: bool = False
    start_us: int = 0
    """Wall clock, microseconds since 1970."""
    duration_us: int = 0
    bytes_read: int = 0
    """Header and body bytes from the wire."""
    bytes_written: int = 0
    reason: str = ""
    """For humans, when the outcome alone does not say it."""


@dataclass(slots=True)
class Page:
    """A result on its way to a parser; PAGE in ``docs/protocol.md``."""

    id: int
    epoch: int
    attempt: int
    kind: int
    outcome: int
    """``Outcome`` so far; ``SUCCESS`` means that the parser decides."""
    flags: int
    """``PAGE_*`` bits."""
    status: int
    depth: int
    left: int
    level: int
    hops: int
    score: float
    relevance: float
    start_us: int
    duration_us: int
    ip: bytes
    """4 or 16 bytes, empty when nothing was asked."""
    url: bytes
    via: bytes
    tag: bytes
    reason: bytes
    headers: bytes
    body: bytes


@dataclass(slots=True)
class ParsedPage:
    """What a parser found out about one page; see PARSED in ``docs/protocol.md``."""

    id: int
    epoch: int
    outcome: Outcome
    status: int = 0
    body_bytes: int = 0
    links: int = 0
    duplicates: int = 0
    digest: bytes = bytes(16)
    filtered: dict[int, int] = field(default_factory=dict)
    """``Filtered`` reason -> number of links."""
    near: int = 0
    """Id of the earlier page of its host that this one is a near-duplicate of; 0 = of none."""
    simhash: int = 0
    """0 = not known."""
    directives: Directive = NO_DIRECTIVES
    """Whether they are obeyed or not; this and what follows is for the log, not in PARSED."""
    canonical: bytes = b""
    """The URL that the page says is its own, when that is another one."""
