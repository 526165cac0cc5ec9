"""One turn after the other of a shard, with a web that is a table and parsers played by the tests.

A test is a generator: each ``yield`` is a turn of the loop, and its end stops the shard.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import entries, stats
from larbinpy._native.linkfilter import LinkFilter
from larbinpy.errors import StorageError
from larbinpy.frames import FrameType
from larbinpy.links.found import ELEMENT_SEED, LINK_SEED, found_link
from larbinpy.politeness.outage import SILENT
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, FetchResult, Kind, Outcome, ParsedPage
from larbinpy.shard import flow, suspects
from larbinpy.shard.loop import FLUSH_NS, Shard
from larbinpy.shard.ownline import TRIALS
from larbinpy.shard.parts import ShardParts
from larbinpy.shared import CrawlMemory, Global, ShardWord
from larbinpy.stats import COUNTERS, IDENTITY
from larbinpy.testing.fetcher import Reply, ScriptedFetcher
from larbinpy.url import Base, resolve
from tests.starts import Boss, control, start

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from pathlib import Path

    from larbinpy.frames import Channel, Frame
    from larbinpy.records import Page

KEY = bytes(range(16))
MAX_TURNS = 100_000
A, B = b"http://a.test/", b"http://b.test/"
ROBOTS = b"http://a.test/robots.txt"


def links(*urls: bytes, flags: int = LINK_SEED) -> bytes:
    """The payload of a LINKS frame with these seeds."""
    filter_ = LinkFilter(key=KEY, shards=1, domain_of=lambda host: host)
    found = b"".join(found_link(ELEMENT_SEED, url) for url in urls)
    batch = filter_.run(
        resolve(Base(A), found), host=b"", depth=0, left=0 if flags else 9, flags=flags
    )
    (group,) = entries.link_groups(b"", b"", batch.entries[0], batch.counts[0])
    return group


class Play:
    """A shard and what is around it."""

    def __init__(self, boss: Boss, parts: ShardParts, fetcher: ScriptedFetcher) -> None:
        self.boss = boss
        self.parts = parts
        self.fetcher = fetcher
        self.memory = parts.ledger._shard
        self.parser = boss.join("parser", 0)
        self._frames: dict[int, list[Frame]] = {}

    def send(self, kind: FrameType, payload: bytes, *, count: int = 1) -> None:
        self.parser.send(kind, payload, count=count)
        assert self.parser.flush()

    def put(self, *urls: bytes, flags: int = LINK_SEED) -> None:
        """Send links as a parser does."""
        self.send(FrameType.LINKS, links(*urls, flags=flags))

    def parsed(self, page: Page, outcome: int = Outcome.SUCCESS, *, epoch: int = 0) -> None:
        """Answer a page."""
        answer = ParsedPage(page.id, epoch or page.epoch, Outcome(outcome), page.status)
        self.send(FrameType.PARSED, entries.encode_parsed(answer))

    def next(self, kind: FrameType, channel: Channel | None = None) -> Generator[None, None, Frame]:
        """The next frame of a type that the shard sends; turns pass until it has come."""
        channel = channel or self.parser
        queue = self._frames.setdefault(id(channel), [])
        while True:
            queue += channel.receive()
            for frame in queue:
                if frame.type == kind:
                    queue.remove(frame)
                    return frame
            yield

    def page(self, channel: Channel | None = None) -> Generator[None, None, Page]:
        """The first page of the next frame; another one there is not answered."""
        frame = yield from self.next(FrameType.PAGE, channel)
        return entries.decode_pages(frame.payload, frame.count)[0]

    def answer(self, done: int) -> Generator[None, None, dict[bytes, int]]:
        """Answer all pages until so many URLs are done; their outcomes."""
        outcomes: dict[bytes, int] = {}
        while self.words()[1] < done:
            for frame in self.parser.receive():
                if frame.type == FrameType.PAGE:
                    for page in entries.decode_pages(frame.payload, frame.count):
                        outcomes[page.url] = page.outcome
                        self.parsed(page, page.outcome)
            yield
        return outcomes

    def turns(self, count: int) -> Generator[None, None, None]:
        """Let turns pass."""
        for _ in range(count):
            yield

    def words(self) -> tuple[int, int]:
        """Accepted and done, as the supervisor sees them."""
        words = self.memory.words
        return words.load(ShardWord.ACCEPTED), words.load(ShardWord.DONE)

    def published(self) -> dict[str, int]:
        """Identity, as published last."""
        block = self.memory.counters.read()
        assert block is not None
        return dict(zip(IDENTITY, block[len(COUNTERS) :], strict=True))

    def fetched(self) -> list[bytes]:
        """URLs that were asked for, in order."""
        return [job.url for job in self.fetcher.submitted]


def play(
    state: Path,
    replies: Mapping[bytes, Reply],
    script: Callable[[Play], Generator[None, None, None]],
    *,
    hosts: Iterable[str] = ("a.test", "b.test"),
    is_fetching: bool = True,
    tickets: int = 0,
    suspected: Iterable[int] = (),
    poison: Iterable[int] = (),
    **keys: Any,
) -> Play:
    """Run a shard until the script has ended, then until it has stopped."""
    (state / "hosts").write_text("".join(f"127.0.0.{n + 1} {h}\n" for n, h in enumerate(hosts)))
    defaults = {
        "hosts_file": state / "hosts",
        "allow_private_addresses": True,
        "wait_duration_s": 0.0,
        "ignore_robots": True,
        "limit_page": tickets,
    }
    start_ = dataclasses.replace(
        start(state, **{**defaults, **keys}),
        suspects=frozenset(suspected),
        poison=frozenset(poison),
    )
    memory = CrawlMemory.create(1, 1)
    memory.globals.store(Global.TICKETS, tickets)
    said: list[str] = []
    parts = ShardParts.open(start_, memory.fd, said.append)
    turns = 0

    def wait(timeout_s: float) -> None:
        nonlocal turns
        turns += 1
        assert turns < MAX_TURNS, "the script has not ended"
        parts.loop.poll(min(timeout_s, 0.002))
        try:
            next(steps)
        except StopIteration:
            boss.tell("stop", drain_s=60.0)
            boss.tell("end")

    fetcher = ScriptedFetcher(replies, wait=wait)
    with control() as (child, boss):
        made = Play(boss, parts, fetcher)
        shard = Shard(child, start_, memory.fd, parts=dataclasses.replace(parts, fetcher=fetcher))
        steps = script(made)
        if is_fetching:
            boss.tell("resume")
        try:
            shard.run()
        finally:
            for role, index in list(parts.peers._peers):
                parts.peers.leave(role, index)
            parts.fetcher.close()
            parts.loop.close()
            os.close(memory.fd)
    return made


# --- the way of a URL ----------------------------------------------------------------------------


def test_the_way_of_a_url(tmp_path: Path) -> None:
    """Links are written, the page fetched, handed over, answered, done; each state is counted."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        written = yield from run.next(FrameType.WRITTEN)
        assert written.seq == 1
        page = yield from run.page()
        assert (page.url, page.body, page.attempt, page.kind) == (A, b"<a href=x>", 0, Kind.PAGE)
        assert page.ip == bytes([127, 0, 0, 1])
        assert run.words() == (1, 0)
        run.parsed(page)
        while run.words() != (1, 1):
            yield

    run = play(tmp_path, {A: Reply(b"<a href=x>")}, script)
    assert run.fetched() == [A]
    assert run.published() == {
        "accepted": 1, "done": 1, "waiting": 0, "ready": 0, "in_flight": 0, "parsing": 0,
    }  # fmt: skip
    assert run.parts.ledger.counters[stats.SUCCESS] == 1


