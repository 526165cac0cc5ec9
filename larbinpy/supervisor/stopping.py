"""The end of a run: shards drain and close, then the parsers, for shards need them to the end.

A shard has drained when nothing of it is in flight or unanswered; it still takes links then, for
the last pages of another one may have some for it.  So they close together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from larbinpy.children import Child
    from larbinpy.supervisor.crew import Crew

CLOSING_S: Final = 10.0
"""How long a child may take to close what it has open, beyond ``drainTime``."""


class Stop:
    """Tells the children of a crew to stop; nothing is told before ``begin``."""

    __slots__ = ("_crew", "_deadline_s", "_drain_s", "_drained", "_role")

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._drained: set[int] = set()
        self._role = ""
        self._drain_s = 0.0
        self._deadline_s = 0.0

    def begin(self, role: str, drain_s: float, now_s: float) -> None:
        """The children of a role are to stop within ``drain_s``."""
        self._role = role
        self._drain_s = drain_s
        self._extend(now_s)
        self._crew.tell(role, "stop", drain_s=drain_s)

    def cut(self) -> None:
        """Wait for nothing any more."""
        self._drain_s = 0.0
        self._crew.tell("shard", "stop", drain_s=0.0)

    def ready(self, child: Child, now_s: float) -> None:
        """A successor is there."""
        if child.role == self._role:
            self._extend(now_s)
            child.tell("stop", drain_s=self._drain_s)

    def drained(self, shard: Child) -> None:
        """A shard has drained; when all have, they end."""
        self._drained.add(shard.index)
        self._let_end()

    def ended(self, child: Child) -> None:
        """A child is gone; what it had drained is to be drained again by a successor."""
        if child.role == "shard":
            self._drained.discard(child.index)
            self._let_end()

    def is_waiting(self, now_s: float) -> bool:
        """Whether children of the role are still there and have time left."""
        return bool(self._crew.of(self._role)) and now_s < self._deadline_s

    def _extend(self, now_s: float) -> None:
        self._deadline_s = now_s + self._drain_s + CLOSING_S

    def _let_end(self) -> None:
        shards = self._crew.of("shard")
        if shards and self._drained.issuperset(shard.index for shard in shards):
            self._crew.tell("shard", "end")
