"""The supervisor: starts the processes, joins them, watches them, ends them.

It imports nothing outside the standard library, touches no page and no URL, and is the only process
that starts others.  Its loop: hear the children, mend what died, see whether the crawl has ended or
met a limit, report.  A stop is always the same path: shards drain and close, then the parsers.
"""

from __future__ import annotations

import select
import signal
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from larbinpy.clock import SystemClock
from larbinpy.config import processes, to_json
from larbinpy.entries import decode_control
from larbinpy.errors import FormatError, LarbinError, StorageError
from larbinpy.seeds import sources
from larbinpy.shared import CrawlMemory, Global, bytes_of_pages
from larbinpy.supervisor import ending
from larbinpy.supervisor.crew import Crew
from larbinpy.supervisor.freedisk import FreeDisk
from larbinpy.supervisor.mending import Mender, names_of
from larbinpy.supervisor.observer import Observer
from larbinpy.supervisor.pauses import Pauses
from larbinpy.supervisor.reloading import Reload
from larbinpy.supervisor.signals import Signals
from larbinpy.supervisor.stopping import Stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.children import Child
    from larbinpy.clock import Clock
    from larbinpy.config import Config
    from larbinpy.manifest import Manifest
    from larbinpy.state import StateDirectory

TICK_S: Final = 0.05


