# The hosts of a shard: who they are, what waits for each, and whose turn it is.
#
# Idea.  A host is one cache line (host_record); its waiting URLs are 8-byte log positions in
# chains (chain.h), so an idle host costs its line, its name and 16 bytes of index.  The schedule is
# two kinds of heaps (heap.h): each IP entry has the heap of its hosts by next allowed time, and one
# heap holds the IP entries by max(next of the IP, next of its earliest host).
#
# States of a host, and where it stands:
#   NEW        in the list `fresh`, if it has URLs: it needs an address
#   RESOLVING  nowhere: the caller asks for its address
#   IDLE       has an address, no URLs
#   SCHEDULED  in the heap of its IP entry
#   BUSY       one of its URLs was handed out; its IP entry is busy too
#   FAILED     in the list `failing`, if it has URLs: they go out with `code`
#
# Invariants.
#   1. An IP entry is in the big heap exactly when it is not busy and has scheduled hosts.
#   2. Memory is taken when something new comes (put, unget, resolved), never when something is
#      given back: the big heap has room for all IP entries, the heap of an entry for all its hosts.
#      So a MemoryError leaves a table that is whole, and release cannot fail.
#   3. `slot` and `other` are the neighbours in a list (NEW, FAILED); else `slot` is the place in the
#      IP's heap (SCHEDULED) and `other` the address that a BUSY host will have from its release on.
#   4. Hosts and IP entries are never removed: their times must outlive their URLs.
#
# Cost.  put O(1) a URL, in blocks whose cache misses overlap; acquire and release O(log hosts of the
# IP + log IPs).  No operation walks over hosts.

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from layout cimport RECORD_ENQ, RECORD_MOVE, enq_payload, record_head, siphash13
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy

import os


cdef extern from "slabs.h" nogil:
    enum:
        SLAB_BYTES
    ctypedef struct slab_list:
        char **at
        uint32_t count
        size_t nbytes
    ctypedef struct piece_pool:
        slab_list slabs
    char *slabs_add(slab_list *list, size_t bytes)
    void slabs_free(slab_list *list)


cdef extern from "chain.h" nogil:
    enum:
        LEVELS
    ctypedef struct url_queue:
        pass
    int queue_push(piece_pool *pool, url_queue *q, uint32_t level, uint64_t position, int at_head)
    uint64_t queue_pop(piece_pool *pool, url_queue *q, int from_tail)
    void queue_prefetch(const piece_pool *pool, url_queue *q)


cdef extern from "heap.h" nogil:
    ctypedef struct heap_node:
        uint64_t key
        uint32_t turn
        uint32_t id
    ctypedef void (*heap_moved)(void *owner, uint32_t id, uint32_t at) noexcept
    void heap_push(heap_node *nodes, uint32_t *count, heap_node node, void *owner, heap_moved moved)
    void heap_place(heap_node *nodes, uint32_t count, uint32_t at, heap_node node, void *owner,
                    heap_moved moved)
    void heap_remove(heap_node *nodes, uint32_t *count, uint32_t at, void *owner, heap_moved moved)


cdef extern from "index.h" nogil:
    ctypedef struct index_cell:
        uint32_t hash
        uint32_t number
    ctypedef struct hash_index:
        index_cell *cells
        uint32_t count
    size_t index_size(const hash_index *ix)
    uint32_t index_start(const hash_index *ix, uint32_t hash)
    uint32_t index_next(const hash_index *ix, uint32_t at)
    int index_reserve(hash_index *ix)
    void index_add(hash_index *ix, uint32_t hash, uint32_t number)


cdef extern from "iptable.h" nogil:
    enum:
        SET_SLOTS
    ctypedef struct ip_slot:
        uint64_t key
        uint64_t free_at_ns
    uint64_t mix64(uint64_t x)
    uint64_t ip_key(const uint8_t *ip, size_t size)
    uint64_t ip_claim(ip_slot *slots, size_t count, uint64_t key, uint64_t now_ns,
                      uint64_t lease_ns)
    void ip_release(ip_slot *slots, size_t count, uint64_t key, uint64_t until_ns,
                    uint64_t free_at_ns)


cdef extern from *:
    """
    #define PREFETCH(at) __builtin_prefetch(at)
    #define NONE UINT32_MAX
    """
    void PREFETCH(const void *at) nogil
    uint32_t NONE


