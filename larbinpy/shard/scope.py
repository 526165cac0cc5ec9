"""Which URLs queued before are still wanted: the configuration that was read last decides.

A URL passed the filters when it was found, but the configuration may have changed since.  URLs that
were queued since it was read are known by their ids, and are not judged again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.links.choice import ACCEPTED
from larbinpy.records import ID_LSN_MASK, Filtered

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.linkfilter import LinkFilter
    from larbinpy.records import FetchJob


class Scope:
    """Judges URLs as they are taken from the log.

    Args of ``__init__``:
        make_links: makes the filter of this run; called when the first old URL comes.
        below: URLs whose record has a smaller number in the log are old; 0 = there are none.
        needs_sites: the filter needs the places of this run's seeds (``scope``), so nothing may
            be taken before ``sites_known``.
    """

    __slots__ = ("_below", "_links", "_make_links", "is_known")

    def __init__(
        self, make_links: Callable[[], LinkFilter], *, below: int, needs_sites: bool
    ) -> None:
        self._make_links = make_links
        self._below = below
        self._links: LinkFilter | None = None
        self.is_known = not (below and needs_sites)
        """Whether URLs may be judged."""

    def change(self, make_links: Callable[[], LinkFilter], *, below: int) -> None:
        """Judge by another filter what was queued until now."""
        self._make_links = make_links
        self._links = None
        self._below = below

    def sites_known(self) -> None:
        """The hosts of all seeds are written."""
        self._links = None
        self.is_known = True

    def refused(self, jobs: list[FetchJob]) -> dict[int, str]:
        """The URLs that are not wanted any more: id -> why, for humans.

        Cost: one comparison a URL, and a kernel call when there are old ones.
        """
        if not self._below:
            return {}
        old = [job for job in jobs if not job.failed and job.id & ID_LSN_MASK < self._below]
        if not old:
            return {}
        links = self._links = self._links or self._make_links()
        codes = links.judge([(job.url, job.host, job.via, job.flags, job.kind) for job in old])
        return {
            job.id: f"{Filtered(code).label}: the configuration does not allow it any more"
            for job, code in zip(old, codes, strict=True)
            if code != ACCEPTED
        }
