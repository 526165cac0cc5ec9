"""Children that are gone: who gets a successor while the crawl goes on, and who while it stops.

How a successor is made, and who is to blame, is for ``mending``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.seeds import sources
from larbinpy.supervisor import ending

if TYPE_CHECKING:
    from larbinpy.children import Child
    from larbinpy.supervisor.course import Course
    from larbinpy.supervisor.inbox import Inbox
    from larbinpy.supervisor.parts import SupervisorParts


class Losses:
    """Notices the end of children; what they said last is taken first."""

    __slots__ = ("_course", "_crew", "_inbox", "_parts")

    def __init__(self, parts: SupervisorParts, course: Course, inbox: Inbox) -> None:
        self._parts = parts
        self._course = course
        self._inbox = inbox
        self._crew = parts.crew

    # --- while the crawl goes on -----------------------------------------------------------

    def mend(self) -> None:
        """Replace children that died; at most until the crawl is at its end."""
        for child in self._crew:
            code = child.exit_code()
            if code is None:
                continue
            self._inbox.take(child)
            if self._course.exit is not None:
                return
            if child.role == "seeder":
                self._seeder_ended(child, code)
            else:
                self._replace(child, code)

    def _seeder_ended(self, child: Child, code: int) -> None:
        """A successor reads all seeds again, and what was queued before is not new.

        What a dead one has read of a pipe and not sent is lost: nobody can read that again.
        """
        seed_file = self._parts.config.seed_file
        if not self._course.are_seeds_open:
            self._crew.remove(child)
        elif sources.is_read_once(seed_file):
            self._crew.remove(child)
            text = f"the seeder ended with {code}, and what it had read of the pipe is lost"
            self._course.fail(f"{text}: {seed_file}")
        else:
            self._replace(child, code)

    def _replace(self, child: Child, code: int) -> None:
        self._parts.pauses.refused(child.name, "")
        if child.role == "shard":
            self._course.shard_down(child)
        fault = self._parts.mender.mend(child, code)
        if fault:
            self._course.fail(fault)

    # --- while it stops --------------------------------------------------------------------

    def bury(self) -> None:
        """Remove children that have ended, as they were told to or before."""
        for child in self._crew:
            code = child.exit_code()
            if code is None:
                continue
            self._inbox.take(child)
            self._parts.observer.remember(child)
            self._crew.remove(child)
            self._ended_while_stopping(child, code)
            self._parts.stopping.ended(child)

    def _ended_while_stopping(self, child: Child, code: int) -> None:
        """A parser that was killed leaves nothing undone that its shards do not know of.

        A shard has a successor, which takes the links that the last pages still have for it.
        """
        if not code or self._course.exit == ending.FAULT:
            return
        text = f"{child.name} ended with {code} while stopping"
        if child.role == "shard":
            self._replace(child, code)
        elif code < 0:
            self._parts.observer.say(text)
        else:
            self._course.fail(text)
