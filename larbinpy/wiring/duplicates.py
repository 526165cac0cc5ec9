"""Which pages are equal to another one, and which are near to one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from larbinpy import url as urls
from larbinpy._native.neartable import NearTable
from larbinpy.dedup import content
from larbinpy.dedup.near import NearPages
from larbinpy.shared import NEAR_BYTES, PAGES_BYTES
from larbinpy.stateparts import SUFFIX_LIST

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.config import Config
    from larbinpy.shared import CrawlMemory
    from larbinpy.wiring.start import Start

NEAR_BITS: Final = 10
"""Of 64 bits of a simhash; measured in docs/traps.md."""


def page_digest(config: Config) -> Callable[[bytes | memoryview], bytes]:
    """What makes two pages equal."""
    return content.larbin_digest if config.page_digest == "larbin" else content.exact_digest


def make_pages(config: Config, memory: CrawlMemory) -> content.PagesSeen | None:
    """The pages seen, for ``pageNoDuplicate``."""
    if not config.page_no_duplicate:
        return None
    return content.PagesSeen(memory.pages[:PAGES_BYTES], is_larbin=config.page_digest == "larbin")


def make_near(start: Start, memory: CrawlMemory) -> NearPages | None:
    """The different pages of each host, for ``nearDuplicates``."""
    mode = start.config.near_duplicates
    if mode == "no":
        return None
    table = NearTable(memory.pages[-NEAR_BYTES:], start.uuid, NEAR_BITS)
    return NearPages(
        table, late_domains(start), compares_all=mode != "watch", leaves=mode == "leave"
    )


def late_domains(start: Start) -> Callable[[bytes], bytes]:
    """The registered domain of a host; the list is loaded when it is asked for the first time."""

    @cache
    def loaded() -> urls.Domains:
        return urls.Domains(start.state / SUFFIX_LIST)

    return lambda host: loaded().of(host)
