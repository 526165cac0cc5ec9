"""What of a configuration may change while a crawl runs; pure.

A key may change when every process that knows it can take a new value at once.  The others are part
of the state, or were used to open something.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from larbinpy.config import ATTRIBUTES

if TYPE_CHECKING:
    from larbinpy.config import Config

PACE: Final = frozenset({
    "waitDuration", "waitDurationIP", "maxCrawlDelay", "maxTries", "deadHostRetry", "bondWidth",
    "pagesConnexions",
})  # fmt: skip
"""Taken by shards."""
LINKS: Final = frozenset({
    "depthInSite", "depthBySite", "noExternalLinks", "limitToDomain", "forbiddenExtensions",
    "getCGI", "linksPerPage", "ignoreRel", "maxPathSegments", "maxSegmentRepeats",
    "maxQueryParameters", "maxQuerySize", "fetchInfo",
})  # fmt: skip
"""Taken by parsers, and by shards for what waits already; what was refused before stays refused."""
RUN: Final = frozenset({
    "limitTime", "limitSize", "limitPage", "drainTime", "minFreeDisk", "parserDeadline",
})  # fmt: skip
"""Taken by the supervisor."""
CHANGEABLE: Final = PACE | LINKS | RUN


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a configuration that was read again."""

    config: Config
    """The old one with the changes that could be made."""
    made: tuple[str, ...]
    """Names of the keys that have changed."""
    refused: tuple[str, ...]
    """Names of the keys that keep their old values until the next start."""


def change(old: Config, new: Config) -> Change:
    """Take from ``new`` what may change while a crawl of ``old`` runs."""
    differing = [
        name for name, field in ATTRIBUTES.items() if getattr(old, field) != getattr(new, field)
    ]
    made = tuple(name for name in differing if name in CHANGEABLE and _fits(name, old, new))
    values = {ATTRIBUTES[name]: getattr(new, ATTRIBUTES[name]) for name in made}
    return Change(
        replace(old, **values), made, tuple(name for name in differing if name not in made)
    )


def _fits(name: str, old: Config, new: Config) -> bool:
    """Requests that began without a limit of pages hold no tickets: it cannot begin later."""
    return name != "limitPage" or bool(old.limit_page and new.limit_page)
