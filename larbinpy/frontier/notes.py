"""What the log notes beside URLs: retries and the back-off of hosts.

A note stands in the segment where it was written last, so it is written again before that goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.frontier.payloads import (
    RecordType,
    done_ids,
    pack_host,
    pack_retry,
    unpack_host,
    unpack_retry,
)
from larbinpy.frontier.segment import payloads_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.frontier.payloads import HostState, Retry
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.frontier.segment import SegmentState
    from larbinpy.frontier.shelf import Shelf
    from larbinpy.frontier.tail import Tail


class Notes:
    """The newest retry of each waiting URL; of hosts others keep the state (``host_state``)."""

    __slots__ = ("_host_state", "_retries", "_shelf", "_tail", "_uuid")

    def __init__(
        self, tail: Tail, shelf: Shelf, found: Recovered,
        host_state: Callable[[bytes], HostState | None] | None,
    ) -> None:  # fmt: skip
        self._tail = tail
        self._shelf = shelf
        self._uuid = found.uuid
        self._retries = dict(found.retries)
        self._host_state = host_state

    def retry(self, retry: Retry) -> None:
        """Note that a URL was tried and waits for another attempt."""
        writer, _ = self._tail.append(RecordType.RETRY, pack_retry(retry))
        self._shelf.segments[writer.number].retries += 1
        self._retries[retry.id_lsn] = retry

    def host(self, state: HostState) -> None:
        """Note what a host's back-off has come to."""
        writer, _ = self._tail.append(RecordType.HOST, pack_host(state))
        self._shelf.segments[writer.number].hosts += 1

    def forget(self, entries: bytes) -> None:
        """These URLs are done: their retries are of no use."""
        if self._retries:
            for id_lsn in done_ids(entries):
                self._retries.pop(id_lsn, None)

    def again(self, kind: RecordType, payload: bytes) -> None:
        """Write a note again whose record may have been lost."""
        if kind == RecordType.HOST:
            self.host(unpack_host(payload))
        else:
            self.retry(unpack_retry(payload))

    def keep(self, state: SegmentState) -> None:
        """Write the notes of a segment again, as they are now."""
        if state.hosts and self._host_state:
            payloads = payloads_in(state.path, self._uuid, state.number, RecordType.HOST)
            for host in sorted({unpack_host(payload).host for payload in payloads}):
                current = self._host_state(host)
                if current is not None:
                    self.host(current)
        if state.retries:
            payloads = payloads_in(state.path, self._uuid, state.number, RecordType.RETRY)
            for id_lsn in sorted({unpack_retry(payload).id_lsn for payload in payloads}):
                if id_lsn in self._retries:
                    self.retry(self._retries[id_lsn])
