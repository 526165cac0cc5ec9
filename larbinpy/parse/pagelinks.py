"""The links of a page, resolved, to those that are sent to the shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy import url as urls
from larbinpy.links.found import LINK_REDIRECT
from larbinpy.records import Directive

if TYPE_CHECKING:
    from larbinpy._native.linkfilter import LinkFilter
    from larbinpy.links.choice import Acceptance, Details
    from larbinpy.records import Page, Reading


class PageLinks:
    """Sorts the links of pages out.

    Args of ``__init__``:
        links: the filter of found links.
        acceptance: the operator's function, asked about each new link; None = nobody is.
        obeyed: what is done as pages ask.
    """

    __slots__ = ("_acceptance", "_links", "_nofollow")

    def __init__(self, links: LinkFilter, acceptance: Acceptance | None, obeyed: Directive) -> None:
        self._links = links
        self._acceptance = acceptance
        self._nofollow = obeyed & Directive.NOFOLLOW

    def take(
        self,
        page: Page,
        reading: Reading,
        resolved: bytes,
        *,
        hops: int = 0,
        flags: int = 0,
        dropped: int = 0,
        details: Details = (),
    ) -> None:
        """Put the links of a page into its reading.

        Args:
            resolved: as ``url.resolve`` gives them.
            hops: redirections in a row that lead to them.
            flags: of ``links.found``.
            dropped: links behind the limit, which ``resolved`` does not hold.
            details: of all links, or nothing.
        """
        asked = reading.parsed.directives
        choose = None
        if self._acceptance:
            depth = page.depth if flags & LINK_REDIRECT else page.depth + 1
            choose = self._acceptance.on_page(page.url, depth, details)
        batch = self._links.run(
            resolved,
            host=urls.host_of(page.url),
            depth=page.depth,
            left=page.left,
            hops=hops,
            kind=page.kind,
            flags=flags,
            nofollow=bool(asked and asked & self._nofollow),
            choose=choose,
        )
        reading.take(batch, dropped)
