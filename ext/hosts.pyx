# The hosts of a shard: who they are, what waits for each, and whose turn it is.
#
# Idea.  A host is one cache line; its waiting URLs are 8-byte log positions in chains (chain.h), so
# an idle host costs its line, its name and two cells of an index.  The schedule (schedule.h, with
# the states of a host and the invariants) is two kinds of heaps: each IP entry has the heap of its
# hosts by next allowed time, and one heap holds the IP entries.  Memory comes from slabs that never
# move (slabs.h), so nothing is copied when the table grows but the cells of its two indexes.
#
# Invariant of this file.  Memory is taken when something new comes (put, unget, resolved), never
# when something is given back.  So a MemoryError leaves a table that is whole.
#
# What is known of hosts and waits for them stands in hostbook.pxd, how turns begin and end in
# hostturns.pxd; here is what Python sees of them.
#
# Cost.  put O(1) a URL, in blocks whose cache misses overlap; acquire and release O(log hosts of
# the IP + log IPs).  No operation walks over hosts.

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from larbinpy._native.jobs cimport FetchResult
from hostbook cimport (
    book_add, book_append, book_bytes, book_find, book_free, book_give_up, book_init, book_put,
    host_book,
)
from hostturns cimport handed, take_turns, turn_done, turn_rules, turn_undone, turn_visit
from tables cimport (
    HASH_KEY_BYTES, LEVELS, NONE, SET_SLOTS, STATE_BUSY, STATE_FAILED, STATE_IDLE, STATE_NEW,
    STATE_RESOLVING, STATE_SCHEDULED, host_at, host_delay, host_move, host_record, ip_entry,
    ip_key, ip_mix, ip_slot, later, list_remove, name_at, records_bad,
)

import os


cdef enum:
    MAX_NAME = 255
    MAX_PER_IP = 65535

NEW = STATE_NEW
RESOLVING = STATE_RESOLVING
IDLE = STATE_IDLE
SCHEDULED = STATE_SCHEDULED
BUSY = STATE_BUSY
FAILED = STATE_FAILED


