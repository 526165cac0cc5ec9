"""Lines of ``larbinpy links``: links as they are found, and what a crawl says of each."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, cast

import click

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy.errors import ConfigError
from larbinpy.links.scope import place_of
from larbinpy.records import Filtered, Kind, Outcome, Page
from larbinpy.stateparts import SUFFIX_LIST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy._native.linkfilter import LinkBatch, LinkFilter
    from larbinpy.config import Config
    from larbinpy.records import Reading
    from larbinpy.url import Url

FOLLOWED: Final = "followed"
NO_LIMIT: Final = (1 << 32) - 1
BEYOND: Final = (None, Filtered.LINKS_PER_PAGE)
"""URL and verdict of a link that no filter is asked about."""
_FOUND: Final = struct.Struct("<BBBxI")
_RESOLVED: Final = struct.Struct("<B7xI")

Line = dict[str, str | None]


class Watched:
    """A link filter that remembers what it said of each link."""

    def __init__(self, links: LinkFilter) -> None:
        self._links = links
        self.links_per_page = links.links_per_page
        self.resolved = b""
        self.verdicts = b""

    def run(self, resolved: bytes, **facts: Any) -> LinkBatch:
        """Sort out links, and note the verdicts."""
        batch = self._links.run(resolved, **facts, has_verdicts=True)
        self.resolved, self.verdicts = resolved, batch.verdicts or b""
        return batch

    def judged(self) -> Iterator[tuple[str | None, int]]:
        """URL, None where there is none, and verdict of each link."""
        at = 0
        for verdict in self.verdicts:
            _, size = _RESOLVED.unpack_from(self.resolved, at)
            at += _RESOLVED.size
            yield self.resolved[at : at + size].decode("ascii") or None, verdict
            at += size


def parsed(
    body: bytes, url: Url, content_type: bytes, config: Config, kind: Kind = Kind.PAGE
) -> Watched:
    """Have a parser read a document, as if it were a first URL, or a sitemap of its own host.

    Raises:
        ConfigError: the parser refuses it.
    """
    start = wiring.Start(config, 0, config.state_dir, bytes(16), 1, 1)
    list_path = config.state_dir / SUFFIX_LIST
    domains = urls.Domains(list_path if list_path.exists() else None)
    sites = wiring.read_sites(config.state_dir) | {place_of(url)}
    watched = Watched(wiring.make_links(start, domains, sites))
    acceptance = wiring.make_acceptance(config, lambda text: click.echo(text, err=True))
    reader = wiring.make_reader(start, cast("LinkFilter", watched), acceptance=acceptance)
    reading: Reading = reader.read(_page(body, url, content_type, config, kind))
    if reading.parsed.outcome not in (Outcome.SUCCESS, Outcome.LINK_LIST):
        raise ConfigError(f"a crawl would not read this page: {reading.parsed.outcome.label}")
    return watched


def _page(body: bytes, url: Url, content_type: bytes, config: Config, kind: Kind) -> Page:
    origin = url.url[: url.url.index(b"/", url.host_start)]
    return Page(
        id=0, epoch=0, attempt=0, kind=kind, outcome=Outcome.SUCCESS, flags=0, status=200,
        depth=0, left=config.depth_in_site, level=0, hops=0, score=0.0, relevance=0.0, start_us=0,
        duration_us=0, ip=b"", url=url.url, tag=b"", reason=b"", body=body,
        via=origin + b"/robots.txt" if kind == Kind.SITEMAP else b"",
        headers=b"content-type: %b\r\n" % content_type,
    )  # fmt: skip


def verdict_of(code: int) -> str:
    """The label of a filter; duplicates are followed once."""
    return Filtered(code).label if code in Filtered.__members__.values() else FOLLOWED


def values_of(found: bytes) -> Iterator[tuple[int, int, int, str]]:
    """Element, attribute, rel bits and value of ``found_link`` items."""
    at = 0
    while at < len(found):
        element, attribute, rel, size = _FOUND.unpack_from(found, at)
        at += _FOUND.size
        yield element, attribute, rel, found[at : at + size].decode("utf-8")
        at += size


def text_of(part: bytes | None) -> str | None:
    """What a document says, as text."""
    return None if part is None else part.decode("utf-8", "replace")


def line_of(
    element: str | None,
    attribute: str | None,
    value: str,
    url: str | None,
    verdict: str,
    rel: str | None = None,
    text: str | None = None,
) -> Line:
    """One line of the output."""
    return {
        "element": element, "attribute": attribute, "value": value, "url": url, "rel": rel,
        "text": text, "verdict": verdict,
    }  # fmt: skip
