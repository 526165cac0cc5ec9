"""A shard, the fetch process: it owns its registered domains and everything known of them.

One turn of its loop is the way of a URL: links come in and are queued, hosts get addresses and
rules, URLs whose time has come are fetched, results go to the parsers, answers end them.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from larbinpy import child, entries
from larbinpy import url as urls
from larbinpy._native.eventloop import READ
from larbinpy.errors import FormatError, StorageError
from larbinpy.frames import Frame, FrameType
from larbinpy.frontier.budgets import Answer
from larbinpy.links.found import LINK_SEED
from larbinpy.manners import Fate
from larbinpy.parse import headers
from larbinpy.politeness.gate import Verdict
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, FetchResult, Kind, Outcome
from larbinpy.shard_parts import ShardParts

if TYPE_CHECKING:
    from collections.abc import Callable

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
RETRY_NS: Final = 1_000_000_000
"""When what the disk has refused is tried again."""
SEEDERS: Final = frozenset({"seeder"})
ALL_PEERS: Final = frozenset({"seeder", "parser"})
BUDGET_NS: Final = 50_000_000
"""How often it is looked whether a page that may use a budget up has done so."""
NOT_PUBLIC: Final = "not a public address"
ELSEWHERE_NS: Final = 250_000_000
"""How often it is looked whether a robots.txt that lies on another host has come."""


class Shard:
    """The loop of a fetch process and what it holds together."""

    def __init__(
        self, control: Control, start: Start, memory_fd: int, *, parts: ShardParts | None = None
    ) -> None:
        """Open everything; ``parts``: made elsewhere, with stand-ins."""
        self._control = control
        self._parts = parts = parts or ShardParts.open(start, memory_fd, self._say)
        self._clock = parts.clock
        self._peers = parts.peers
        self._frontier = parts.frontier
        self._addresses = parts.addresses
        self._gate = parts.gate
        self._manners = parts.manners
        self._errands = parts.errands
        self._budgets = parts.budgets
        self._bandwidth = parts.bandwidth
        self._fetcher = parts.fetcher
        self._handover = parts.handover
        self._tickets = parts.tickets
        self._ledger = parts.ledger
        self._in_flight = 0
        self._is_fetching = False
        self._stop_ns = 0
        self._is_drained = False
        self._may_end = False
        self._unread: dict[int, tuple[int, int, int]] = {}
        """Pages whose hosts wait for their links, with host, start and end; see ``ShardParts``."""
        self._is_flushed = True
        self._unwritten = 0
        """Pages that a parser has finished and the log may not know: a kill brings them back."""
        self._flushed_ns = 0
        self._published_ns = 0
        self._tidied_ns = 0
        self._inbox: deque[tuple[Peer, Frame]] = deque()
        self._refusal = ""
        """What the disk said when it refused; while it stands, nothing is read or fetched."""
        self._retry_ns = 0

    def run(self) -> None:
        """Work until told to stop, then drain, and close the log."""
        self._parts.loop.watch(self._control.channel.fileno(), READ, self._control.heard)
        self._publish(self._clock.now_ns())
        self._control.tell("ready", notices=self._parts.notices)
        while not self._has_ended(now := self._clock.now_ns()):
            self._hear_control(now)
            self._retry(now)
            self._hear_peers(now)
            self._addresses.turn(now)
            self._start(now)
            results = self._fetcher.poll(self._timeout_s(now))
            for result in results:
                self._end(result)
            if self._manners.has_held:
                self._settle()
            self._flush(now, is_idle=not results)
            if now - self._published_ns > PUBLISH_NS:
                self._publish(now)
        self._commit()
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
                    self._hold()
                case "pause":
                    self._is_fetching = False
                    self._hold()
                case "blame":
                    self._handover.charge(message["id"])
                case "stop":
                    self._is_fetching = False
                    self._stop_ns = now + int(message["drain_s"] * 1e9) + 1
                case "end":
                    self._may_end = True

    def _hold(self) -> None:
        """A pause must not fill the log with seeds; what the parsers hold must come to its end."""
        none: frozenset[str] = frozenset()
        self._peers.hold(ALL_PEERS if self._refusal else none if self._is_fetching else SEEDERS)

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
            self._is_flushed = False
            self._inbox.extend((peer, frame) for frame in frames)
            self._work_off(now)
            if peer.channel.is_closed:
                self._leave(peer.role, peer.index)

    def _work_off(self, now: int) -> None:
        """Take the frames that have come; one that the disk refuses stays, and those behind it."""
        while self._inbox and not self._refusal:
            if self._attempt(partial(self._take, *self._inbox[0], now)):
                self._inbox.popleft()

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
            if job is None or job.id & ID_WITHOUT_ENQ:
                continue
            if parsed.id in self._unread:
                self._frontier.release(*self._unread.pop(parsed.id))
            is_good = parsed.outcome == Outcome.SUCCESS and job.kind is not Kind.RETRY
            self._budgets.settle(parsed.id, job.host, parsed.digest, is_good=is_good)
            if job.kind is Kind.RETRY:
                self._tickets.settle(parsed.id, is_spent=False)
                self._manners.retry(job, self._clock.now_ns())
                continue
            self._tickets.settle(parsed.id, is_spent=parsed.outcome == Outcome.SUCCESS)
            done.append(parsed)
            positions.append(job.position)
        self._unwritten += len(done)
        if done:
            self._frontier.done(done, positions)
            self._ledger.tell()

    def _learn(self, origin: bytes, status: int, text: bytes, now: int) -> None:
        """An origin's rules have been read: the host that was asked may be asked for more."""
        asked = self._gate.take_asked(origin)
        if asked:
            self._rule(origin, status, text, now)
            self._frontier.release(asked.host_id, asked.start_ns, asked.end_ns)

    def _rule(self, origin: bytes, status: int, text: bytes, now: int) -> None:
        """What an origin's rules mean for its host."""
        host = urls.host_of(origin)
        if self._gate.learn(origin, status, text, now) is None:
            self._manners.rules_failed(host, now)
        else:
            self._manners.rules_known(host, self._gate.host_delay_s(origin))

    def _say(self, text: str) -> None:
        self._control.tell("notice", text=text)

    # --- a disk that refuses ---------------------------------------------------------------

    def _attempt(self, work: Callable[[], None]) -> bool:
        """Do what the disk may refuse; then nothing is lost, and all waits until it takes it."""
        try:
            work()
        except StorageError as error:
            self._retry_ns = self._clock.now_ns() + RETRY_NS
            self._tell_refusal(str(error))
            return False
        return True

    def _retry(self, now: int) -> None:
        """Once a second: when everything that waits can be written, go on."""
        if not self._refusal or now < self._retry_ns:
            return
        if self._attempt(partial(self._frontier.tidy, wait=True)):
            self._tell_refusal("")
            self._work_off(now)

    def _tell_refusal(self, text: str) -> None:
        if text != self._refusal:
            self._refusal = text
            self._control.tell("refused", text=text)
            self._hold()

    # --- fetching --------------------------------------------------------------------------

    def _room(self) -> int:
        """How many requests may begin now: connections, credit, memory and tickets."""
        if not self._is_fetching or self._refusal or self._handover.bytes >= self._parts.body_bytes:
            return 0
        if not self._manners.is_line_fine:
            return 0
        credit = self._parts.credit - self._in_flight - len(self._handover) - self._unwritten
        return min(self._fetcher.free(), credit, self._tickets.left(), TAKE_MAX)

    def _start(self, now: int) -> None:
        if not self._manners.is_line_fine:
            self._probe(now)
        room = min(self._room(), self._bandwidth.room(now))
        if room <= 0:
            return
        if len(self._errands):
            self._run_errands(now)
        for taken in self._frontier.take(now, room):
            self._begin(taken, now)

    def _run_errands(self, now: int) -> None:
        """Ask for robots.txt files that lie on other hosts."""
        for job in self._errands.ready(now):
            self._submit(job, now)
        for job in self._errands.lost():
            self._rule(job.tag, 0, b"", now)

    def _probe(self, now: int) -> None:
        """Our own line may be down: ask somebody, now and then."""
        if self._is_fetching:
            job = self._manners.probe(self._parts.next_id(), now)
            if job:
                self._submit(job, now)

    def _submit(self, job: FetchJob, now: int) -> None:
        """Make a request; one that is no page has its connection kept for what follows."""
        is_kept = self._parts.keeps_connections or job.kind is not Kind.PAGE
        self._bandwidth.take(job.id, now)
        is_named = self._addresses.is_named(job.host_id, job.host)
        self._fetcher.submit(job, keep=is_kept, is_named=is_named)

    def _begin(self, taken: Taken, now: int) -> None:
        """Fetch a URL, ask for its host's rules first, or refuse it."""
        job = taken.job
        if taken.code:
            self._refuse(job, self._addresses.outcome(job.host_id, taken.code))
            return
        is_seed = bool(job.flags & LINK_SEED)
        if not self._addresses.permits(job.host_id, job.host, is_seed=is_seed):
            self._refuse(job, Outcome.FORBIDDEN_ADDRESS, NOT_PUBLIC)
            self._frontier.skip(job.host_id)
            return
        if self._manners.is_away(job, now):
            self._pass(job)
            return
        answer, used_up = self._budgets.ask(job.host, job.url)
        if answer is Answer.NO:
            self._refuse(job, Outcome.EARLY_STOP, used_up)
            self._frontier.skip(job.host_id)
            return
        if answer is Answer.WAIT:
            self._frontier.delay(job.host_id, now + BUDGET_NS)
            self._pass(job)
            return
        self._request(job, now)

    def _request(self, job: FetchJob, now: int) -> None:
        """Ask for a URL, if robots.txt says that it may be."""
        self._addresses.renew(job.host_id, job.host, now)
        job.ip = self._addresses.ip(job.host_id)
        verdict = self._gate.ask(job.origin, job.path, now)
        if verdict is Verdict.UNKNOWN:
            self._frontier.put_back(job)
            self._submit(self._gate.job(job, self._parts.next_id()), now)
        elif verdict is Verdict.FORBIDDEN:
            self._refuse(job, Outcome.FORBIDDEN_ROBOTS)
            self._frontier.skip(job.host_id)
        elif verdict is Verdict.ASKED:
            self._frontier.delay(job.host_id, now + ELSEWHERE_NS)
            self._pass(job)
        elif self._tickets.take(job.id):
            self._in_flight += 1
            self._budgets.take(job.id, job.host, job.url)
            self._submit(job, now)
        else:
            self._pass(job)

    def _pass(self, job: FetchJob) -> None:
        """Nothing is asked now: the URL waits again."""
        self._frontier.put_back(job)
        self._frontier.skip(job.host_id)

    def _refuse(self, job: FetchJob, outcome: Outcome, reason: str = "") -> None:
        result = FetchResult(job, outcome, start_us=self._clock.wall_us(), reason=reason)
        if outcome is Outcome.FORBIDDEN_ADDRESS and not reason:
            result.reason = self._parts.refusal
        self._handover.give(result)
        self._is_flushed = False

    def _end(self, result: FetchResult) -> None:
        """A request has ended: its host's delay begins, the result goes to a parser."""
        job = result.job
        end_ns = self._clock.now_ns()
        start_ns = end_ns - result.duration_us * 1000
        self._ledger.traffic(result.bytes_read, result.bytes_written)
        self._bandwidth.settle(job.id, result.bytes_read, end_ns)
        if self._manners.goes_elsewhere(result, end_ns):
            self._try_elsewhere(job, start_ns, end_ns)
            return
        if job.kind is Kind.ROBOTS:
            self._end_robots(result, start_ns, end_ns)
        else:
            self._in_flight -= not job.id & ID_WITHOUT_ENQ
            if self._parts.waits_for_links and not job.id & ID_WITHOUT_ENQ:
                self._unread[job.id] = (job.host_id, start_ns, end_ns)
            else:
                self._frontier.release(job.host_id, start_ns, end_ns)
        self._conclude(result, end_ns)

    def _conclude(self, result: FetchResult, now: int) -> None:
        """The result goes to a parser, unless it may be the fault of our own line."""
        fate = self._manners.judge(result, now)
        if fate is Fate.RETRY:
            result = self._manners.retried(result)
        if fate is not Fate.HOLD:
            self._handover.give(result)

    def _settle(self) -> None:
        """Results that were held, now that it is known whose fault they were."""
        for result in self._manners.settled():
            self._conclude(result, self._clock.now_ns())
        for result in self._manners.excused():
            is_robots = result.job.id & ID_WITHOUT_ENQ
            asked = self._gate.take_asked(result.job.tag) if is_robots else None
            if asked:
                self._frontier.release(asked.host_id, asked.start_ns, asked.end_ns)
            self._handover.give(result)

    def _try_elsewhere(self, job: FetchJob, start_ns: int, end_ns: int) -> None:
        """Nobody took the request, and the host has another address: the URL waits for that."""
        if not job.id & ID_WITHOUT_ENQ:  # the URL that wants to know the rules waits already
            self._in_flight -= 1
            self._tickets.settle(job.id, is_spent=False)
            self._budgets.settle(job.id, job.host, b"", is_good=False)
            self._frontier.put_back(job)
        self._frontier.release(job.host_id, start_ns, end_ns)
        if job.kind is Kind.ROBOTS and job.host != urls.host_of(job.tag):
            self._errands.add(job, end_ns)

    def _end_robots(self, result: FetchResult, start_ns: int, end_ns: int) -> None:
        """The host stays busy until a parser has read its rules, or is asked again elsewhere."""
        job = result.job
        self._gate.answered(job, start_ns, end_ns)
        if result.outcome == Outcome.ERR_30X:
            self._gate.take_asked(job.tag)
            self._frontier.release(job.host_id, start_ns, end_ns)
            self._follow(job, urls.parse(headers.field(result.headers, b"location"), job.url))

    def _follow(self, job: FetchJob, target: urls.Url | None) -> None:
        """A robots.txt has moved; what it says there belongs to the host that was asked first."""
        now = self._clock.now_ns()
        is_elsewhere = target is not None and target.host != urls.host_of(job.tag)
        is_followed = self._gate.redirect(job.tag, target, now, is_elsewhere=is_elsewhere)
        if is_followed and is_elsewhere:
            self._errands.add(self._gate.job(job, self._parts.next_id()), now)

    # --- the turn's end --------------------------------------------------------------------

    def _flush(self, now: int, *, is_idle: bool) -> None:
        """Write the log, answer, hand over: when nothing else is to do, or every 2 ms."""
        self._is_flushed = is_idle or now - self._flushed_ns >= FLUSH_NS
        if self._is_flushed:
            self._flushed_ns = now
            if not self._refusal and self._attempt(self._commit):
                self._ledger.tell()  # DONEs that were held may have been written
                self._unwritten = 0
                self._peers.answer_written()
            self._handover.flush()
            self._peers.flush()

    def _commit(self) -> None:
        self._addresses.commit()
        self._frontier.commit()

    def _timeout_s(self, now: int) -> float:
        """Sleep until the next host is due; not at all when one is due and may be asked."""
        longest_ns = IDLE_NS if self._is_flushed else FLUSH_NS
        if self._room() <= 0:
            probe_ns = self._manners.probe_ns()
            longest_ns = min(longest_ns, max(probe_ns - now, 0)) if probe_ns >= 0 else longest_ns
            return longest_ns / 1e9
        due_ns = self._frontier.next_ns()
        if len(self._errands):
            errand_ns = self._errands.next_ns()
            due_ns = errand_ns if due_ns < 0 else min(due_ns, errand_ns)
        due_ns = max(due_ns, self._bandwidth.next_ns())
        wait_ns = longest_ns if due_ns < 0 else min(max(due_ns - now, 0), longest_ns)
        names_s = self._addresses.wait_s(now)
        return wait_ns / 1e9 if names_s < 0 else min(names_s, wait_ns / 1e9)

    def _has_ended(self, now: int) -> bool:
        """A shard that has drained still takes links until every other one has drained too."""
        if not self._stop_ns:
            return False
        if not self._is_drained and not self._in_flight and not len(self._handover):
            self._is_drained = True
            self._control.tell("drained")
        return now >= self._stop_ns or (self._is_drained and self._may_end)

    def _publish(self, now: int) -> None:
        self._published_ns = now
        self._ledger.measured(self._gate, self._addresses, self._manners)
        self._ledger.publish(
            waiting=self._frontier.waiting,
            in_flight=self._in_flight + self._manners.held,
            parsing=self._handover.pages + self._frontier.undone + self._frontier.held,
        )
        if now - self._tidied_ns > TIDY_NS and not self._stop_ns and not self._refusal:
            self._tidied_ns = now
            self._attempt(self._frontier.tidy)


if __name__ == "__main__":
    child.main(Shard)
