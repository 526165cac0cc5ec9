"""What a shard holds together, made from the configuration; see ``shard.py`` for what it does."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from larbinpy import shard_options, state
from larbinpy._native.eventloop import EventLoop
from larbinpy._native.hosts import HostTable
from larbinpy.clock import Clock, SystemClock
from larbinpy.config.machine import allowed_connections
from larbinpy.dedup.bloom import BloomFiles
from larbinpy.dedup.seen import BitsSeen, BloomSeen, ExactSeen, SeenUrls
from larbinpy.dns import names
from larbinpy.dns.addresses import Addresses
from larbinpy.dns.behind import ProxiedResolver
from larbinpy.dns.named import NamedHosts
from larbinpy.dns.resolver import AresResolver
from larbinpy.errors import ConfigError
from larbinpy.fetch import versions
from larbinpy.fetch.curl import CurlFetcher
from larbinpy.fetch.guard import is_public
from larbinpy.frontier.frontier import Frontier
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.tickets import Tickets
from larbinpy.ledger import Ledger
from larbinpy.parse.handover import Handover
from larbinpy.peers import Peers
from larbinpy.politeness.gate import Gate
from larbinpy.records import ID_SHARD_SHIFT, ID_WITHOUT_ENQ
from larbinpy.shared import CrawlMemory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from larbinpy.config import Config
    from larbinpy.dns.base import Resolver
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.wiring import Start

NAMED_HOSTS: Final = "named"
"""File of a shard's directory: hosts that the operator named and that have private addresses."""
CREDIT_PER_CONNECTION: Final = 2
SPARE_CREDIT: Final = 100


@dataclass(slots=True)
class ShardParts:
    """Everything a shard's loop works with."""

    clock: Clock
    loop: EventLoop
    peers: Peers
    frontier: Frontier
    addresses: Addresses
    gate: Gate
    fetcher: CurlFetcher
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
    request_id: int
    """Id of the latest request that stands in no log."""

    def next_id(self) -> int:
        """An id for a request that stands in no log."""
        self.request_id += 1
        return self.request_id

    @classmethod
    def open(cls, start: Start, memory_fd: int) -> ShardParts:
        """Open the log of a shard and make everything around it.

        Raises:
            LarbinError: the log, or a file that the configuration names, cannot be used.
        """
        versions.check()
        config = start.config
        clock = SystemClock()
        loop = EventLoop()
        memory = CrawlMemory.attach(memory_fd, start.shards, start.parsers)
        directory = start.state / f"shard-{start.index:02d}"
        fifo, found = PersistentFifo.open(
            directory,
            uuid=start.uuid,
            segment_bytes=config.segment_size_bytes,
            durability=config.durability,
        )
        hosts = _make_hosts(start, memory)
        seen = _make_seen(start, directory)
        frontier = Frontier(shard=start.index, fifo=fifo, table=hosts, seen=seen)
        frontier.restore(found)
        connections = _connections(start)
        return cls(
            clock=clock,
            loop=loop,
            peers=Peers(loop),
            frontier=frontier,
            addresses=Addresses(
                hosts,
                _make_resolver(config, loop, clock),
                is_allowed=_judge(config),
                named=NamedHosts(directory / NAMED_HOSTS),
            ),
            gate=Gate(config.user_agent_token, is_open=config.ignore_robots),
            fetcher=CurlFetcher(
                shard_options.fetch_options(config, connections, directory),
                loop,
                jar=shard_options.make_jar(start) if config.use_cookies else None,
            ),
            handover=Handover(directory, fifo.epoch),
            tickets=Tickets(memory, start.index, is_limited=bool(config.limit_page)),
            ledger=Ledger(fifo.counters, memory, start.index),
            epoch=fifo.epoch,
            notices=_notices(start.index, found),
            credit=min(
                CREDIT_PER_CONNECTION * connections + SPARE_CREDIT // start.shards,
                max(1, config.ram_urls // start.shards),
            ),
            body_bytes=config.body_memory_bytes // start.shards,
            keeps_connections=config.wait_duration_s < shard_options.MAX_IDLE_S,
            request_id=start.index << ID_SHARD_SHIFT | ID_WITHOUT_ENQ,
        )


def _judge(config: Config) -> Callable[[bytes], bool]:
    """Which addresses everybody's links may lead to."""
    if config.allow_private_addresses:
        return lambda _ip: True
    if config.proxy:
        return lambda ip: names.is_stand_in(ip) or is_public(ip)
    return is_public


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
        lease_ns=round(config.fetch_timeout_s * 1e9),
        ip_table=memory.ips if start.shards > 1 else None,
    )


def _make_seen(start: Start, directory: Path) -> SeenUrls:
    config = start.config
    if config.seen_set == "bloom":
        capacity = max(1000, config.bloom_capacity // start.shards)
        files = BloomFiles(
            directory, capacity=capacity, rate=config.bloom_rate, boot_id=state.boot_id()
        )
        return BloomSeen(files)
    return BitsSeen() if config.seen_set == "bits" else ExactSeen()


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
    if found.seconds > 1:
        notices.append(f"shard {shard}: log read in {found.seconds:.1f} s")
    return notices