def test_links_are_answered_though_nothing_else_happens(tmp_path: Path) -> None:
    """Within 2 ms: a parser holds its pages until then, and the shard may have nothing to do."""

    def script(run: Play) -> Generator[None, None, None]:
        yield from run.turns(3)
        before = len(run.fetcher.timeouts_s)
        run.put(A)
        yield from run.next(FrameType.WRITTEN)
        assert max(run.fetcher.timeouts_s[before + 1 : -1]) <= FLUSH_NS / 1e9

    play(tmp_path, {}, script, is_fetching=False)


def test_the_identity_holds_at_every_moment(tmp_path: Path) -> None:
    """accepted = done + waiting + in flight + parsing, whatever is published."""
    urls = [b"http://a.test/%d" % number for number in range(20)]

    def script(run: Play) -> Generator[None, None, None]:
        run.put(*urls, B)
        while run.words()[1] < 21:
            for frame in run.parser.receive():
                if frame.type == FrameType.PAGE:
                    for page in entries.decode_pages(frame.payload, frame.count):
                        run.parsed(page)
            got = run.published()
            assert got["accepted"] == sum(got[name] for name in IDENTITY[1:])
            yield

    run = play(tmp_path, {}, script)
    assert sorted(run.fetched()) == sorted([*urls, B])


