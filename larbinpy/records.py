"""What moves between the stages: outcomes, jobs, results, pages.

Only these records and ``bytes`` cross the border of a stage or of a process.
Those that exist once per page are compiled, for kernels read and fill them: jobs and results in the
shard (``ext/jobs.pyx``), pages and what became of them in the parser (``ext/pages.pyx``).
"""

from __future__ import annotations

from typing import Final

from larbinpy._native.jobs import FetchJob, FetchResult
from larbinpy._native.pages import Page, ParsedPage, Reading
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
    "PAGE_FIRST",
    "PAGE_TRUNCATED",
    "PAGE_WATCHED",
    "Directive",
    "FetchJob",
    "FetchResult",
    "Filtered",
    "Kind",
    "Outcome",
    "Page",
    "ParsedPage",
    "Reading",
]

MAX_URL_BYTES: Final = 2083
MAX_HOST_BYTES: Final = 253

ID_SHARD_SHIFT: Final = 56
ID_LSN_MASK: Final = (1 << ID_SHARD_SHIFT) - 1
ID_WITHOUT_ENQ: Final = 1 << 55
"""Set in the ids of requests that stand in no log: robots.txt."""


PAGE_TRUNCATED: Final = 1
PAGE_BODY_IN_FILE: Final = 2
PAGE_WATCHED: Final = 4
"""It is to be compared with earlier pages of its host."""
PAGE_FIRST: Final = 8
"""It is to be compared with the first pages of other hosts of its domain."""
