"""What the children tell the supervisor, and what it does about it; see ``docs/protocol.md``."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Any, Final

from larbinpy.entries import decode_control
from larbinpy.errors import FormatError

if TYPE_CHECKING:
    from larbinpy.children import Child
    from larbinpy.supervisor.course import Course
    from larbinpy.supervisor.parts import SupervisorParts
    from larbinpy.supervisor.signals import Signals

TICK_S: Final = 0.05
"""Longest wait for the children."""


class Inbox:
    """Takes the messages of all children; one that sends what no child sends is ended."""

    __slots__ = ("_course", "_crew", "_mender", "_observer", "_pauses", "_stopping")

    def __init__(self, parts: SupervisorParts, course: Course) -> None:
        self._course = course
        self._crew = parts.crew
        self._mender = parts.mender
        self._observer = parts.observer
        self._pauses = parts.pauses
        self._stopping = parts.stopping

    def hear(self, signals: Signals) -> None:
        """Wait a moment for the children, or for a signal, and take what has come."""
        poll = select.poll()
        poll.register(signals, select.POLLIN)
        for child in self._crew:
            if not child.channel.is_closed:
                poll.register(child.channel, select.POLLIN)
        poll.poll(TICK_S * 1000)
        for child in self._crew:
            self.take(child)

    def take(self, child: Child) -> None:
        """Take what a child has said, also one that has ended."""
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
        if child.role == "shard":
            self._course.shard_up(child)

    def _on_fault(self, child: Child, message: dict[str, Any]) -> None:
        self._course.fail(f"{child.name}: {message['text']}", message["code"])

    def _on_sites(self, child: Child, _message: dict[str, Any]) -> None:
        """The seeder has written the start hosts: they are read before the first page."""
        self._course.are_sites_known = True
        self._crew.tell("shard", "sites")
        self._crew.tell("parser", "sites")
        child.tell("go")

    def _on_seeds(self, _child: Child, message: dict[str, Any]) -> None:
        self._course.are_seeds_open = False
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
        self._course.pause_or_go_on()

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
