"""Pages that are nearly the same as earlier ones, by the simhash of their text.

Which pages are compared is said by the shard that fetched them, where it knows when that is worth
its cost; a crawl that wants to know of each page compares all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy import url as urls
from larbinpy._native.simhash import simhash
from larbinpy.records import PAGE_FIRST, PAGE_WATCHED

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.neartable import NearTable
    from larbinpy.records import Page, ParsedPage


class NearPages:
    """Compares pages; one per parser process.

    Args of ``__init__``:
        table: the pages that others are compared with.
        domain_of: the registered domain of a host.
        compares_all: every page is compared, not only those that the shard asks about.
        leaves: the links of near-duplicates of the same host are not followed.
    """

    __slots__ = ("_domain_of", "_leaves", "_table", "compares_all")

    def __init__(
        self,
        table: NearTable,
        domain_of: Callable[[bytes], bytes],
        *,
        compares_all: bool = False,
        leaves: bool = False,
    ) -> None:
        self._table = table
        self._domain_of = domain_of
        self.compares_all = compares_all
        self._leaves = leaves

    def is_left(self, page: Page, parsed: ParsedPage, body: bytes) -> bool:
        """Whether the links of a page are not wanted; what was found out is noted in ``parsed``.

        Cost: 10 us for a page that is compared.
        """
        if not (self.compares_all or page.flags & (PAGE_WATCHED | PAGE_FIRST)):
            return False
        hashed = parsed.simhash = simhash(body)
        if not hashed:
            return False
        host = urls.host_of(page.url)
        parsed.near = self._table.near(host, hashed, page.id)
        is_left = self._leaves and parsed.near != 0
        if page.flags & PAGE_FIRST and not parsed.near:
            parsed.near = self._table.near(b"*." + self._domain_of(host), hashed, page.id)
        return is_left
