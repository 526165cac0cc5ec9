"""The links of documents that are no HTML, as ``larbinpy links`` prints them."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final

from larbinpy import wiring
from larbinpy.cli.href import href
from larbinpy.cli.linklines import (
    BEYOND,
    NO_LIMIT,
    line_of,
    parsed,
    text_of,
    values_of,
    verdict_of,
)
from larbinpy.errors import ConfigError
from larbinpy.parse import decode, headers, listing
from larbinpy.parse.listing import Listing, Lists
from larbinpy.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.cli.linklines import Line
    from larbinpy.config import Config
    from larbinpy.url import Url

KEYS: Final = {
    Lists.SITEMAPS: "useSitemaps", Lists.FEEDS: "useFeeds", Lists.PLAIN: "plainLinks",
}  # fmt: skip
"""Keys of the configuration without which a kind of documents is not read."""
ATTRIBUTES: Final = {1: "href", 2: "src"}


def is_list(mime: bytes) -> bool:
    """Whether a document of this type is read for its links alone."""
    return mime in listing.XML_TYPES or mime == listing.TEXT_TYPE


def linked(body: bytes, url: Url, content_type: bytes, config: Config) -> Iterator[Line]:
    """The links of XML or of a text that a page leads to.

    The verdict on links that are not read with this configuration is the key that says so.
    """
    mime = headers.mime(content_type)
    kind = listing.kind_of(body, content_type, mime)
    if kind is None:
        raise ConfigError(f"{mime.decode('ascii', 'replace')} is no list of links")
    wanted, unread = wiring.read_lists(config), ""
    if kind not in wanted and Lists.PLAIN not in wanted:
        wanted, unread = kind, KEYS[kind]
    document = listing.read(body, content_type, mime, wanted, NO_LIMIT, details=True)
    return _lines(document, body, url, content_type, _with(config, wanted), Kind.PAGE, unread)


def sitemap(body: bytes, url: Url, content_type: bytes, config: Config) -> Iterator[Line]:
    """The links of a sitemap that the robots.txt of its host names, in any form."""
    unpacked = listing.gunzip(decode.Decoded(body), config.max_decoded_bytes)
    document = listing.read_sitemap(unpacked.body, content_type, NO_LIMIT, details=True)
    unread = "" if config.use_sitemaps else KEYS[Lists.SITEMAPS]
    wanted = wiring.read_lists(config) | Lists.SITEMAPS
    return _lines(document, body, url, content_type, _with(config, wanted), Kind.SITEMAP, unread)


def _with(config: Config, wanted: Lists) -> Config:
    """The configuration that reads these lists."""
    return replace(
        config,
        use_sitemaps=Lists.SITEMAPS in wanted,
        use_feeds=Lists.FEEDS in wanted,
        plain_links=Lists.PLAIN in wanted,
    )


def _lines(
    document: Listing | None,
    body: bytes,
    url: Url,
    content_type: bytes,
    config: Config,
    kind: Kind,
    unread: str,
) -> Iterator[Line]:
    watched = parsed(body, url, content_type, config, kind)
    document = document or Listing(b"")
    found = (
        (base.decode("ascii"), *link)
        for base, links in document.runs(url.url)
        for link in values_of(links)
    )
    details = document.details or [(b"", None)] * document.count
    judged = chain(watched.judged(), repeat(BEYOND))
    for (base, _, attribute, _, value), (name, rel), (resolved, code) in zip(
        found, details, judged, strict=False
    ):
        written = href(value, base, "UTF-8") if config.url_mode == "whatwg" else resolved
        yield line_of(
            text_of(name) or None,
            ATTRIBUTES.get(attribute),
            value,
            written,
            unread or verdict_of(code),
            text_of(rel),
        )
