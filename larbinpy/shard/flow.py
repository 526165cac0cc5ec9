"""What the parts of a shard's loop share: how much is on its way, and whether the disk takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.clock import Clock

RETRY_NS: Final = 1_000_000_000
"""When what the disk has refused is tried again."""


class Flow:
    """Counts and states that stand from turn to turn.

    Args of ``__init__``:
        told: called with what the disk says when it refuses, and with "" when it takes all again.
    """

    __slots__ = (
        "_clock", "_retry_ns", "_told", "in_flight", "is_fetching", "is_flushed", "refusal",
        "unread", "unwritten",
    )  # fmt: skip

    def __init__(self, clock: Clock, told: Callable[[str], None]) -> None:
        self._clock = clock
        self._told = told
        self._retry_ns = 0
        self.in_flight = 0
        """Requests for queued URLs."""
        self.is_fetching = False
        """Whether the supervisor wants pages."""
        self.is_flushed = True
        """Whether nobody waits for an answer that a flush would send."""
        self.unwritten = 0
        """Pages that a parser has finished and the log may not know: a kill brings them back."""
        self.unread: dict[int, tuple[int, int, int]] = {}
        """Pages whose hosts wait for their links, with host, start and end; see ``ShardParts``."""
        self.refusal = ""
        """What the disk said when it refused; while it stands, nothing is read or fetched."""

    def attempt(self, work: Callable[[], None]) -> bool:
        """Do what the disk may refuse; then nothing is lost, and all waits until it takes it."""
        try:
            work()
        except StorageError as error:
            self.refused(error)
            return False
        return True

    def refused(self, error: StorageError) -> None:
        """The disk has refused something, which is to be tried again."""
        self._retry_ns = self._clock.now_ns() + RETRY_NS
        self._tell(str(error))

    def may_retry(self, now: int) -> bool:
        """Whether what the disk refused is to be tried again."""
        return bool(self.refusal) and now >= self._retry_ns

    def recovered(self) -> None:
        """The disk has taken everything."""
        self._tell("")

    def _tell(self, text: str) -> None:
        if text != self.refusal:
            self.refusal = text
            self._told(text)
