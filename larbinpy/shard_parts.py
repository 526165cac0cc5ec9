"""What a shard holds together, made from the configuration; see ``shard.py`` for what it does."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, Literal, cast

from larbinpy import shard_options, state
from larbinpy._native.eventloop import EventLoop
from larbinpy._native.hosts import HostTable
from larbinpy.clock import Clock, SystemClock
from larbinpy.config.machine import allowed_connections
from larbinpy.dedup.bitsfile import LARBIN_NAME, BitsFile
from larbinpy.dedup.bloom import BloomFiles
from larbinpy.dedup.larbinbits import ContinuedSeen
from larbinpy.dedup.seen import BitsSeen, BloomSeen, ExactSeen, SeenUrls
from larbinpy.dns import names
from larbinpy.dns.addresses import Addresses
from larbinpy.dns.behind import ProxiedResolver
from larbinpy.dns.named import NamedHosts
from larbinpy.dns.resolver import AresResolver
from larbinpy.errands import Errands
from larbinpy.errors import ConfigError
from larbinpy.fetch import versions
from larbinpy.fetch.curl import CurlFetcher
from larbinpy.fetch.guard import is_public
from larbinpy.frontier.budgets import Budgets, Limits
from larbinpy.frontier.frontier import Frontier
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.settings import Settings
from larbinpy.frontier.synctimes import SharedSyncTimes
from larbinpy.frontier.tickets import Tickets
from larbinpy.ledger import Ledger
from larbinpy.manners import Manners
from larbinpy.parse.handover import Handover
from larbinpy.peers import Peers
from larbinpy.politeness import identity
from larbinpy.politeness.backoff import Backoff
from larbinpy.politeness.bandwidth import Bandwidth
from larbinpy.politeness.gate import Gate
from larbinpy.politeness.outage import Line
from larbinpy.records import ID_SHARD_SHIFT, ID_WITHOUT_ENQ
from larbinpy.shared import CrawlMemory, Global, owner_of
from larbinpy.url import Domains
from larbinpy.wiring import CREDIT_PER_CONNECTION, SPARE_CREDIT, make_pages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from larbinpy.config import Config
    from larbinpy.dns.base import Resolver
    from larbinpy.fetch.base import Fetcher
    from larbinpy.frontier.payloads import HostState
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.wiring import Start

NAMED_HOSTS: Final = "named"
"""File of a shard's directory: hosts that the operator named and that have private addresses."""


