"""Which transfers of a shard are going on, where its supervisor can read it when it is dead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.shared import ShardWord

if TYPE_CHECKING:
    from larbinpy.records import FetchJob
    from larbinpy.shared import ShardMemory


class Slots:
    """The transfers of one shard; what finds no free slot is only counted.

    Cost: under a microsecond a transfer.
    """

    __slots__ = ("_free", "_places", "_slots", "_words")

    def __init__(self, memory: ShardMemory) -> None:
        memory.forget_transfers()
        self._slots = memory.slots
        self._words = memory.words
        self._free = list(range(len(memory.slots)))
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        """Transfers that are going on."""
        return len(self._places)

    def begin(self, request_id: int, page_id: int) -> None:
        """A transfer begins.

        Args:
            request_id: until ``end``.
            page_id: the URL that is to blame for it: the one that wants to know a robots.txt.
        """
        place = self._free.pop() if self._free else -1
        self._places[request_id] = place
        if place >= 0:
            self._slots.store(place, page_id)
        self._words.store(ShardWord.IN_FLIGHT, len(self._places))

    def begin_all(self, jobs: list[FetchJob]) -> None:
        """A transfer begins for each of these pages."""
        for job in jobs:
            self.begin(job.id, job.id)

    def end_all(self, jobs: list[FetchJob]) -> None:
        """The transfers of these jobs have ended."""
        places, free, store = self._places, self._free, self._slots.store
        for job in jobs:
            place = places.pop(job.id, -1)
            if place >= 0:
                store(place, 0)
                free.append(place)
        self._words.store(ShardWord.IN_FLIGHT, len(places))

    def end(self, request_id: int) -> None:
        """A transfer has ended, and its result was taken."""
        place = self._places.pop(request_id, -1)
        if place >= 0:
            self._slots.store(place, 0)
            self._free.append(place)
        self._words.store(ShardWord.IN_FLIGHT, len(self._places))
