"""What moves between the stages: outcomes, jobs, results, pages.

Only these records and ``bytes`` cross the border of a stage or of a process.
Records that exist once per page are ``slots`` without ``frozen``, which would cost a microsecond;
those of the shard, jobs and results, are compiled (``ext/jobs.pyx``), for kernels read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from larbinpy._native.jobs import FetchJob, FetchResult
from larbinpy.codes import ALL_DIRECTIVES, NO_DIRECTIVES, Directive, Filtered, Kind, Outcome

__all__ = [
    "ALL_DIRECTIVES",
    "ID_LSN_MASK",
    "ID_SHARD_SHIFT",
    "ID_WITHOUT_ENQ",
    "MAX_HOST_BYTES",
    "MAX_URL_BYTES",
    "NO_DIRECTIVES",
    "PAGE_BODY_IN_FILE",
    "PAGE_TRUNCATED",
    "Directive",
    "FetchJob",
    "FetchResult",
    "Filtered",
    "Kind",
    "Outcome",
    "Page",
    "ParsedPage",
]

MAX_URL_BYTES: Final = 2083
MAX_HOST_BYTES: Final = 253

ID_SHARD_SHIFT: Final = 56
ID_LSN_MASK: Final = (1 << ID_SHARD_SHIFT) - 1
ID_WITHOUT_ENQ: Final = 1 << 55
"""Set in the ids of requests that stand in no log: robots.txt."""


PAGE_TRUNCATED: Final = 1
PAGE_BODY_IN_FILE: Final = 2


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
