"""What a shard holds together, made from the configuration; see ``loop`` for what it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from larbinpy._native.bodymemory import BodyMemory
from larbinpy._native.eventloop import EventLoop
from larbinpy.clock import Clock, SystemClock
from larbinpy.fetch import versions
from larbinpy.fetch.curl import CurlFetcher
from larbinpy.frontier.tickets import Tickets
from larbinpy.parse.handover import Handover
from larbinpy.politeness.backoff import Backoff
from larbinpy.politeness.bandwidth import Bandwidth
from larbinpy.politeness.gate import Gate
from larbinpy.politeness.outage import Line
from larbinpy.records import ID_SHARD_SHIFT, ID_WITHOUT_ENQ
from larbinpy.shard import network, options
from larbinpy.shard.errands import Errands
from larbinpy.shard.ledger import Ledger
from larbinpy.shard.manners import Manners
from larbinpy.shard.peers import Peers
from larbinpy.shard.queue import make_budgets, make_novelty, open_queue
from larbinpy.shard.scope import Scope
from larbinpy.shard.suspects import Suspects
from larbinpy.shared import CrawlMemory, Global
from larbinpy.wiring import make_links

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.hosts import HostTable
    from larbinpy._native.slots import Slots
    from larbinpy.dns.addresses import Addresses
    from larbinpy.fetch.base import Fetcher
    from larbinpy.frontier.budgets import Budgets
    from larbinpy.frontier.frontier import Frontier
    from larbinpy.frontier.novelty import Novelty
    from larbinpy.shard.queue import Queue
    from larbinpy.wiring import Start


@dataclass(slots=True)
class ShardParts:
    """Everything a shard's loop works with."""

    clock: Clock
    loop: EventLoop
    peers: Peers
    frontier: Frontier
    table: HostTable
    addresses: Addresses
    gate: Gate
    manners: Manners
    errands: Errands
    budgets: Budgets
    novelty: Novelty
    bandwidth: Bandwidth
    fetcher: Fetcher
    handover: Handover
    tickets: Tickets
    scope: Scope
    ledger: Ledger
    slots: Slots
    suspects: Suspects
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
    def open(
        cls,
        start: Start,
        memory_fd: int,
        say: Callable[[str], None],
        bodies: BodyMemory | None = None,
    ) -> ShardParts:
        """Open the log of a shard and make everything around it.

        Args:
            say: tells the operator.
            bodies: of this process, for parsers to read them there.

        Raises:
            LarbinError: the log, or a file that the configuration names, cannot be used.
        """
        versions.check()
        config = start.config
        clock = SystemClock()
        loop = EventLoop()
        memory = CrawlMemory.attach(memory_fd, start.shards, start.parsers)
        queue = open_queue(start, memory)
        is_new = queue.found.epoch == 1
        random = Random()
        line = Line(random)
        addresses = network.make_addresses(
            start, queue.hosts, loop, clock, line, say, is_new=is_new
        )
        network.take_descriptors()
        connections = network.connections(start)
        return cls(
            clock=clock,
            loop=loop,
            peers=Peers(loop),
            frontier=queue.frontier,
            table=queue.hosts,
            addresses=addresses,
            gate=Gate(config.user_agent_token, is_open=config.ignore_robots),
            manners=_make_manners(start, queue, addresses, line, random, clock, say),
            errands=Errands(queue.hosts, addresses),
            budgets=make_budgets(start, is_new=is_new),
            novelty=make_novelty(start),
            bandwidth=Bandwidth(memory.globals, Global.BAND_NS, config.bond_width_bytes_per_s),
            fetcher=_make_fetcher(start, connections, loop),
            handover=Handover(start.directory, queue.fifo.epoch, bodies),
            tickets=Tickets(memory, start.index, is_limited=bool(config.limit_page)),
            scope=_make_scope(start, queue),
            ledger=Ledger(queue.fifo.counters, memory, start.index),
            slots=memory.shard[start.index].forget_transfers(),
            suspects=Suspects(queue.frontier, queue.hosts, addresses, start.poison),
            epoch=queue.fifo.epoch,
            notices=queue.notices,
            credit=network.credit(start, connections),
            body_bytes=config.body_memory_bytes // start.shards,
            waits_for_links=config.order != "bfs",
            keeps_connections=config.wait_duration_s < options.MAX_IDLE_S,
            refusal=network.refusal(config),
            request_id=start.index << ID_SHARD_SHIFT | ID_WITHOUT_ENQ,
        )


def _make_scope(start: Start, queue: Queue) -> Scope:
    """What was queued before this run has smaller numbers than all that comes."""
    is_new = queue.found.epoch == 1
    return Scope(
        partial(make_links, start),
        below=0 if is_new else queue.fifo.next_lsn,
        needs_sites=start.config.is_bound_to_seeds,
    )


def _make_manners(
    start: Start,
    queue: Queue,
    addresses: Addresses,
    line: Line,
    random: Random,
    clock: Clock,
    say: Callable[[str], None],
) -> Manners:
    """The log keeps the state of hosts, so it asks for it before it deletes a segment."""
    config = start.config
    manners = Manners(
        table=queue.hosts,
        frontier=queue.frontier,
        addresses=addresses,
        backoff=Backoff(
            random,
            wait_ns=round(config.wait_duration_s * 1e9),
            dead_ns=round(config.dead_host_retry_s * 1e9),
        ),
        line=line,
        clock=clock,
        max_tries=config.max_tries,
        max_delay_s=config.max_crawl_delay_s,
        say=say,
    )
    found = queue.found
    manners.hosts.restore(found.hosts, latest_us=found.synced_us)
    queue.recorded.state_of = manners.hosts.state_of
    return manners


def share_bodies(start: Start, say: Callable[[str], None]) -> BodyMemory | None:
    """Let the bodies of this process lie where parsers see them; else they are copied to them."""
    try:
        return BodyMemory(start.config.body_memory_bytes // start.shards)
    except OSError as error:
        say(f"no memory to share with parsers, so pages are copied to them: {error.strerror}")
        return None


def _make_fetcher(start: Start, connections: int, loop: EventLoop) -> CurlFetcher:
    config = start.config
    return CurlFetcher(
        options.fetch_options(config, connections, start.directory),
        loop,
        jar=options.make_jar(start) if config.use_cookies else None,
    )
