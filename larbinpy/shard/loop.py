"""A shard, the fetch process: it owns its registered domains and everything known of them.

One turn of its loop is the way of a URL: links come in and are queued, hosts get addresses and
rules, URLs whose time has come are fetched, results go to the parsers, answers end them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from larbinpy._native.eventloop import READ
from larbinpy.config import from_json
from larbinpy.errors import StorageError
from larbinpy.shard import changes
from larbinpy.shard.flow import Flow
from larbinpy.shard.inbox import Inbox
from larbinpy.shard.parts import ShardParts, share_bodies
from larbinpy.shard.requests import Requests
from larbinpy.shard.results import Results
from larbinpy.shard.rules import Rules

if TYPE_CHECKING:
    from larbinpy.children import Control
    from larbinpy.wiring import Start

IDLE_NS: Final = 200_000_000
"""Longest sleep of the loop."""
PUBLISH_NS: Final = 50_000_000
FLUSH_NS: Final = 2_000_000
TIDY_NS: Final = 1_000_000_000
NOBODY: Final[frozenset[str]] = frozenset()
SEEDERS: Final = frozenset({"seeder"})
ALL_PEERS: Final = frozenset({"seeder", "parser"})


class Shard:
    """The loop of a fetch process and what it holds together."""

    def __init__(
        self, control: Control, start: Start, memory_fd: int, *, parts: ShardParts | None = None
    ) -> None:
        """Open everything; ``parts``: made elsewhere, with stand-ins."""
        self._control = control
        self._start = start
        self._parts = parts = parts or ShardParts.open(
            start, memory_fd, self._say, share_bodies(start, self._say)
        )
        self._clock = parts.clock
        self._peers = parts.peers
        self._frontier = parts.frontier
        self._addresses = parts.addresses
        self._manners = parts.manners
        self._handover = parts.handover
        self._ledger = parts.ledger
        self._flow = flow = Flow(parts.clock, self._tell_refusal)
        rules = Rules(parts)
        self._inbox = Inbox(parts, flow, rules)
        self._requests = Requests(parts, flow, rules)
        self._results = Results(parts, flow, rules)
        self._stop_ns = 0
        self._is_drained = False
        self._may_end = False
        self._flushed_ns = 0
        self._published_ns = 0
        self._tidied_ns = 0

    def run(self) -> None:
        """Work until told to stop, then drain, and close the log."""
        poll, take_all = self._parts.fetcher.poll, self._results.take_all
        self._parts.loop.watch(self._control.channel.fileno(), READ, self._control.heard)
        self._publish(self._clock.now_ns())
        self._control.tell("ready", notices=self._parts.notices)
        while not self._has_ended(now := self._clock.now_ns()):
            self._hear_control(now)
            self._retry(now)
            self._inbox.hear(now)
            self._addresses.turn(now)
            self._requests.start(now)
            results = poll(self._timeout_s(now))
            take_all(results)
            self._results.settle()
            self._report()
            self._flush(now, is_idle=not results)
            if now - self._published_ns > PUBLISH_NS:
                self._publish(now)
        self._close()

    # --- the supervisor --------------------------------------------------------------------

    def _hear_control(self, now: int) -> None:
        if not self._control.is_heard:
            return
        for message, descriptors in self._control.messages():
            match message["verb"]:
                case "peer":
                    self._inbox.join(message["role"], message["index"], descriptors[0])
                case "resume" | "pause" as verb:
                    self._flow.is_fetching = verb == "resume"
                    self._hold()
                case "sites":
                    self._parts.scope.sites_known()
                case "config":
                    changes.change(self._parts, self._start, from_json(message["config"]))
                case "blame":
                    self._handover.charge(message["id"])
                case "stop":
                    self._flow.is_fetching = False
                    self._stop_ns = now + int(message["drain_s"] * 1e9) + 1
                case "end":
                    self._may_end = True

    def _hold(self) -> None:
        """A pause must not fill the log with seeds; what the parsers hold must come to its end."""
        if self._flow.refusal:
            self._peers.hold(ALL_PEERS)
        else:
            self._peers.hold(NOBODY if self._flow.is_fetching else SEEDERS)

    def _say(self, text: str) -> None:
        self._control.tell("notice", text=text)

    def _tell_refusal(self, text: str) -> None:
        self._control.tell("refused", text=text)
        self._hold()

    def _report(self) -> None:
        """Tell what the supervisor is to know of suspects, of peers that sent garbage, of traps."""
        cleared, bad = self._parts.suspects.cleared, self._inbox.bad
        left = self._parts.novelty.left
        while cleared:
            self._control.tell("cleared", id=cleared.pop())
        while bad:
            peer = bad.pop()
            self._control.tell("bad", role=peer.role, index=peer.index, text=peer.fault)
        while left:
            self._control.tell("left", text=left.pop())

    # --- the disk --------------------------------------------------------------------------

    def _retry(self, now: int) -> None:
        """Once a second: when everything that waits can be written, go on."""
        if not self._flow.may_retry(now):
            return
        self._parts.fetcher.shed()
        if self._flow.attempt(partial(self._frontier.tidy, wait=True)):
            self._flow.recovered()
            self._inbox.work_off(now)

    def _flush(self, now: int, *, is_idle: bool) -> None:
        """Write the log, answer, hand over: when nothing else is to do, or every 2 ms."""
        flow = self._flow
        flow.is_flushed = is_idle or now - self._flushed_ns >= FLUSH_NS
        if flow.is_flushed:
            self._flushed_ns = now
            if not flow.refusal and flow.attempt(self._commit):
                self._ledger.tell()  # DONEs that were held may have been written
                flow.unwritten = 0
                self._peers.answer_written()
            self._handover.flush()
            self._peers.flush()

    def _close(self) -> None:
        """What a disk refuses to the end is as if the shard had been killed: nothing is lost."""
        try:
            self._commit()
            self._publish(self._clock.now_ns())
            self._frontier.close()
        except StorageError as error:
            self._say(f"{error}; the last pages will be fetched again")

    def _commit(self) -> None:
        self._addresses.rights.commit()
        self._frontier.commit()

    # --- time ------------------------------------------------------------------------------

    def _timeout_s(self, now: int) -> float:
        """Sleep until the next host is due; not at all when one is due and may be asked."""
        return self._requests.wait_s(now, IDLE_NS if self._flow.is_flushed else FLUSH_NS)

    def _has_ended(self, now: int) -> bool:
        """A shard that has drained still takes links until every other one has drained too.

        While a disk refuses, answers are not read: they would be waited for in vain.
        """
        if not self._stop_ns:
            return False
        if not self._is_drained and not self._flow.in_flight:
            self._is_drained = not len(self._handover) or bool(self._flow.refusal)
            if self._is_drained:
                self._control.tell("drained")
        return now >= self._stop_ns or (self._is_drained and self._may_end)

    def _publish(self, now: int) -> None:
        self._published_ns = now
        self._ledger.measured(self._parts.gate, self._addresses, self._manners, self._handover)
        self._ledger.publish(
            waiting=self._frontier.waiting,
            in_flight=self._flow.in_flight + self._manners.line.held,
            parsing=self._handover.pages + self._frontier.undone + self._frontier.held,
        )
        if now - self._tidied_ns > TIDY_NS and not self._stop_ns and not self._flow.refusal:
            self._tidied_ns = now
            self._flow.attempt(self._frontier.tidy)