def test_nothing_is_fetched_before_the_supervisor_says_so(tmp_path: Path) -> None:
    """``resume`` begins it, ``pause`` holds it; links are taken all the time."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        yield from run.next(FrameType.WRITTEN)
        yield from run.turns(5)
        assert run.fetched() == []
        run.boss.tell("resume")
        page = yield from run.page()
        run.boss.tell("pause")
        yield from run.turns(2)
        run.put(B)
        yield from run.next(FrameType.WRITTEN)
        yield from run.turns(5)
        assert run.fetched() == [A]
        run.parsed(page)

    play(tmp_path, {}, script, is_fetching=False)


def test_a_host_without_address(tmp_path: Path) -> None:
    """Its URLs go to a parser unfetched, to be logged."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A, flags=0)
        page = yield from run.page()
        assert (page.outcome, page.status, page.ip) == (Outcome.FORBIDDEN_ADDRESS, 0, b"")
        run.parsed(page, page.outcome)
        while run.words() != (1, 1):
            yield

    run = play(tmp_path, {}, script, allow_private_addresses=False)
    assert run.fetched() == []


def test_a_private_host_is_for_the_operator(tmp_path: Path) -> None:
    """A URL of the seeds may use its address, and so may all URLs of that host from then on."""

    def script(run: Play) -> Generator[None, None, None]:
        for url, flags in ((A, LINK_SEED), (A + b"2", 0), (B, 0)):
            run.put(url, flags=flags)
            page = yield from run.page()
            run.parsed(page, page.outcome)
        while run.words() != (3, 3):
            yield

    run = play(tmp_path, {}, script, allow_private_addresses=False)
    assert run.fetched() == [A, A + b"2"]


def test_a_crawl_without_a_way_out_makes_a_few_requests(tmp_path: Path) -> None:
    """Until it is time for the next few; one that is answered sets all others free."""
    hosts = [f"h{number}.test" for number in range(2 * TRIALS)]
    urls = [b"http://%b/" % host.encode() for host in hosts]

    def script(run: Play) -> Generator[None, None, None]:
        line = run.parts.manners.line
        for number in range(2 * SILENT):  # the latter half are probes: the next is far away
            job = FetchJob(1, A, b"%d" % number, 80, https=False)
            result = FetchResult(job, Outcome.NO_CONNECTION, is_unsent=True)
            line.silent(result, run.parts.clock.now_ns())
        line.trials = TRIALS
        run.fetcher.is_slow = True
        run.put(*urls)
        while len(run.fetched()) < TRIALS:
            yield
        yield from run.turns(20)
        assert len(run.fetched()) == TRIALS
        run.fetcher.is_slow = False
        assert set((yield from run.answer(2 * TRIALS))) == set(urls)

    play(tmp_path, {}, script, hosts=hosts)


# --- robots ------------------------------------------------------------------------------------


