"""Where a redirection leads: one link, at the depth of the page that it is an answer for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy import url as urls
from larbinpy.links.found import ELEMENT_REDIRECT, LINK_FORCE, LINK_REDIRECT, found_link
from larbinpy.parse import headers
from larbinpy.records import Filtered, Kind

_REFUSED: Final = b"not followed: %b"

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.parse.pagelinks import PageLinks
    from larbinpy.records import Page, Reading
    from larbinpy.url import Base, LarbinBase


class Redirects:
    """Follows redirections.

    Args of ``__init__``:
        most: redirections in a row that are followed.
        make_base: what links are resolved against, by the URL mode.
        has_cookies: cookies are kept, so a page that redirects to itself, or away and back, is
            worth a second request.
    """

    __slots__ = ("_has_cookies", "_links", "_make_base", "_most")

    def __init__(
        self,
        links: PageLinks,
        *,
        most: int,
        make_base: Callable[[bytes], Base | LarbinBase],
        has_cookies: bool,
    ) -> None:
        self._links = links
        self._most = most
        self._make_base = make_base
        self._has_cookies = has_cookies

    def follow(self, page: Page, reading: Reading) -> None:
        """Take the link of a redirection; one too many in a row is refused."""
        location = headers.field(page.headers, b"location")
        if not location:
            return
        resolved = self._resolved(page, location)
        target = resolved[urls.ITEM_BYTES :]
        reading.parsed.canonical = target
        if page.hops >= self._most:
            reading.parsed.links = 1
            reading.parsed.filtered = {Filtered.REDIRECTS: 1}
        else:
            flags = LINK_REDIRECT
            if page.kind == Kind.SITEMAP:
                reading.via = page.via  # the robots.txt that speaks for it
            elif self._has_cookies and _is_again(page, target):
                reading.via = target  # which tells that this is its second time
                flags |= LINK_FORCE
            self._links.take(page, reading, resolved, hops=page.hops + 1, flags=flags)
        for refusal in reading.parsed.filtered:
            reading.parsed.reason = _REFUSED % Filtered(refusal).label.encode()

    def _resolved(self, page: Page, location: bytes) -> bytes:
        """A server that redirects to itself tells apart what we take for one: as it wants."""
        found = found_link(ELEMENT_REDIRECT, location)
        base = self._make_base(page.url)
        resolved = urls.resolve(base, found)
        if resolved[urls.ITEM_BYTES :] == page.url:
            resolved = urls.resolve(base, found, exact=True)
        return resolved


def _is_again(page: Page, target: bytes) -> bool:
    """Whether a redirection leads to a URL that was asked for, and may answer by cookies now.

    That is the page itself when it sets one, or the one that has redirected to it: the cookie may
    have come from either of the two.
    """
    if page.via == page.url:
        return False  # this is its second time
    if target == page.url:
        return bool(headers.field(page.headers, b"set-cookie"))
    return page.hops > 0 and target == page.via
