"""Finds transfers whose bytes are framing: chunk sizes and chunk extensions without a body.

libcurl counts such bytes nowhere, so neither the limit of a page nor that of a stall ends them, and
a server could send them for as long as a request may take.  Transfers that take long are looked at
every second: what the kernel has received, less what was counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.fetch.wire import received_bytes

if TYPE_CHECKING:
    from larbinpy._native.easyslots import Running, Slot

TICK_NS: Final = 1_000_000_000
MAX_FRAMING_BYTES: Final = 256 << 10
"""Of one transfer, beside as many bytes as its body has; a chunk a byte is honest, and 6 to 1."""
_PER_BODY_BYTE: Final = 8


class FramingWatch:
    """Looks at the transfers that are running.

    Cost: two system calls a second for each chunked transfer that takes over one.
    """

    __slots__ = ("_due_ns", "_running")

    def __init__(self, running: Running) -> None:
        self._running = running
        self._due_ns = 0

    def is_due(self, now_ns: int) -> bool:
        """Whether it is time for ``found``."""
        return now_ns >= self._due_ns and len(self._running) > 0

    def found(self, now_ns: int) -> list[Slot]:
        """Transfers that are to be ended."""
        self._due_ns = now_ns + TICK_NS
        return [slot for slot in self._running.chunked(now_ns - TICK_NS) if _is_framing(slot)]


def _is_framing(slot: Slot) -> bool:
    received = received_bytes(slot.easy)
    counted = slot.transfer.bytes_read
    if slot.received < 0:  # the connection may have served others before
        slot.received = received - counted if received else 0
        return False
    slot.framing_bytes = max(received - slot.received - counted, 0)
    return slot.framing_bytes > MAX_FRAMING_BYTES + _PER_BODY_BYTE * counted
