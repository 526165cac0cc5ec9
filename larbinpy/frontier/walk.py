"""A segment from its first record to its last, past everything that is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy._native.logcodec import SCAN_END, SCAN_SEALED
from larbinpy.frontier.segment import HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy._native.logcodec import Codec, ScanResult


def walk(codec: Codec, data: bytes, first_lsn: int) -> Iterator[tuple[ScanResult, int]]:
    """Runs of good records, and with each where the next one begins; -1 with the last.

    Args:
        first_lsn: what the first record must have; 0 = anything.
    """
    at, expected = HEADER_BYTES, first_lsn
    while at >= 0:
        run = codec.scan(data, at, expected)
        is_whole = run.reason in (SCAN_END, SCAN_SEALED)
        at = -1 if is_whole else codec.resync(data, run.stop, run.next_lsn)
        yield run, at
        expected = 0