@cython.final
cdef class HostTable:
    """Know all hosts of a shard, what waits for each, and who may be asked when.

    Args:
        order: ``bfs`` (oldest URL first), ``dfs`` (newest first) or ``best`` (as ``bfs``); in each
            the lowest level goes first.
        wait_ns: least time from the start of a request to a host to the start of the next.
        wait_ip_ns: the same for all hosts of one address.
        per_ip: hosts of one address that may be BUSY at a time.  With more than one, an address is
            claimed in ``ip_table`` for ``wait_ip_ns`` only: the table then parts starts, and each
            process keeps the number for itself.
        lease_ns: how long an address is claimed in ``ip_table``; longer than any request takes.
        ip_table: writable buffer of a ``shared.IpTable``, when several shards ask.
        owner: number under which addresses are claimed there, for ``IpTable.forget``.

    Times are monotonic nanoseconds.  A host is known by its number, from 0 in the order of arrival.
    Host numbers that do not exist raise ``IndexError``.

    Process/thread: one thread only; nothing is locked.
    Invariant: at most one request at a time to each host, and ``per_ip`` to each address.
    Memory: 64 bytes a host, its name, 11 to 21 bytes of index, 8 bytes a URL and little more;
    56 bytes an address, 11 to 21 of index, 16 to 24 in the heap.
    """

    cdef host_book _book
    cdef turn_rules _rules
    cdef unsigned char[::1] _shared

    def __cinit__(
        self, *, order: str = "bfs", wait_ns: int, wait_ip_ns: int, per_ip: int = 1,
        lease_ns: int = 0, ip_table=None, owner: int = 0
    ):
        if order not in ("bfs", "dfs", "best"):
            raise ValueError(f"order must be bfs, dfs or best, not {order!r}")
        if not 0 < per_ip <= MAX_PER_IP:
            raise ValueError(f"per_ip must be in 1 .. {MAX_PER_IP}, not {per_ip}")
        self._rules.per_ip = per_ip
        self._rules.lease_ns = lease_ns
        self._rules.owner = owner
        self.set_pace(wait_ns, wait_ip_ns)
        cdef bytes secret = os.urandom(HASH_KEY_BYTES)
        book_init(&self._book, PyBytes_AS_STRING(secret), order == "dfs")
        if ip_table is not None:
            self._share(ip_table)

    def __dealloc__(self):
        book_free(&self._book)

    cdef int _share(self, ip_table) except -1:
        if not self._rules.lease_ns:
            raise ValueError("lease_ns must be positive when addresses are shared")
        self._shared = ip_table
        self._rules.slot_count = self._shared.shape[0] // sizeof(ip_slot)
        if self._rules.slot_count < SET_SLOTS:
            raise ValueError("ip_table is too small")
        self._rules.slots = <ip_slot *>&self._shared[0]
        return 0

    # --- arrivals ---------------------------------------------------------------------------

    def put(self, bytes records not None, bytes offsets not None, bytes positions not None):
        """Append the URLs of ENQ and MOVE records to the chains of their hosts.

        Args:
            records: log records (``docs/format-queue.md``), anything between them is skipped.
            offsets: u32 each: where in ``records`` a record begins.
            positions: u64 each: where that record lies in the log.

        Returns:
            The number of hosts that were not known before.

        Raises:
            ValueError: a record is malformed; nothing was put.
            MemoryError: the records before some one are put, the others are not.

        Cost: O(1) a record, 35 to 100 ns; without the GIL.
        """
        cdef size_t size = PyBytes_GET_SIZE(records)
        cdef size_t count = PyBytes_GET_SIZE(positions) // sizeof(uint64_t)
        cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(records)
        cdef const uint8_t *starts = <const uint8_t *>PyBytes_AS_STRING(offsets)
        cdef const uint8_t *places = <const uint8_t *>PyBytes_AS_STRING(positions)
        cdef uint32_t before = self._book.names.index.count
        cdef size_t bad
        cdef int status = 0
        if (<size_t>PyBytes_GET_SIZE(positions) != count * sizeof(uint64_t)
                or <size_t>PyBytes_GET_SIZE(offsets) != count * sizeof(uint32_t)):
            raise ValueError("offsets and positions must have one entry per record")
        with nogil:
            bad = records_bad(data, size, starts, count)
            if bad == count:
                status = book_put(&self._book, data, size, starts, places, count)
        if bad < count:
            raise ValueError(f"record {bad} is not a well-formed ENQ or MOVE record")
        if status < 0:
            raise MemoryError
        return self._book.names.index.count - before

    def add(self, bytes host not None):
        """Return the number of a host, making one without URLs when it is not known.

        Raises:
            ValueError: the name is empty or too long.
            MemoryError: nothing changed.
        """
        cdef size_t size = PyBytes_GET_SIZE(host)
        cdef const uint8_t *name = <const uint8_t *>PyBytes_AS_STRING(host)
        cdef uint32_t number
        if not 0 < size <= MAX_NAME:
            raise ValueError("a host name has 1 to 255 bytes")
        number = book_add(&self._book, name, size)
        if number == NONE:
            raise MemoryError
        return number

    def unget(self, host_id: int, position: int, level: int):
        """Put a URL back where it came from: of its level it will be the next one taken.

        Works in every state of the host; a BUSY host stays BUSY.

        Raises:
            ValueError: level is not in 0 .. 63.
            MemoryError: nothing changed.
        """
        cdef uint32_t number = self._number(host_id)
        if not 0 <= level < LEVELS:
            raise ValueError(f"no level {level}")
        if book_append(&self._book, number, level, position, not self._book.from_tail) < 0:
            raise MemoryError

    # --- addresses --------------------------------------------------------------------------

    def unresolved(self, limit: int):
        """Return up to ``limit`` pairs (host number, name) of hosts that need an address.

        They have URLs, are in the order in which they came to need one, and are RESOLVING from now
        on: each is to be answered by ``resolved`` or ``failed``.  IP literals are among them.
        """
        cdef list found = []
        cdef uint32_t number
        cdef Py_ssize_t left = limit
        while left > 0 and self._book.plan.fresh.count:
            number = self._book.plan.fresh.head
            found.append((number, self.host(number)))
            list_remove(&self._book.plan, &self._book.plan.fresh, number)
            host_at(&self._book.plan, number).state = STATE_RESOLVING
            left -= 1
        return found

    def resolved(self, host_id: int, bytes ip not None, now_ns: int, *, not_before_ns: int = 0):
        """Say where a host lives, for the first time or again (its old address is left).

        A BUSY host keeps its address until its release.  The failure of a FAILED host ends, but it
        is not asked before the time that was given for it.

        Args:
            ip: 4 or 16 bytes, network order.
            not_before_ns: neither host nor address is asked before; for hosts that may have been
                asked just before a restart.

        Raises:
            MemoryError: nothing changed.
        """
        cdef uint32_t number = self._number(host_id), entry
        cdef uint64_t now = now_ns, not_before = not_before_ns, key, salt
        if len(ip) not in (4, 16):
            raise ValueError("an address has 4 or 16 bytes")
        key = ip_key(ip, len(ip))
        memcpy(&salt, self._book.names.key, sizeof(salt))
        entry = ip_entry(&self._book.plan, key, <uint32_t>ip_mix(key ^ salt))
        if entry == NONE or host_move(&self._book.plan, number, entry, now, not_before) < 0:
            raise MemoryError

    def revive(self, host_id: int, bytes ip not None, now_ns: int):
        """End the failure of a FAILED host before its time; it is asked after its usual wait.

        Args:
            ip: as of ``resolved``.
        """
        cdef host_record *host = host_at(&self._book.plan, self._number(host_id))
        cdef uint64_t now = now_ns
        if host.state == STATE_FAILED:
            host.next_ns = now + later(self._rules.wait_ns, host.wait_ns)
        self.resolved(host_id, ip, now_ns)

    def failed(self, host_id: int, code: int, until_ns: int):
        """Give a host up for a time: its URLs go out with ``code`` instead of being fetched.

        The failure lasts until ``until_ns``, or until the host may be asked again if that is later;
        then the host is NEW again, once it has URLs.  A BUSY host fails at its release.

        Raises:
            ValueError: code is not in 1 .. 255.
        """
        cdef uint32_t number = self._number(host_id)
        cdef uint64_t until = until_ns
        if not 0 < code < 256:
            raise ValueError(f"no code {code}")
        book_give_up(&self._book, number, code, until)

    # --- turns ------------------------------------------------------------------------------

    def acquire(self, now_ns: int, limit: int):
        """Take up to ``limit`` URLs whose turn it is.

        Returns:
            Triples (host number, position, code).  Code 0: ask for it; host and address are BUSY
            until ``release`` or ``skip``.  Else the host has FAILED, nothing is to be given back.

        Fair: addresses, and the hosts of an address, go by next allowed time, then first come,
        first served; failed hosts give one URL each in turn.

        Cost: O(log hosts of the address + log addresses) each; without the GIL.
        """
        cdef uint64_t now = now_ns
        cdef size_t wanted = max(limit, 0), count = 0, i
        cdef size_t room = min(wanted, self._book.waiting), half = min(wanted - wanted // 2, room)
        cdef handed *out
        cdef list taken = []
        if not room:
            return taken
        out = <handed *>malloc(room * sizeof(handed))
        if out == NULL:
            raise MemoryError
        try:
            with nogil:
                count = take_turns(&self._book, &self._rules, now, out, room, half)
            for i in range(count):
                taken.append((out[i].host, out[i].position, out[i].code))
        finally:
            free(out)
        return taken

    def visit(self, host_id: int, now_ns: int):
        """Take a host for a request that is in no chain; it is BUSY until ``release`` or ``skip``.

        Returns:
            0 when it was taken; -1 when it has no address or has FAILED; else when it is worth
            trying again.
        """
        cdef uint32_t number = self._number(host_id)
        cdef uint64_t now = now_ns
        cdef uint8_t state = host_at(&self._book.plan, number).state
        if state != STATE_BUSY and state != STATE_IDLE and state != STATE_SCHEDULED:
            return -1
        return turn_visit(&self._book, &self._rules, number, now)

    def release(self, host_id: int, start_ns: int, end_ns: int):
        """Give a BUSY host back after a request that ran from ``start_ns`` to ``end_ns``.

        The host is not asked again before max(start + its wait, end), nor is its address before
        max(start + wait_ip, end); with ``per_ip`` over 1 the address need not wait for the end.

        Raises:
            ValueError: the host is not BUSY.
        """
        cdef uint32_t number = self._busy_number(host_id)
        turn_done(&self._book, &self._rules, number, start_ns, end_ns)

    def release_all(self, list results not None, int64_t end_ns):
        """``release`` the hosts of requests that have all ended at ``end_ns``.

        Args:
            results: ``FetchResult``, which know how long they took.

        Raises:
            ValueError: a host is not BUSY; those before it have been given back.
        """
        cdef FetchResult result
        cdef int64_t start_ns
        cdef uint32_t number
        for result in results:
            start_ns = end_ns - <int64_t>result.duration_us * 1000
            number = self._busy_number(result.job.host_id)
            turn_done(&self._book, &self._rules, number, start_ns, end_ns)

    def skip(self, host_id: int):
        """Give a BUSY host back whose URL needed no request: it may be taken again at once.

        Call it before another host of its address is taken.

        Raises:
            ValueError: the host is not BUSY.
        """
        cdef uint32_t number = self._busy_number(host_id)
        turn_undone(&self._book, &self._rules, number)

    def delay(self, host_id: int, until_ns: int):
        """Let a host not be asked before ``until_ns``; an earlier time changes nothing."""
        host_delay(&self._book.plan, self._number(host_id), until_ns)

    def set_wait(self, host_id: int, wait_ns: int):
        """Set a host's own least time between requests; never less than the table's counts."""
        host_at(&self._book.plan, self._number(host_id)).wait_ns = wait_ns

    def set_pace(self, wait_ns: int, wait_ip_ns: int):
        """Set the least times between requests to a host and to an address, from the next on."""
        self._rules.wait_ns = wait_ns
        self._rules.wait_ip_ns = wait_ip_ns

    def next_ns(self):
        """Return when the next URL can be taken: -1 = nothing is scheduled, 0 = at once."""
        if self._book.plan.failing.count:
            return 0
        return self._book.plan.due[0].key if self._book.plan.due_count else -1

    # --- questions --------------------------------------------------------------------------

    cdef int64_t _number(self, host_id) except -1:
        if not 0 <= host_id < self._book.names.index.count:
            raise IndexError(f"no host {host_id}")
        return host_id

    cdef int64_t _busy_number(self, host_id) except -1:
        cdef uint32_t number = self._number(host_id)
        if host_at(&self._book.plan, number).state != STATE_BUSY:
            raise ValueError(f"host {host_id} is not busy")
        return number

    def host(self, host_id: int):
        """Return the name of a host."""
        cdef host_record *host = host_at(&self._book.plan, self._number(host_id))
        return PyBytes_FromStringAndSize(name_at(&self._book.names, host), host.name_len)

    def find(self, bytes host not None):
        """Return the number of a host, -1 if it is not known."""
        cdef size_t size = PyBytes_GET_SIZE(host)
        cdef const uint8_t *name = <const uint8_t *>PyBytes_AS_STRING(host)
        cdef uint32_t number
        if size > MAX_NAME:
            return -1
        number = book_find(&self._book, name, size)
        return -1 if number == NONE else number

    def waiting_of(self, host_id: int):
        """Return how many URLs are in the chains of a host."""
        return host_at(&self._book.plan, self._number(host_id)).waiting

    def state_of(self, host_id: int):
        """Return the state of a host: NEW, RESOLVING, IDLE, SCHEDULED, BUSY or FAILED."""
        return host_at(&self._book.plan, self._number(host_id)).state

    @property
    def waiting(self):
        """Number of URLs in all chains."""
        return self._book.waiting

    @property
    def hosts(self):
        """Number of hosts ever seen."""
        return self._book.names.index.count

    @property
    def busy(self):
        """Number of BUSY hosts."""
        return self._book.busy

    @property
    def ips(self):
        """Number of addresses ever seen."""
        return self._book.plan.by_ip.count

    @property
    def unresolved_count(self):
        """Number of hosts that ``unresolved`` would return."""
        return self._book.plan.fresh.count

    @property
    def nbytes(self):
        """Bytes that the table has allocated."""
        return book_bytes(&self._book)