def test_rules_are_asked_for_first(tmp_path: Path) -> None:
    """One request for the origin, and the host is busy until a parser has read the answer."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A, A + b"private")
        robots = yield from run.page()
        assert (robots.kind, robots.url, robots.tag) == (Kind.ROBOTS, ROBOTS, b"http://a.test:80")
        assert robots.id & ID_WITHOUT_ENQ
        yield from run.turns(5)
        assert run.fetched() == [ROBOTS]
        text = b"User-agent: *\nDisallow: /private\n"
        run.send(FrameType.ROBOTS, entries.encode_robots(robots.tag, 200, text))
        run.parsed(robots)
        while run.words()[1] < 2:
            for frame in run.parser.receive():
                for page in entries.decode_pages(frame.payload, frame.count):
                    outcomes[page.url] = page.outcome
                    run.parsed(page, page.outcome)
            yield

    outcomes: dict[bytes, int] = {}
    run = play(tmp_path, {ROBOTS: Reply(), A: Reply()}, script, ignore_robots=False)
    assert outcomes == {A: Outcome.SUCCESS, A + b"private": Outcome.FORBIDDEN_ROBOTS}
    assert run.fetched() == [ROBOTS, A]
    counters = run.parts.ledger.counters
    assert (counters[stats.ROBOTS_SEEN], counters[stats.ROBOTS_GOOD]) == (1, 1)
    assert run.published()["accepted"] == 2


def test_an_answer_that_comes_twice_frees_the_host_once(tmp_path: Path) -> None:
    """A page is sent again when its parser dies, and so may its rules be."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        robots = yield from run.page()
        answer = entries.encode_robots(robots.tag, 404, b"")
        run.send(FrameType.ROBOTS, answer)
        run.send(FrameType.ROBOTS, answer)
        run.parsed(robots)
        page = yield from run.page()
        assert page.url == A
        run.parsed(page)
        while run.words() != (1, 1):
            yield

    play(tmp_path, {}, script, ignore_robots=False)


@pytest.mark.parametrize("is_near", [True, False])
def test_rules_that_have_moved(tmp_path: Path, is_near: bool) -> None:
    """They are followed, also to another host: they belong to the one that was asked first."""
    target = b"http://a.test/rules" if is_near else b"http://b.test/rules"
    moved = Reply(status=301, outcome=Outcome.ERR_30X, headers=b"Location: %b\r\n\r\n" % target)

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        while run.words() != (1, 1):
            for frame in run.parser.receive():
                if frame.type != FrameType.PAGE:
                    continue
                for page in entries.decode_pages(frame.payload, frame.count):
                    if page.kind == Kind.ROBOTS and page.outcome != Outcome.ERR_30X:
                        text = entries.encode_robots(page.tag, page.status, b"")
                        run.send(FrameType.ROBOTS, text)
                    run.parsed(page, page.outcome)
            yield

    run = play(tmp_path, {ROBOTS: moved}, script, ignore_robots=False)
    assert run.fetched() == [ROBOTS, target, A]


# --- parsers that die ----------------------------------------------------------------------------


def test_a_dead_parsers_page_goes_to_the_next(tmp_path: Path) -> None:
    """With its attempt; the dead one's late answer is nobody's."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        page = yield from run.page()
        run.parser.close()
        yield from run.turns(3)
        run.parser = run.boss.join("parser", 0)
        again = yield from run.page()
        assert (again.id, again.attempt) == (page.id, 1)
        assert run.published()["done"] == 0
        run.parsed(again)
        while run.words() != (1, 1):
            yield

    play(tmp_path, {}, script)


def test_a_successor_may_come_before_the_end_is_seen(tmp_path: Path) -> None:
    """The supervisor's word and the end of a socket arrive in any order."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        page = yield from run.page()
        dead = run.parser
        run.parser = run.boss.join("parser", 0)
        dead.close()
        again = yield from run.page()
        assert (again.id, again.attempt) == (page.id, 1)
        run.parsed(again)
        while run.words() != (1, 1):
            yield

    play(tmp_path, {}, script)


