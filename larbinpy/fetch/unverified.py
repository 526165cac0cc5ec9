"""Servers whose certificate is bad, and why: for ``tlsVerify record``.

A request to such a server is tried verified first, without anything having been sent; what went
wrong is kept for a while, so that its next requests need not try again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from larbinpy.fetch.outcomes import printable

if TYPE_CHECKING:
    from larbinpy.records import FetchJob

KEPT: Final = 10_000
KEPT_NS: Final = 3600 * 10**9


class Unverified:
    """Origins with a bad certificate; the one noted longest ago is forgotten first."""

    __slots__ = ("_origins",)

    def __init__(self) -> None:
        self._origins: OrderedDict[bytes, tuple[str, int]] = OrderedDict()

    def note(self, job: FetchJob, text: str) -> None:
        """The certificate of the server of this job is bad, in libcurl's words."""
        expires_ns = time.monotonic_ns() + KEPT_NS
        self._origins[job.origin] = (f"unverified: {printable(text)}", expires_ns)
        self._origins.move_to_end(job.origin)
        if len(self._origins) > KEPT:
            self._origins.popitem(last=False)

    def why(self, job: FetchJob) -> str:
        """Return why the server of this job is not verified; empty when it is to be."""
        if not self._origins:
            return ""
        text, expires_ns = self._origins.get(job.origin, ("", 0))
        return text if time.monotonic_ns() < expires_ns else ""
