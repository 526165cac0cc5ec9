"""What follows from results for hosts, URLs, the log, and the belief in our own line."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.hosts import BUSY, FAILED, IDLE, HostTable
from larbinpy.dedup.seen import ExactSeen
from larbinpy.dns.base import Answer
from larbinpy.frontier.frontier import Frontier
from larbinpy.frontier.payloads import HostState
from larbinpy.politeness.backoff import DEAD_POINTS, Backoff
from larbinpy.politeness.outage import SILENT, STRANGERS, Line, State
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, FetchResult, Kind, Outcome
from larbinpy.shard.manners import LINE_REASON, Fate, Manners
from larbinpy.shard.ownline import TRIALS
from larbinpy.shard.remarks import NAMED
from tests.dns.resolvers import ToldResolver, addresses_of_all
from tests.frontier.logs import links, open_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECOND = 10**9
DAY = 86_400 * SECOND
HOST = b"h0.example"
ORIGIN = b"http://h0.example:80"


class Clock:
    """A clock that stands, but for ``late_ns`` with every look at it."""

    def __init__(self, now_ns: int) -> None:
        self.now = now_ns
        self.late_ns = 0

    def now_ns(self) -> int:
        self.now += self.late_ns
        return self.now

    def wall_us(self) -> int:
        return 10**15 + self.now_ns() // 1000


class Shard:
    """What a shard's manners work with: everything but sockets."""

    def __init__(self, directory: Path, now_ns: int = 100 * SECOND) -> None:
        self.clock = Clock(now_ns)
        self.said: list[str] = []
        self.fifo, found = open_log(directory, segment_bytes=1 << 20)
        self.table = HostTable(wait_ns=SECOND, wait_ip_ns=0)
        self.frontier = Frontier(shard=0, fifo=self.fifo, table=self.table, seen=ExactSeen())
        self.frontier.restore(found)
        self.line = Line(Random(1))
        self.resolver = ToldResolver()
        self.addresses = addresses_of_all(self.table, self.resolver, self.line)
        self.manners = Manners(
            table=self.table,
            frontier=self.frontier,
            addresses=self.addresses,
            backoff=Backoff(Random(1), wait_ns=SECOND, dead_ns=DAY),
            line=self.line,
            clock=self.clock,
            max_tries=3,
            max_delay_s=30.0,
            say=self.said.append,
        )
        self.manners.hosts.restore(found.hosts)

    @property
    def now(self) -> int:
        return self.clock.now

    def put(self, *numbers: int) -> None:
        """URLs of the hosts ``h0.example`` to ``h6.example``, which get addresses."""
        self.frontier.put(links(numbers))
        self.resolve()

    def resolve(self) -> None:
        for host_id, _ in self.table.unresolved(100):
            self.table.resolved(host_id, bytes([127, 0, 0, host_id + 1]), self.now)

    def take(self) -> FetchJob:
        """The next URL; its host is busy."""
        (job,) = self.frontier.take(self.now, 1)
        job.ip = bytes([127, 0, 0, job.host_id + 1])
        return job

    def stranger(self, number: int) -> FetchJob:
        """A request to some other address, that stands in no log."""
        host, ip = b"x%d" % number, bytes([10, 0, 0, number])
        return FetchJob(ID_WITHOUT_ENQ | number, b"http://x/", host, 80, https=False,
                        kind=Kind.ROBOTS, host_id=self.table.add(host), ip=ip)  # fmt: skip

    def end(
        self,
        job: FetchJob,
        outcome: Outcome,
        status: int = 0,
        headers: bytes = b"",
        *,
        is_unsent: bool = False,
    ) -> Fate:
        """A request has ended."""
        if self.table.state_of(job.host_id) == BUSY:
            self.frontier.release(job.host_id, self.now, self.now)
        result = FetchResult(
            job, outcome, status, headers, bytes_read=status, reason="why", is_unsent=is_unsent
        )
        fate = self.manners.judge(result, self.now)
        if fate is Fate.RETRY:
            self.manners.retry(self.manners.retried(result).job, self.now)
        return fate

    def ask_rules(self, outcome: Outcome, status: int = 0) -> None:
        """The robots.txt of the next URL's host was asked for; the URL waits."""
        job = self.take()
        self.frontier.put_back(job)
        self.end(replace(job, id=ID_WITHOUT_ENQ, kind=Kind.ROBOTS), outcome, status)


