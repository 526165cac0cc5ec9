"""The supervisor starts, mends and ends a crawl; its children are played by the tests."""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import entries, promises
from larbinpy.config import Config, to_json
from larbinpy.errors import ConfigError, StorageError
from larbinpy.frames import Channel, FrameType
from larbinpy.politeness.promise import Promise
from larbinpy.records import ID_SHARD_SHIFT
from larbinpy.shared import Global, ShardWord
from larbinpy.state import StateDirectory, begin
from larbinpy.stateparts import PROMISES
from larbinpy.supervisor import crew, ending, inbox
from larbinpy.supervisor.loop import Supervisor
from larbinpy.supervisor.mending import DEATHS
from larbinpy.supervisor.parts import SupervisorParts
from larbinpy.supervisor.reloading import Reload
from larbinpy.supervisor.signals import Signals
from larbinpy.testing.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator


class Actor:
    """A child that is no process."""

    started: list[Actor]

    def __init__(self, role: str, index: int) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.role, self.index = role, index
        self.name = f"{role} {index}"
        self.pid = 1000 + len(self.started)
        self.channel = Channel(ours)
        self.told: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.code: int | None = None
        self._end = Channel(theirs)
        self.started.append(self)

    def tell(self, verb: str, *, descriptors: tuple[int, ...] = (), **fields: Any) -> None:
        self.told.append(verb)
        self.messages.append({"verb": verb, **fields})

    def say(self, verb: str, **fields: Any) -> None:
        """Send the supervisor a message."""
        self._end.send(FrameType.CONTROL, entries.encode_control(verb, **fields), count=1)
        assert self._end.flush()

    def send(self, data: bytes) -> None:
        """Send the supervisor something else."""
        self._end._sock.send(data)

    def exit_code(self) -> int | None:
        return self.code

    def kill(self) -> None:
        if self.code is None:
            self.code = -signal.SIGKILL
        self._end.close()

    def cpu_s(self) -> float:
        return 0.0


class Stage:
    """A supervisor and its actors."""

    def __init__(self, path: Path, **keys: Any) -> None:
        keys = {"fetch_processes": 2, "parse_processes": 1, "output_mode": 0, **keys}
        config = Config(state_dir=path, drain_time_s=1.0, **keys)
        self.path = path
        self.clock = FakeClock()
        self.directory = StateDirectory(path)
        manifest = begin(self.directory, config, reload=False)
        self.parts = SupervisorParts.make(config, self.directory, manifest, clock=self.clock)
        self.memory = self.parts.memory
        self.made = Supervisor(self.parts)
        self.course = self.made._course
        self.parts.crew.start_all()
        self.signals = Signals({})

    def of(self, role: str, index: int = 0) -> Actor:
        """The newest actor of a part."""
        found = [a for a in Actor.started if (a.role, a.index) == (role, index)]
        return found[-1]

    def turn(self) -> None:
        self.made._turn(self.signals)

    def begin(self) -> None:
        """Both shards are up."""
        for index in (0, 1):
            self.of("shard", index).say("ready", notices=[])
        self.turn()

    @property
    def exit(self) -> str | None:
        return self.course.exit

    @property
    def error(self) -> str | None:
        return self.parts.observer._run.error


@pytest.fixture
def stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Stage]:
    """Two shards and a parser have been started."""
    monkeypatch.setattr(inbox, "TICK_S", 0.0)
    monkeypatch.setattr(Actor, "started", [], raising=False)
    monkeypatch.setattr(crew, "Child", Actor)
    made = Stage(tmp_path / "crawl", **getattr(request, "param", {}))
    yield made
    made.parts.crew.kill()
    for actor in Actor.started:
        actor.kill()
    made.directory.close()
    os.close(made.memory.fd)
    for sock in (made.signals._reader, made.signals._writer):
        sock.close()


