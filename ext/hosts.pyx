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
# Cost.  put O(1) a URL, in blocks whose cache misses overlap; acquire and release O(log hosts of
# the IP + log IPs).  No operation walks over hosts.

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from tables cimport (
    HASH_KEY_BYTES, LEVELS, NONE, SET_SLOTS, STATE_BUSY, STATE_FAILED, STATE_IDLE, STATE_NEW,
    STATE_RESOLVING, STATE_SCHEDULED, arrival, arrivals_find, heap_remove, host_at, host_delay,
    host_fail, host_give_back, host_leave, host_move, host_moved, host_record, host_woken,
    index_cell, index_size, ip_at, ip_claim, ip_entry, ip_key, ip_mix, ip_nodes, ip_record,
    ip_release, ip_slot, ip_until, later, list_add, list_remove, name_add, name_at, name_find,
    name_hash,
    name_table, piece_pool, queue_pop, queue_push, record_read, records_bad, schedule,
    schedule_bytes, schedule_free, schedule_init, settle, slabs_free,
)

import os


cdef enum:
    BLOCK = 16  # records of put() whose cache misses overlap
    CLAIM_RETRY_NS = 10_000_000
    MAX_NAME = 255
    MAX_PER_IP = 65535

NEW = STATE_NEW
RESOLVING = STATE_RESOLVING
IDLE = STATE_IDLE
SCHEDULED = STATE_SCHEDULED
BUSY = STATE_BUSY
FAILED = STATE_FAILED


