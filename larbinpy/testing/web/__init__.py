"""A synthetic web: a seeded graph of hosts on loopback that knows what a crawl of it must fetch.

What comes in: a ``WebSpec`` (numbers and shares). What goes out: pages over HTTP from a compiled
server (``WebProcess``, or ``python -m larbinpy.testing.web``), an access log, and ``expected``: the
set of URLs that a crawl under a given ``Scope`` has to ask for, computed from the model alone.
Beside the honest hosts there may be traps (``WebSpec.traps``), whose URLs have no end.
It remembers nothing but the access log: each page follows from the seed.

Invariant: server, model and ``expected`` ask the same native code, so they cannot disagree; and
nothing here uses the URL, link or robots code of the crawler, so they cannot agree by accident.
"""

from larbinpy.testing.web.expected import AmbiguousError, Expected, expected
from larbinpy.testing.web.model import Host, Kind, Link, Page, Place, SyntheticWeb, Trap
from larbinpy.testing.web.process import Request, WebProcess, read_log
from larbinpy.testing.web.spec import Scope, WebSpec

__all__ = [
    "AmbiguousError",
    "Expected",
    "Host",
    "Kind",
    "Link",
    "Page",
    "Place",
    "Request",
    "Scope",
    "SyntheticWeb",
    "Trap",
    "WebProcess",
    "WebSpec",
    "expected",
    "read_log",
]
