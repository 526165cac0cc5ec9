"""What a shard keeps: log, hosts, seen set, budgets; made from the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, cast

from larbinpy._native.hosts import HostTable
from larbinpy._native.linkentry import fingerprint_of
from larbinpy._native.linkentry import shard as shard_of
from larbinpy.dedup.bitsfile import LARBIN_NAME, BitsFile
from larbinpy.dedup.bloom import BloomFiles
from larbinpy.dedup.larbinbits import ContinuedSeen
from larbinpy.dedup.seen import BitsSeen, BloomSeen, ExactSeen
from larbinpy.fetch import versions
from larbinpy.frontier.budgets import Budgets, Limits
from larbinpy.frontier.frontier import Frontier
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.novelty import Novelty
from larbinpy.frontier.settings import Settings
from larbinpy.frontier.synctimes import SharedSyncTimes
from larbinpy.manifest import boot_id
from larbinpy.shared import CrawlMemory, owner_of
from larbinpy.wiring import late_domains, make_pages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from larbinpy.dedup.base import SeenUrls
    from larbinpy.frontier.payloads import HostState
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.wiring import Start

WATCH_AFTER: Final = 64
"""Pages of a host that are not compared, with ``nearDuplicates watch``: most hosts have no more."""


class Recorded:
    """What the log asks of a host before it deletes its record; nobody knows before ``open``."""

    __slots__ = ("state_of",)

    def __init__(self) -> None:
        self.state_of: Callable[[bytes], HostState | None] | None = None

    def __call__(self, host: bytes) -> HostState | None:
        return self.state_of(host) if self.state_of else None


@dataclass(slots=True)
class Queue:
    """A log that has been opened, and what stands in memory of it."""

    fifo: PersistentFifo
    found: Recovered
    hosts: HostTable
    frontier: Frontier
    recorded: Recorded
    notices: list[str]


def open_queue(start: Start, memory: CrawlMemory) -> Queue:
    """Lock and read the log of a shard; its waiting URLs are in their chains then.

    Raises:
        LarbinError: the log cannot be used.
    """
    directory = start.directory
    recorded = Recorded()
    fifo, found = PersistentFifo.open(
        directory,
        uuid=start.uuid,
        settings=_settings(start, recorded),
        is_trusted=start.is_trusted,
        times=SharedSyncTimes(memory, start.index),
    )
    hosts = _make_hosts(start, memory)
    notices = _notices(start.index, found)
    seen = _continued(start, directory, _make_seen(start, directory), notices)
    frontier = Frontier(shard=start.index, fifo=fifo, table=hosts, seen=seen)
    frontier.restore(found, start.suspects | start.poison)
    pages = make_pages(start.config, memory)
    if pages:
        for digests in found.digests():
            pages.load(digests)
    return Queue(fifo, found, hosts, frontier, recorded, notices)


def _settings(start: Start, recorded: Recorded) -> Settings:
    config = start.config
    return Settings(
        config.segment_size_bytes,
        config.durability,
        sync_s=config.sync_time_s,
        keeps_pages=config.page_no_duplicate,
        outputs=(start.state, config.output_dir.absolute()),
        host_state=recorded,
    )


def _make_hosts(start: Start, memory: CrawlMemory) -> HostTable:
    config = start.config
    return HostTable(
        order=cast("Literal['bfs', 'dfs', 'best']", config.order),
        wait_ns=round(config.wait_duration_s * 1e9),
        wait_ip_ns=round(config.ip_wait_s * 1e9),
        per_ip=max(1, config.connections_per_ip // start.shards),
        lease_ns=round(config.fetch_timeout_s * 1e9),
        ip_table=memory.ips if start.shards > 1 else None,
        owner=owner_of(start.index),
    )


def _make_seen(start: Start, directory: Path) -> SeenUrls:
    config = start.config
    if config.seen_set == "bloom":
        capacity = max(1000, config.bloom_capacity // start.shards)
        files = BloomFiles(directory, capacity=capacity, rate=config.bloom_rate, boot_id=boot_id())
        return BloomSeen(files)
    if config.seen_set == "bits":
        return BitsSeen(BitsFile(directory, start.uuid))
    return ExactSeen()


def _continued(start: Start, directory: Path, seen: SeenUrls, notices: list[str]) -> SeenUrls:
    """The seen set of a crawl that continues a larbin's; any other's is as it was."""
    file = BitsFile(directory, start.uuid, name=LARBIN_NAME)
    if not file.path.exists():
        return seen
    raw = file.load()
    if not raw:
        notices.append(
            f"shard {start.index}: {file.path} is damaged; what larbin had fetched may be fetched"
            " again"
        )
        return seen
    return ContinuedSeen(seen, raw, is_larbin_form=start.config.url_mode == "larbin")


def make_novelty(start: Start) -> Novelty:
    """What hosts have shown is not remembered over a restart."""
    config = start.config
    watch_after = WATCH_AFTER if config.near_duplicates == "watch" else 0
    return Novelty(config.same_content, watch_after, late_domains(start))


def make_budgets(start: Start, *, is_new: bool) -> Budgets:
    """What a host has used up is counted again from the log, which is exact after any exit."""
    config = start.config
    limits = Limits(
        per_host=config.pages_per_host,
        per_domain=config.pages_per_domain,
        per_path=config.pages_per_path,
        hosts_per_domain=config.hosts_per_domain,
        sitemaps=config.sitemaps_per_host if config.use_sitemaps else 0,
    )
    budgets = Budgets(limits, late_domains(start))
    log = start.state / "crawl.log"
    if not is_new and (limits.are_counted or limits.sitemaps) and log.exists():
        with log.open("rb") as lines:
            budgets.restore(lines, _owned(start))
    return budgets


def _owned(start: Start) -> Callable[[bytes], bool]:
    """Tells the hosts whose URLs belong to this shard."""
    if start.shards == 1:
        return lambda _: True
    domain_of = late_domains(start)

    @cache
    def is_ours(host: bytes) -> bool:
        fingerprint = fingerprint_of(start.uuid, domain_of(host), b"")
        return shard_of(fingerprint, start.shards) == start.index

    return is_ours


def _notices(shard: int, found: Recovered) -> list[str]:
    """What a user should know: the libraries, said once, and the log that was opened."""
    notices = [] if shard else [versions.described()]
    notices += [
        f"shard {shard}: {damage.kind} damaged in {damage.file} at {damage.offset}"
        f" ({damage.length} bytes); the rest is used"
        for damage in found.damage
    ]
    if found.lost:
        notices.append(f"shard {shard}: {found.lost} URLs were lost with the damage")
    if found.ignored_dones:
        notices.append(f"shard {shard}: {found.ignored_dones} pages in doubt are fetched again")
    if found.seconds > 1:
        notices.append(f"shard {shard}: log read in {found.seconds:.1f} s")
    return notices
