"""Make a state from what a real larbin left, so that its crawl goes on here; no process is started.

1. Every URL of larbin's queue waits once, in larbin's order, whatever its table says.
2. Every other URL whose bit is set in the table counts as seen: the table is kept in each shard,
   with ``seenSet bits`` as the seen set itself, else beside it.
3. The manifest is written last: a state is there as a whole, or the next import begins anew.
"""

from __future__ import annotations

import struct
from array import array
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from larbinpy import entries, state
from larbinpy import url as urls
from larbinpy._native.linkentry import fingerprint_of, shard
from larbinpy.config import processes
from larbinpy.dedup.bitsfile import LARBIN_NAME, NAME, BitsFile
from larbinpy.dedup.seen import ExactSeen
from larbinpy.errors import ConfigError
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.settings import Settings
from larbinpy.records import Kind
from larbinpy.seeds import larbinstate
from larbinpy.seeds.larbinstate import Fault, Queued
from larbinpy.stateparts import SUFFIX_LIST
from larbinpy.url import Base, Url
from larbinpy.wiring import equal_urls

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from larbinpy.config import Config

BATCH_LINKS: Final = 1000
FIRST_SEGMENT: Final = 1
"""Of the log: what is in it or behind it need not be in the table."""
MAX_LEFT: Final = 65_535
MAX_URL_BYTES: Final = 2083
_ENTRY: Final = struct.Struct("<QHHHHBBBBBBHff")
"""``link_entry`` of docs/protocol.md, section 4.2."""
_HTTP_PORT: Final = 80


@dataclass(slots=True)
class Imported:
    """What became of a larbin's state."""

    files: int = 0
    queued: int = 0
    repeated: int = 0
    """Stood in the queue twice, as what larbin sent from one file to another does."""
    bad: int = 0
    cookies: int = 0
    """Cookies that were left out."""
    table: str = ""
    """File name of the table; none when larbin had not saved one."""
    known: int = 0
    """Bits set in it."""


def import_larbin(source: Path, config: Config, report: Callable[[str], None]) -> Imported:
    """Make the state that ``config`` names from the larbin state in ``source``.

    Args:
        report: is told of each line that cannot be used.

    Raises:
        ConfigError: there is no larbin state in ``source``, or already a crawl in ``stateDir``.
        FormatError: the table is not whole.
        StorageError: the disk refused; the next import begins anew.

    Cost: 4 us a URL; in memory 13 bytes a URL and 8 MB a shard.
    """
    files = larbinstate.queue_files(source)
    raw, table = larbinstate.read_table(source)
    if not files and raw is None:
        raise ConfigError(f"{source}: neither fifo files nor a hashtable.bin of larbin")
    directory = state.StateDirectory(config.state_dir)
    try:
        with state.importing(directory):
            manifest = state.new_manifest(directory, config)
            result = _Importer(config, directory, manifest.key, raw).run(files, report)
            directory.save(manifest)
    finally:
        directory.close()
    result.table = table
    result.known = int.from_bytes(raw or b"", "little").bit_count()
    return result


