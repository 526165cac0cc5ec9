"""Counters of a shard: plain numbers with fixed places, so that sums and logs stay comparable.

*Derived* counters follow from the records of the URL log and are exact after any exit; they change
only with ENQ records and by ``Counters.add_done``.
The others are *measured*: after a kill they have the value that the last COUNTS record holds.
"""

from __future__ import annotations

from array import array
from typing import Final

CODES: Final = 32
"""Places kept for outcomes, and again for filter reasons; the same number as in the kernels."""

COUNTERS: Final = (
    "accepted",
    "done",
    "pages",
    "success",
    "links_found",
    "url_dup",
    "bytes_read",
    "bytes_written",
    "hosts",
    "hosts_with_dns",
    "robots_seen",
    "robots_good",
    "seeds",
    "refetched",
    "url_seen",
    *(f"outcome_{code}" for code in range(CODES)),
    *(f"filtered_{code}" for code in range(CODES)),
    "retries",
    "outages",
    "near",
)
"""Names by index. They stand in COUNTS records: append only, never renumber.

``seeds`` and ``refetched`` are reserved: they have a place, and nobody counts them.
``pages`` have an HTTP status; ``url_dup`` were dropped by parsers, ``url_seen`` by the seen set;
``near`` pages are near-duplicates.
"""

IDENTITY: Final = ("accepted", "done", "waiting", "ready", "in_flight", "parsing")
"""States of a shard's URLs, published behind its counters: the first is the sum of the others."""

ACCEPTED: Final = 0
DONE: Final = 1
PAGES: Final = 2
SUCCESS: Final = 3
LINKS_FOUND: Final = 4
URL_DUP: Final = 5
BYTES_READ: Final = 6
BYTES_WRITTEN: Final = 7
HOSTS: Final = 8
HOSTS_WITH_DNS: Final = 9
ROBOTS_SEEN: Final = 10
ROBOTS_GOOD: Final = 11
URL_SEEN: Final = 14
FIRST_OUTCOME: Final = 15
FIRST_FILTERED: Final = FIRST_OUTCOME + CODES
RETRIES: Final = FIRST_FILTERED + CODES
OUTAGES: Final = RETRIES + 1
NEAR: Final = OUTAGES + 1

DERIVED: Final = frozenset(
    {ACCEPTED, DONE, PAGES, SUCCESS, LINKS_FOUND, URL_DUP}
    | set(range(FIRST_OUTCOME, FIRST_FILTERED + CODES))
)
"""Indexes of the counters that follow from the records of the log."""

TOTALS: Final = 5 + 2 * CODES
"""Values in the totals of a batch of DONE entries; see ``ext/logrecord.h``."""


class Counters:
    """One value for each name of ``COUNTERS``."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values = array("Q", bytes(8 * len(COUNTERS)))

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def __setitem__(self, index: int, value: int) -> None:
        self._values[index] = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counters) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]  # mutable

    def add(self, index: int, n: int = 1) -> None:
        """Count ``n`` more of the counter at ``index``."""
        self._values[index] += n

    def add_done(self, totals: bytes) -> None:
        """Count finished URLs, in a running shard as in recovery.

        Args:
            totals: of their DONE entries, by ``done_totals`` or ``LiveTable.add``.
        """
        values = array("Q", totals)
        entries, responses, _, links, duplicates = values[:5]
        self.add(DONE, entries)
        self.add(PAGES, responses)
        self.add(SUCCESS, values[5])
        self.add(LINKS_FOUND, links)
        self.add(URL_DUP, duplicates)
        for code, count in enumerate(values[5:], FIRST_OUTCOME):
            if count:
                self._values[code] += count

    def merge(self, other: Counters) -> None:
        """Add all of ``other``: totals over shards are sums."""
        for index, value in enumerate(other._values):
            self._values[index] += value

    def copy(self) -> Counters:
        """An independent copy."""
        return Counters.from_bytes(self.as_bytes())

    def values(self) -> list[int]:
        """Values in the order of ``COUNTERS``."""
        return self._values.tolist()

    def as_bytes(self) -> bytes:
        """The payload of a COUNTS record."""
        return self._values.tobytes()

    @classmethod
    def from_bytes(cls, payload: bytes) -> Counters:
        """Read a COUNTS payload of any version: missing values are 0, unknown ones left out."""
        counters = cls()
        size = 8 * len(COUNTERS)
        counters._values = array("Q", payload[:size].ljust(size, b"\0"))
        return counters

    def as_dict(self) -> dict[str, int]:
        """Values by name."""
        return dict(zip(COUNTERS, self._values, strict=True))