@pytest.fixture
def shard(tmp_path: Path) -> Iterator[Shard]:
    """A shard with a log."""
    made = Shard(tmp_path)
    yield made
    made.fifo.close()


def test_what_may_pass_is_tried_again_and_then_ends(shard: Shard) -> None:
    """maxTries; the URL waits all the time."""
    shard.put(0)
    fates = []
    for _ in range(3):
        fates.append(shard.end(shard.take(), Outcome.ERR_40X, 500))
        shard.clock.now += 60 * SECOND
    assert fates == [Fate.RETRY, Fate.RETRY, Fate.END]
    assert shard.manners.retries == 2


def test_a_request_that_went_down_with_its_connection_costs_nobody_a_try(shard: Shard) -> None:
    """The URL waits, however often it was tried; the host is not known for any trouble."""
    shard.put(0)
    for _ in range(5):
        job = shard.take()
        assert job.attempt == 0
        shard.frontier.release(job.host_id, shard.now, shard.now)
        result = FetchResult(job, Outcome.PROTOCOL_ERROR, reason="closed", is_swallowed=True)
        assert shard.manners.judge(result, shard.now) is Fate.RETRY
        logged = shard.manners.retried(result)
        assert (logged.job.kind, logged.reason) == (Kind.RETRY, "closed")
        shard.manners.retry(logged.job, shard.now)
        shard.clock.now += 60 * SECOND
    assert shard.manners.hosts.state_of(HOST) is None


@pytest.mark.parametrize(("outcome", "status"), [(Outcome.SUCCESS, 200), (Outcome.ERR_40X, 404)])
def test_what_stays_ends(shard: Shard, outcome: Outcome, status: int) -> None:
    """At once, and the host is not known to anybody."""
    shard.put(0)
    assert shard.end(shard.take(), outcome, status) is Fate.END
    assert shard.manners.hosts.state_of(HOST) is None


def test_a_host_that_cuts_every_page_short_is_not_given_up(shard: Shard) -> None:
    """Its Content-Length may be wrong everywhere: what has come is kept after the last try."""
    shard.put(*range(0, 70, 7))
    for _ in range(10):
        job = shard.take()
        for attempt, fate in enumerate((Fate.RETRY, Fate.RETRY, Fate.END)):
            result = FetchResult(replace(job, attempt=attempt), Outcome.TRUNCATED, 200)
            assert shard.manners.judge(result, shard.now) is fate
        state = shard.manners.hosts.state_of(HOST)
        assert state is None or not state.failures
        shard.frontier.release(job.host_id, shard.now, shard.now)
        shard.clock.now += 1000 * SECOND


def test_retry_after_is_on_disk_before_anything_else_is_asked(shard: Shard, tmp_path: Path) -> None:
    """Whoever reads the files at that moment knows of it, and leaves the host alone."""
    shard.put(0, 7)
    header = b"HTTP/1.1 429 No\r\nRetry-After: 50\r\n\r\n"
    shard.end(shard.take(), Outcome.ERR_40X, 429, header)
    assert shard.table.next_ns() == shard.now + 50 * SECOND
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in tmp_path.glob("*.seg"):
        (copy / path.name).write_bytes(path.read_bytes())

    successor = Shard(copy, shard.now + SECOND)
    successor.resolve()
    job = successor.take()
    assert successor.manners.hosts.is_away(job.host_id, job.host, successor.now)
    successor.frontier.put_back(job)
    successor.frontier.skip(job.host_id)
    assert successor.table.next_ns() == shard.now + 50 * SECOND
    successor.fifo.close()


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(Outcome.ERR_30X, 301), (Outcome.ERR_40X, 403), (Outcome.ERR_40X, 404),
     (Outcome.ERR_40X, 501)],
)  # fmt: skip
def test_a_pause_may_be_asked_for_with_any_answer(
    shard: Shard, outcome: Outcome, status: int
) -> None:
    """The URL is done; its host is left alone for so long, also by a successor."""
    shard.put(0, 7)
    header = b"HTTP/1.1 %d No\r\nRetry-After: 50\r\n\r\n" % status
    assert shard.end(shard.take(), outcome, status, header) is Fate.END
    assert shard.table.next_ns() == shard.now + 50 * SECOND
    state = shard.manners.hosts.state_of(HOST)
    assert state is not None
    assert (state.level, state.failures) == (0, 0)
    assert state.until_us == shard.clock.wall_us() + 50 * 10**6