class Supervisor:
    """One run of a crawl.

    Its state is where it stands: running (``_exit`` is None), or stopping, shards first.
    """

    def __init__(
        self,
        config: Config,
        directory: StateDirectory,
        manifest: Manifest,
        *,
        clock: Clock | None = None,
        reread: Callable[[], Config] | None = None,
    ) -> None:
        """``reread``: reads the configuration again, for SIGHUP; None: it cannot be."""
        self._config = config
        self._directory = directory
        self._manifest = manifest
        self._clock = clock or SystemClock()
        parsers = processes(config).parse
        self._memory = CrawlMemory.create(
            manifest.fetch_processes,
            parsers,
            page_bytes=bytes_of_pages(
                keeps_seen=config.page_no_duplicate, keeps_near=config.near_duplicates != "no"
            ),
        )
        self._crew = Crew(
            shards=manifest.fetch_processes,
            parsers=parsers,
            start={
                "config": to_json(config),
                "state": str(directory.path),
                "uuid": manifest.uuid,
                "shards": manifest.fetch_processes,
                "parsers": parsers,
                "is_trusted": manifest.is_trusted,
            },
            descriptors=(self._memory.fd,),
        )
        self._observer = Observer(config, directory.path, self._memory, self._clock)
        self._mender = Mender(
            self._crew,
            self._memory,
            self._clock,
            ip_wait_s=config.ip_wait_s,
            names=partial(names_of, directory.path, bytes.fromhex(manifest.uuid)),
            say=self._observer.say,
        )
        self._limits = ending.limits(config)
        self._pauses = Pauses(
            FreeDisk(
                (directory.path, *([config.output_dir.absolute()] if config.output_mode else [])),
                config.min_free_disk_bytes,
            )
        )
        self._paused: str | None = None
        self._ready: set[int] = set()
        self._stopping = Stop(self._crew)
        self._begun_s: float | None = None
        """When the crawl could begin; ``limitTime`` does not count the reading of the state."""
        self._are_seeds_open = True
        self._are_sites_known = False
        self._exit: str | None = None
        self._signals = 0
        self._reload = Reload(reread, self._observer.say)

    def run(self) -> int:
        """Crawl until an ending; returns the exit code."""
        heard: dict[int, Callable[[], None]] = {
            signal.SIGINT: self._on_signal,
            signal.SIGTERM: self._on_signal,
            signal.SIGHUP: self._reload.want,
        }
        with Signals(heard) as signals:
            try:
                self._crew.start_all()
                while self._exit is None:
                    self._turn(signals)
                self._stop(signals)
            except LarbinError as error:
                self._end(ending.FAULT, str(error))
            finally:
                self._crew.kill()
            self._observer.finish(self._exit or ending.FAULT)
        return ending.EXIT_CODES[self._exit or ending.FAULT]

    def _turn(self, signals: Signals) -> None:
        """One round: hear, mend, look, show."""
        self._hear(signals)
        self._mender.cut_short(self._config.parser_deadline_s)
        self._mend()
        self._reload.take(self._config, self._configure)
        self._pause_or_go_on()
        self._look()
        self._observer.show(self._crew)

    # --- hearing ---------------------------------------------------------------------------

    def _hear(self, signals: Signals) -> None:
        """Wait a moment for the children, and take their messages."""
        poll = select.poll()
        poll.register(signals, select.POLLIN)
        for child in self._crew:
            if not child.channel.is_closed:
                poll.register(child.channel, select.POLLIN)
        poll.poll(TICK_S * 1000)
        for child in self._crew:
            self._take(child)

    def _take(self, child: Child) -> None:
        try:
            messages = [decode_control(frame.payload) for frame in child.channel.receive()]
        except FormatError:
            self._mender.discard(child)
            return
        for message in messages:
            self._VERBS[message["verb"]](self, child, message)
        child.channel.flush()

    def _on_ready(self, child: Child, message: dict[str, Any]) -> None:
        self._observer.ready(child, message)
        if child.role != "shard":
            return
        self._ready.add(child.index)
        if self._exit is not None:
            self._stopping.ready(child, self._observer.seconds())
            return
        if self._are_sites_known:
            child.tell("sites")
        if self._begun_s is not None:
            child.tell("pause" if self._paused else "resume")
        elif len(self._ready) == self._crew.shards:
            self._begin()

    def _begin(self) -> None:
        """All shards are up for the first time: set the tickets, then read the seeds."""
        self._begun_s = self._observer.seconds()
        self._manifest = self._manifest.opened()
        self._directory.save(self._manifest)
        self._crew.trust()
        totals = self._observer.begin()
        if self._limits.pages:
            left = max(0, self._limits.pages - totals.counters["success"])
            self._memory.globals.store(Global.TICKETS, left)
        reading = self._reading()
        limit = self._limits.met(reading)
        if limit:
            key = ending.LIMIT_KEYS[limit]
            self._observer.say(f"{key}: the crawl has reached this limit before")
            self._exit = limit
            return
        self._pause_or_go_on()
        self._crew.tell("shard", "pause" if self._paused else "resume")
        self._crew.start_seeder()

    def _on_fault(self, child: Child, message: dict[str, Any]) -> None:
        self._end(ending.FAULT, f"{child.name}: {message['text']}")

    def _on_sites(self, child: Child, _message: dict[str, Any]) -> None:
        """The seeder has written the start hosts: they are read before the first page."""
        self._are_sites_known = True
        self._crew.tell("shard", "sites")
        self._crew.tell("parser", "sites")
        child.tell("go")

    def _on_seeds(self, child: Child, message: dict[str, Any]) -> None:
        self._are_seeds_open = False
        self._observer.seeds(message)

    def _on_notice(self, _child: Child, message: dict[str, Any]) -> None:
        self._observer.say(message["text"])

    def _on_left(self, _child: Child, message: dict[str, Any]) -> None:
        """A shard asks nothing more of a host, or of a domain's new hosts."""
        self._observer.left(message["text"])

    def _on_drained(self, child: Child, _message: dict[str, Any]) -> None:
        """Shards end together: the last pages of one may have links for the others."""
        self._stopping.drained(child)

    def _on_refused(self, child: Child, message: dict[str, Any]) -> None:
        """A child cannot write, or (without a text) can again."""
        self._pauses.refused(child.name, message["text"])
        self._pause_or_go_on()

    def _on_bad(self, child: Child, message: dict[str, Any]) -> None:
        """A shard has cut a peer that sent what no peer sends."""
        for peer in self._crew.of(message["role"]):
            if peer.index == message["index"]:
                self._observer.say(f"{peer.name} sent {child.name} garbage: {message['text']}")
                self._mender.discard(peer)

    def _on_cleared(self, _child: Child, message: dict[str, Any]) -> None:
        self._mender.clear(message["id"])

    def _on_ended(self, child: Child, _message: dict[str, Any]) -> None:
        """An orderly end; the exit code follows."""

    _VERBS: Final = {
        "ready": _on_ready,
        "fault": _on_fault,
        "sites": _on_sites,
        "seeds": _on_seeds,
        "notice": _on_notice,
        "left": _on_left,
        "drained": _on_drained,
        "refused": _on_refused,
        "bad": _on_bad,
        "cleared": _on_cleared,
        "ended": _on_ended,
    }

    # --- mending ---------------------------------------------------------------------------

    def _mend(self) -> None:
        """Replace children that died."""
        for child in self._crew:
            code = child.exit_code()
            if code is None:
                continue
            self._take(child)
            if self._exit is not None:
                return
            if child.role == "seeder":
                self._seeder_ended(child, code)
            else:
                self._replace(child, code)

    def _seeder_ended(self, child: Child, code: int) -> None:
        """A successor reads all seeds again, and what was queued before is not new.

        What a dead one has read of a pipe and not sent is lost: nobody can read that again.
        """
        if not self._are_seeds_open:
            self._crew.remove(child)
        elif sources.is_read_once(self._config.seed_file):
            self._crew.remove(child)
            text = f"the seeder ended with {code}, and what it had read of the pipe is lost"
            self._end(ending.FAULT, f"{text}: {self._config.seed_file}")
        else:
            self._replace(child, code)

    def _replace(self, child: Child, code: int) -> None:
        self._pauses.refused(child.name, "")
        if child.role == "shard":
            self._ready.discard(child.index)
        fault = self._mender.mend(child, code)
        if fault:
            self._end(ending.FAULT, fault)

    # --- looking ---------------------------------------------------------------------------

    def _reading(self) -> ending.Reading:
        outstanding = self._memory.outstanding()
        totals = self._observer.totals()
        return ending.Reading(
            outstanding=outstanding,
            success=totals.counters["success"],
            bytes_read=totals.counters["bytes_read"],
            seconds=0.0 if self._begun_s is None else self._observer.seconds() - self._begun_s,
            is_open=self._are_seeds_open or len(self._ready) < self._crew.shards,
        )

    def _look(self) -> None:
        if self._exit is None and len(self._ready) == self._crew.shards:
            self._exit = ending.verdict(self._reading(), self._limits)

    def _pause_or_go_on(self) -> None:
        """Pause before a disk is full and while one refuses to write; the shards fetch nothing."""
        self._pauses.look(self._observer.seconds())
        paused = self._pauses.reason
        if bool(paused) != bool(self._paused) and self._begun_s is not None and self._exit is None:
            self._crew.tell("shard", "pause" if paused else "resume")
        if paused != self._paused:
            self._paused = paused
            self._observer.pause(paused)

    def _end(self, exit_name: str, error: str) -> None:
        self._exit = exit_name
        self._observer.fault(error)

    # --- changing --------------------------------------------------------------------------

    def _configure(self, config: Config) -> None:
        """Let everybody go by a new configuration."""
        if self._begun_s is not None:
            self._memory.change_tickets(config.limit_page - self._config.limit_page)
        self._config = config
        self._limits = ending.limits(config)
        self._pauses.set_min_free(config.min_free_disk_bytes)
        self._mender.set_ip_wait(config.ip_wait_s)
        self._crew.configure(to_json(config))

    # --- stopping --------------------------------------------------------------------------

    def _on_signal(self) -> None:
        """SIGINT or SIGTERM: the first one ends the crawl, the second one cuts its connections."""
        self._signals += 1
        if self._exit is None:
            self._exit = ending.INTERRUPTED
            self._observer.say("stopping: waiting for what is in flight (again: at once)")
        elif self._signals > 1:
            self._stopping.cut()

    def _stop(self, signals: Signals) -> None:
        """Shards drain and close, then the parsers, for shards need them to the end.

        After a fault nothing drains, nor while a disk refuses: it would be waited for in vain.
        """
        is_vain = self._exit == ending.FAULT or self._pauses.is_refused
        drain_s = 0.0 if is_vain else self._config.drain_time_s
        for child in self._crew.of("seeder"):
            child.kill()
            self._crew.remove(child)
        for role in ("shard", "parser"):
            self._stopping.begin(role, drain_s, self._observer.seconds())
            while self._stopping.is_waiting(self._observer.seconds()):
                self._hear(signals)
                self._mender.cut_short(self._config.parser_deadline_s)
                self._observer.show(self._crew)
                self._bury()
            if self._crew.of(role):
                self._end(ending.FAULT, f"{role}s did not end in time")
        self._save_end()

    def _bury(self) -> None:
        for child in self._crew:
            code = child.exit_code()
            if code is not None:
                self._take(child)
                self._observer.remember(child)
                self._crew.remove(child)
                self._ended_while_stopping(child, code)
                self._stopping.ended(child)

    def _ended_while_stopping(self, child: Child, code: int) -> None:
        """A parser that was killed leaves nothing undone that its shards do not know of.

        A shard has a successor, which takes the links that the last pages still have for it.
        """
        if not code or self._exit == ending.FAULT:
            return
        if child.role == "shard":
            self._replace(child, code)
        elif code < 0:
            self._observer.say(f"{child.name} ended with {code} while stopping")
        else:
            self._end(ending.FAULT, f"{child.name} ended with {code} while stopping")

    def _save_end(self) -> None:
        """Note an orderly end; where a disk refuses that, it is as after a kill."""
        is_clean = self._exit != ending.FAULT and not self._paused
        try:
            self._directory.save(replace(self._manifest, clean=is_clean))
        except StorageError as error:
            if self._exit == ending.FAULT:
                raise
            self._observer.say(str(error))
