"""The readers of pages, and what of a page's own wishes they obey."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from larbinpy._native.plainpage import PlainPages
from larbinpy.parse import directives
from larbinpy.parse.lists import ListReader
from larbinpy.parse.page import PageReader
from larbinpy.parse.pagetypes import plain_type
from larbinpy.records import Directive
from larbinpy.wiring.duplicates import page_digest
from larbinpy.wiring.types import accepted_types, read_lists
from larbinpy.wiring.urls import base_maker, equal_urls

if TYPE_CHECKING:
    from larbinpy._native.linkfilter import LinkFilter
    from larbinpy.config import Config
    from larbinpy.dedup.content import PagesSeen
    from larbinpy.dedup.near import NearPages
    from larbinpy.links.choice import Acceptance
    from larbinpy.wiring.start import Start


def make_reader(
    start: Start,
    links: LinkFilter,
    pages: PagesSeen | None = None,
    near: NearPages | None = None,
    acceptance: Acceptance | None = None,
) -> PageReader:
    """The reader of pages."""
    config = start.config
    return PageReader(
        links,
        accept=accepted_types(config),
        max_redirects=config.max_redirects,
        max_bytes=config.max_decoded_bytes,
        make_base=base_maker(config),
        lists=_make_lists(config, links, acceptance),
        digest=page_digest(config),
        is_new=pages.is_new if pages else None,
        near=near.is_left if near else None,
        has_cookies=config.use_cookies,
        agent=config.user_agent_token,
        obeyed=obeyed(config),
        acceptance=acceptance,
    )


def _make_lists(
    config: Config, links: LinkFilter, acceptance: Acceptance | None
) -> ListReader | None:
    """The reader of sitemaps, feeds and plain texts; None when none of them is wanted."""
    lists = read_lists(config)
    if not lists:
        return None
    return ListReader(
        links,
        lists,
        max_bytes=config.max_decoded_bytes,
        make_base=base_maker(config),
        acceptance=acceptance,
        max_sitemaps=config.sitemaps_per_host,
    )


def make_plain(
    start: Start,
    links: LinkFilter,
    pages: PagesSeen | None = None,
    near: NearPages | None = None,
    acceptance: Acceptance | None = None,
) -> PlainPages | None:
    """The short way of most pages beside the reader; None when no page is plain to this crawl."""
    config = start.config
    if acceptance or config.url_mode == "larbin":
        return None
    return PlainPages(
        links,
        type_of=partial(plain_type, accept=accepted_types(config)),
        digest=page_digest(config),
        directives_of=directives.of_meta,
        is_new=pages.is_new if pages else None,
        near=near.is_left if near else None,
        compares_all=bool(near and near.compares_all),
        max_bytes=config.max_decoded_bytes,
        equal=equal_urls(config),
        agent=config.user_agent_token.lower(),
        nofollow=Directive.NOFOLLOW in obeyed(config),
    )


def obeyed(config: Config) -> Directive:
    """What is done as pages ask."""
    ignored = {
        Directive.NOFOLLOW: config.ignore_nofollow,
        Directive.NOINDEX: config.ignore_noindex,
        Directive.NOARCHIVE: config.ignore_noarchive,
    }
    return Directive(sum(directive for directive, is_off in ignored.items() if not is_off))
