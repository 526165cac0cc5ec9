"""The supervisor: starts the processes, joins them, watches them, ends them.

It imports nothing outside the standard library, touches no page and no URL, and is the only process
that starts others.  Its loop: hear the children, mend what died, see whether the crawl has ended or
met a limit, report.  A stop is always the same path: shards drain and close, then the parsers.
"""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import TYPE_CHECKING

from larbinpy import promises
from larbinpy.config import to_json
from larbinpy.errors import LarbinError, StorageError
from larbinpy.supervisor import ending
from larbinpy.supervisor.course import Course
from larbinpy.supervisor.inbox import Inbox
from larbinpy.supervisor.losses import Losses
from larbinpy.supervisor.signals import Signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.config import Config
    from larbinpy.supervisor.parts import SupervisorParts


class Supervisor:
    """One run of a crawl: it goes its ``Course``, then it stops, shards first."""

    def __init__(self, parts: SupervisorParts) -> None:
        self._parts = parts
        self._crew = parts.crew
        self._mender = parts.mender
        self._observer = parts.observer
        self._stopping = parts.stopping
        self._course = Course(parts)
        self._inbox = Inbox(parts, self._course)
        self._losses = Losses(parts, self._course, self._inbox)

    def run(self) -> int:
        """Crawl until an ending; returns the exit code."""
        heard: dict[int, Callable[[], None]] = {
            signal.SIGINT: self._course.interrupt,
            signal.SIGTERM: self._course.interrupt,
            signal.SIGHUP: self._parts.reload.want,
        }
        with Signals(heard) as signals:
            try:
                self._promise(self._parts.config)
                self._crew.start_all()
                while self._course.exit is None:
                    self._turn(signals)
                self._stop(signals)
            except LarbinError as error:
                self._course.fail(str(error), error.exit_code)
            finally:
                self._crew.kill()
            self._observer.finish(self._course.exit or ending.FAULT)
        return self._course.exit_code

    def _turn(self, signals: Signals) -> None:
        """One round: hear, mend, look, show."""
        self._inbox.hear(signals)
        self._mender.cut_short(self._parts.config.parser_deadline_s)
        self._losses.mend()
        self._parts.reload.take(self._parts.config, self._configure)
        self._course.pause_or_go_on()
        self._course.look()
        self._observer.show(self._crew)

    def _configure(self, config: Config) -> None:
        """Let everybody go by a new configuration.

        Raises:
            StorageError: the disk refused to keep what it promises; nothing was changed.
        """
        self._promise(config)
        self._course.change_limits(self._parts.config, config)
        self._parts.config = config
        self._parts.pauses.set_min_free(config.min_free_disk_bytes)
        self._mender.set_ip_wait(config.ip_wait_s)
        self._crew.configure(to_json(config))

    def _promise(self, config: Config) -> None:
        """Keep what a configuration promises, before anybody is asked by it."""
        promises.keep(self._parts.directory.path, config, self._parts.clock.wall_us())

    def _stop(self, signals: Signals) -> None:
        """Shards drain and close, then the parsers, for shards need them to the end.

        After a fault nothing drains, nor while a disk refuses: it would be waited for in vain.
        """
        is_vain = self._course.exit == ending.FAULT or self._parts.pauses.is_refused
        drain_s = 0.0 if is_vain else self._parts.config.drain_time_s
        for child in self._crew.of("seeder"):
            child.kill()
            self._crew.remove(child)
        for role in ("shard", "parser"):
            self._stopping.begin(role, drain_s, self._observer.seconds())
            while self._stopping.is_waiting(self._observer.seconds()):
                self._stopping_turn(signals)
            if self._crew.of(role):
                self._course.fail(f"{role}s did not end in time")
        self._save_end()

    def _stopping_turn(self, signals: Signals) -> None:
        """One round of a stop: hear, show, bury."""
        self._inbox.hear(signals)
        self._mender.cut_short(self._parts.config.parser_deadline_s)
        self._observer.show(self._crew)
        self._losses.bury()

    def _save_end(self) -> None:
        """Note an orderly end; where a disk refuses that, it is as after a kill."""
        is_clean = self._course.exit != ending.FAULT and not self._course.paused
        try:
            self._parts.directory.save(replace(self._parts.manifest, clean=is_clean))
        except StorageError as error:
            if self._course.exit == ending.FAULT:
                raise
            self._observer.say(str(error))
