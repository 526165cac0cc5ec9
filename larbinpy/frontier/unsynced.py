"""What the machine may have forgotten: records above the last SYNCMARK.

When only processes died, every valid record counts.  When the machine went down, those above the
last mark may be there while older ones are not: of them, DONEs do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy._native.logcodec import Codec
from larbinpy.frontier.disk import storage_errors
from larbinpy.frontier.payloads import RecordType, unpack_mark
from larbinpy.frontier.walk import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from larbinpy._native.logcodec import ScanResult
    from larbinpy.frontier.segment import SegmentState


def first_unsynced(segments: Sequence[SegmentState], uuid: bytes) -> tuple[int, int] | None:
    """Segment and offset of the first record above the last SYNCMARK; None without a DONE there.

    Args:
        segments: by rising number.

    Raises:
        StorageError: a segment cannot be read.

    Cost: reads the segments from the newest back to the one with the place.
    """
    mark, place, has_done = -1, None, False
    for segment in reversed(segments):
        with storage_errors(segment.path):
            data = segment.path.read_bytes()
        codec = Codec(uuid, segment.number)
        runs = [run for run, _ in walk(codec, data, 0) if len(run)]
        if mark < 0:
            mark = max((_mark(codec, data, run) for run in runs), default=-1)
        for run in reversed(runs):
            start = max(mark + 1 - run.first_lsn, 0)
            if start < len(run):
                place = segment.number, memoryview(run.offsets).cast("I")[start]
                has_done = has_done or RecordType.DONE in run.types[start:]
            if start > 0:
                return place if has_done else None
    return place if has_done else None


def _mark(codec: Codec, data: bytes, run: ScanResult) -> int:
    """The highest SYNCMARK of a run; -1 when there is none."""
    offsets = memoryview(run.offsets).cast("I")
    at = run.types.rfind(RecordType.SYNCMARK)
    return unpack_mark(codec.record(data, offsets[at])[2])[0] if at >= 0 else -1