def test_a_page_that_kills_parsers_is_poison(tmp_path: Path) -> None:
    """After three of them it is sent with that outcome, and so it ends."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        for attempt in range(3):
            page = yield from run.page()
            assert (page.attempt, page.outcome) == (attempt, Outcome.SUCCESS)
            run.boss.tell("blame", id=page.id)
            run.parser.close()
            run.parser = run.boss.join("parser", 0)
        page = yield from run.page()
        assert page.outcome == Outcome.POISON
        run.parsed(page, page.outcome)
        while run.words() != (1, 1):
            yield

    play(tmp_path, {A: Reply()}, script)


def test_answers_of_another_epoch_are_ignored(tmp_path: Path) -> None:
    """They are of a shard that has died; the URL is still to be answered for."""

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        page = yield from run.page()
        run.parsed(page, epoch=page.epoch + 1)
        yield from run.turns(5)
        assert run.words() == (1, 0)
        run.parsed(page)
        run.parsed(page)
        while run.words() != (1, 1):
            yield
        yield from run.turns(5)
        assert run.words() == (1, 1)

    play(tmp_path, {}, script)


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        (FrameType.WRITTEN, b"", "a frame of type 2: no peer sends that"),
        (FrameType.LINKS, b"no links", "a frame of type 4: malformed LINKS"),
        (FrameType.PARSED, b"short", "a frame of type 5: PARSED"),
    ],
)
def test_a_peer_that_sends_garbage_is_cut(
    tmp_path: Path, kind: FrameType, payload: bytes, text: str
) -> None:
    """Its supervisor is told; what it sends afterwards is nothing, and its successor goes on."""

    def script(run: Play) -> Generator[None, None, None]:
        run.send(kind, payload)
        run.put(B)
        yield from run.turns(5)
        assert run.words() == (0, 0)
        _, bad = run.boss.heard(2)
        assert (bad["verb"], bad["role"], bad["index"]) == ("bad", "parser", 0)
        assert bad["text"].startswith(text)
        run.parser = run.boss.join("parser", 0)
        run.put(A)
        yield from run.answer(1)

    assert play(tmp_path, {}, script).fetched() == [A]


def test_a_peer_that_sends_no_frames_is_cut(tmp_path: Path) -> None:
    """Bytes that are no frame."""

    def script(run: Play) -> Generator[None, None, None]:
        run.parser._sock.send(b"\xff" * 20)
        yield from run.turns(5)
        _, bad = run.boss.heard(2)
        assert (bad["verb"], bad["text"]) == ("bad", "not a frame: type 255, 4294967295 bytes")

    play(tmp_path, {}, script)


# --- a disk that refuses -------------------------------------------------------------------------


def test_a_log_that_cannot_be_read_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The URLs wait, nothing is fetched, and it goes on by itself; there may be no descriptors."""
    monkeypatch.setattr(flow, "RETRY_NS", 1_000_000)

    def script(run: Play) -> Generator[None, None, None]:
        fifo = run.parts.frontier._fifo
        with monkeypatch.context() as broken:
            broken.setattr(type(fifo), "read", refuse)
            run.put(A, B)
            yield from run.turns(20)
            assert (run.fetched(), run.parts.frontier.waiting) == ([], 2)
            verbs = [message["verb"] for message in run.boss.heard(2)]
            assert verbs == ["ready", "refused"]
        yield from run.answer(2)

    def refuse(_fifo: object, _places: object) -> None:
        raise StorageError("segment: Too many open files")

    assert sorted(play(tmp_path, {}, script).fetched()) == [A, B]


def test_what_a_dead_parser_sent_to_a_refusing_disk_counts_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page has gone to the next one, whose answer alone frees it."""
    monkeypatch.setattr(flow, "RETRY_NS", 1_000_000)

    def script(run: Play) -> Generator[None, None, None]:
        run.put(A)
        page = yield from run.page()
        with monkeypatch.context() as broken:
            broken.setattr(type(run.parts.frontier._fifo), "put", refuse)
            run.put(B)
            run.parsed(page)
            yield from run.turns(5)
            run.parser.close()
            run.parser = run.boss.join("parser", 0)
            again = yield from run.page()
        yield from run.turns(10)
        assert (again.id, again.attempt) == (page.id, 1)
        assert again.id in run.parts.handover
        run.parsed(again)
        while run.words() != (1, 1):
            yield

    def refuse(_fifo: object, _groups: bytes, _mask: bytes) -> None:
        raise StorageError("segment: No space left on device")

    assert play(tmp_path, {}, script).fetched() == [A]


def test_a_stop_though_the_disk_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An orderly end: what cannot be written is as after a kill."""

    def script(run: Play) -> Generator[None, None, None]:
        page = yield from _asked(run)
        monkeypatch.setattr(type(run.parts.frontier._fifo), "flush", refuse)
        run.parsed(page)
        yield from run.turns(5)

    def _asked(run: Play) -> Generator[None, None, Page]:
        run.put(A)
        return (yield from run.page())

    def refuse(_fifo: object) -> None:
        raise StorageError("segment: No space left on device")

    run = play(tmp_path, {}, script)
    run.parts.frontier._fifo.close()


