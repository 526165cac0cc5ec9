"""``larbinpy links --url URL FILE``: what a parser sees, and what a crawl would follow."""

from __future__ import annotations

import json
import os
import struct
import sys
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy._native import linkscan
from larbinpy.cli.arguments import configure, invoke
from larbinpy.cli.href import href
from larbinpy.errors import ConfigError
from larbinpy.links.scope import place_of
from larbinpy.parse import headers
from larbinpy.parse.charset import find_encoding, to_utf8
from larbinpy.parse.page import HTML_TYPES
from larbinpy.records import Filtered, Kind, Outcome, Page
from larbinpy.state import SUFFIX_LIST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy._native.linkfilter import LinkBatch, LinkFilter
    from larbinpy.config import Config
    from larbinpy.url import Url

STANDARD_INPUT: Final = "-"
CSS: Final = b"text/css"
FOLLOWED: Final = "followed"
NO_LIMIT: Final = (1 << 32) - 1
ELEMENTS: Final = {
    1: "a", 2: "area", 3: "link", 4: "base", 5: "frame", 6: "iframe", 7: "img", 8: "script",
    9: "source", 10: "meta", 13: "embed", 14: "object", 15: "video", 16: "audio", 17: "track",
    18: "form", 20: "source",
}  # fmt: skip
STYLE: Final = 19
ATTRIBUTES: Final = {
    1: "href", 2: "src", 3: "srcset", 4: "content", 5: "data", 6: "poster", 7: "action", 8: "style",
}  # fmt: skip
BASE: Final = 4
REL_DOCUMENT: Final = 32
_FOUND: Final = struct.Struct("<BBBxI")
_RESOLVED: Final = struct.Struct("<B7xI")

Line = dict[str, str | None]


class _Watched:
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


