"""A shard, the fetch process: it owns its registered domains and everything known of them.

One turn of its loop is the way of a URL: links come in and are queued, hosts get addresses and
rules, URLs whose time has come are fetched, results go to the parsers, answers end them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy import child, entries
from larbinpy import url as urls
from larbinpy._native.eventloop import READ
from larbinpy.errors import FormatError
from larbinpy.fetch.outcomes import is_unreachable
from larbinpy.frames import Frame, FrameType
from larbinpy.links.found import LINK_SEED
from larbinpy.parse import headers
from larbinpy.politeness.gate import Verdict
from larbinpy.records import FetchJob, FetchResult, Kind, Outcome
from larbinpy.shard_parts import ShardParts

if TYPE_CHECKING:
    from larbinpy.children import Control
    from larbinpy.frontier.frontier import Taken
    from larbinpy.peers import Peer
    from larbinpy.wiring import Start

TAKE_MAX: Final = 256
IDLE_NS: Final = 200_000_000
"""Longest sleep of the loop."""
PUBLISH_NS: Final = 50_000_000
FLUSH_NS: Final = 2_000_000
TIDY_NS: Final = 1_000_000_000


class Shard:
    """The loop of a fetch process and what it holds together."""

    def __init__(self, control: Control, start: Start, memory_fd: int) -> None:
        self._control = control
        self._parts = parts = ShardParts.open(start, memory_fd)
        self._clock = parts.clock
        self._peers = parts.peers
        self._frontier = parts.frontier
        self._addresses = parts.addresses
        self._gate = parts.gate
        self._fetcher = parts.fetcher
        self._handover = parts.handover
        self._tickets = parts.tickets
        self._ledger = parts.ledger
        self._in_flight = 0
        self._is_fetching = False
        self._stop_ns = 0
        self._is_flushed = True
        self._flushed_ns = 0
        self._published_ns = 0
        self._tidied_ns = 0

    def run(self) -> None:
        """Work until told to stop, then drain, and close the log."""
        self._parts.loop.watch(self._control.channel.fileno(), READ, self._control.heard)
        self._publish(self._clock.now_ns())
        self._control.tell("ready", notices=self._parts.notices)
        while not self._has_ended(now := self._clock.now_ns()):
            self._hear_control(now)
            self._hear_peers(now)
            self._addresses.turn(now)
            self._start(now)
            results = self._fetcher.poll(self._timeout_s(now))
            for result in results:
                self._end(result)
            self._flush(now, is_idle=not results)
            if now - self._published_ns > PUBLISH_NS:
                self._publish(now)
        self._frontier.commit()
        self._publish(self._clock.now_ns())
        self._frontier.close()

    # --- hearing ---------------------------------------------------------------------------

    def _hear_control(self, now: int) -> None:
        if not self._control.is_heard:
            return
        for message, descriptors in self._control.messages():
            match message["verb"]:
                case "peer":
                    self._join(message["role"], message["index"], descriptors[0])
                case "resume":
                    self._is_fetching = True
                case "pause":
                    self._is_fetching = False
                case "blame":
                    self._handover.charge(message["id"])
                case "stop":
                    self._is_fetching = False
                    self._stop_ns = now + int(message["drain_s"] * 1e9) + 1

    def _join(self, role: str, index: int, fd: int) -> None:
        self._leave(role, index)
        peer = self._peers.join(role, index, fd)
        if role == "parser":
            self._handover.join(index, peer.channel)

    def _leave(self, role: str, index: int) -> None:
        if role == "parser":
            self._handover.leave(index)
        self._peers.leave(role, index)

    def _hear_peers(self, now: int) -> None:
        for peer, frames in self._peers.received():
            for frame in frames:
                self._take(peer, frame, now)
            if peer.channel.is_closed:
                self._leave(peer.role, peer.index)

    def _take(self, peer: Peer, frame: Frame, now: int) -> None:
        if frame.type == FrameType.LINKS:
            self._ledger.added(self._frontier.put(frame.payload))
            if peer.role == "seeder":
                self._addresses.name_all(entries.hosts_of_links(frame.payload))
            peer.taken_seq = frame.seq
        elif frame.type == FrameType.PARSED:
            self._finish(frame)
        elif frame.type == FrameType.ROBOTS:
            self._learn(*entries.decode_robots(frame.payload), now)
        else:
            raise FormatError(f"{peer.role} {peer.index} sent a frame of type {frame.type}")

    def _finish(self, frame: Frame) -> None:
        """Pages that a parser has finished: their URLs are done."""
        done, positions = [], []
        for parsed in entries.decode_parsed(frame.payload, frame.count):
            if parsed.epoch != self._parts.epoch:
                continue
            job = self._handover.answered(parsed.id)
            if job is None or job.kind is Kind.ROBOTS:
                continue
            self._tickets.settle(parsed.id, is_spent=parsed.outcome == Outcome.SUCCESS)
            done.append(parsed)
            positions.append(job.position)
        if done:
            self._frontier.done(done, positions)
            self._ledger.tell()

    def _learn(self, origin: bytes, status: int, text: bytes, now: int) -> None:
        """An origin's rules have been read: its host may be asked for more."""
        asked = self._gate.take_asked(origin)
        if asked:
            self._gate.learn(origin, status, text, now)
            self._frontier.release(asked.host_id, asked.start_ns, asked.end_ns)

    # --- fetching --------------------------------------------------------------------------

    def _room(self) -> int:
        """How many requests may begin now: connections, credit, memory and tickets."""
        if not self._is_fetching or self._handover.bytes >= self._parts.body_bytes:
            return 0
        credit = self._parts.credit - self._in_flight - len(self._handover)
        return min(self._fetcher.free(), credit, self._tickets.left(), TAKE_MAX)

    def _start(self, now: int) -> None:
        room = self._room()
        if room <= 0:
            return
        for taken in self._frontier.take(now, room):
            self._begin(taken, now)

    def _begin(self, taken: Taken, now: int) -> None:
        """Fetch a URL, ask for its host's rules first, or refuse it."""
        job = taken.job
        if taken.code:
            self._refuse(job, self._addresses.outcome(job.host_id, taken.code))
            return
        is_seed = bool(job.flags & LINK_SEED)
        if not self._addresses.permits(job.host_id, job.host, is_seed=is_seed):
            self._refuse(job, Outcome.FORBIDDEN_ADDRESS, "not a public address")
            self._frontier.skip(job.host_id)
            return
        job.ip = self._addresses.ip(job.host_id)
        self._addresses.refresh(job.host_id, job.host, now)
        self._ask(job, now)

    def _ask(self, job: FetchJob, now: int) -> None:
        """Send a request when robots.txt allows it, or for robots.txt first."""
        verdict = self._gate.ask(job.origin, job.path, now)
        if verdict is Verdict.UNKNOWN:
            self._frontier.put_back(job)
            self._submit(self._gate.job(job, self._parts.next_id()), keep=True)
        elif verdict is Verdict.FORBIDDEN:
            self._refuse(job, Outcome.FORBIDDEN_ROBOTS)
            self._frontier.skip(job.host_id)
        elif self._tickets.take(job.id):
            self._in_flight += 1
            self._submit(job, keep=self._parts.keeps_connections)
        else:
            self._frontier.put_back(job)
            self._frontier.skip(job.host_id)

    def _submit(self, job: FetchJob, *, keep: bool) -> None:
        is_named = self._addresses.is_named(job.host_id, job.host)
        self._fetcher.submit(job, keep=keep, is_named=is_named)

    def _refuse(self, job: FetchJob, outcome: Outcome, reason: str = "") -> None:
        result = FetchResult(job, outcome, start_us=self._clock.wall_us(), reason=reason)
        self._handover.give(result)

    def _end(self, result: FetchResult) -> None:
        """A request has ended: its host's delay begins, the result goes to a parser."""
        job = result.job
        end_ns = self._clock.now_ns()
        start_ns = end_ns - result.duration_us * 1000
        self._ledger.traffic(result.bytes_read, result.bytes_written)
        is_dead = is_unreachable(result)
        if is_dead and self._addresses.fails_over(job.host_id, end_ns):
            self._try_elsewhere(job, start_ns, end_ns)
            return
        self._addresses.noted(job.host_id, is_dead, end_ns)
        if job.kind is Kind.ROBOTS:
            self._end_robots(result, start_ns, end_ns)
        else:
            self._in_flight -= 1
            self._frontier.release(job.host_id, start_ns, end_ns)
        self._handover.give(result)

    def _try_elsewhere(self, job: FetchJob, start_ns: int, end_ns: int) -> None:
        """Nobody took the request, and the host has another address: the URL waits for that."""
        if job.kind is not Kind.ROBOTS:  # the URL that wants to know the rules waits already
            self._in_flight -= 1
            self._tickets.settle(job.id, is_spent=False)
            self._frontier.put_back(job)
        self._frontier.release(job.host_id, start_ns, end_ns)

    def _end_robots(self, result: FetchResult, start_ns: int, end_ns: int) -> None:
        """The host stays busy until a parser has read its rules, or is asked again elsewhere."""
        job = result.job
        self._gate.answered(job, start_ns, end_ns)
        if result.outcome == Outcome.ERR_30X:
            self._gate.redirect(job.tag, _moved_to(result), end_ns)
            self._gate.take_asked(job.tag)
            self._frontier.release(job.host_id, start_ns, end_ns)

    # --- the turn's end --------------------------------------------------------------------

    def _flush(self, now: int, *, is_idle: bool) -> None:
        """Write the log, answer, hand over: when nothing else is to do, or every 2 ms."""
        self._is_flushed = is_idle or now - self._flushed_ns >= FLUSH_NS
        if self._is_flushed:
            self._flushed_ns = now
            self._frontier.commit()
            self._peers.answer_written()
            self._handover.flush()
            self._peers.flush()

    def _timeout_s(self, now: int) -> float:
        """Sleep until the next host is due; not at all when one is due and may be asked."""
        longest_ns = IDLE_NS if self._is_flushed else FLUSH_NS
        if self._room() <= 0:
            return longest_ns / 1e9
        due_ns = self._frontier.next_ns()
        wait_ns = longest_ns if due_ns < 0 else min(max(due_ns - now, 0), longest_ns)
        names_s = self._addresses.wait_s()
        return wait_ns / 1e9 if names_s < 0 else min(names_s, wait_ns / 1e9)

    def _has_ended(self, now: int) -> bool:
        if not self._stop_ns:
            return False
        return now >= self._stop_ns or (not self._in_flight and not len(self._handover))

    def _publish(self, now: int) -> None:
        self._published_ns = now
        self._ledger.measured(self._gate, self._addresses)
        self._ledger.publish(
            waiting=self._frontier.waiting,
            in_flight=self._in_flight,
            parsing=self._handover.pages,
        )
        if now - self._tidied_ns > TIDY_NS and not self._stop_ns:
            self._tidied_ns = now
            self._frontier.tidy()


def _moved_to(result: FetchResult) -> bytes | None:
    """Where a robots.txt was moved to, when that is on the same host."""
    target = urls.parse(headers.field(result.headers, b"location"), result.job.url)
    return target.url if target and target.host == result.job.host else None


if __name__ == "__main__":
    child.main(Shard)