# --- limits and the end --------------------------------------------------------------------------


def test_no_more_good_pages_than_tickets(tmp_path: Path) -> None:
    """A page that is no success gives its ticket back."""
    urls = [b"http://%b.test/%d" % (host, n) for host in (b"a", b"b") for n in range(10)]
    replies = {url: Reply() for url in urls[5:]}
    good = 0

    def script(run: Play) -> Generator[None, None, None]:
        nonlocal good
        run.put(*urls)
        for _ in range(300):
            for frame in run.parser.receive():
                if frame.type == FrameType.PAGE:
                    for page in entries.decode_pages(frame.payload, frame.count):
                        good += page.outcome == Outcome.SUCCESS
                        run.parsed(page, page.outcome)
            yield

    run = play(tmp_path, replies, script, tickets=7)
    assert good == 7
    assert run.memory.words.load(ShardWord.TICKETS_HELD) == 0


def test_a_stop_waits_for_what_is_in_flight(tmp_path: Path) -> None:
    """The page is fetched, handed over and answered; nothing new begins."""

    def script(run: Play) -> Generator[None, None, None]:
        run.fetcher.is_slow = True
        run.put(A, A + b"next")
        while not run.fetcher.submitted:
            yield
        run.boss.tell("stop", drain_s=60.0)
        yield from run.turns(5)
        run.fetcher.is_slow = False
        page = yield from run.page()
        run.parsed(page)
        while run.words() != (2, 1):
            yield

    run = play(tmp_path, {}, script)
    assert run.fetched() == [A]
    assert run.words() == (2, 1)


def test_a_shard_that_has_drained_takes_links_until_all_have(tmp_path: Path) -> None:
    """Pages of the others may have links for it, and wait for its answer."""

    def script(run: Play) -> Generator[None, None, None]:
        run.boss.tell("stop", drain_s=60.0)
        yield from run.turns(3)
        assert [message["verb"] for message in run.boss.heard(2)] == ["ready", "drained"]
        run.put(A)
        yield from run.next(FrameType.WRITTEN)

    run = play(tmp_path, {}, script)
    assert (run.fetched(), run.words()) == ([], (1, 0))


def test_what_was_not_done_is_there_after_a_restart(tmp_path: Path) -> None:
    """A shard opens its log and goes on; what was done is not fetched again."""

    def first(run: Play) -> Generator[None, None, None]:
        run.put(A, B)
        page = yield from run.page()
        run.parsed(page)
        finished.append(page.url)
        while run.words() != (2, 1):
            yield
        run.boss.tell("stop", drain_s=0.0)
        yield from run.turns(MAX_TURNS)

    def second(run: Play) -> Generator[None, None, None]:
        assert run.words() == (2, 1)
        page = yield from run.page()
        finished.append(page.url)
        run.parsed(page)
        run.put(A, B)
        yield from run.next(FrameType.WRITTEN)
        while run.words() != (2, 2):
            yield

    finished: list[bytes] = []
    play(tmp_path, {}, first)
    play(tmp_path, {}, second)
    assert sorted(finished) == [A, B]


@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_page_counts_until_its_end_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str
) -> None:
    """With credit for one page the next request waits for the log: a kill brings back one page.

    With ``durability power`` it waits for the sync too, which is hurried.
    """
    unwritten = []
    submit = ScriptedFetcher.submit

    def noting(self: ScriptedFetcher, job: FetchJob, *, keep: bool, is_named: bool) -> None:
        fifo = parts[0].frontier._fifo
        unwritten.append(fifo.next_lsn - 1 - fifo.written_lsn + fifo.held)
        submit(self, job, keep=keep, is_named=is_named)

    parts: list[ShardParts] = []
    monkeypatch.setattr(ScriptedFetcher, "submit", noting)

    def script(p: Play) -> Generator[None, None, None]:
        parts.append(p.parts)
        p.put(A, B)
        for _ in range(2):
            p.parsed((yield from p.page()))

    replies = {A: Reply(b"a"), B: Reply(b"b")}
    p = play(tmp_path, replies, script, ram_urls=1, durability=durability, sync_time_s=3600.0)
    assert sorted(p.fetched()) == [A, B]
    assert unwritten[1] == 0


