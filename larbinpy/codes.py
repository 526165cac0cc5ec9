"""Numbers that are stored and sent: how a URL ended, why a link was refused, what is asked."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Final


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
    NOT_INCLUDED = 15
    EXCLUDED = 16
    NOT_ACCEPTED = 17
    ACCEPT_ERROR = 18

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