@dataclass(slots=True)
class ShardParts:
    """Everything a shard's loop works with."""

    clock: Clock
    loop: EventLoop
    peers: Peers
    frontier: Frontier
    addresses: Addresses
    gate: Gate
    manners: Manners
    errands: Errands
    budgets: Budgets
    bandwidth: Bandwidth
    fetcher: Fetcher
    handover: Handover
    tickets: Tickets
    ledger: Ledger
    epoch: int
    notices: list[str]
    credit: int
    """Most requests and unanswered pages at a time: URLs that are in RAM."""
    body_bytes: int
    """Most bytes of bodies held."""
    keeps_connections: bool
    waits_for_links: bool
    """A host is asked for its next page when the links of the last one are there: without that
    depth first and best first would go by what they happen to know."""
    refusal: str
    """Why addresses are refused, for humans."""
    request_id: int
    """Id of the latest request that stands in no log."""

    def next_id(self) -> int:
        """An id for a request that stands in no log."""
        self.request_id += 1
        return self.request_id

    @classmethod
    def open(cls, start: Start, memory_fd: int, say: Callable[[str], None]) -> ShardParts:
        """Open the log of a shard and make everything around it.

        Args:
            say: tells the operator.

        Raises:
            LarbinError: the log, or a file that the configuration names, cannot be used.
        """
        versions.check()
        config = start.config
        clock = SystemClock()
        loop = EventLoop()
        memory = CrawlMemory.attach(memory_fd, start.shards, start.parsers)
        directory = start.state / f"shard-{start.index:02d}"
        recorded = _Recorded()
        fifo, found = PersistentFifo.open(
            directory,
            uuid=start.uuid,
            settings=Settings(
                config.segment_size_bytes,
                config.durability,
                sync_s=config.sync_time_s,
                keeps_pages=config.page_no_duplicate,
                host_state=recorded,
            ),
            is_trusted=start.is_trusted,
            times=SharedSyncTimes(memory, start.index),
        )
        hosts = _make_hosts(start, memory)
        notices = _notices(start.index, found)
        seen = _continued(start, directory, _make_seen(start, directory), notices)
        frontier = Frontier(shard=start.index, fifo=fifo, table=hosts, seen=seen)
        frontier.restore(found)
        pages = make_pages(config, memory)
        if pages:
            for digests in found.digests():
                pages.load(digests)
        random = Random()
        line = Line(random)
        addresses = Addresses(
            hosts,
            _make_resolver(config, loop, clock),
            is_askable=identity.is_loopback if _is_nobody(config) else _allow,
            is_allowed=_judge(config),
            named=NamedHosts(directory / NAMED_HOSTS),
            line=line,
            not_before_ns=0 if found.epoch == 1 else _after_restart_ns(config, clock),
        )
        manners = Manners(
            table=hosts,
            frontier=frontier,
            addresses=addresses,
            backoff=_make_backoff(config, random),
            line=line,
            clock=clock,
            max_tries=config.max_tries,
            max_delay_s=config.max_crawl_delay_s,
            say=say,
        )
        manners.restore(found.hosts, clock.now_ns())
        recorded.state_of = manners.state_of
        connections = _connections(start)
        return cls(
            clock=clock,
            loop=loop,
            peers=Peers(loop),
            frontier=frontier,
            addresses=addresses,
            gate=Gate(config.user_agent_token, is_open=config.ignore_robots),
            manners=manners,
            errands=Errands(hosts, addresses),
            budgets=_make_budgets(start, is_new=found.epoch == 1),
            bandwidth=Bandwidth(memory.globals, Global.BAND_NS, config.bond_width_bytes_per_s),
            fetcher=CurlFetcher(
                shard_options.fetch_options(config, connections, directory),
                loop,
                jar=shard_options.make_jar(start) if config.use_cookies else None,
            ),
            handover=Handover(directory, fifo.epoch),
            tickets=Tickets(memory, start.index, is_limited=bool(config.limit_page)),
            ledger=Ledger(fifo.counters, memory, start.index),
            epoch=fifo.epoch,
            notices=notices,
            credit=min(
                CREDIT_PER_CONNECTION * connections + SPARE_CREDIT // start.shards,
                max(1, config.ram_urls // start.shards),
            ),
            body_bytes=config.body_memory_bytes // start.shards,
            waits_for_links=config.order != "bfs",
            keeps_connections=config.wait_duration_s < shard_options.MAX_IDLE_S,
            refusal=_refusal(config),
            request_id=start.index << ID_SHARD_SHIFT | ID_WITHOUT_ENQ,
        )


class _Recorded:
    """What the log asks of a host before it deletes its record; nobody knows before ``open``."""

    __slots__ = ("state_of",)

    def __init__(self) -> None:
        self.state_of: Callable[[bytes], HostState | None] | None = None

    def __call__(self, host: bytes) -> HostState | None:
        return self.state_of(host) if self.state_of else None


def _judge(config: Config) -> Callable[[bytes], bool]:
    """Which addresses everybody's links may lead to."""
    if config.allow_private_addresses:
        return _allow
    if config.proxy:
        return lambda ip: names.is_stand_in(ip) or is_public(ip)
    return is_public


def _allow(_ip: bytes) -> bool:
    return True


def _connections(start: Start) -> int:
    """Connections of this shard; raises the soft limit of descriptors to what they need."""
    wanted = min(start.config.pages_connexions, allowed_connections(start.config))
    connections = max(1, wanted // start.shards)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return connections


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


def _make_budgets(start: Start, *, is_new: bool) -> Budgets:
    """What a host has used up is counted again from the log, which is exact after any exit."""
    config = start.config
    limits = Limits(
        per_host=config.pages_per_host,
        per_domain=config.pages_per_domain,
        per_path=config.pages_per_path,
        hosts_per_domain=config.hosts_per_domain,
        same=config.same_content,
    )
    needs_domains = limits.per_domain or limits.hosts_per_domain
    domain_of = Domains(start.state / state.SUFFIX_LIST).of if needs_domains else bytes
    budgets = Budgets(limits, domain_of)
    log = start.state / "crawl.log"
    if not is_new and limits.are_counted and log.exists():
        with log.open("rb") as lines:
            budgets.restore(lines, start.index)
    return budgets


def _make_backoff(config: Config, random: Random) -> Backoff:
    return Backoff(
        random,
        wait_ns=round(config.wait_duration_s * 1e9),
        dead_ns=round(config.dead_host_retry_s * 1e9),
    )


def _after_restart_ns(config: Config, clock: Clock) -> int:
    """After a restart every host counts as asked just now."""
    return clock.now_ns() + round(max(config.wait_duration_s, config.ip_wait_s) * 1e9)


def _is_nobody(config: Config) -> bool:
    is_anonymous = identity.is_anonymous(config.from_address, config.user_agent)
    return is_anonymous and not config.allow_anonymous


def _refusal(config: Config) -> str:
    return identity.REFUSAL if _is_nobody(config) else "not a public address"


def _make_seen(start: Start, directory: Path) -> SeenUrls:
    config = start.config
    if config.seen_set == "bloom":
        capacity = max(1000, config.bloom_capacity // start.shards)
        files = BloomFiles(
            directory, capacity=capacity, rate=config.bloom_rate, boot_id=state.boot_id()
        )
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


def _make_resolver(config: Config, loop: EventLoop, clock: Clock) -> Resolver:
    hosts = {}
    if config.hosts_file:
        try:
            hosts = names.parse_hosts(config.hosts_file.read_bytes())
        except OSError as error:
            raise ConfigError(f"hostsFile: {config.hosts_file}: {error.strerror}") from error
    if config.proxy:
        return ProxiedResolver(clock, hosts=hosts)
    return AresResolver(
        loop,
        clock,
        parallel=config.dns_connexions,
        hosts=hosts,
        servers=[config.name_server] if config.name_server else [],
    )


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
