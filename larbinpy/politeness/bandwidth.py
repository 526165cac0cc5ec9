"""The line of the crawl as a bucket of bytes that all shards fill (larbin's ``bondWidth``).

One word in shared memory says when what was asked for will have gone through a line of that width;
requests begin while that moment is at most a burst ahead.  Each request takes what requests have
taken on average when it begins, and settles the difference when it has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from larbinpy._native.shared import Words

BURST_NS: Final = 250_000_000
FIRST_MEAN_BYTES: Final = 20_000
_SHARE: Final = 32
"""The mean is over about so many requests."""
UNLIMITED: Final = 1 << 30


class Bandwidth:
    """One shard's view of the bucket.

    Args of ``__init__``:
        words, index: the shared word; it begins as 0.
        bytes_per_s: 0 = no limit.

    Races between shards can lose what one request took, never more.
    """

    __slots__ = ("_index", "_mean", "_ns_per_byte", "_taken", "_words")

    def __init__(self, words: Words, index: int, bytes_per_s: int) -> None:
        self._words = words
        self._index = index
        self._ns_per_byte = 0.0
        self._mean = float(FIRST_MEAN_BYTES)
        self._taken: dict[int, int] = {}
        self.change(bytes_per_s)

    def change(self, bytes_per_s: int) -> None:
        """Another width, for requests that begin from now on."""
        self._ns_per_byte = 1e9 / bytes_per_s if bytes_per_s else 0.0

    @property
    def is_limited(self) -> bool:
        """Whether requests have to be counted at all."""
        return bool(self._ns_per_byte)

    def room(self, now_ns: int) -> int:
        """How many requests may begin now."""
        if not self._ns_per_byte:
            return UNLIMITED
        left_ns = now_ns + BURST_NS - self._words.load(self._index)
        if left_ns <= 0:
            return 0
        return 1 + int(min(left_ns, BURST_NS) / (self._mean * self._ns_per_byte))

    def next_ns(self) -> int:
        """When there is room again."""
        return self._words.load(self._index) - BURST_NS + 1

    def take(self, request: int, now_ns: int) -> None:
        """A request begins."""
        if self._ns_per_byte:
            self._taken[request] = round(self._mean * self._ns_per_byte)
            self._add(self._taken[request], now_ns)

    def settle(self, request: int, size: int, now_ns: int) -> None:
        """A request has ended with so many bytes."""
        if self._ns_per_byte:
            taken_ns = self._taken.pop(request, 0)
            self._mean += (size - self._mean) / _SHARE
            self._add(round(size * self._ns_per_byte) - taken_ns, now_ns)

    def _add(self, span_ns: int, now_ns: int) -> None:
        if self._words.load(self._index) < now_ns - BURST_NS:
            self._words.store(self._index, now_ns - BURST_NS)  # what was not used is gone
        self._words.add(self._index, span_ns)