def test_a_long_pause_is_told_once(shard: Shard) -> None:
    """Nothing else may be left to do; a host that asks for days gets less."""
    shard.put(0, 1, 2)
    for seconds, status in ((600, 503), (7200, 404), (10**9, 429)):
        header = b"HTTP/1.1 %d No\r\nRetry-After: %d\r\n\r\n" % (status, seconds)
        shard.end(shard.take(), Outcome.ERR_40X, status, header)
        shard.clock.now += 100 * SECOND
    said = [
        "h1.example: asks for a pause of 2.0 h (Retry-After)",
        "h2.example: asks for a pause of 277777.8 h (Retry-After), and gets 24.0 h (deadHostRetry)",
    ]
    assert shard.said == said
    shard.manners.hosts.asked(1, b"h1.example", 10**6, shard.now)
    assert shard.said == said
    for number in range(2 * NAMED):
        shard.manners.hosts.asked(0, b"x%d" % number, 10**6, shard.now)
    assert len(shard.said) == NAMED


def test_a_clock_that_was_set_back_makes_nobody_wait_longer(shard: Shard) -> None:
    """An hour, between two starts: the log was last synced at a time that is still to come."""
    asked_us = shard.clock.wall_us() + 50 * 10**6
    hour_ns = 3600 * SECOND
    hosts = {HOST: HostState(HOST, asked_us + 3600 * 10**6, 1, 0)}
    shard.manners.hosts.restore(hosts, latest_us=shard.clock.wall_us() + hour_ns // 1000)
    state = shard.manners.hosts.state_of(HOST)
    assert state is not None
    assert state.until_us == asked_us


def test_a_slow_restart_makes_nobody_faster(shard: Shard) -> None:
    """Time passes between a look at one clock and a look at the other."""
    until_ns = shard.now + 50 * SECOND
    shard.clock.late_ns = SECOND // 100
    shard.manners.hosts.restore({HOST: HostState(HOST, 10**15 + until_ns // 1000, 1, 0)})
    known = shard.manners.hosts.known.get(HOST)
    assert known is not None
    assert until_ns <= known.until_ns <= until_ns + SECOND


def test_a_dead_host_is_given_up(shard: Shard) -> None:
    """Its third URL in vain ends; after a restart it is still dead."""
    shard.put(0, 7)
    fates = []
    for _ in range(3):
        fates.append(shard.end(shard.take(), Outcome.NO_CONNECTION))
        shard.clock.now += 100 * SECOND
    assert fates == [Fate.RETRY, Fate.RETRY, Fate.END]
    assert shard.table.state_of(0) == FAILED
    state = shard.manners.hosts.state_of(HOST)
    assert state is not None
    assert state.until_us > shard.clock.wall_us() + 80_000 * 10**6


def test_a_restart_knows_for_which_origin_a_host_was_given_up(shard: Shard, tmp_path: Path) -> None:
    """The others are tried, then and after one more restart, which is in between for the host."""
    shard.put(0, 7)
    for _ in range(3):
        shard.end(replace(shard.take(), https=True, port=443), Outcome.NO_CONNECTION)
        shard.clock.now += 100 * SECOND
    for is_dead in (True, False):
        shard.fifo.close()
        successor = Shard(tmp_path, shard.now)
        shard.fifo, shard.table, hosts = successor.fifo, successor.table, successor.manners.hosts
        successor.addresses.turn(successor.now)
        answered(successor, bytes((9, 9, 9, 1)))
        http = replace(successor.take(), failed=Outcome.NO_CONNECTION)
        https = replace(http, https=True, port=443)
        assert hosts.known[HOST].is_dead == is_dead
        assert hosts.is_away(http.host_id, HOST, successor.now)
        assert hosts.closed(https, successor.now)
        assert not hosts.closed(http, successor.now)
        assert not hosts.lives_on(https, successor.now)
        assert hosts.lives_on(http, successor.now)
        assert not hosts.known[HOST].is_dead


def test_a_few_pages_that_take_too_long_are_no_dead_host(shard: Shard) -> None:
    """Whoever takes a connection is not given up as one that cannot be reached; and yet it ends."""
    shard.put(*range(0, 140, 7))
    alive = []
    for _ in range(DEAD_POINTS):
        job = shard.take()
        while shard.end(job, Outcome.TIMEOUT) is Fate.RETRY:
            shard.clock.now += 1000 * SECOND
            job = shard.take()
        alive.append(shard.table.state_of(0) != FAILED)
        shard.clock.now += 1000 * SECOND
    assert alive == [True] * (DEAD_POINTS - 1) + [False]
    assert shard.line.state is State.FINE


def test_a_robots_txt_that_takes_too_long_is_no_answer(shard: Shard) -> None:
    """Nothing may be asked meanwhile, so it is asked for three times, not eight."""
    shard.put(0)
    for _ in range(3):
        shard.ask_rules(Outcome.TIMEOUT)
        shard.clock.now += 1000 * SECOND
    assert shard.table.state_of(0) == FAILED


def test_an_answer_ends_the_troubles_in_the_log(shard: Shard, tmp_path: Path) -> None:
    """A restart knows nothing of them."""
    shard.put(0, 7)
    shard.end(shard.take(), Outcome.ERR_40X, 503)
    shard.clock.now += 60 * SECOND
    shard.end(shard.take(), Outcome.SUCCESS, 200)
    shard.fifo.close()
    successor = Shard(tmp_path, shard.now)
    assert successor.manners.hosts.state_of(HOST) is None
    shard.fifo, shard.table = successor.fifo, successor.table


def test_rules_that_cannot_be_read_delay_their_host(shard: Shard) -> None:
    """Once for each request."""
    shard.put(0)
    shard.manners.hosts.rules_failed(ORIGIN, HOST, shard.now)
    until = shard.manners.hosts.state_of(HOST)
    shard.manners.hosts.rules_failed(ORIGIN, HOST, shard.now)
    assert until is not None
    assert shard.manners.hosts.state_of(HOST) == until
    for _ in range(2):
        shard.clock.now += 1000 * SECOND
        shard.manners.hosts.rules_failed(ORIGIN, HOST, shard.now)
    ((_, _, code),) = shard.table.acquire(shard.now, 1)
    assert code == Outcome.FORBIDDEN_ROBOTS


def test_a_host_whose_certificate_is_bad_ends_as_what_it_is(shard: Shard) -> None:
    """Its robots.txt is the first that meets it."""
    shard.put(0)
    for _ in range(3):
        shard.ask_rules(Outcome.TLS_ERROR)
        shard.manners.hosts.rules_failed(ORIGIN, HOST, shard.now)
        shard.clock.now += 1000 * SECOND
    ((_, _, code),) = shard.table.acquire(shard.now, 1)
    assert code == Outcome.TLS_ERROR


def test_only_rules_that_were_read_are_a_good_answer(shard: Shard) -> None:
    """A 200 whose text nobody can decode is asked for three times, not for ever."""
    shard.put(0)
    for _ in range(3):
        shard.ask_rules(Outcome.SUCCESS, 200)
        shard.manners.hosts.rules_failed(ORIGIN, HOST, shard.now)
        shard.clock.now += 1000 * SECOND
    ((_, _, code),) = shard.table.acquire(shard.now, 1)
    assert code == Outcome.FORBIDDEN_ROBOTS
    shard.manners.hosts.rules_known(HOST, 0.0, 0, shard.now)
    known = shard.manners.hosts.state_of(HOST)
    assert known is None or not known.failures


def test_crawl_delay_is_ours_within_the_limit(shard: Shard) -> None:
    """A longer one is named once."""
    shard.put(0, 7)
    for _ in range(2):
        shard.manners.hosts.rules_known(HOST, 600.0, 0, shard.now)
    job = shard.take()
    shard.frontier.release(job.host_id, shard.now, shard.now)
    assert shard.table.next_ns() == shard.now + 30 * SECOND
    assert shard.said == [
        "h0.example: its Crawl-delay of 600 s is shortened to 30 s (maxCrawlDelay)"
    ]


# --- our own line ----------------------------------------------------------------------------


def befriend(shard: Shard) -> None:
    """Somebody has answered."""
    shard.put(1)
    shard.end(shard.take(), Outcome.SUCCESS, 200)
    shard.clock.now += 10 * SECOND


def fall_silent(shard: Shard) -> list[Fate]:
    """Many addresses do not answer."""
    return [shard.end(shard.stranger(n), Outcome.NO_CONNECTION) for n in range(SILENT)]


def test_when_nobody_answers_results_are_held(shard: Shard) -> None:
    """From the one on that makes it suspicious; a friend is asked."""
    befriend(shard)
    assert fall_silent(shard) == [Fate.END] * (SILENT - 1) + [Fate.HOLD]
    assert not shard.manners.line.is_fine
    assert (shard.manners.line.settled(), shard.manners.excused()) == ([], [])
    probe = shard.manners.probe(99, shard.now)
    assert probe is not None
    assert (probe.host, probe.kind, probe.id) == (b"h1.example", Kind.RETRY, 99)
    assert shard.manners.probe(99, shard.now) is None


def test_a_friend_that_answers_makes_them_count(shard: Shard) -> None:
    """They are judged again, and end."""
    befriend(shard)
    fall_silent(shard)
    probe = shard.manners.probe(99, shard.now)
    assert probe is not None
    assert shard.end(probe, Outcome.SUCCESS, 200) is Fate.END
    (held,) = shard.manners.line.settled()
    assert shard.manners.judge(held, shard.now) is Fate.END
    assert (shard.said, shard.manners.line.outages) == ([], 0)


def test_an_outage_is_charged_to_nobody(shard: Shard) -> None:
    """Neither what was held nor the tries since the last answer; it is said, as is its end."""
    befriend(shard)
    shard.put(0)
    shard.end(shard.take(), Outcome.NO_CONNECTION)
    assert shard.manners.hosts.state_of(HOST) is not None
    fall_silent(shard)
    probe = shard.manners.probe(99, shard.now)
    assert probe is not None
    shard.end(probe, Outcome.NO_CONNECTION)
    assert shard.manners.hosts.state_of(HOST) is None
    excused = {(result.job.kind, result.reason) for result in shard.manners.excused()}
    assert excused == {(Kind.RETRY, LINE_REASON)}
    shard.clock.now += 100 * SECOND
    probe = shard.manners.probe(100, shard.now)
    assert probe is not None
    shard.end(probe, Outcome.SUCCESS, 200)
    assert shard.manners.line.is_fine
    assert shard.said == [
        "nobody answers: our own line seems to be down; waiting until it is back",
        "our own line is back after 100 s",
    ]
    assert (shard.take().attempt, shard.manners.line.outages) == (0, 1)


def find_no_way(shard: Shard) -> list[Fate]:
    """Nobody can be reached from here."""
    return [
        shard.end(shard.stranger(n), Outcome.NO_CONNECTION, is_unsent=True) for n in range(SILENT)
    ]


def test_a_crawl_that_begins_without_a_way_out_charges_nobody(shard: Shard) -> None:
    """It is said why; then ordinary requests, a few at a time, find out when there is one."""
    shard.put(0)
    line = shard.manners.line
    shard.end(shard.take(), Outcome.NO_CONNECTION, is_unsent=True)
    assert find_no_way(shard)[-2:] == [Fate.HOLD] * 2
    assert shard.manners.hosts.state_of(HOST) is None
    assert (len(shard.manners.excused()), line.outages) == (2, 1)
    assert shard.said == [
        "nobody answers: our own line seems to be down (why); waiting until it is back"
    ]
    for wait_s in (2, 4, 8):
        shard.clock.now += wait_s * SECOND
        assert shard.manners.probe(99, shard.now) is None
        assert line.trials == TRIALS
        line.trials = 0
        shard.clock.now += wait_s * SECOND // 4
        assert shard.manners.probe(99, shard.now) is None
        assert line.trials == 0, "those of the round have not failed yet"
        fate = shard.end(shard.stranger(99), Outcome.NO_CONNECTION, is_unsent=True)
        assert fate is Fate.HOLD
        assert shard.manners.probe(99, shard.now + wait_s * SECOND // 2) is None
        assert line.trials == 0
    assert shard.end(shard.stranger(98), Outcome.SUCCESS, 200) is Fate.END
    assert line.is_fine
    assert shard.said[1:] == ["our own line is back after 18 s"]
    shard.clock.now += 60 * SECOND
    assert shard.take().attempt == 0


def test_hosts_that_are_dead_when_there_is_a_way_out_are_charged(shard: Shard) -> None:
    """The crawl ends."""
    find_no_way(shard)
    fates = [shard.end(shard.stranger(99), Outcome.NO_CONNECTION) for _ in range(STRANGERS)]
    assert fates == [Fate.HOLD] * (STRANGERS - 1) + [Fate.END]
    assert shard.said[1:] == ["our own line is back after 0 s"]
    assert len(shard.manners.excused()) == STRANGERS


def test_a_proxy_that_dies_is_an_outage(shard: Shard) -> None:
    """Behind one nobody knows addresses: hosts count in their place."""
    befriend(shard)
    for n in range(SILENT):
        job = shard.stranger(n)
        job.ip = b""
        shard.end(job, Outcome.NO_CONNECTION)
    assert not shard.manners.line.is_fine


def test_a_probe_waits_for_its_host(shard: Shard) -> None:
    """It is a request like any other."""
    befriend(shard)
    fall_silent(shard)
    assert shard.table.visit(0, shard.now) == 0
    assert shard.manners.probe(99, shard.now) is None
    shard.frontier.release(0, shard.now, shard.now)
    shard.clock.now += SECOND
    assert shard.manners.probe(99, shard.now) is not None
    assert shard.table.state_of(0) != IDLE


# --- next addresses ------------------------------------------------------------------------------


def answered(shard: Shard, *ips: bytes) -> None:
    """The resolver answers for the host."""
    shard.resolver.found.append(Answer(HOST, ips, shard.now + DAY))
    shard.addresses.turn(shard.now)


def no_connection(job: FetchJob, kind: Kind = Kind.PAGE) -> FetchResult:
    job.kind = kind
    return FetchResult(job, Outcome.NO_CONNECTION)


def test_the_next_address_comes_before_a_charge(shard: Shard) -> None:
    """Each is tried once; only then host and URL are charged."""
    shard.frontier.put(links((0,)))
    shard.addresses.turn(shard.now)
    answered(shard, bytes((9, 9, 9, 1)), bytes((9, 9, 9, 2)))
    job = shard.take()
    assert shard.manners.goes_elsewhere(no_connection(job), shard.now)
    assert shard.addresses.ip(job.host_id) == bytes((9, 9, 9, 2))
    assert not shard.manners.goes_elsewhere(no_connection(job), shard.now)
    assert shard.end(job, Outcome.NO_CONNECTION) is Fate.RETRY


def test_only_a_request_that_nobody_took_goes_elsewhere(shard: Shard) -> None:
    """And no probe of our own line."""
    shard.frontier.put(links((0,)))
    shard.addresses.turn(shard.now)
    answered(shard, bytes((9, 9, 9, 1)), bytes((9, 9, 9, 2)))
    job = shard.take()
    for result in (FetchResult(job, Outcome.TIMEOUT), FetchResult(job, Outcome.ERR_40X, 404)):
        assert not shard.manners.goes_elsewhere(result, shard.now)
    assert not shard.manners.goes_elsewhere(no_connection(job, Kind.RETRY), shard.now)


def test_while_our_own_line_is_silent_hosts_keep_their_addresses(shard: Shard) -> None:
    """It may not be their fault."""
    befriend(shard)
    shard.frontier.put(links((0,)))
    shard.addresses.turn(shard.now)
    answered(shard, bytes((9, 9, 9, 1)), bytes((9, 9, 9, 2)))
    job = shard.take()
    fall_silent(shard)
    assert not shard.manners.line.is_fine
    assert not shard.manners.goes_elsewhere(no_connection(job), shard.now)


def test_the_first_failure_asks_for_more_addresses(shard: Shard) -> None:
    """Of the other family; once, until the host answers."""
    shard.frontier.put(links((0,)))
    shard.addresses.turn(shard.now)
    answered(shard, bytes((9, 9, 9, 1)))
    job = shard.take()
    shard.end(job, Outcome.NO_CONNECTION)
    assert shard.resolver.further == [HOST]
    answered(shard, bytes((9, 9, 9, 1)), bytes(15) + b"\7")
    shard.end(job, Outcome.NO_CONNECTION)
    assert shard.resolver.further == [HOST]
