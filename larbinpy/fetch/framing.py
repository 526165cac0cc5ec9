"""Finds transfers whose bytes are framing: chunk sizes and chunk extensions without a body.

libcurl counts such bytes nowhere, so neither the limit of a page nor that of a stall ends them, and
a server could send them for as long as a request may take.  Transfers that take long are looked at
every second: what the kernel has received, less what was counted.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from larbinpy.fetch.wire import received_bytes

if TYPE_CHECKING:
    from larbinpy.fetch.handles import Slot

TICK_NS: Final = 1_000_000_000
MAX_FRAMING_BYTES: Final = 256 << 10
"""Of one transfer, beside as many bytes as its body has; a chunk a byte is honest, and 6 to 1."""
_PER_BODY_BYTE: Final = 8


class FramingWatch:
    """The running transfers, oldest first.

    Cost: O(1) a request; two system calls a second for each chunked transfer that takes over one.
    """

    __slots__ = ("_due_ns", "_running")

    def __init__(self) -> None:
        self._running: OrderedDict[Slot, int] = OrderedDict()  # -> received before, -1 = not asked
        self._due_ns = 0

    def began(self, slot: Slot) -> None:
        """A transfer has begun."""
        slot.framing_bytes = 0
        self._running[slot] = -1

    def ended(self, slot: Slot) -> None:
        """A transfer has ended."""
        self._running.pop(slot, None)

    def is_due(self, now_ns: int) -> bool:
        """Whether it is time for ``found``."""
        return bool(self._running) and now_ns >= self._due_ns

    def found(self, now_ns: int) -> list[Slot]:
        """Transfers that are to be ended."""
        self._due_ns = now_ns + TICK_NS
        return [slot for slot in self._old(now_ns) if self._is_framing(slot)]

    def _old(self, now_ns: int) -> list[Slot]:
        old = []
        for slot in self._running:
            if now_ns - slot.start_ns < TICK_NS:
                break
            if slot.transfer.is_chunked:
                old.append(slot)
        return old

    def _is_framing(self, slot: Slot) -> bool:
        received = received_bytes(slot.easy)
        counted = slot.transfer.bytes_read
        if self._running[slot] < 0:  # the connection may have served others before
            self._running[slot] = received - counted if received else 0
            return False
        slot.framing_bytes = max(received - self._running[slot] - counted, 0)
        return slot.framing_bytes > MAX_FRAMING_BYTES + _PER_BODY_BYTE * counted