ctypedef struct handed:
    uint64_t position
    uint32_t host
    uint32_t code


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

    cdef schedule _schedule
    cdef name_table _names
    cdef piece_pool _pieces
    cdef uint32_t _busy
    cdef uint64_t _waiting
    cdef uint64_t _wait_ns
    cdef uint64_t _wait_ip_ns
    cdef uint64_t _lease_ns
    cdef uint64_t _owner
    cdef uint32_t _per_ip
    cdef bint _from_tail
    cdef unsigned char[::1] _shared
    cdef ip_slot *_slots
    cdef size_t _slot_count

    def __cinit__(
        self, *, order: str = "bfs", wait_ns: int, wait_ip_ns: int, per_ip: int = 1,
        lease_ns: int = 0, ip_table=None, owner: int = 0
    ):
        if order not in ("bfs", "dfs", "best"):
            raise ValueError(f"order must be bfs, dfs or best, not {order!r}")
        if not 0 < per_ip <= MAX_PER_IP:
            raise ValueError(f"per_ip must be in 1 .. {MAX_PER_IP}, not {per_ip}")
        self._per_ip = per_ip
        self._from_tail = order == "dfs"
        self._wait_ns = wait_ns
        self._wait_ip_ns = wait_ip_ns
        self._lease_ns = lease_ns
        self._owner = owner
        schedule_init(&self._schedule)
        cdef bytes secret = os.urandom(HASH_KEY_BYTES)
        memcpy(self._names.key, PyBytes_AS_STRING(secret), HASH_KEY_BYTES)
        if ip_table is not None:
            self._share(ip_table)

    def __dealloc__(self):
        schedule_free(&self._schedule)
        slabs_free(&self._names.slabs)
        slabs_free(&self._pieces.slabs)
        free(self._names.index.cells)

    cdef int _share(self, ip_table) except -1:
        if not self._lease_ns:
            raise ValueError("lease_ns must be positive when addresses are shared")
        self._shared = ip_table
        self._slot_count = self._shared.shape[0] // sizeof(ip_slot)
        if self._slot_count < SET_SLOTS:
            raise ValueError("ip_table is too small")
        self._slots = <ip_slot *>&self._shared[0]
        return 0

    # --- arrivals ---------------------------------------------------------------------------

    cdef int _append(self, uint32_t number, uint32_t level, uint64_t position,
                     bint at_head) noexcept nogil:
        cdef host_record *host = host_at(&self._schedule, number)
        if queue_push(&self._pieces, &host.urls, level, position, at_head) < 0:
            return -1
        self._waiting += 1
        host.waiting += 1
        if host.waiting == 1:
            host_woken(&self._schedule, number)
        return 0

    cdef int _put_block(self, arrival *block, size_t count) noexcept nogil:
        cdef size_t i
        if arrivals_find(&self._names, &self._schedule, &self._pieces, block, count) < 0:
            return -1
        for i in range(count):
            if self._append(block[i].host, block[i].level, block[i].position, False) < 0:
                return -1
        return 0

    cdef int _put_all(self, const uint8_t *records, size_t size, const uint8_t *offsets,
                      const uint8_t *positions, size_t count) noexcept nogil:
        cdef arrival block[BLOCK]
        cdef size_t i, used = 0
        cdef uint32_t offset
        for i in range(count):
            memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset))
            memcpy(&block[used].position, positions + i * sizeof(uint64_t), sizeof(uint64_t))
            record_read(records + offset, size - offset, &block[used])
            used += 1
            if used == BLOCK or i + 1 == count:
                if self._put_block(block, used) < 0:
                    return -1
                used = 0
        return 0

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
        cdef uint32_t before = self._names.index.count
        cdef size_t bad
        cdef int status = 0
        if (<size_t>PyBytes_GET_SIZE(positions) != count * sizeof(uint64_t)
                or <size_t>PyBytes_GET_SIZE(offsets) != count * sizeof(uint32_t)):
            raise ValueError("offsets and positions must have one entry per record")
        with nogil:
            bad = records_bad(data, size, starts, count)
            if bad == count:
                status = self._put_all(data, size, starts, places, count)
        if bad < count:
            raise ValueError(f"record {bad} is not a well-formed ENQ or MOVE record")
        if status < 0:
            raise MemoryError
        return self._names.index.count - before

    def add(self, bytes host not None):
        """Return the number of a host, making one without URLs when it is not known.

        Raises:
            ValueError: the name is empty or too long.
            MemoryError: nothing changed.
        """
        cdef size_t size = PyBytes_GET_SIZE(host)
        cdef const uint8_t *name = <const uint8_t *>PyBytes_AS_STRING(host)
        cdef uint32_t hash, number
        if not 0 < size <= MAX_NAME:
            raise ValueError("a host name has 1 to 255 bytes")
        hash = name_hash(&self._names, name, size)
        number = name_find(&self._names, &self._schedule, name, size, hash)
        if number == NONE:
            number = name_add(&self._names, &self._schedule, name, size, hash)
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
        if self._append(number, level, position, not self._from_tail) < 0:
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
        while left > 0 and self._schedule.fresh.count:
            number = self._schedule.fresh.head
            found.append((number, self.host(number)))
            list_remove(&self._schedule, &self._schedule.fresh, number)
            host_at(&self._schedule, number).state = STATE_RESOLVING
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
        memcpy(&salt, self._names.key, sizeof(salt))
        entry = ip_entry(&self._schedule, key, <uint32_t>ip_mix(key ^ salt))
        if entry == NONE or host_move(&self._schedule, number, entry, now, not_before) < 0:
            raise MemoryError

    def failed(self, host_id: int, code: int, until_ns: int):
        """Give a host up for a time: its URLs go out with ``code`` instead of being fetched.

        The failure lasts until ``until_ns``, or until the host may be asked again if that is later;
        then the host is NEW again, once it has URLs.  A BUSY host fails at its release.

        Raises:
            ValueError: code is not in 1 .. 255.
        """
        cdef uint32_t number = self._number(host_id)
        cdef host_record *host = host_at(&self._schedule, number)
        cdef uint64_t until = until_ns
        if not 0 < code < 256:
            raise ValueError(f"no code {code}")
        if host.state != STATE_BUSY:
            host_leave(&self._schedule, number)
        host.code = code
        host.next_ns = later(host.next_ns, until)
        if host.state != STATE_BUSY:
            host_fail(&self._schedule, number)

    # --- turns ------------------------------------------------------------------------------

    cdef uint64_t _pop(self, host_record *host) noexcept nogil:
        self._waiting -= 1
        host.waiting -= 1
        return queue_pop(&self._pieces, &host.urls, self._from_tail)

    cdef bint _claimed(self, ip_record *ip, uint64_t now_ns) noexcept nogil:
        """Claim an address in the shared table, or note when to try again.

        The time found may be the end of a lease, and a request seldom takes that long: try again
        after the time that lies between two requests anyway.
        """
        cdef uint64_t free_at_ns, retry_ns, lease_ns
        if self._slots == NULL:
            return True
        lease_ns = self._lease_ns if self._per_ip == 1 else self._wait_ip_ns
        free_at_ns = ip_claim(
            self._slots, self._slot_count, ip.key, now_ns, lease_ns, self._owner
        )
        if free_at_ns:
            retry_ns = now_ns + later(self._wait_ip_ns, CLAIM_RETRY_NS)
            ip.next_ns = min(free_at_ns, retry_ns)
        return free_at_ns == 0

    cdef size_t _take_due(self, uint64_t now_ns, handed *out, size_t room) noexcept nogil:
        cdef size_t count = 0
        cdef uint32_t number
        cdef ip_record *ip
        cdef host_record *host
        while count < room and self._schedule.due_count and self._schedule.due[0].key <= now_ns:
            number = self._schedule.due[0].id
            ip = ip_at(&self._schedule, number)
            if not self._claimed(ip, now_ns):
                settle(&self._schedule, number)
                continue
            out[count].host = ip_nodes(ip)[0].id
            host = host_at(&self._schedule, out[count].host)
            heap_remove(ip_nodes(ip), &ip.count, 0, &self._schedule, host_moved)
            self._occupy(host, now_ns)
            out[count].code = 0
            out[count].position = self._pop(host)
            count += 1
        return count

    cdef void _occupy(self, host_record *host, uint64_t now_ns) noexcept nogil:
        """Begin the turn of a host that stands nowhere, and of its address."""
        cdef ip_record *ip = ip_at(&self._schedule, host.ip)
        ip.turns += 1
        ip.is_busy = ip.turns >= self._per_ip
        ip.next_ns = now_ns if self._per_ip == 1 else now_ns + self._wait_ip_ns
        settle(&self._schedule, host.ip)
        host.state = STATE_BUSY
        host.other = NONE
        self._busy += 1

    cdef size_t _take_failed(self, uint64_t now_ns, handed *out, size_t room) noexcept nogil:
        """One URL of each failed host in turn; hosts whose failure is over become NEW."""
        cdef size_t count = 0
        cdef uint32_t number
        cdef host_record *host
        while count < room and self._schedule.failing.count:
            number = self._schedule.failing.head
            host = host_at(&self._schedule, number)
            list_remove(&self._schedule, &self._schedule.failing, number)
            if now_ns >= host.next_ns:
                host.state = STATE_NEW
                host.code = 0
                list_add(&self._schedule, &self._schedule.fresh, number)
                continue
            out[count].host = number
            out[count].code = host.code
            out[count].position = self._pop(host)
            if host.waiting:
                list_add(&self._schedule, &self._schedule.failing, number)
            count += 1
        return count

    cdef size_t _take(self, uint64_t now_ns, handed *out, size_t room, size_t half) noexcept nogil:
        """Half for due hosts, then failed ones, then again due hosts: neither starves the other."""
        cdef size_t count = self._take_due(now_ns, out, half)
        count += self._take_failed(now_ns, out + count, room - count)
        return count + self._take_due(now_ns, out + count, room - count)

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
        cdef size_t room = min(wanted, self._waiting), half = min(wanted - wanted // 2, room)
        cdef handed *out
        cdef list taken = []
        if not room:
            return taken
        out = <handed *>malloc(room * sizeof(handed))
        if out == NULL:
            raise MemoryError
        try:
            with nogil:
                count = self._take(now, out, room, half)
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
        cdef host_record *host = host_at(&self._schedule, number)
        cdef uint64_t now = now_ns
        cdef ip_record *ip
        if host.state == STATE_BUSY:
            return now + CLAIM_RETRY_NS
        if host.state != STATE_IDLE and host.state != STATE_SCHEDULED:
            return -1
        ip = ip_at(&self._schedule, host.ip)
        if ip.is_busy:
            return now + CLAIM_RETRY_NS
        if later(host.next_ns, ip.next_ns) > now:
            return later(host.next_ns, ip.next_ns)
        if not self._claimed(ip, now):
            settle(&self._schedule, host.ip)
            return ip.next_ns
        host_leave(&self._schedule, number)
        self._occupy(host, now)
        return 0

    cdef void _give_back(self, uint32_t number, uint64_t ip_next_ns) noexcept nogil:
        """End the turn of a BUSY host."""
        cdef ip_record *ip = ip_at(&self._schedule, host_at(&self._schedule, number).ip)
        cdef uint64_t claimed_ns = ip.next_ns
        if self._slots != NULL and self._per_ip == 1:
            ip_release(self._slots, self._slot_count, ip.key,
                       ip_until(claimed_ns, self._lease_ns, self._owner),
                       later(claimed_ns, ip_next_ns))
        self._busy -= 1
        host_give_back(&self._schedule, number, ip_next_ns)

    def release(self, host_id: int, start_ns: int, end_ns: int):
        """Give a BUSY host back after a request that ran from ``start_ns`` to ``end_ns``.

        The host is not asked again before max(start + its wait, end), nor is its address before
        max(start + wait_ip, end); with ``per_ip`` over 1 the address need not wait for the end.

        Raises:
            ValueError: the host is not BUSY.
        """
        cdef uint32_t number = self._busy_number(host_id)
        cdef host_record *host = host_at(&self._schedule, number)
        cdef uint64_t start = start_ns, end = end_ns
        host.next_ns = later(host.next_ns, later(start + later(self._wait_ns, host.wait_ns), end))
        if self._per_ip > 1:
            end = 0
        self._give_back(number, later(start + self._wait_ip_ns, end))

    def skip(self, host_id: int):
        """Give a BUSY host back whose URL needed no request: it may be taken again at once.

        Call it before another host of its address is taken.

        Raises:
            ValueError: the host is not BUSY.
        """
        cdef uint32_t number = self._busy_number(host_id)
        cdef ip_record *ip = ip_at(&self._schedule, host_at(&self._schedule, number).ip)
        if self._per_ip > 1:
            ip.next_ns -= min(ip.next_ns, self._wait_ip_ns)
        self._give_back(number, 0)

    def delay(self, host_id: int, until_ns: int):
        """Let a host not be asked before ``until_ns``; an earlier time changes nothing."""
        host_delay(&self._schedule, self._number(host_id), until_ns)

    def set_wait(self, host_id: int, wait_ns: int):
        """Set a host's own least time between requests; never less than the table's counts."""
        host_at(&self._schedule, self._number(host_id)).wait_ns = wait_ns

    def set_pace(self, wait_ns: int, wait_ip_ns: int):
        """Set the least times between requests to a host and to an address, from the next on."""
        self._wait_ns = wait_ns
        self._wait_ip_ns = wait_ip_ns

    def next_ns(self):
        """Return when the next URL can be taken: -1 = nothing is scheduled, 0 = at once."""
        if self._schedule.failing.count:
            return 0
        return self._schedule.due[0].key if self._schedule.due_count else -1

    # --- questions --------------------------------------------------------------------------

    cdef int64_t _number(self, host_id) except -1:
        if not 0 <= host_id < self._names.index.count:
            raise IndexError(f"no host {host_id}")
        return host_id

    cdef int64_t _busy_number(self, host_id) except -1:
        cdef uint32_t number = self._number(host_id)
        if host_at(&self._schedule, number).state != STATE_BUSY:
            raise ValueError(f"host {host_id} is not busy")
        return number

    def host(self, host_id: int):
        """Return the name of a host."""
        cdef host_record *host = host_at(&self._schedule, self._number(host_id))
        return PyBytes_FromStringAndSize(name_at(&self._names, host), host.name_len)

    def find(self, bytes host not None):
        """Return the number of a host, -1 if it is not known."""
        cdef size_t size = PyBytes_GET_SIZE(host)
        cdef const uint8_t *name = <const uint8_t *>PyBytes_AS_STRING(host)
        cdef uint32_t number
        if size > MAX_NAME:
            return -1
        number = name_find(&self._names, &self._schedule, name, size,
                           name_hash(&self._names, name, size))
        return -1 if number == NONE else number

    def waiting_of(self, host_id: int):
        """Return how many URLs are in the chains of a host."""
        return host_at(&self._schedule, self._number(host_id)).waiting

    def state_of(self, host_id: int):
        """Return the state of a host: NEW, RESOLVING, IDLE, SCHEDULED, BUSY or FAILED."""
        return host_at(&self._schedule, self._number(host_id)).state

    @property
    def waiting(self):
        """Number of URLs in all chains."""
        return self._waiting

    @property
    def hosts(self):
        """Number of hosts ever seen."""
        return self._names.index.count

    @property
    def busy(self):
        """Number of BUSY hosts."""
        return self._busy

    @property
    def ips(self):
        """Number of addresses ever seen."""
        return self._schedule.by_ip.count

    @property
    def unresolved_count(self):
        """Number of hosts that ``unresolved`` would return."""
        return self._schedule.fresh.count

    @property
    def nbytes(self):
        """Bytes that the table has allocated."""
        cdef size_t cells = index_size(&self._names.index) * sizeof(index_cell)
        cdef size_t urls = self._pieces.slabs.nbytes
        return schedule_bytes(&self._schedule) + self._names.slabs.nbytes + cells + urls
