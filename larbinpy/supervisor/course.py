"""Where a run stands: not begun, under way, paused, or at its end, and how it comes to that.

The parts of the supervisor's loop share this; what the children say and what becomes of them moves
it on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.shared import Global
from larbinpy.supervisor import ending

if TYPE_CHECKING:
    from larbinpy.children import Child
    from larbinpy.config import Config
    from larbinpy.supervisor.parts import SupervisorParts


class Course:
    """The course of one run; it goes on while ``exit`` is None."""

    __slots__ = (
        "_begun_s", "_crew", "_fault_code", "_limits", "_observer", "_parts", "_pauses", "_ready",
        "_signals", "are_seeds_open", "are_sites_known", "exit", "paused",
    )  # fmt: skip

    def __init__(self, parts: SupervisorParts) -> None:
        self._parts = parts
        self._crew = parts.crew
        self._observer = parts.observer
        self._pauses = parts.pauses
        self._limits = ending.limits(parts.config)
        self._ready: set[int] = set()
        """Shards that are up."""
        self._begun_s: float | None = None
        """When the crawl could begin; ``limitTime`` does not count the reading of the state."""
        self._signals = 0
        self._fault_code = ending.EXIT_CODES[ending.FAULT]
        self.exit: str | None = None
        """What the end of the run is called (see ``ending``)."""
        self.paused: str | None = None
        """Why the shards fetch nothing, for humans."""
        self.are_seeds_open = True
        """Whether the seeder may still have links."""
        self.are_sites_known = False
        """Whether the start hosts stand in the state."""

    # --- shards come and go ----------------------------------------------------------------

    def shard_up(self, shard: Child) -> None:
        """A shard has opened its log; the crawl begins when all have."""
        self._ready.add(shard.index)
        if self.exit is not None:
            self._parts.stopping.ready(shard, self._observer.seconds())
            return
        if self.are_sites_known:
            shard.tell("sites")
        if self._begun_s is not None:
            shard.tell(self._pace())
        elif self._are_all_up:
            self._begin()

    def shard_down(self, shard: Child) -> None:
        """A shard has died."""
        self._ready.discard(shard.index)

    @property
    def _are_all_up(self) -> bool:
        return len(self._ready) == self._crew.shards

    # --- the beginning ---------------------------------------------------------------------

    def _begin(self) -> None:
        """All shards are up for the first time: set the tickets, then read the seeds."""
        self._begun_s = self._observer.seconds()
        self._parts.manifest = self._parts.manifest.opened()
        self._parts.directory.save(self._parts.manifest)
        self._crew.trust()
        totals = self._observer.begin()
        if self._limits.pages:
            left = max(0, self._limits.pages - totals.counters["success"])
            self._parts.memory.globals.store(Global.TICKETS, left)
        limit = self._limits.met(self._reading())
        if limit:
            key = ending.LIMIT_KEYS[limit]
            self._observer.say(f"{key}: the crawl has reached this limit before")
            self.exit = limit
            return
        self.pause_or_go_on()
        self._crew.tell("shard", self._pace())
        self._crew.start_seeder()

    # --- on the way ------------------------------------------------------------------------

    def pause_or_go_on(self) -> None:
        """Pause before a disk is full and while one refuses to write; the shards fetch nothing."""
        self._pauses.look(self._observer.seconds())
        before, self.paused = self.paused, self._pauses.reason
        if bool(self.paused) != bool(before) and self._begun_s is not None and self.exit is None:
            self._crew.tell("shard", self._pace())
        if self.paused != before:
            self._observer.pause(self.paused)

    def _pace(self) -> str:
        return "pause" if self.paused else "resume"

    def change_limits(self, old: Config, new: Config) -> None:
        """Go by the limits of another configuration from now on."""
        if self._begun_s is not None:
            self._parts.memory.change_tickets(new.limit_page - old.limit_page)
        self._limits = ending.limits(new)

    # --- the end ---------------------------------------------------------------------------

    def look(self) -> None:
        """End the crawl when nothing is left of it, or when it has met a limit."""
        if self.exit is None and self._are_all_up:
            self.exit = ending.verdict(self._reading(), self._limits)

    def _reading(self) -> ending.Reading:
        outstanding = self._parts.memory.outstanding()
        totals = self._observer.totals()
        return ending.Reading(
            outstanding=outstanding,
            success=totals.counters["success"],
            bytes_read=totals.counters["bytes_read"],
            seconds=0.0 if self._begun_s is None else self._observer.seconds() - self._begun_s,
            is_open=self.are_seeds_open or not self._are_all_up,
        )

    def interrupt(self) -> None:
        """SIGINT or SIGTERM: the first one ends the crawl, the second one cuts its connections."""
        self._signals += 1
        if self.exit is None:
            self.exit = ending.INTERRUPTED
            self._observer.say("stopping: waiting for what is in flight (again: at once)")
        elif self._signals > 1:
            self._parts.stopping.cut()

    def fail(self, error: str, code: int = ending.EXIT_CODES[ending.FAULT]) -> None:
        """Something of ours has failed: the crawl ends with that, and with its exit code.

        What follows from the first fault changes nothing about it.
        """
        if self.exit != ending.FAULT:
            self._fault_code = code
        self.exit = ending.FAULT
        self._observer.fault(error)

    @property
    def exit_code(self) -> int:
        """The exit code of the run, which has ended."""
        if self.exit is None or self.exit == ending.FAULT:
            return self._fault_code
        return ending.EXIT_CODES[self.exit]