class _Importer:
    """Reads the queue and fills the shards."""

    def __init__(
        self, config: Config, directory: state.StateDirectory, key: bytes, raw: bytes | None
    ) -> None:
        self._key = key
        self._has_cookies = config.use_cookies
        self._depth_in_site = config.depth_in_site
        self._url_of = larbin_url if config.url_mode == "larbin" else self._standard_url
        self._base = Base(b"http://larbin.invalid/", equal_urls(config))
        self._priority = tuple(extension.lower() for _, extension in config.specific_set)
        self._domain_of = urls.Domains(directory.path / SUFFIX_LIST).of
        self._make_shard = partial(_Shard, config=config, key=key, raw=raw)
        self._paths = [directory.shard(index) for index in range(processes(config).fetch)]
        self._shards: list[_Shard] = []

    def run(self, files: list[Path], report: Callable[[str], None]) -> Imported:
        """Queue what the files hold, and close the shards."""
        result = Imported(files=len(files))
        with ExitStack() as stack:
            for path in self._paths:
                self._shards.append(stack.enter_context(closing(self._make_shard(path))))
            for path in files:
                self._take_file(path, result, report)
        result.queued = sum(each.queued for each in self._shards)
        result.repeated = sum(each.repeated for each in self._shards)
        return result

    def _take_file(self, path: Path, result: Imported, report: Callable[[str], None]) -> None:
        items = larbinstate.read_queue(path, has_cookies=self._has_cookies)
        for number, item in enumerate(items, 1):
            fault = self._take(item, result)
            if fault:
                result.bad += 1
                report(f"{path}:{number}: {fault}")

    def _take(self, item: Queued | Fault, result: Imported) -> str:
        """Queue one URL; returns what is wrong with it."""
        if isinstance(item, Fault):
            return item.text
        url = self._url_of(item)
        if url is None:
            return f"not a URL that can be fetched: {(item.host + item.file)[:80]!r}"
        result.cookies += item.has_cookie
        fingerprint = fingerprint_of(self._key, self._domain_of(url.host), url.url)
        to = self._shards[shard(fingerprint, len(self._shards))]
        to.put(self._entry(item, url, fingerprint), fingerprint, item.tag)
        return ""

    def _standard_url(self, item: Queued) -> Url | None:
        """The URL as the URL standard, and what is taken for one, normalise it."""
        url = urls.parse(b"http://%b:%d%b" % (item.host, item.port, item.file), self._base)
        return url if url and len(url.url) <= MAX_URL_BYTES else None

    def _entry(self, item: Queued, url: Url, fingerprint: int) -> bytes:
        """A ``link_entry``: level 0 for what ``specificSet`` prefers, a page without marks."""
        left = min(item.left, MAX_LEFT)
        level = not item.file.partition(b"?")[0].lower().endswith(self._priority)
        return (
            _ENTRY.pack(
                fingerprint, len(url.url), max(self._depth_in_site - left, 0), left, url.port,
                url.host_start, len(url.host), level, Kind.PAGE, 0, 0, 0, 0.0, 0.0,
            )
            + url.url
        )  # fmt: skip


def larbin_url(item: Queued) -> Url | None:
    """The URL as larbin writes it; normalising it again could make another of it."""
    port = b"" if item.port == _HTTP_PORT else b":%d" % item.port
    url = b"http://%b%b%b" % (item.host, port, item.file)
    if not url.isascii() or len(url) > MAX_URL_BYTES:
        return None
    return Url(url, https=False, host=item.host, port=item.port, host_start=len(b"http://"))


class _Shard:
    """One shard in the making; its log is open until ``close``."""

    __slots__ = ("_directory", "_fifo", "_fingerprints", "_key", "_links", "_raw", "_seen",
                 "_table", "_tag", "queued", "repeated")  # fmt: skip

    def __init__(self, directory: Path, config: Config, key: bytes, raw: bytes | None) -> None:
        self.queued = 0
        self.repeated = 0
        self._directory = directory
        self._key = key
        self._raw = raw
        self._table = NAME if config.seen_set == "bits" else LARBIN_NAME
        self._fifo, _ = PersistentFifo.open(
            directory,
            uuid=key,
            settings=Settings(config.segment_size_bytes, config.durability),
        )
        self._seen = ExactSeen()
        self._links: list[bytes] = []
        self._fingerprints = array("Q")
        self._tag = b""

    def put(self, link: bytes, fingerprint: int, tag: bytes) -> None:
        """Queue a link unless it was queued here before."""
        if tag != self._tag or len(self._links) >= BATCH_LINKS:
            self._put_batch()
            self._tag = tag
        self._links.append(link)
        self._fingerprints.append(fingerprint)

    def _put_batch(self) -> None:
        if not self._links:
            return
        links, fingerprints = b"".join(self._links), self._fingerprints.tobytes()
        groups = b"".join(entries.link_groups(b"", self._tag, links, len(self._links)))
        mask = self._seen.add_links(groups, fingerprints)
        self._fifo.put(groups, mask)
        new = mask.count(1)
        self.queued += new
        self.repeated += len(mask) - new
        self._links.clear()
        del self._fingerprints[:]

    def close(self) -> None:
        """Write everything; the table comes after the log, before the manifest."""
        try:
            self._put_batch()
        finally:
            self._fifo.close()
        if self._raw:
            file = BitsFile(self._directory, self._key, name=self._table)
            file.save(self._raw, FIRST_SEGMENT)
            file.settle(wait=True)
