"""The URLs of one shard: seen test, log, chains and schedule as one thing.

A URL is accepted when the seen test calls it new; from then on it is in exactly one state: waiting
(in a chain of the host table, or parked between two tries), or handed out (ready, in flight,
parsing) until ``done`` or ``retry``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from larbinpy._native import linkframe
from larbinpy._native.jobs import jobs_of
from larbinpy.errors import StorageError
from larbinpy.frontier.apart import Apart, places_of
from larbinpy.frontier.backlog import Backlog
from larbinpy.frontier.payloads import Retry, done_ids
from larbinpy.frontier.retries import Retries
from larbinpy.records import ID_LSN_MASK, ID_SHARD_SHIFT, FetchJob

if TYPE_CHECKING:
    from collections.abc import Collection

    from larbinpy._native.hosts import HostTable
    from larbinpy.dedup.base import SeenUrls
    from larbinpy.frontier.log import PersistentFifo
    from larbinpy.frontier.payloads import HostState, LoggedUrl
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.records import FetchResult


@dataclass(slots=True)
class Added:
    """What became of the links of a frame."""

    new: int
    seen: int
    hosts: int
    """New hosts."""


class Frontier:
    """What is to be fetched.

    Invariant: accepted = done + waiting + ``held`` + ``undone`` + (taken and neither put back nor
    done).
    After a StorageError nothing is lost: the same call, or ``commit``, goes on with it.
    """

    __slots__ = (
        "_backlog", "_fifo", "_retries", "_seen", "_shard", "_table", "_unread", "_unwritten",
        "apart",
    )  # fmt: skip

    def __init__(
        self, *, shard: int, fifo: PersistentFifo, table: HostTable, seen: SeenUrls
    ) -> None:
        self._shard = shard
        self._fifo = fifo
        self._table = table
        self._seen = seen
        self._backlog = Backlog(fifo)
        self._retries = Retries()
        self._unwritten: list[bytes] = []
        """Fingerprints of links that the log has only in its buffer."""
        self._unread: list[int] = []
        """Positions that the disk refused to read."""
        self.apart = Apart()

    def restore(self, found: Recovered, apart: Collection[int] = ()) -> None:
        """Take over what a recovered log holds.

        Args:
            apart: ids of URLs that are set apart, if they wait.
        """
        self._seen.restore(found)
        self._retries.restore(found.retries)
        if apart:
            self._set_apart(found, apart)
        for batch in found.batches():
            self._table.put(*batch)

    def _set_apart(self, found: Recovered, ids: Collection[int]) -> None:
        """Keep some of the URLs that wait out of the chains; they have no host numbers yet."""
        waiting = memoryview(found.waiting).cast("Q")
        places = places_of(ids, waiting, lambda place: self._fifo.read([place])[0][0])
        picked = [(-1, place, 0) for place in places]
        for job in self._jobs(self._fifo.read(places), picked):
            self.apart.add(job)
        found.leave_out(set(places))

    # --- links in --------------------------------------------------------------------------

    def put(self, groups: bytes) -> Added:
        """Take the links of a LINKS frame: what is new is logged and queued.

        Raises:
            ValueError: the payload is malformed; nothing was taken.
            StorageError: the log could not be written; nothing was taken.

        Cost: seven kernel calls a frame, none of which copies links but that which encodes them.
        """
        # The seen set must not know links that the log then refuses.
        self._fifo.make_room(len(groups))
        fingerprints = linkframe.fingerprints(groups)
        mask = self._seen.add_links(groups, fingerprints)
        put = self._fifo.put(groups, mask)
        hosts = self._table.put(put.records, put.offsets, put.positions)
        self._unwritten.append(fingerprints)
        new = mask.count(1)
        return Added(new, len(mask) - new, hosts)

    def commit(self) -> None:
        """Write what is buffered: what was put before is then accepted for good.

        Raises:
            StorageError: the disk refused; call it again.
        """
        self._backlog.write()
        self._fifo.flush()
        if self._unwritten:
            self._seen.add_written(b"".join(self._unwritten))
            self._unwritten.clear()

    # --- URLs out --------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """URLs in the chains, those between two tries, and those set apart."""
        return self._table.waiting + len(self._retries) + len(self.apart)

    @property
    def next_lsn(self) -> int:
        """Above the numbers of all URLs that are queued."""
        return self._fifo.next_lsn

    @property
    def undone(self) -> int:
        """URLs that have their Outcome, while the disk refuses to note it."""
        return self._backlog.urls

    @property
    def held(self) -> int:
        """URLs that are done as soon as their links are on the medium."""
        return self._fifo.held

    def hurry(self) -> None:
        """Have what is ``held`` written as soon as may be."""
        self._fifo.hurry()

    def next_ns(self) -> int:
        """When the next URL may be taken; -1 = nobody knows."""
        next_ns = self._table.next_ns()
        if not len(self._retries):
            return next_ns
        retry_ns = self._retries.next_ns()
        return retry_ns if next_ns < 0 else min(next_ns, retry_ns)

    def take(self, now_ns: int, limit: int) -> list[FetchJob]:
        """URLs whose turn it is: hosts are busy until ``release`` or ``skip``, if not ``failed``.

        Raises:
            StorageError: the disk refused; they wait again, and ``tidy`` is refused too until it
                does not.

        Cost: one kernel call, and a cached read of 1.4 us a URL.
        """
        if len(self._retries):
            self._wake(now_ns)
        picked = self._table.acquire(now_ns, limit)
        if not picked:
            return []
        places = [position for _, position, _ in picked]
        try:
            logged = self._fifo.read(places)
        except StorageError:
            self._unread = places
            for host_id, position, _ in reversed(picked):
                self._table.unget(host_id, position, 0)
                self._table.skip(host_id)
            raise
        return self._jobs(logged, picked)

    def _wake(self, now_ns: int) -> None:
        for parked in self._retries.due(now_ns):
            self._table.unget(parked.host_id, parked.position, parked.level)

    def put_back(self, job: FetchJob) -> None:
        """The URL waits again, as the next one of its host, or apart; the host stays busy."""
        if job.id in self.apart.ids:
            self.apart.add(job)
            return
        self._table.unget(job.host_id, job.position, job.level)

    def rejoin(self, job: FetchJob) -> None:
        """A URL that was set apart waits in the chain of its host, as the next one."""
        self.apart.let_go(job.id)
        self._table.unget(job.host_id, job.position, job.level)

    def release(self, host_id: int, start_ns: int, end_ns: int) -> None:
        """A request to a host has ended: its delays begin."""
        self._table.release(host_id, start_ns, end_ns)

    def release_all(self, results: list[FetchResult], end_ns: int) -> None:
        """``release`` the hosts of all these, which have ended just now."""
        self._table.release_all(results, end_ns)

    def delay(self, host_id: int, until_ns: int) -> None:
        """Leave a host alone until then."""
        self._table.delay(host_id, until_ns)

    def skip(self, host_id: int) -> None:
        """The URL taken needed no request: its host may be asked at once."""
        self._table.skip(host_id)

    def retry(self, job: FetchJob, tries: int, due_ns: int, due_us: int) -> None:
        """A URL was tried in vain, and waits for its next try.

        Args:
            tries: in vain so far.
            due_ns, due_us: when that may be, by either clock.
        """
        if tries != self._retries.tries(job.id):
            self._note(job.id, tries, due_us)
        self._retries.park(job, due_ns)

    def uncharge(self, page_id: int, tries: int) -> bool:
        """A URL that was tried so often waits: its latest try does not count.

        Returns:
            False when it is not known to have been tried so often.
        """
        if self._retries.tries(page_id) != tries:
            return False
        self._note(page_id, tries - 1, 0)
        return True

    def note_host(self, state: HostState, *, is_urgent: bool) -> None:
        """Note what a host's back-off has come to.

        Args:
            is_urgent: it is written before this returns, unless the disk refuses.
        """
        self._backlog.note(state, is_urgent=is_urgent)

    def _note(self, page_id: int, tries: int, due_us: int) -> None:
        self._retries.count(page_id, tries)
        self._backlog.note(Retry(page_id & ID_LSN_MASK, tries, due_us))

    # --- the end ---------------------------------------------------------------------------

    def done(self, entries: bytes, places: bytes) -> None:
        """These URLs have their Outcome; while the disk refuses to note it, they are ``undone``.

        Args:
            entries: DONE entries, at most 65,536 bytes.
            places: where their records lie in the log, u64 each.
        """
        if self._retries.are_known:
            for id_lsn in done_ids(entries):
                self._retries.forget(id_lsn)
        self._backlog.done(entries, places)

    def tidy(self, *, wait: bool = False) -> None:
        """Note what only memory knows, compact the log a little, delete segments that are done.

        Call it every second.

        Args:
            wait: until helper threads have written what they are writing.

        Raises:
            StorageError: the disk refused; nothing is lost, call it again.
        """
        if self._unread:
            self._fifo.read(self._unread)
            self._unread = []
        self._fifo.counts()
        self.commit()
        self._seen.save(self._fifo.segment, wait=wait)
        self._fifo.compact()
        self._fifo.collect(below=self._seen.needs_from, wait=wait)

    def close(self) -> None:
        """Write what is buffered, with the measured counters, and give the log free."""
        self._fifo.counts()
        self._fifo.close()

    def _jobs(self, urls: list[LoggedUrl], picked: list[tuple[int, int, int]]) -> list[FetchJob]:
        return jobs_of(urls, picked, self._shard << ID_SHARD_SHIFT, self._retries.known)
