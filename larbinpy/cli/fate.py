"""What became of one URL, from what a state holds; nothing is locked, changed or asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy._native.linkentry import fingerprint_of
from larbinpy._native.linkentry import shard as shard_of
from larbinpy.frontier.search import Found, search
from larbinpy.links.found import LINK_SEED, found_link
from larbinpy.records import ID_LSN_MASK, Filtered
from larbinpy.state import SUFFIX_LIST, is_locked
from larbinpy.store.crawlindex import lines_of
from larbinpy.store.crawllog import escaped

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.config import Config
    from larbinpy.manifest import Manifest
    from larbinpy.url import Url

ELEMENT_A: Final = 1
LOG: Final = "crawl.log"


@dataclass(slots=True)
class LogLine:
    """A line of ``crawl.log``."""

    offset: int
    fields: dict[str, Any]  # as docs/crawl-log.md has them

    @property
    def lsn(self) -> int:
        """Of the URL's ENQ."""
        return int(self.fields["id"]) & ID_LSN_MASK


@dataclass(slots=True)
class Fate:
    """All that a state says of a URL."""

    url: Url
    domain: bytes
    fingerprint: int
    shard: int
    is_running: bool
    found: Found
    ends: list[LogLine]
    """The lines that gave it an Outcome, oldest first."""
    tries: list[LogLine]
    """Those of tries in vain."""
    robots: LogLine | None
    """The latest request for the robots.txt of its origin."""
    refusal: Filtered | None
    """The filter that would refuse a link to it now."""

    @property
    def end(self) -> LogLine | None:
        """The line that decided, unless the URL waits again."""
        waits = self.found.live
        ends = [line for line in self.ends if not waits or line.lsn in waits]
        return ends[-1] if ends else None


def forms_of(text: bytes, config: Config) -> list[Url]:
    """How a URL is queued: as a link is, and as a redirection to itself is, where these differ.

    Returns:
        none when it is no URL that could be fetched.
    """
    parse = wiring.url_parser(config)
    exact = parse(text)
    if exact is None:
        return []
    base = wiring.base_maker(config)(exact.url)
    link = urls.resolve(base, found_link(ELEMENT_A, exact.url))[urls.ITEM_BYTES :]
    forms = [parse(form) for form in dict.fromkeys((link or exact.url, exact.url))]
    return [form for form in forms if form is not None]


def fate_of(forms: list[Url], config: Config, state: Path, manifest: Manifest) -> Fate:
    """Ask a state for the first of several URLs that it knows, else for the first.

    Raises:
        StorageError: a file of the state cannot be read.

    Cost: for each form that of ``search`` and ``lines_of``: under a second for ten million URLs.
    """
    fates = []
    for form in forms:
        fates.append(_fate_of(form, config, state, manifest))
        if fates[-1].found.is_seen or fates[-1].ends:
            return fates[-1]
    return fates[0]


def _fate_of(url: Url, config: Config, state: Path, manifest: Manifest) -> Fate:
    domains = urls.Domains(state / SUFFIX_LIST)
    domain = domains.of(url.host)
    fingerprint = fingerprint_of(manifest.key, domain, url.url)
    shard = shard_of(fingerprint, manifest.fetch_processes)
    # The log of URLs first: a URL that ends meanwhile is then found in the other one.
    directory = state / f"shard-{shard:02d}"
    found = search(directory, manifest.key, fingerprint, url.host, url.url)
    lines = _lines(state, manifest, url.url)
    origin = url.url[: url.url.index(b"/", url.host_start)]
    robots = _lines(state, manifest, origin + b"/robots.txt")
    return Fate(
        url,
        domain,
        fingerprint,
        shard,
        is_locked(state),
        found,
        [line for line in lines if line.fields["kind"] in ("page", "sitemap")],
        [line for line in lines if line.fields["kind"] == "retry"],
        next((line for line in reversed(robots) if line.fields["kind"] == "robots"), None),
        refusal_of(url, wiring.Start(config, 0, state, manifest.key, 1, 1), domains, found),
    )


def refusal_of(
    url: Url, start: wiring.Start, domains: urls.Domains, found: Found
) -> Filtered | None:
    """The filter that would refuse the URL now, None when none would.

    It is taken for a link of the page that it was found on, else of its own host.
    """
    via, flags = (found.url[3], found.url[14]) if found.url else (b"", 0)
    base = wiring.base_maker(start.config)(url.url)
    batch = wiring.make_links(start, domains).run(
        urls.resolve(base, found_link(ELEMENT_A, url.url)),
        host=urls.host_of(via) if via else url.host,
        depth=0,
        left=start.config.depth_in_site,
        flags=flags & LINK_SEED,
    )
    return Filtered(next(iter(batch.filtered))) if batch.filtered else None


def _lines(state: Path, manifest: Manifest, url: bytes) -> list[LogLine]:
    spelt = escaped(url)
    found = lines_of(state / LOG, manifest.key, spelt)
    return [LogLine(offset, json.loads(line)) for offset, line in found]
