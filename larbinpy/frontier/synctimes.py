"""Up to when the logs of all shards are on the medium, so that a DONE can wait for its children.

The links of a page may lie in the logs of other shards.  A shard whose log was synced publishes
when that sync began; what was written before the least of these times is safe everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from larbinpy.shared import ShardWord

if TYPE_CHECKING:
    from larbinpy.shared import CrawlMemory

FOREVER: Final = (1 << 63) - 1
"""Published by a log that has synced everything and takes no more links."""


class SyncTimes(Protocol):
    """What the logs of a crawl tell each other; times are monotonic nanoseconds."""

    def publish(self, began_ns: int) -> None:
        """What this log had written before ``began_ns`` has been synced; never goes back."""

    def common_ns(self) -> int:
        """What any log had written before this time has been synced."""

    def want(self, now_ns: int) -> None:
        """Ask all logs to sync what they have written by now, as soon as may be."""

    def wanted_ns(self) -> int:
        """The latest time that any log has asked for; 0 = none has."""


class OwnSyncTimes:
    """For a log that has no others beside it."""

    __slots__ = ("_ns", "_wanted_ns")

    def __init__(self) -> None:
        self._ns = self._wanted_ns = 0

    def publish(self, began_ns: int) -> None:
        """See ``SyncTimes``."""
        self._ns = max(self._ns, began_ns)

    def common_ns(self) -> int:
        """See ``SyncTimes``."""
        return self._ns

    def want(self, now_ns: int) -> None:
        """See ``SyncTimes``."""
        self._wanted_ns = now_ns

    def wanted_ns(self) -> int:
        """See ``SyncTimes``."""
        return self._wanted_ns


class SharedSyncTimes:
    """For the shards of a crawl: a word for each in shared memory."""

    __slots__ = ("_own", "_words")

    def __init__(self, memory: CrawlMemory, shard: int) -> None:
        self._words = [one.words for one in memory.shard]
        self._own = self._words[shard]

    def publish(self, began_ns: int) -> None:
        """See ``SyncTimes``."""
        if began_ns > self._own.load(ShardWord.SYNCED_NS):
            self._own.store(ShardWord.SYNCED_NS, began_ns)

    def common_ns(self) -> int:
        """See ``SyncTimes``."""
        return min(words.load(ShardWord.SYNCED_NS) for words in self._words)

    def want(self, now_ns: int) -> None:
        """See ``SyncTimes``."""
        self._own.store(ShardWord.WANTED_NS, now_ns)

    def wanted_ns(self) -> int:
        """See ``SyncTimes``."""
        return max(words.load(ShardWord.WANTED_NS) for words in self._words)