def links(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_links, "larbinpy links", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--url", required=True, metavar="URL", help="Where the page is.")
@click.option("--type", "kind", default="", metavar="CONTENT_TYPE", help="Its Content-Type.")
@click.option(
    "-c", "--config", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="Configuration of the crawl (default: larbin.conf here, else the built-in defaults).",
)  # fmt: skip
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Replace a key.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
def _links(url: str, kind: str, path: Path | None, overrides: tuple[str, ...], file: Path) -> int:
    """Print the links that a parser sees in FILE (- = standard input), a JSON line for each.

    In the order of the document: element, attribute, value (as it stands there, references
    decoded), url (absolute, or null), rel, text, and verdict: followed, or the filter that refuses
    it, were the page a first URL of a crawl with this configuration.
    """
    config = configure(path, overrides).config
    page_url = wiring.url_parser(config)(os.fsencode(url))
    if page_url is None:
        raise ConfigError(f"--url {url!r}: no http or https URL that could be fetched")
    body = _read(file)
    mime = headers.mime(os.fsencode(kind))
    if mime == CSS:
        found = _sheet_links(body, page_url)
    elif not mime or mime in HTML_TYPES:
        found = _page_links(body, page_url, os.fsencode(kind), config)
    else:
        raise ConfigError(f"--type {kind}: neither HTML nor CSS")
    for line in found:
        sys.stdout.write(json.dumps(line) + "\n")
    return 0


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == STANDARD_INPUT else file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


# --- style sheets --------------------------------------------------------------------------------


def _sheet_links(css: bytes, url: Url) -> Iterator[Line]:
    """The links of a style sheet, which no crawl follows but for a mirror."""
    base = url.url.decode("ascii")
    for _, _, _, value in _values(linkscan.scan_css(css, NO_LIMIT).links):
        yield _line(None, None, value, href(value, base, "UTF-8"), Filtered.ELEMENT.label)


# --- pages ---------------------------------------------------------------------------------------


def _page_links(body: bytes, url: Url, content_type: bytes, config: Config) -> Iterator[Line]:
    """The links of a page.

    The verdicts are the parser's own; what it does not list (URLs in CSS) stands between.

    Raises:
        ConfigError: the parser refuses the page.
    """
    watched = _parsed(body, url, content_type, config)
    encoding, _ = find_encoding(content_type, body)
    scan = linkscan.scan(to_utf8(body, encoding), NO_LIMIT, styles=True, details=True)
    target = urls.parse(scan.base, url.url) if scan.base is not None else None
    own, base = url.url.decode("ascii"), (target or url).url.decode("ascii")
    known = zip_longest(_resolved(watched.resolved), watched.verdicts)
    beyond = (None, Filtered.LINKS_PER_PAGE)
    for (element, attribute, rel_bits, value), detail in zip(
        _values(scan.links), scan.details, strict=True
    ):
        tag, rel, text, _ = map(_text, detail)
        if element == STYLE:
            written, verdict = href(value, base, encoding), Filtered.ELEMENT.label
        else:
            (resolved, code) = next(known, beyond)
            verdict = _verdict(code)
            if rel_bits & REL_DOCUMENT or element == BASE:
                written = href(value if element == BASE else own, own, encoding)
            elif config.url_mode == "larbin" or code == Filtered.EMPTY:
                written = resolved
            else:
                written = href(value, base, encoding) or resolved
        name = ELEMENTS.get(element, (tag or "").lower())
        seen = None if text is None else " ".join(text.split())
        yield _line(name, ATTRIBUTES.get(attribute), value, written, verdict, rel, seen)


def _text(part: bytes | None) -> str | None:
    return None if part is None else part.decode("utf-8")


def _parsed(body: bytes, url: Url, content_type: bytes, config: Config) -> _Watched:
    """Have a parser read the page, as if it were a first URL."""
    start = wiring.Start(config, 0, config.state_dir, bytes(16), 1, 1)
    list_path = config.state_dir / SUFFIX_LIST
    domains = urls.Domains(list_path if list_path.exists() else None)
    sites = wiring.read_sites(config.state_dir) | {place_of(url)}
    watched = _Watched(wiring.make_links(start, domains, sites))
    page = Page(
        id=0, epoch=0, attempt=0, kind=Kind.PAGE, outcome=Outcome.SUCCESS, flags=0, status=200,
        depth=0, left=config.depth_in_site, level=0, hops=0, score=0.0, relevance=0.0, start_us=0,
        duration_us=0, ip=b"", url=url.url, via=b"", tag=b"", reason=b"",
        headers=b"content-type: %b\r\n" % content_type, body=body,
    )  # fmt: skip
    acceptance = wiring.make_acceptance(config, lambda text: click.echo(text, err=True))
    reader = wiring.make_reader(start, cast("LinkFilter", watched), acceptance=acceptance)
    parsed = reader.read(page).parsed
    if parsed.outcome != Outcome.SUCCESS:
        raise ConfigError(f"a crawl would not read this page: {parsed.outcome.label}")
    return watched


def _verdict(code: int) -> str:
    """The label of a filter; duplicates are followed once."""
    return Filtered(code).label if code in Filtered.__members__.values() else FOLLOWED


def _values(found: bytes) -> Iterator[tuple[int, int, int, str]]:
    """Element, attribute, rel bits and value of ``found_link`` items."""
    at = 0
    while at < len(found):
        element, attribute, rel, size = _FOUND.unpack_from(found, at)
        at += _FOUND.size
        yield element, attribute, rel, found[at : at + size].decode("utf-8")
        at += size


def _resolved(resolved: bytes) -> Iterator[str | None]:
    """The URLs of ``resolved_link`` items, None where there is none."""
    at = 0
    while at < len(resolved):
        _, size = _RESOLVED.unpack_from(resolved, at)
        at += _RESOLVED.size
        yield resolved[at : at + size].decode("ascii") or None
        at += size


def _line(
    element: str | None,
    attribute: str | None,
    value: str,
    url: str | None,
    verdict: str,
    rel: str | None = None,
    text: str | None = None,
) -> Line:
    return {
        "element": element, "attribute": attribute, "value": value, "url": url, "rel": rel,
        "text": text, "verdict": verdict,
    }  # fmt: skip