cdef enum:
    STATE_NEW = 0
    STATE_RESOLVING = 1
    STATE_IDLE = 2
    STATE_SCHEDULED = 3
    STATE_BUSY = 4
    STATE_FAILED = 5
    RECORDS_SHIFT = 10  # 1,024 hosts or IP entries in a slab
    RECORDS_MASK = 1023
    NAMES_SHIFT = 16    # SLAB_BYTES of names in a slab
    NAMES_MASK = 65535
    MAX_NAME_SLABS = 65536
    BLOCK = 16          # records of put() whose cache misses overlap
    MIN_HEAP = 64
    HASH_KEY_BYTES = 16

NEW = STATE_NEW
RESOLVING = STATE_RESOLVING
IDLE = STATE_IDLE
SCHEDULED = STATE_SCHEDULED
BUSY = STATE_BUSY
FAILED = STATE_FAILED


ctypedef struct host_record:  # 64 bytes
    url_queue urls
    uint64_t next_ns    # not to be asked before; of a FAILED host: the end of the failure
    uint64_t wait_ns    # its own minimum, from set_wait()
    uint32_t ip
    uint32_t slot
    uint32_t other
    uint32_t waiting
    uint32_t name       # place in the name slabs
    uint8_t name_len
    uint8_t state
    uint8_t code        # why it failed; of a BUSY host: why it will have failed at its release

ctypedef struct ip_record:  # 56 bytes
    uint64_t key
    uint64_t next_ns    # not to be asked before; while busy: when it was handed out
    heap_node *nodes    # its scheduled hosts; points to `one` while there is room for one only
    heap_node one
    uint32_t slot       # place in the big heap, NONE when outside
    uint32_t count      # scheduled hosts
    uint32_t attached   # hosts that have or will have this address
    uint8_t shift       # there is room for 1 << shift nodes
    uint8_t is_busy

ctypedef struct host_list:
    uint32_t head
    uint32_t tail
    uint32_t count

ctypedef struct handed:
    uint64_t position
    uint32_t host
    uint32_t code

ctypedef struct arrival:
    const uint8_t *name
    uint64_t position
    uint32_t hash
    uint32_t host
    uint8_t name_len
    uint8_t level


cdef inline host_record *host_at(slab_list *hosts, uint32_t number) noexcept nogil:
    return <host_record *>hosts.at[number >> RECORDS_SHIFT] + (number & RECORDS_MASK)


cdef inline ip_record *ip_at(slab_list *ips, uint32_t number) noexcept nogil:
    return <ip_record *>ips.at[number >> RECORDS_SHIFT] + (number & RECORDS_MASK)


cdef void host_moved(void *hosts, uint32_t number, uint32_t at) noexcept nogil:
    host_at(<slab_list *>hosts, number).slot = at


cdef void ip_moved(void *ips, uint32_t number, uint32_t at) noexcept nogil:
    ip_at(<slab_list *>ips, number).slot = at


cdef inline uint64_t later(uint64_t a, uint64_t b) noexcept nogil:
    return a if a > b else b


cdef inline int read_record(const uint8_t *record, size_t size, arrival *found) noexcept nogil:
    """Find host and level of one ENQ or MOVE record of at most `size` bytes; -1 = malformed."""
    cdef record_head head
    cdef enq_payload enq
    cdef size_t at = sizeof(record_head)
    if size < at:
        return -1
    memcpy(&head, record, at)
    if head.len > size - at:
        return -1
    cdef size_t end = at + head.len
    if head.type == RECORD_MOVE:
        at += sizeof(uint64_t)
    elif head.type != RECORD_ENQ:
        return -1
    if end < at + sizeof(enq_payload):
        return -1
    memcpy(&enq, record + at, sizeof(enq_payload))
    at += sizeof(enq_payload)
    if <size_t>enq.host_start + enq.host_len > enq.url_len or enq.url_len > end - at:
        return -1
    if not enq.host_len or enq.level >= LEVELS:
        return -1
    found.name = record + at + enq.host_start
    found.name_len = enq.host_len
    found.level = enq.level
    return 0


