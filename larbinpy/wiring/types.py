"""Which documents are fetched, read for their links, and written to the output."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from larbinpy.parse.listing import TEXT_TYPE, XML_TYPES, Lists
from larbinpy.parse.pagetypes import HTML_TYPES

if TYPE_CHECKING:
    from larbinpy.config import Config


def accepted_types(config: Config) -> tuple[bytes, ...]:
    """Prefixes of the content types that are pages; () = every type."""
    if config.any_type:
        return ()
    images = (b"image/",) if config.get_image else ()
    return (*HTML_TYPES, *(mime.lower() for mime, _ in config.specific_set), *images)


def read_lists(config: Config) -> Lists:
    """The documents that are read for their links, beside pages."""
    wanted = (
        (config.use_sitemaps, Lists.SITEMAPS),
        (config.use_feeds, Lists.FEEDS),
        (config.plain_links, Lists.PLAIN),
    )
    return reduce(or_, (lists for is_wanted, lists in wanted if is_wanted), Lists(0))


def fetched_types(config: Config) -> tuple[bytes, ...]:
    """Prefixes of the content types whose bodies are fetched; () = every type."""
    pages = accepted_types(config)
    lists = read_lists(config)
    if not pages or not lists:
        return pages
    return (*pages, *XML_TYPES, *((TEXT_TYPE,) if Lists.PLAIN in lists else ()))


def specific_types(config: Config) -> frozenset[bytes]:
    """larbin's ``specificSearch``: the types that go to the output; none = all."""
    wanted = config.specific_set if config.specific_search else ()
    return frozenset(mime.lower() for mime, _ in wanted)