def keys(**values: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("stage", [values], indirect=True)


# --- beginning -----------------------------------------------------------------------------------


def test_fetching_begins_when_all_shards_are_up(stage: Stage) -> None:
    """Then the seeds are read, not before."""
    stage.of("shard", 0).say("ready")
    stage.turn()
    assert "resume" not in stage.of("shard", 0).told
    stage.of("shard", 1).say("ready")
    stage.turn()
    assert stage.of("shard", 0).told == ["start", "peer", "resume", "peer"]
    assert stage.of("seeder").told == ["start", "peer", "peer"]


def test_a_shard_that_dies_before_the_others_are_up(stage: Stage) -> None:
    """Its successor completes them."""
    stage.of("shard", 0).say("ready")
    stage.turn()
    stage.of("shard", 0).code = -9
    stage.turn()
    stage.begin()
    assert "resume" in stage.of("shard", 0).told
    assert "resume" in stage.of("shard", 1).told


def test_a_shard_that_is_started_again_fetches_again(stage: Stage) -> None:
    """As soon as it has read its log; the seeds are not read a second time."""
    stage.begin()
    dead = stage.of("shard", 1)
    dead.code = -9
    stage.turn()
    successor = stage.of("shard", 1)
    assert successor is not dead
    assert successor.told == ["start", "peer", "peer"]  # the parser, the seeder
    successor.say("ready")
    stage.turn()
    assert successor.told[-1] == "resume"
    assert len([a for a in Actor.started if a.role == "seeder"]) == 1


@keys(limit_page=10)
def test_the_limit_of_pages_becomes_tickets(stage: Stage) -> None:
    """As many as are left of it."""
    stage.begin()
    assert stage.memory.globals.load(Global.TICKETS) == 10


# --- the end -----------------------------------------------------------------------------------


def seeds_are_read(stage: Stage) -> None:
    stage.begin()
    stage.of("seeder").say("seeds", lines=0, bad=0, users=0)
    stage.of("seeder").code = 0
    stage.turn()


def test_a_crawl_without_work_has_finished(stage: Stage) -> None:
    """But not while seeds are read."""
    stage.begin()
    stage.turn()
    assert stage.exit is None
    seeds_are_read(stage)
    assert stage.exit == ending.FINISHED


def test_a_crawl_goes_on_while_something_is_outstanding(stage: Stage) -> None:
    """Or a shard is down, which could bring more."""
    words = stage.memory.shard[0].words
    words.store(ShardWord.ACCEPTED, 2)
    seeds_are_read(stage)
    assert stage.exit is None
    stage.of("shard", 0).code = -9
    words.store(ShardWord.DONE, 2)
    stage.turn()
    assert stage.exit is None
    stage.of("shard", 0).say("ready")
    stage.turn()
    assert stage.exit == ending.FINISHED


@keys(limit_time_s=5.0)
def test_the_limit_of_time(stage: Stage) -> None:
    """Counts from the start of this run."""
    stage.begin()
    stage.clock.pass_s(4.9)
    stage.turn()
    assert stage.exit is None
    stage.clock.pass_s(0.1)
    stage.turn()
    assert stage.exit == ending.TIME_LIMIT


def test_nothing_begins_after_the_end(stage: Stage) -> None:
    """A shard that comes up during a stop is not told to fetch, and no seeds are read."""
    stage.course.interrupt()
    stage.begin()
    assert stage.exit == ending.INTERRUPTED
    assert "resume" not in stage.of("shard", 0).told
    assert [a for a in Actor.started if a.role == "seeder"] == []


def test_a_stop_is_shards_first(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the parsers; the state is then marked as cleanly stopped."""
    order: list[str] = []
    tell = Actor.tell

    def obey(self: Actor, verb: str, **fields: Any) -> None:
        tell(self, verb, **fields)
        if verb == "stop":
            order.append(self.name)
            self.code = 0

    monkeypatch.setattr(Actor, "tell", obey)
    stage.begin()
    stage.course.interrupt()
    stage.made._stop(stage.signals)
    assert order == ["shard 0", "shard 1", "parser 0"]
    assert stage.exit == ending.INTERRUPTED
    manifest = stage.directory.load()
    assert manifest is not None
    assert manifest.clean


def test_shards_end_when_all_have_drained(stage: Stage) -> None:
    """Or when those that have not are gone."""
    stage.begin()
    stage.course.interrupt()
    stage.of("shard", 1).say("drained")
    stage.turn()
    assert "end" not in stage.of("shard", 1).told
    stage.of("shard", 0).say("drained")
    stage.turn()
    assert [stage.of("shard", index).told[-1] for index in (0, 1)] == ["end", "end"]


def test_a_second_signal_cuts_the_connections(stage: Stage) -> None:
    """The shards are told to wait for nothing."""
    stage.begin()
    stage.course.interrupt()
    assert "stop" not in stage.of("shard", 0).told
    stage.course.interrupt()
    assert stage.of("shard", 1).messages[-1] == {"verb": "stop", "drain_s": 0.0}


def test_the_last_words_of_a_child_that_dies_in_a_stop(stage: Stage) -> None:
    """Its own text is the fault, not only its exit code."""
    stage.begin()
    stage.course.exit = ending.FINISHED
    for actor in Actor.started:
        actor.code = 0
    stage.of("shard", 0).code = 1

    stage.of("shard", 0).say("fault", text="disk full", code=1)
    stage.made._losses.bury()
    assert stage.exit == ending.FAULT
    assert stage.error == "shard 0: disk full"


@pytest.mark.parametrize(
    ("role", "code", "exit_name"),
    [
        ("parser", -signal.SIGKILL, ending.FINISHED),
        ("parser", 1, ending.FAULT),
        ("shard", -signal.SIGKILL, ending.FINISHED),
        ("shard", 1, ending.FINISHED),
    ],
)
def test_who_may_die_in_a_stop(stage: Stage, role: str, code: int, exit_name: str) -> None:
    """A parser leaves nothing undone that its shards do not know of; a shard has a successor."""
    stage.begin()
    stage.course.exit = ending.FINISHED
    stage.of(role).code = code
    stage.made._losses.bury()
    assert stage.exit == exit_name


def test_a_shard_that_dies_in_a_stop_has_a_successor(stage: Stage) -> None:
    """It is told to stop as soon as it is there, and the others wait until it has drained."""
    stage.begin()
    stage.course.interrupt()
    stage.parts.stopping.begin("shard", 1.0, 0.0)
    stage.of("shard", 0).say("drained")
    stage.of("shard", 1).say("drained")
    dead = stage.of("shard", 1)
    dead.code = -9
    stage.made._losses.bury()
    successor = stage.of("shard", 1)
    assert successor is not dead
    assert "end" not in successor.told
    successor.say("ready")
    stage.made._inbox.hear(stage.signals)
    assert successor.messages[-1] == {"verb": "stop", "drain_s": 1.0}
    successor.say("drained")
    stage.made._inbox.hear(stage.signals)
    assert [stage.of("shard", index).told[-1] for index in (0, 1)] == ["end", "end"]
    assert stage.exit == ending.INTERRUPTED


def test_an_end_that_cannot_be_noted(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk: the run ends as it would have, and its state counts as that of a kill."""

    def refuse(_manifest: object) -> None:
        raise StorageError("MANIFEST: No space left on device")

    stage.begin()
    stage.course.interrupt()
    monkeypatch.setattr(stage.parts, "directory", SimpleNamespace(save=refuse))
    stage.made._save_end()
    assert stage.exit == ending.INTERRUPTED


# --- mending -----------------------------------------------------------------------------------


def test_a_parser_is_started_again(stage: Stage) -> None:
    """And joined to all shards; the page it had in hand is charged to it, by its shard."""
    stage.begin()
    page_id = 1 << ID_SHARD_SHIFT | 77
    stage.memory.parser[0].begin(page_id, 5)
    stage.of("parser").code = -11
    stage.turn()
    assert stage.of("shard", 1).messages[-2:] == [
        {"verb": "blame", "id": page_id},
        {"verb": "peer", "role": "parser", "index": 0},
    ]
    assert "blame" not in stage.of("shard", 0).told
    assert stage.memory.parser[0].blamed() is None
    assert stage.of("parser").told == ["start", "peer", "peer"]


@keys(parser_deadline_s=2.0)
def test_a_parser_that_takes_too_long_is_ended(stage: Stage) -> None:
    """Its page is charged, and it has a successor; that is no crash of ours."""
    stage.begin()
    page_id = 1 << ID_SHARD_SHIFT | 77
    slow = stage.of("parser")
    stage.memory.parser[0].begin(page_id, stage.clock.now_ns())
    stage.clock.pass_s(1.9)
    stage.turn()
    assert stage.of("parser") is slow
    stage.clock.pass_s(0.1)
    stage.turn()
    assert slow.code == -signal.SIGKILL
    assert stage.of("parser") is not slow
    assert {"verb": "blame", "id": page_id} in stage.of("shard", 1).messages
    assert stage.memory.parser[0].blamed() is None


@keys(parser_deadline_s=2.0)
def test_a_page_that_is_through_in_the_last_moment_is_not_charged(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor the one that came after it."""
    stage.begin()
    memory = stage.memory.parser[0]
    memory.begin(1 << ID_SHARD_SHIFT | 77, stage.clock.now_ns())
    stage.clock.pass_s(2.0)
    kill = Actor.kill

    def late(self: Actor) -> None:
        memory.begin(1 << ID_SHARD_SHIFT | 78, stage.clock.now_ns())
        kill(self)

    monkeypatch.setattr(Actor, "kill", late)
    stage.turn()
    assert "blame" not in stage.of("shard", 1).told
    assert stage.exit is None


def test_a_dead_shards_tickets_come_back(stage: Stage) -> None:
    """It holds none while it is down."""
    stage.begin()
    memory = stage.memory
    memory.globals.store(Global.TICKETS, 5)
    assert memory.take_tickets(0, 3)
    stage.of("shard", 0).code = -9
    stage.turn()
    assert memory.globals.load(Global.TICKETS) == 5
    assert memory.shard[0].words.load(ShardWord.TICKETS_HELD) == 0


def deaths(stage: Stage, role: str, code: int, *, apart_s: float, page: int | None) -> str | None:
    """The end of a crawl with ``DEATHS`` deaths."""
    stage.begin()
    for _ in range(DEATHS):
        stage.clock.pass_s(apart_s)
        if page is not None:
            stage.memory.parser[0].begin(page, 5)
        stage.of(role).code = code
        stage.turn()
    return stage.exit


@pytest.mark.parametrize(
    ("role", "code", "apart_s", "page", "expected"),
    [
        ("shard", -9, 1.0, None, ending.FAULT),
        ("shard", -9, 40.0, None, None),
        ("parser", 1, 1.0, None, ending.FAULT),
        ("parser", 1, 1.0, 7, None),
        ("parser", -9, 1.0, None, None),
        ("parser", -11, 1.0, 7, None),
    ],
)
def test_no_crash_loop(
    stage: Stage, role: str, code: int, apart_s: float, page: int | None, expected: str | None
) -> None:
    """Three deaths of our own making within a minute end the crawl; pages and kills do not."""
    assert deaths(stage, role, code, apart_s=apart_s, page=page) == expected


def test_a_fault_of_a_child_ends_the_crawl(stage: Stage) -> None:
    """Its text is shown."""
    stage.begin()
    stage.of("parser").say("fault", text="disk full", code=1)
    stage.turn()
    assert stage.exit == ending.FAULT
    assert stage.error == "parser 0: disk full"


def test_the_first_fault_says_the_exit_code(stage: Stage) -> None:
    """Of a configuration that only a child could see to be of no use, it is 2."""
    stage.begin()
    stage.of("shard", 0).say("fault", text="caFile: no", code=2)
    stage.turn()
    stage.of("shard", 1).say("fault", text="disk full", code=1)
    stage.turn()
    assert (stage.exit, stage.course.exit_code) == (ending.FAULT, 2)


def test_a_seeder_that_dies_is_started_again(stage: Stage) -> None:
    """And joined to all shards; it reads all seeds, and what was queued before is not new."""
    stage.begin()
    dead = stage.of("seeder")
    dead.code = -9
    stage.turn()
    assert stage.exit is None
    assert stage.of("seeder") is not dead
    assert stage.of("seeder").told == ["start", "peer", "peer"]
    stage.of("seeder").say("seeds", lines=1, bad=0, users=0)
    stage.turn()
    stage.of("seeder").code = 1
    stage.turn()
    assert stage.exit == ending.FINISHED  # what it dies of behind its seeds is nobody's business


def test_a_seeder_that_always_dies_ends_the_crawl(stage: Stage) -> None:
    """No crash loop."""
    assert deaths(stage, "seeder", -9, apart_s=1.0, page=7) == ending.FAULT
    assert stage.memory.parser[0].blamed() == (7, 5)  # a page of a parser is not charged


@keys(seed_file=Path("-"))
def test_a_seeder_that_dies_with_a_pipe_ends_the_crawl(stage: Stage) -> None:
    """What it has read and not sent cannot be read again."""
    stage.begin()
    stage.of("seeder").code = -9
    stage.turn()
    assert stage.exit == ending.FAULT
    assert "what it had read of the pipe is lost" in (stage.error or "")


def test_a_peer_that_a_shard_has_cut_is_replaced(stage: Stage) -> None:
    """As one that died of itself: three times within a minute are too often."""
    stage.begin()
    for number in range(DEATHS):
        bad = stage.of("parser")
        stage.of("shard", 1).say("bad", role="parser", index=0, text="a frame of type 4")
        stage.turn()
        stage.turn()
        assert bad.code == -signal.SIGKILL
        assert (stage.of("parser") is bad) == (number == DEATHS - 1)
    assert stage.exit == ending.FAULT


@pytest.mark.parametrize(
    "garbage", [b"\xff" * 20, b"\x02\0\0\0\x10\0\1\0\1\0\0\0{}"], ids=["frame", "verb"]
)
def test_a_child_that_sends_garbage_is_replaced(stage: Stage, garbage: bytes) -> None:
    """It is killed; what it says after that does not count."""
    stage.begin()
    bad = stage.of("parser")
    bad.send(garbage)
    stage.turn()
    assert bad.code == -signal.SIGKILL
    assert stage.of("parser") is not bad
    assert stage.exit is None


def test_sites_are_told_before_the_seeder_goes_on(stage: Stage) -> None:
    """``lockSite``."""
    stage.begin()
    stage.of("seeder").say("sites")
    stage.turn()
    assert stage.of("parser").told[-1] == "sites"
    assert stage.of("seeder").told[-1] == "go"


# --- another configuration -----------------------------------------------------------------------


def test_a_hangup_reads_the_configuration_again(stage: Stage) -> None:
    """Shards and parsers are told, successors begin with it, and the supervisor goes by it."""
    stage.begin()
    old = stage.parts.config
    new = replace(old, wait_duration_s=3.0, limit_time_s=5.0, use_cookies=True)
    expected = to_json(replace(new, use_cookies=False))
    told = []
    stage.parts.reload = Reload(lambda: new, lambda _: told.append(stage.of("shard").messages[-1]))
    stage.parts.reload.want()
    stage.turn()
    assert told == [{"verb": "config", "config": expected}] * 2  # when it is said, all know it
    for role in ("shard", "parser"):
        assert stage.of(role).messages[-1] == {"verb": "config", "config": expected}
    stage.of("parser").code = -9
    stage.turn()
    assert stage.of("parser").messages[0]["config"] == expected
    stage.clock.pass_s(5.0)
    stage.turn()
    assert stage.exit == ending.TIME_LIMIT


@keys(limit_page=10)
@pytest.mark.parametrize(("pages", "left"), [(15, 15), (4, 4)])
def test_another_limit_of_pages_becomes_tickets(stage: Stage, pages: int, left: int) -> None:
    """More of them, or fewer."""
    stage.begin()
    stage.parts.reload = Reload(lambda: replace(stage.parts.config, limit_page=pages), print)
    stage.parts.reload.want()
    stage.turn()
    assert stage.memory.globals.load(Global.TICKETS) == left


def test_a_configuration_that_is_wrong_changes_nothing(stage: Stage) -> None:
    """The crawl goes on as before."""

    def wrong() -> Config:
        raise ConfigError("larbin.conf:1: waitDuration: soon")

    stage.begin()
    stage.parts.reload = Reload(wrong, print)
    stage.parts.reload.want()
    stage.turn()
    assert "config" not in stage.of("shard").told
    assert stage.exit is None


def test_a_promise_is_kept_before_anybody_hears_of_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the time of the change; nobody is asked at a pace that the state does not know."""
    told: list[Promise] = []
    monkeypatch.setattr(
        crew.Crew, "configure", lambda *_: told.append(promises.kept(stage.path)[-1].host)
    )
    stage.begin()
    stage.clock.pass_s(7.0)
    stage.parts.reload = Reload(lambda: replace(stage.parts.config, wait_duration_s=3.0), print)
    stage.parts.reload.want()
    stage.turn()
    assert told == [Promise(3_000_000)]
    assert promises.kept(stage.path)[-1].since_us == stage.clock.wall_us()


def test_a_promise_that_cannot_be_kept_is_not_made(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk that refuses it changes nothing, and ends nothing."""
    (stage.path / PROMISES).mkdir()
    stage.begin()
    old = stage.parts.config
    stage.parts.reload = Reload(lambda: replace(old, wait_duration_s=3.0), print)
    stage.parts.reload.want()
    stage.turn()
    assert "config" not in stage.of("shard").told
    assert (stage.parts.config, stage.exit) == (old, None)
    assert "; nothing was changed\n" in capsys.readouterr().out