@cython.final
cdef class HostTable:
    """Know all hosts of a shard, what waits for each, and who may be asked when.

    Args:
        order: ``bfs`` (oldest URL first), ``dfs`` (newest first) or ``best`` (as ``bfs``); in each
            the lowest level goes first.
        wait_ns: least time from the start of a request to a host to the start of the next.
        wait_ip_ns: the same for all hosts of one address.
        lease_ns: how long an address is claimed in ``ip_table``; longer than any request takes.
        ip_table: writable buffer of a ``shared.IpTable``, when several shards ask.

    Times are monotonic nanoseconds.  A host is known by its number, from 0 in the order of arrival.
    Host numbers that do not exist raise ``IndexError``.

    Invariant: at most one request at a time to each host and to each address.
    Memory: 64 bytes a host, its name, 11 to 21 bytes of index, 8 bytes a URL and little more;
    56 bytes an address, 11 to 21 of index, 16 to 24 in the heap.
    """

    cdef slab_list _hosts
    cdef slab_list _ips
    cdef slab_list _names
    cdef piece_pool _pieces
    cdef hash_index _by_name
    cdef hash_index _by_ip
    cdef uint8_t _hash_key[HASH_KEY_BYTES]
    cdef heap_node *_due
    cdef uint32_t _due_count
    cdef uint32_t _due_room
    cdef host_list _fresh
    cdef host_list _failing
    cdef uint32_t _names_end
    cdef uint32_t _turn
    cdef uint32_t _busy
    cdef size_t _heap_bytes
    cdef uint64_t _waiting
    cdef uint64_t _wait_ns
    cdef uint64_t _wait_ip_ns
    cdef uint64_t _lease_ns
    cdef bint _from_tail
    cdef unsigned char[::1] _shared
    cdef ip_slot *_slots
    cdef size_t _slot_count

    def __cinit__(
        self, *, order: str = "bfs", wait_ns: int, wait_ip_ns: int, lease_ns: int = 0, ip_table=None
    ):
        if order not in ("bfs", "dfs", "best"):
            raise ValueError(f"order must be bfs, dfs or best, not {order!r}")
        self._from_tail = order == "dfs"
        self._wait_ns = wait_ns
        self._wait_ip_ns = wait_ip_ns
        self._lease_ns = lease_ns
        self._fresh.head = self._fresh.tail = self._failing.head = self._failing.tail = NONE
        self._names_end = SLAB_BYTES
        cdef bytes secret = os.urandom(HASH_KEY_BYTES)
        memcpy(self._hash_key, PyBytes_AS_STRING(secret), HASH_KEY_BYTES)
        if ip_table is not None:
            self._share(ip_table)

    def __dealloc__(self):
        cdef uint32_t i
        if self._ips.count:
            for i in range(self._by_ip.count):
                if ip_at(&self._ips, i).shift:
                    free(ip_at(&self._ips, i).nodes)
        slabs_free(&self._hosts)
        slabs_free(&self._ips)
        slabs_free(&self._names)
        slabs_free(&self._pieces.slabs)
        free(self._by_name.cells)
        free(self._by_ip.cells)
        free(self._due)

    cdef int _share(self, ip_table) except -1:
        if not self._lease_ns:
            raise ValueError("lease_ns must be positive when addresses are shared")
        self._shared = ip_table
        self._slot_count = self._shared.shape[0] // sizeof(ip_slot)
        if self._slot_count < SET_SLOTS:
            raise ValueError("ip_table is too small")
        self._slots = <ip_slot *>&self._shared[0]
        return 0

    # --- lists ------------------------------------------------------------------------------

    cdef void _link(self, host_list *to, uint32_t number) noexcept nogil:
        cdef host_record *host = host_at(&self._hosts, number)
        host.slot = NONE
        host.other = to.tail
        if to.tail == NONE:
            to.head = number
        else:
            host_at(&self._hosts, to.tail).slot = number
        to.tail = number
        to.count += 1

    cdef void _unlink(self, host_list *of, uint32_t number) noexcept nogil:
        cdef host_record *host = host_at(&self._hosts, number)
        if host.other == NONE:
            of.head = host.slot
        else:
            host_at(&self._hosts, host.other).slot = host.slot
        if host.slot == NONE:
            of.tail = host.other
        else:
            host_at(&self._hosts, host.slot).other = host.other
        host.slot = host.other = NONE
        of.count -= 1

    # --- schedule ---------------------------------------------------------------------------

    cdef heap_node _node(self, uint64_t key, uint32_t number) noexcept nogil:
        cdef heap_node node
        node.key = key
        node.turn = self._turn
        node.id = number
        self._turn += 1
        return node

    cdef void _settle(self, uint32_t number) noexcept nogil:
        """Put an IP entry where it belongs in the big heap, or out of it (invariant 1)."""
        cdef ip_record *ip = ip_at(&self._ips, number)
        cdef uint64_t key
        if ip.is_busy or not ip.count:
            if ip.slot != NONE:
                heap_remove(self._due, &self._due_count, ip.slot, &self._ips, ip_moved)
                ip.slot = NONE
            return
        key = later(ip.next_ns, ip.nodes[0].key)
        if ip.slot == NONE:
            heap_push(self._due, &self._due_count, self._node(key, number), &self._ips, ip_moved)
        elif self._due[ip.slot].key != key:
            heap_place(self._due, self._due_count, ip.slot, self._node(key, number), &self._ips,
                       ip_moved)

    cdef void _schedule(self, uint32_t number) noexcept nogil:
        """Give a host that has an address and is in no heap the state that its URLs ask for."""
        cdef host_record *host = host_at(&self._hosts, number)
        cdef ip_record *ip = ip_at(&self._ips, host.ip)
        if not host.waiting:
            host.state = STATE_IDLE
            return
        host.state = STATE_SCHEDULED
        heap_push(ip.nodes, &ip.count, self._node(host.next_ns, number), &self._hosts, host_moved)
        self._settle(host.ip)

    cdef void _unschedule(self, uint32_t number) noexcept nogil:
        cdef host_record *host = host_at(&self._hosts, number)
        cdef ip_record *ip = ip_at(&self._ips, host.ip)
        heap_remove(ip.nodes, &ip.count, host.slot, &self._hosts, host_moved)
        host.state = STATE_IDLE
        self._settle(host.ip)

    cdef void _detach(self, uint32_t number) noexcept nogil:
        cdef host_record *host = host_at(&self._hosts, number)
        if host.ip != NONE:
            ip_at(&self._ips, host.ip).attached -= 1
            host.ip = NONE

    cdef void _leave(self, uint32_t number) noexcept nogil:
        """Take a host that is not BUSY out of its list or heap."""
        cdef host_record *host = host_at(&self._hosts, number)
        if host.state == STATE_SCHEDULED:
            self._unschedule(number)
        elif host.state == STATE_NEW and host.waiting:
            self._unlink(&self._fresh, number)
        elif host.state == STATE_FAILED and host.waiting:
            self._unlink(&self._failing, number)

    cdef void _fail(self, uint32_t number) noexcept nogil:
        """Make a host that is in no list or heap FAILED until its next_ns."""
        cdef host_record *host = host_at(&self._hosts, number)
        self._detach(number)
        host.state = STATE_FAILED
        if host.waiting:
            self._link(&self._failing, number)

    cdef void _woken(self, uint32_t number) noexcept nogil:
        """Show a host that had no URLs and has one now to whoever must know."""
        cdef host_record *host = host_at(&self._hosts, number)
        if host.state == STATE_IDLE:
            self._schedule(number)
        elif host.state == STATE_NEW:
            self._link(&self._fresh, number)
        elif host.state == STATE_FAILED:
            self._link(&self._failing, number)

    # --- arrivals ---------------------------------------------------------------------------

    cdef uint32_t _find(self, const uint8_t *name, uint8_t size, uint32_t hash) noexcept nogil:
        cdef index_cell *cell
        cdef host_record *host
        cdef uint32_t at
        if not self._by_name.count:
            return NONE
        at = index_start(&self._by_name, hash)
        while True:
            cell = &self._by_name.cells[at]
            if not cell.number:
                return NONE
            if cell.hash == hash:
                host = host_at(&self._hosts, cell.number - 1)
                if host.name_len == size and memcmp(self._name(host), name, size) == 0:
                    return cell.number - 1
            at = index_next(&self._by_name, at)

    cdef const char *_name(self, host_record *host) noexcept nogil:
        return self._names.at[host.name >> NAMES_SHIFT] + (host.name & NAMES_MASK)

    cdef int _room_for_name(self, uint8_t size) noexcept nogil:
        if self._names_end + size <= SLAB_BYTES:
            return 0
        if self._names.count == MAX_NAME_SLABS or slabs_add(&self._names, SLAB_BYTES) == NULL:
            return -1
        self._names_end = 0
        return 0

    cdef uint32_t _add(self, const uint8_t *name, uint8_t size, uint32_t hash) noexcept nogil:
        """Make a NEW host without URLs; NONE = no memory."""
        cdef uint32_t number = self._by_name.count
        cdef host_record *host
        if self._room_for_name(size) < 0 or index_reserve(&self._by_name) < 0:
            return NONE
        if (number >> RECORDS_SHIFT) == self._hosts.count:
            if slabs_add(&self._hosts, sizeof(host_record) << RECORDS_SHIFT) == NULL:
                return NONE
        host = host_at(&self._hosts, number)
        host.ip = host.slot = host.other = NONE
        host.name = ((self._names.count - 1) << NAMES_SHIFT) | self._names_end
        host.name_len = size
        memcpy(<char *>self._name(host), name, size)
        self._names_end += size
        index_add(&self._by_name, hash, number)
        return number

    cdef int _append(self, uint32_t number, uint32_t level, uint64_t position,
                     bint at_head) noexcept nogil:
        cdef host_record *host = host_at(&self._hosts, number)
        if queue_push(&self._pieces, &host.urls, level, position, at_head) < 0:
            return -1
        self._waiting += 1
        host.waiting += 1
        if host.waiting == 1:
            self._woken(number)
        return 0

    cdef void _look_ahead(self, arrival *block, size_t count) noexcept nogil:
        """Hash a block of arrivals; ask for the memory that finding their hosts will read."""
        cdef size_t i
        cdef index_cell *cell
        for i in range(count):
            block[i].hash = <uint32_t>siphash13(self._hash_key, block[i].name, block[i].name_len)
            if self._by_name.count:
                PREFETCH(&self._by_name.cells[index_start(&self._by_name, block[i].hash)])
        if not self._by_name.count:
            return
        for i in range(count):
            cell = &self._by_name.cells[index_start(&self._by_name, block[i].hash)]
            if cell.number:
                PREFETCH(host_at(&self._hosts, cell.number - 1))

    cdef int _put_block(self, arrival *block, size_t count) noexcept nogil:
        cdef size_t i
        cdef uint32_t number
        self._look_ahead(block, count)
        for i in range(count):
            number = self._find(block[i].name, block[i].name_len, block[i].hash)
            if number == NONE:
                number = self._add(block[i].name, block[i].name_len, block[i].hash)
                if number == NONE:
                    return -1
            block[i].host = number
            queue_prefetch(&self._pieces, &host_at(&self._hosts, number).urls)
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
            read_record(records + offset, size - offset, &block[used])
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

        Cost: O(1) a record, 0.1 to 0.2 us; without the GIL.
        """
        cdef size_t size = PyBytes_GET_SIZE(records)
        cdef size_t count = PyBytes_GET_SIZE(positions) // sizeof(uint64_t)
        cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(records)
        cdef const uint8_t *starts = <const uint8_t *>PyBytes_AS_STRING(offsets)
        cdef const uint8_t *places = <const uint8_t *>PyBytes_AS_STRING(positions)
        cdef uint32_t before = self._by_name.count
        cdef size_t bad
        cdef int status = 0
        if (<size_t>PyBytes_GET_SIZE(positions) != count * sizeof(uint64_t)
                or <size_t>PyBytes_GET_SIZE(offsets) != count * sizeof(uint32_t)):
            raise ValueError("offsets and positions must have one entry per record")
        with nogil:
            bad = first_bad(data, size, starts, count)
            if bad == count:
                status = self._put_all(data, size, starts, places, count)
        if bad < count:
            raise ValueError(f"record {bad} is not a well-formed ENQ or MOVE record")
        if status < 0:
            raise MemoryError
        return self._by_name.count - before

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
        while left > 0 and self._fresh.count:
            number = self._fresh.head
            found.append((number, self.host(number)))
            self._unlink(&self._fresh, number)
            host_at(&self._hosts, number).state = STATE_RESOLVING
            left -= 1
        return found

    cdef uint32_t _find_ip(self, uint64_t key, uint32_t hash) noexcept nogil:
        cdef index_cell *cell
        cdef uint32_t at
        if not self._by_ip.count:
            return NONE
        at = index_start(&self._by_ip, hash)
        while True:
            cell = &self._by_ip.cells[at]
            if not cell.number:
                return NONE
            if cell.hash == hash and ip_at(&self._ips, cell.number - 1).key == key:
                return cell.number - 1
            at = index_next(&self._by_ip, at)

    cdef int _room_for_ip(self) noexcept nogil:
        cdef uint32_t number = self._by_ip.count, room
        cdef heap_node *nodes
        if index_reserve(&self._by_ip) < 0:
            return -1
        if number == self._due_room:
            room = self._due_room + self._due_room // 2 + MIN_HEAP
            nodes = <heap_node *>realloc(self._due, room * sizeof(heap_node))
            if nodes == NULL:
                return -1
            self._due = nodes
            self._due_room = room
        if (number >> RECORDS_SHIFT) == self._ips.count:
            if slabs_add(&self._ips, sizeof(ip_record) << RECORDS_SHIFT) == NULL:
                return -1
        return 0

    cdef uint32_t _ip(self, const uint8_t *address, size_t size) noexcept nogil:
        """Find or make the entry of an address; NONE = no memory."""
        cdef uint64_t key = ip_key(address, size), salt
        cdef uint32_t hash, number
        cdef ip_record *ip
        memcpy(&salt, self._hash_key, sizeof(salt))
        hash = <uint32_t>mix64(key ^ salt)
        number = self._find_ip(key, hash)
        if number != NONE:
            return number
        if self._room_for_ip() < 0:
            return NONE
        number = self._by_ip.count
        ip = ip_at(&self._ips, number)
        ip.key = key
        ip.nodes = &ip.one
        ip.slot = NONE
        index_add(&self._by_ip, hash, number)
        return number

    cdef int _attach(self, uint32_t number) noexcept nogil:
        """Count one host more on an IP entry and make room for it in its heap; -1 = no memory."""
        cdef ip_record *ip = ip_at(&self._ips, number)
        cdef size_t room = <size_t>1 << ip.shift
        cdef heap_node *nodes
        if ip.attached == room:
            nodes = <heap_node *>realloc(ip.nodes if ip.shift else NULL,
                                         2 * room * sizeof(heap_node))
            if nodes == NULL:
                return -1
            if not ip.shift:
                nodes[0] = ip.one
            self._heap_bytes += (2 * room if not ip.shift else room) * sizeof(heap_node)
            ip.nodes = nodes
            ip.shift += 1
        ip.attached += 1
        return 0

    cdef int _move(self, uint32_t number, uint32_t ip, uint64_t now_ns,
                   uint64_t not_before_ns) noexcept nogil:
        """Put a host on an IP entry, a BUSY one from its release on; -1 = no memory."""
        cdef host_record *host = host_at(&self._hosts, number)
        cdef bint is_known = ip == host.ip or (host.state == STATE_BUSY and ip == host.other)
        if not is_known and self._attach(ip) < 0:
            return -1
        if not ip_at(&self._ips, ip).is_busy:
            ip_at(&self._ips, ip).next_ns = later(ip_at(&self._ips, ip).next_ns, not_before_ns)
            self._settle(ip)
        if host.state == STATE_BUSY:
            if host.other != NONE and host.other != ip:
                ip_at(&self._ips, host.other).attached -= 1
            host.other = NONE if ip == host.ip else ip
            host.next_ns = later(host.next_ns, not_before_ns)
            return 0
        self._leave(number)
        if ip != host.ip:
            self._detach(number)
        host.ip = ip
        host.code = 0
        host.next_ns = later(host.next_ns, later(now_ns, not_before_ns))
        self._schedule(number)
        return 0

    def resolved(self, host_id: int, ip: bytes, now_ns: int, *, not_before_ns: int = 0):
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
        cdef size_t size = len(ip)
        cdef const uint8_t *address = ip
        cdef uint64_t now = now_ns, not_before = not_before_ns
        if size not in (4, 16):
            raise ValueError("an address has 4 or 16 bytes")
        entry = self._ip(address, size)
        if entry == NONE or self._move(number, entry, now, not_before) < 0:
            raise MemoryError

    def failed(self, host_id: int, code: int, until_ns: int):
        """Give a host up for a time: its URLs go out with ``code`` instead of being fetched.

        The failure lasts until ``until_ns``, or until the host may be asked again if that is later;
        then the host is NEW again, once it has URLs.  A BUSY host fails at its release.

        Raises:
            ValueError: code is not in 1 .. 255.
        """
        cdef uint32_t number = self._number(host_id)
        cdef host_record *host = host_at(&self._hosts, number)
        cdef uint64_t until = until_ns
        if not 0 < code < 256:
            raise ValueError(f"no code {code}")
        if host.state != STATE_BUSY:
            self._leave(number)
        host.code = code
        host.next_ns = later(host.next_ns, until)
        if host.state != STATE_BUSY:
            self._fail(number)

    # --- turns ------------------------------------------------------------------------------

    cdef uint64_t _pop(self, host_record *host) noexcept nogil:
        self._waiting -= 1
        host.waiting -= 1
        return queue_pop(&self._pieces, &host.urls, self._from_tail)

    cdef bint _claimed(self, ip_record *ip, uint64_t now_ns) noexcept nogil:
        """Claim an address in the shared table, or note when it will be free."""
        cdef uint64_t free_at_ns
        if self._slots == NULL:
            return True
        free_at_ns = ip_claim(self._slots, self._slot_count, ip.key, now_ns, self._lease_ns)
        if free_at_ns:
            ip.next_ns = free_at_ns
        return free_at_ns == 0

    cdef size_t _take_due(self, uint64_t now_ns, handed *out, size_t room) noexcept nogil:
        cdef size_t count = 0
        cdef uint32_t number
        cdef ip_record *ip
        cdef host_record *host
        while count < room and self._due_count and self._due[0].key <= now_ns:
            number = self._due[0].id
            ip = ip_at(&self._ips, number)
            if not self._claimed(ip, now_ns):
                self._settle(number)
                continue
            out[count].host = ip.nodes[0].id
            host = host_at(&self._hosts, out[count].host)
            heap_remove(ip.nodes, &ip.count, 0, &self._hosts, host_moved)
            ip.is_busy = 1
            ip.next_ns = now_ns
            self._settle(number)
            host.state = STATE_BUSY
            host.other = NONE
            out[count].code = 0
            out[count].position = self._pop(host)
            self._busy += 1
            count += 1
        return count

    cdef size_t _take_failed(self, uint64_t now_ns, handed *out, size_t room) noexcept nogil:
        """One URL of each failed host in turn; hosts whose failure is over become NEW."""
        cdef size_t count = 0
        cdef uint32_t number
        cdef host_record *host
        while count < room and self._failing.count:
            number = self._failing.head
            host = host_at(&self._hosts, number)
            self._unlink(&self._failing, number)
            if now_ns >= host.next_ns:
                host.state = STATE_NEW
                host.code = 0
                self._link(&self._fresh, number)
                continue
            out[count].host = number
            out[count].code = host.code
            out[count].position = self._pop(host)
            if host.waiting:
                self._link(&self._failing, number)
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
        cdef size_t wanted = max(limit, 0), count, i
        cdef size_t room = min(wanted, self._waiting), half = min(wanted - wanted // 2, room)
        cdef handed *out
        cdef list taken = []
        if not room:
            return taken
        out = <handed *>calloc(room, sizeof(handed))
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

    cdef void _give_back(self, uint32_t number, uint64_t ip_next_ns) noexcept nogil:
        """End the turn of a BUSY host."""
        cdef host_record *host = host_at(&self._hosts, number)
        cdef uint32_t entry = host.ip
        cdef ip_record *ip = ip_at(&self._ips, entry)
        cdef uint64_t claimed_ns = ip.next_ns
        ip.is_busy = 0
        ip.next_ns = later(claimed_ns, ip_next_ns)
        if self._slots != NULL:
            ip_release(self._slots, self._slot_count, ip.key, claimed_ns + self._lease_ns,
                       ip.next_ns)
        self._busy -= 1
        host.state = STATE_IDLE
        if host.other != NONE:
            ip.attached -= 1
            host.ip = host.other
            host.other = NONE
        if host.code:
            self._fail(number)
        else:
            self._schedule(number)
        self._settle(entry)

    def release(self, host_id: int, start_ns: int, end_ns: int):
        """Give a BUSY host back after a request that ran from ``start_ns`` to ``end_ns``.

        The host is not asked again before max(start + its wait, end), nor is its address before
        max(start + wait_ip, end).

        Raises:
            ValueError: the host is not BUSY.
        """
        cdef uint32_t number = self._busy_number(host_id)
        cdef host_record *host = host_at(&self._hosts, number)
        cdef uint64_t start = start_ns, end = end_ns
        host.next_ns = later(host.next_ns, later(start + later(self._wait_ns, host.wait_ns), end))
        self._give_back(number, later(start + self._wait_ip_ns, end))

    def skip(self, host_id: int):
        """Give a BUSY host back whose URL needed no request: it may be taken again at once.

        Raises:
            ValueError: the host is not BUSY.
        """
        self._give_back(self._busy_number(host_id), 0)

    def delay(self, host_id: int, until_ns: int):
        """Let a host not be asked before ``until_ns``; an earlier time changes nothing."""
        cdef uint32_t number = self._number(host_id)
        cdef host_record *host = host_at(&self._hosts, number)
        cdef ip_record *ip
        cdef uint64_t until = until_ns
        if until <= host.next_ns:
            return
        host.next_ns = until
        if host.state == STATE_SCHEDULED:
            ip = ip_at(&self._ips, host.ip)
            heap_place(ip.nodes, ip.count, host.slot, self._node(until, number), &self._hosts,
                       host_moved)
            self._settle(host.ip)

    def set_wait(self, host_id: int, wait_ns: int):
        """Set a host's own least time between requests; never less than the table's counts."""
        host_at(&self._hosts, self._number(host_id)).wait_ns = wait_ns

    def next_ns(self):
        """Return when the next URL can be taken: -1 = nothing is scheduled, 0 = at once."""
        if self._failing.count:
            return 0
        return self._due[0].key if self._due_count else -1

    # --- questions --------------------------------------------------------------------------

    cdef int64_t _number(self, host_id) except -1:
        if not 0 <= host_id < self._by_name.count:
            raise IndexError(f"no host {host_id}")
        return host_id

    cdef int64_t _busy_number(self, host_id) except -1:
        cdef uint32_t number = self._number(host_id)
        if host_at(&self._hosts, number).state != STATE_BUSY:
            raise ValueError(f"host {host_id} is not busy")
        return number

    def host(self, host_id: int):
        """Return the name of a host."""
        cdef host_record *host = host_at(&self._hosts, self._number(host_id))
        return PyBytes_FromStringAndSize(self._name(host), host.name_len)

    def find(self, bytes host not None):
        """Return the number of a host, -1 if it is not known."""
        cdef size_t size = PyBytes_GET_SIZE(host)
        cdef const uint8_t *name = <const uint8_t *>PyBytes_AS_STRING(host)
        cdef uint32_t number
        if size > 255:
            return -1
        number = self._find(name, size, <uint32_t>siphash13(self._hash_key, name, size))
        return -1 if number == NONE else number

    def waiting_of(self, host_id: int):
        """Return how many URLs are in the chains of a host."""
        return host_at(&self._hosts, self._number(host_id)).waiting

    def state_of(self, host_id: int):
        """Return the state of a host: NEW, RESOLVING, IDLE, SCHEDULED, BUSY or FAILED."""
        return host_at(&self._hosts, self._number(host_id)).state

    @property
    def waiting(self):
        """Number of URLs in all chains."""
        return self._waiting

    @property
    def hosts(self):
        """Number of hosts ever seen."""
        return self._by_name.count

    @property
    def busy(self):
        """Number of BUSY hosts."""
        return self._busy

    @property
    def ips(self):
        """Number of addresses ever seen."""
        return self._by_ip.count

    @property
    def unresolved_count(self):
        """Number of hosts that ``unresolved`` would return."""
        return self._fresh.count

    @property
    def nbytes(self):
        """Bytes that the table has allocated."""
        cdef size_t cells = index_size(&self._by_name) + index_size(&self._by_ip)
        cdef size_t slabs = self._hosts.nbytes + self._ips.nbytes + self._names.nbytes
        slabs += self._pieces.slabs.nbytes
        return slabs + cells * sizeof(index_cell) + self._heap_bytes + (
            self._due_room * sizeof(heap_node)
        )


cdef size_t first_bad(const uint8_t *records, size_t size, const uint8_t *offsets,
                      size_t count) noexcept nogil:
    """Number of the first malformed record, `count` if there is none."""
    cdef arrival found
    cdef uint32_t offset
    cdef size_t i
    for i in range(count):
        memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset))
        if offset > size or read_record(records + offset, size - offset, &found) < 0:
            return i
    return count