# --- after a crash -------------------------------------------------------------------------------


def crashed(state: Path, *urls: bytes) -> dict[bytes, int]:
    """A shard has these URLs in flight and is gone; their ids."""

    def script(run: Play) -> Generator[None, None, None]:
        run.fetcher.is_slow = True
        run.put(*urls)
        while len(run.fetcher.submitted) < len(urls):
            yield
        found.update({job.url: job.id for job in run.fetcher.submitted})
        assert sorted(run.memory.transfers()) == sorted(found.values())
        run.boss.tell("stop", drain_s=0.0)
        yield from run.turns(MAX_TURNS)

    found: dict[bytes, int] = {}
    play(state, {}, script)
    return found


def test_suspects_are_asked_for_alone(tmp_path: Path) -> None:
    """One after the other, nothing beside them; each is told to be cleared."""
    ids = crashed(tmp_path, A, B)

    def script(run: Play) -> Generator[None, None, None]:
        assert run.words() == (2, 0)
        assert run.published()["waiting"] == 2
        run.put(A + b"next", B + b"next")
        run.fetcher.is_slow = True
        for count in (1, 2):
            while len(run.fetcher.submitted) < count:
                yield
            yield from run.turns(5)
            assert len(run.memory.transfers()) == 1
            run.fetcher.is_slow = False
            yield
            run.fetcher.is_slow = True
            yield from run.answer(count)
        run.fetcher.is_slow = False
        yield from run.answer(4)
        told.extend(m["id"] for m in run.boss.heard(3) if m["verb"] == "cleared")

    told: list[int] = []
    run = play(tmp_path, {}, script, suspected=ids.values())
    assert sorted(run.fetched()[:2]) == [A, B]
    assert sorted(told) == sorted(ids.values())


def test_a_suspect_waits_for_the_rules_of_its_host(tmp_path: Path) -> None:
    """They are asked for alone too, in its name."""
    ids = crashed(tmp_path, A)

    def script(run: Play) -> Generator[None, None, None]:
        run.fetcher.is_slow = True
        while not run.fetcher.submitted:
            yield
        assert run.memory.transfers() == [ids[A]]
        run.fetcher.is_slow = False
        robots = yield from run.page()
        run.send(FrameType.ROBOTS, entries.encode_robots(robots.tag, 404, b""))
        run.parsed(robots)
        run.parsed((yield from run.page()))
        while run.words() != (1, 1):
            yield

    run = play(tmp_path, {}, script, suspected=ids.values(), ignore_robots=False)
    assert run.fetched() == [ROBOTS, A]


def test_poison_is_not_asked_for_again(tmp_path: Path) -> None:
    """It ends with that outcome; the others are asked for."""
    ids = crashed(tmp_path, A, B)

    def script(run: Play) -> Generator[None, None, None]:
        outcomes.update((yield from run.answer(2)))

    outcomes: dict[bytes, int] = {}
    run = play(
        tmp_path, {B: Reply()}, script, suspected=[ids[B]], poison=[ids[A], 12345],
    )  # fmt: skip
    assert outcomes == {A: Outcome.POISON, B: Outcome.SUCCESS}
    assert run.fetched() == [B]


def test_suspects_whose_hosts_are_not_free_go_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that must wait for a day does not stop the others."""
    monkeypatch.setattr(suspects, "PATIENCE_NS", 0)
    ids = crashed(tmp_path, A)

    def script(run: Play) -> Generator[None, None, None]:
        yield from run.turns(5)
        assert [m["verb"] for m in run.boss.heard(2)] == ["ready", "cleared"]

    run = play(tmp_path, {}, script, suspected=ids.values(), wait_duration_s=1000.0)
    assert run.parts.frontier._table.waiting == 1
    assert run.published()["waiting"] == 1
