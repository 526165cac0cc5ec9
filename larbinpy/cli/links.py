"""``larbinpy links --url URL FILE``: what a parser sees, and what a crawl would follow."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy._native import linkscan
from larbinpy.cli.arguments import configure, invoke
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
from larbinpy.cli.listed import is_list, linked, sitemap
from larbinpy.errors import ConfigError
from larbinpy.parse import headers, html
from larbinpy.parse.charset import find_encoding, to_utf8
from larbinpy.parse.pagetypes import HTML_TYPES, XHTML
from larbinpy.records import Filtered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from larbinpy.cli.linklines import Line
    from larbinpy.config import Config
    from larbinpy.url import Url

STANDARD_INPUT: Final = "-"
CSS: Final = b"text/css"
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
@click.option("--sitemap", "is_sitemap", is_flag=True, help="It is a sitemap of its host.")
@click.option("--about", is_flag=True, help="Print what the page says of itself instead.")
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Replace a key.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
def _links(
    url: str,
    kind: str,
    path: Path | None,
    overrides: tuple[str, ...],
    file: Path,
    *,
    is_sitemap: bool,
    about: bool,
) -> int:
    """Print the links that a parser sees in FILE (- = standard input), a JSON line for each.

    In the order of the document: element, attribute, value (as it stands there, references
    decoded), url (absolute, or null), rel, text, and verdict: followed, or the filter that refuses
    it, were the page a first URL of a crawl with this configuration. Links with hreflang have that
    too. FILE is HTML, CSS (text/css), a feed or other XML (application/xml and the like), or a text
    (text/plain), by --type; with --sitemap in whatever form a sitemap has. Where a crawl with this
    configuration reads no such documents, the verdict is the key that would let it.
    --about prints one line: encoding, encoding_from, title, language, canonical, robots, base.
    """
    config = configure(path, overrides).config
    page_url = wiring.url_parser(config)(os.fsencode(url))
    if page_url is None:
        raise ConfigError(f"--url {url!r}: no http or https URL that could be fetched")
    body, content_type = _read(file), os.fsencode(kind)
    found: Iterable[Mapping[str, str | None]]
    if about:
        found = [_about(body, content_type, config)]
    elif is_sitemap:
        found = sitemap(body, page_url, content_type, config)
    else:
        found = _links_by_type(body, page_url, content_type, config)
    for line in found:
        sys.stdout.write(json.dumps(line) + "\n")
    return 0


def _links_by_type(
    body: bytes, page_url: Url, content_type: bytes, config: Config
) -> Iterable[Mapping[str, str | None]]:
    mime = headers.mime(content_type)
    if mime == CSS:
        return _sheet_links(body, page_url)
    if not mime or mime in HTML_TYPES:
        return _page_links(body, page_url, content_type, config)
    if is_list(mime):
        return linked(body, page_url, content_type, config)
    raise ConfigError(f"--type {os.fsdecode(content_type)}: neither HTML, CSS, XML nor a text")


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == STANDARD_INPUT else file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


def _about(body: bytes, content_type: bytes, config: Config) -> Line:
    """What a page says of itself; null where it says nothing."""
    page = html.read(body, content_type, max_links=0, agent=config.user_agent_token.lower())
    return {
        "encoding": page.encoding,
        "encoding_from": page.encoding_from,
        "title": text_of(page.title or None),
        "language": text_of(page.language),
        "canonical": text_of(page.canonical),
        "robots": text_of(page.robots or None),
        "base": text_of(page.base),
    }


# --- style sheets --------------------------------------------------------------------------------


def _sheet_links(css: bytes, url: Url) -> Iterator[Line]:
    """The links of a style sheet, which no crawl follows but for a mirror."""
    base = url.url.decode("ascii")
    for _, _, _, value in values_of(linkscan.scan_css(css, NO_LIMIT).links):
        yield line_of(None, None, value, href(value, base, "UTF-8"), Filtered.ELEMENT.label)


# --- pages ---------------------------------------------------------------------------------------


def _page_links(body: bytes, url: Url, content_type: bytes, config: Config) -> Iterator[Line]:
    """The links of a page.

    The verdicts are the parser's own; what it does not list (URLs in CSS) stands between.

    Raises:
        ConfigError: the parser refuses the page.
    """
    watched = parsed(body, url, content_type, config)
    encoding, _ = find_encoding(content_type, body)
    is_xml = headers.mime(content_type) == XHTML
    page = to_utf8(body, encoding)
    scan = linkscan.scan(page, NO_LIMIT, styles=True, details=True, is_xml=is_xml)
    target = urls.parse(scan.base, url.url) if scan.base is not None else None
    own, base = url.url.decode("ascii"), (target or url).url.decode("ascii")
    judged = watched.judged()
    for (element, attribute, rel_bits, value), detail in zip(
        values_of(scan.links), scan.details, strict=True
    ):
        tag, rel, text, hreflang = map(text_of, detail)
        if element == STYLE:
            written, verdict = href(value, base, encoding), Filtered.ELEMENT.label
        else:
            (resolved, code) = next(judged, BEYOND)
            verdict = verdict_of(code)
            if rel_bits & REL_DOCUMENT or element == BASE:
                written = href(value if element == BASE else own, own, encoding)
            elif config.url_mode == "larbin" or code == Filtered.EMPTY:
                written = resolved
            else:
                written = href(value, base, encoding) or resolved
        name = ELEMENTS.get(element, (tag or "").lower())
        seen = None if text is None else " ".join(text.split())
        line = line_of(name, ATTRIBUTES.get(attribute), value, written, verdict, rel, seen)
        yield line if hreflang is None else line | {"hreflang": hreflang}
