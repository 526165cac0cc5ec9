"""An exact set of 64-bit fingerprints that grows without a long pause.

Idea: 256 sub-tables of open addressing with linear probing; each grows alone, by a half.
A doubling table would hold up to 40 bytes an entry while it grows, and stop the loop for as long
as the whole set takes to move; here only a 256th moves at a time.

1. A fingerprint is mixed first: those of one shard share their top bits. The top 8 mixed bits name
   the sub-table, the others, scaled to its capacity, the first slot to look at.
2. 0 marks an empty slot; whether the fingerprint 0 is in the set stands in a field of its own.
3. A sub-table is at most 4/5 full, so a search ends after a few slots of one or two cache lines.
4. The first capacities are spread by powers of 1.5 ** (1/256): the sub-tables fill up one after
   the other, not all at once, and the average load is the same at all times (12.3 bytes an entry).
5. A batch first makes room for all its fingerprints. When memory runs out, it raises before
   anything was added.

Scaling keeps the order of the mixed bits, so a growing table is read and written front to back.
Tables of 64 KiB and more are mapped: they are zero without being touched, and leave no holes.

Cost: O(1) per fingerprint, one cache miss, hidden by prefetching blocks of 64; one crossing and
one nogil block per batch. Growth at n entries moves n / 256 of them (about 0.5 ms at 10 million).
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport pow, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset


cdef extern from "mix.h" nogil:
    uint64_t mix64(uint64_t key)
    uint64_t scale64(uint64_t bits, uint64_t size)
    void PREFETCH_WRITE(const void *address)

cdef extern from "sys/mman.h" nogil:
    void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset)
    int munmap(void *address, size_t size)
    int PROT_READ, PROT_WRITE, MAP_PRIVATE, MAP_ANONYMOUS
    void *MAP_FAILED

cdef enum:
    TABLES = 256
    TABLE_SHIFT = 56    # the top 8 bits name the sub-table
    TABLE_BITS = 8
    FIRST_SLOTS = 64    # capacity of the smallest sub-table of an empty set
    BLOCK = 64          # fingerprints whose slots are fetched together
    MAPPED_BYTES = 65_536

cdef double GROWTH = 1.5

cdef struct sub_table:
    uint64_t *slots
    uint64_t capacity
    uint64_t used


cdef uint64_t *new_slots(uint64_t capacity) noexcept nogil:
    """Zeroed slots, or NULL."""
    cdef size_t size = capacity * sizeof(uint64_t)
    if size < MAPPED_BYTES:
        return <uint64_t *>calloc(capacity, sizeof(uint64_t))
    cdef void *slots = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    return NULL if slots == MAP_FAILED else <uint64_t *>slots


cdef void drop_slots(uint64_t *slots, uint64_t capacity) noexcept nogil:
    cdef size_t size = capacity * sizeof(uint64_t)
    if size < MAPPED_BYTES:
        free(slots)
    elif slots is not NULL:
        munmap(slots, size)


cdef inline uint64_t room(uint64_t capacity) noexcept nogil:
    """How many fingerprints a sub-table of this capacity may hold."""
    return capacity // 5 * 4


cdef inline uint64_t home(uint64_t mixed, uint64_t capacity) noexcept nogil:
    return scale64(mixed << TABLE_BITS, capacity)


cdef inline uint64_t find(const sub_table *table, uint64_t fp, uint64_t mixed) noexcept nogil:
    """The slot that holds fp, or the empty one where it belongs."""
    cdef uint64_t slot = home(mixed, table.capacity)
    while table.slots[slot] != fp and table.slots[slot] != 0:
        slot += 1
        if slot == table.capacity:
            slot = 0
    return slot


cdef int grow(sub_table *table, uint64_t entries) noexcept nogil:
    """Make room for so many entries; -1 when there is no memory, the table is then unchanged."""
    cdef sub_table bigger
    cdef uint64_t i, fp
    bigger.capacity = table.capacity
    bigger.used = table.used
    while room(bigger.capacity) < entries:
        bigger.capacity = <uint64_t>(bigger.capacity * GROWTH)
    bigger.slots = new_slots(bigger.capacity)
    if bigger.slots is NULL:
        return -1
    for i in range(table.capacity):
        fp = table.slots[i]
        if fp != 0:
            bigger.slots[find(&bigger, fp, mix64(fp))] = fp
    drop_slots(table.slots, table.capacity)
    table[0] = bigger
    return 0


cdef int64_t checked(bytes fingerprints) except -1:
    if len(fingerprints) % sizeof(uint64_t):
        raise ValueError(f"fingerprints have 8 bytes each; got {len(fingerprints)} bytes")
    return len(fingerprints) // sizeof(uint64_t)


@cython.final
cdef class SeenSet:
    """A set of u64 fingerprints that only grows.

    Args:
        capacity: number of fingerprints to make room for at once; the set grows past it.

    Process/thread: private to one process; not for several threads.
    Cost: at most 14 bytes an entry beyond the first 100,000.
    """

    cdef sub_table _tables[TABLES]
    cdef bint _has_zero

    def __cinit__(self, uint64_t capacity=0):
        cdef int i
        cdef uint64_t entries = capacity // TABLES
        # Sub-tables fill unevenly: four standard deviations of room above their mean.
        entries += <uint64_t>(4 * sqrt(<double>entries))
        cdef uint64_t smallest = max(<uint64_t>FIRST_SLOTS, entries // 4 * 5)
        for i in range(TABLES):
            self._tables[i].capacity = <uint64_t>(smallest * pow(GROWTH, i / <double>TABLES))
            self._tables[i].slots = new_slots(self._tables[i].capacity)
            if self._tables[i].slots is NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int i
        for i in range(TABLES):
            drop_slots(self._tables[i].slots, self._tables[i].capacity)

    def __len__(self):
        cdef int i
        cdef uint64_t entries = self._has_zero
        for i in range(TABLES):
            entries += self._tables[i].used
        return entries

    @property
    def nbytes(self):
        """Bytes of memory that the set holds."""
        cdef int i
        cdef uint64_t slots = 0
        for i in range(TABLES):
            slots += self._tables[i].capacity
        return slots * sizeof(uint64_t) + sizeof(self._tables)

    cdef int reserve(self, const uint64_t *fps, int64_t count) noexcept nogil:
        """Make room for a batch, as if all of it were new; -1 when there is no memory."""
        cdef uint64_t coming[TABLES]
        cdef int64_t i
        cdef uint64_t name, entries
        memset(coming, 0, sizeof(coming))
        for i in range(count):
            name = mix64(fps[i]) >> TABLE_SHIFT
            coming[name] += 1
            entries = self._tables[name].used + coming[name]
            if entries > room(self._tables[name].capacity):
                if grow(&self._tables[name], entries) < 0:
                    return -1
        return 0

    cdef inline bint insert(self, uint64_t fp, uint64_t mixed) noexcept nogil:
        """Add fp, for which there is room; whether it was new."""
        cdef sub_table *table = &self._tables[mixed >> TABLE_SHIFT]
        cdef uint64_t slot
        cdef bint was_new
        if fp == 0:
            was_new = not self._has_zero
            self._has_zero = True
            return was_new
        slot = find(table, fp, mixed)
        was_new = table.slots[slot] == 0
        table.slots[slot] = fp
        table.used += was_new
        return was_new

    cdef inline bint has(self, uint64_t fp, uint64_t mixed) noexcept nogil:
        cdef sub_table *table = &self._tables[mixed >> TABLE_SHIFT]
        if fp == 0:
            return self._has_zero
        return table.slots[find(table, fp, mixed)] == fp

    cdef inline void fetch(self, const uint64_t *fps, int count, uint64_t *mixed) noexcept nogil:
        """Mix a block and ask for its slots before they are needed."""
        cdef int i
        cdef sub_table *table
        for i in range(count):
            mixed[i] = mix64(fps[i])
            table = &self._tables[mixed[i] >> TABLE_SHIFT]
            PREFETCH_WRITE(&table.slots[home(mixed[i], table.capacity)])

    cdef void walk(self, const uint64_t *fps, int64_t count, bint adds,
                   char *answers) noexcept nogil:
        cdef uint64_t mixed[BLOCK]
        cdef int64_t start = 0
        cdef int i, size
        while start < count:
            size = <int>min(count - start, <int64_t>BLOCK)
            self.fetch(fps + start, size, mixed)
            for i in range(size):
                if adds:
                    answers[start + i] = self.insert(fps[start + i], mixed[i])
                else:
                    answers[start + i] = self.has(fps[start + i], mixed[i])
            start += size

    def add_many(self, bytes fingerprints not None):
        """Add fingerprints, in order, and tell which were new.

        Args:
            fingerprints: a little-endian u64 each.

        Returns:
            One byte per fingerprint: 1 = was new. The second of two equal ones is not new.

        Raises:
            MemoryError: no room; nothing of the batch was added and the set stays usable.
        """
        cdef int64_t count = checked(fingerprints)
        cdef const uint64_t *fps = <const uint64_t *>PyBytes_AS_STRING(fingerprints)
        cdef bytes mask = PyBytes_FromStringAndSize(NULL, count)
        cdef char *answers = PyBytes_AS_STRING(mask)
        cdef int failed
        with nogil:
            failed = self.reserve(fps, count)
            if not failed:
                self.walk(fps, count, True, answers)
        if failed:
            raise MemoryError
        return mask

    def contains_many(self, bytes fingerprints not None):
        """Tell which fingerprints are in the set: one byte each."""
        cdef int64_t count = checked(fingerprints)
        cdef const uint64_t *fps = <const uint64_t *>PyBytes_AS_STRING(fingerprints)
        cdef bytes mask = PyBytes_FromStringAndSize(NULL, count)
        cdef char *answers = PyBytes_AS_STRING(mask)
        with nogil:
            self.walk(fps, count, False, answers)
        return mask

    def add(self, uint64_t fp):
        """Add one fingerprint; return whether it was new.

        Raises:
            MemoryError: no room; the set is unchanged.
        """
        if self.reserve(&fp, 1) < 0:
            raise MemoryError
        return self.insert(fp, mix64(fp))

    def __contains__(self, uint64_t fp):
        return self.has(fp, mix64(fp))
