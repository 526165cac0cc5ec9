"""What became of one URL, from what a state holds; nothing is locked, changed or asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy._native.linkentry import fingerprint_of
from larbinpy._native.linkentry import shard as shard_of
from larbinpy.cli.newlink import ELEMENT_A, NewLink, new_link, refused_now
from larbinpy.frontier.search import Found, is_queued, search
from larbinpy.links.found import LINK_REDIRECT, found_link
from larbinpy.records import ID_LSN_MASK, Filtered, Outcome
from larbinpy.state import is_locked
from larbinpy.stateparts import SUFFIX_LIST
from larbinpy.store.crawlindex import first_page, lines_of
from larbinpy.store.crawllog import escaped

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.config import Config
    from larbinpy.manifest import Manifest
    from larbinpy.url import Url

LOG: Final = "crawl.log"
ENDS: Final = ("page", "sitemap")
"""Kinds of the lines that give a URL its Outcome."""


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
class Target:
    """Where a redirection leads, and what became of that."""

    url: bytes
    end: LogLine | None = None
    """The line that gave it its Outcome last."""
    is_queued: bool = False
    """It has none yet."""
    link: NewLink | None = None
    """Neither: what becomes of a link to it."""


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
    link: NewLink | None = None
    """What becomes of a link to it; None when it is known."""
    original: LogLine | None = None
    """Of a duplicate: the first page with its digest."""
    target: Target | None = None
    """Of a redirection."""
    refusal: Filtered | None = None
    """The filter that refuses it once the crawl goes on, while it waits."""

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
    asked = _Asked(config, state, manifest)
    fates = []
    for form in forms:
        fates.append(asked.fate(form))
        if fates[-1].found.is_seen or fates[-1].ends:
            break
    fate = fates[-1] if fates[-1].found.is_seen or fates[-1].ends else fates[0]
    asked.complete(fate)
    return fate


class _Asked:
    """The state that is asked."""

    def __init__(self, config: Config, state: Path, manifest: Manifest) -> None:
        self._config = config
        self._state = state
        self._manifest = manifest
        self._domains = urls.Domains(state / SUFFIX_LIST)

    def fate(self, url: Url) -> Fate:
        """What the logs say of a URL."""
        domain = self._domains.of(url.host)
        fingerprint, shard = self._place_of(url)
        # The log of URLs first: a URL that ends meanwhile is then found in the other one.
        found = search(
            self._start(shard).directory,
            self._manifest.key,
            fingerprint,
            url.host,
            url.url,
            newest_first=self._config.order == "dfs",
        )
        lines = self._lines(url.url)
        origin = url.url[: url.url.index(b"/", url.host_start)]
        robots = self._lines(origin + b"/robots.txt")
        return Fate(
            url,
            domain,
            fingerprint,
            shard,
            is_locked(self._state),
            found,
            [line for line in lines if line.fields["kind"] in ENDS],
            [line for line in lines if line.fields["kind"] == "retry"],
            next((line for line in reversed(robots) if line.fields["kind"] == "robots"), None),
        )

    def complete(self, fate: Fate) -> None:
        """Add what explains the end of a URL, or what would become of one that is not known."""
        found = fate.found
        if not found.is_seen and not fate.ends:
            fate.link = self._link(fate.url)
        if found.is_waiting and found.url and not fate.is_running:
            fate.refusal = refused_now(found.url, self._start(fate.shard), self._domains)
        fields = fate.end.fields if fate.end else {}
        if fields.get("outcome") == Outcome.DUPLICATE.label and fields["digest"]:
            fate.original = self._original(fields["digest"])
        elif fields.get("outcome") == Outcome.ERR_30X.label and fields.get("canonical"):
            fate.target = self._target(fields["canonical"].encode(), fate)

    def _original(self, digest: str) -> LogLine | None:
        found = first_page(self._state / LOG, self._manifest.key, escaped(digest.encode()))
        return LogLine(found[0], json.loads(found[1])) if found else None

    def _target(self, text: bytes, fate: Fate) -> Target | None:
        url = wiring.url_parser(self._config)(text)
        if url is None:
            return None
        target = Target(url.url)
        ends = [line for line in self._lines(url.url) if line.fields["kind"] in ENDS]
        fingerprint, shard = self._place_of(url)
        directory = self._start(shard).directory
        if ends:
            target.end = ends[-1]
        elif is_queued(directory, self._manifest.key, fingerprint):
            target.is_queued = True
        elif fate.found.url and fate.found.url[12] >= self._config.max_redirects:
            target.link = NewLink(Filtered.REDIRECTS)
        else:
            target.link = self._link(url, fate.url.url, LINK_REDIRECT)
        return target

    def _link(self, url: Url, via: bytes = b"", flags: int = 0) -> NewLink:
        start = self._start(self._place_of(url)[1])
        return new_link(url, start, self._manifest, self._domains, via=via, flags=flags)

    def _place_of(self, url: Url) -> tuple[int, int]:
        """Fingerprint and shard."""
        fingerprint = fingerprint_of(self._manifest.key, self._domains.of(url.host), url.url)
        return fingerprint, shard_of(fingerprint, self._manifest.fetch_processes)

    def _start(self, shard: int) -> wiring.Start:
        manifest = self._manifest
        shards = manifest.fetch_processes
        return wiring.Start(self._config, shard, self._state, manifest.key, shards, 1)

    def _lines(self, url: bytes) -> list[LogLine]:
        found = lines_of(self._state / LOG, self._manifest.key, escaped(url))
        return [LogLine(offset, json.loads(line)) for offset, line in found]
