"""Which URLs of a log wait, with a dict from id to position."""

from __future__ import annotations

import struct

from tests.reference.logcodec import DONE, HEAD
from tests.reference.logdone import done_totals


class LiveTable:
    """Add the segments of a log in order, then ask what waits."""

    def __init__(self) -> None:
        self.places: dict[int, int] = {}
        self.segments: list[int] = []

    def __len__(self) -> int:
        return len(self.places)

    def add(
        self, segment: int, data: bytes, types: bytes, offsets: bytes, first_lsn: int,
        dones_before: int,
    ) -> tuple[bytes, bytes, bytes, bytes]:  # fmt: skip
        """Apply records; returns fingerprints, totals counted and ignored, other records."""
        prints, counted, ignored, others = b"", b"", b"", b""
        if segment not in self.segments:
            self.segments.append(segment)
        for i, (at,) in enumerate(struct.iter_unpack("<I", offsets)):
            payload = data[at + HEAD.size : at + HEAD.size + HEAD.unpack_from(data, at)[1]]
            place = segment << 32 | at
            if types[i] == 1:
                self.places[first_lsn + i] = place
                prints += payload[:8]
            elif types[i] == 2 and at < dones_before:
                counted += payload
                for done in ids_of(payload):
                    self.places.pop(done, None)
            elif types[i] == 2:
                ignored += payload
            elif types[i] == 4 and any(payload[:8]):
                self.places[int.from_bytes(payload[:8], "little")] = place
            elif types[i] != 4:
                others += at.to_bytes(4, "little")
        return prints, done_totals(counted), done_totals(ignored), others

    def live(self) -> bytes:
        """Positions in the order of the ids."""
        return b"".join(self.places[i].to_bytes(8, "little") for i in sorted(self.places))

    def live_by_segment(self) -> dict[int, int]:
        """How many wait in each segment."""
        where = [place >> 32 for place in self.places.values()]
        return {segment: where.count(segment) for segment in self.segments}

    def is_waiting(self, id: int) -> bool:
        """Whether the URL of this id waits."""
        return id in self.places


def ids_of(entries: bytes) -> list[int]:
    """The ids in the entries of a DONE record."""
    ids, at = [], 0
    while at < len(entries):
        id_lsn, _, filters, *_ = DONE.unpack_from(entries, at)
        ids.append(id_lsn)
        at += DONE.size + 5 * filters
    return ids
