"""Which URLs of a log wait: the pass over its records at the start of a shard.

Idea: the ids of ENQ records rise through the log, so a segment's URLs are a sorted array of eight
bytes each (lsn, offset, both relative to the segment) and DONE finds its URL by two binary
searches.  A hash table would take three times the memory and miss the cache for every record.
Only MOVE, whose ids are old ones, needs a table: open addressing, a few per cent of the URLs.

Invariants:
1. Segments come in the order of their numbers; within one, lsns rise.
2. An offset of 0 marks a URL that is done or moved (records begin behind the header).
3. A moved URL stands in the table only.

Cost: one pass, O(log segments + log records of one) a DONE; 8 bytes an ENQ, 21 to 43 a MOVE.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memcpy, memset

from celltable cimport cell, cell_table, table_find, table_put, table_reserve
from layout cimport RECORD_DONE, RECORD_ENQ, RECORD_MOVE, record_head


cdef extern from "logrecord.h" nogil:
    enum:
        TOTALS
    size_t done_size(const uint8_t *at, size_t left)
    void done_add(uint64_t *totals, const uint8_t *at)


cdef struct Entry:
    uint32_t lsn  # relative to the segment's first
    uint32_t offset  # 0: no longer here

cdef struct Segment:
    uint64_t number
    uint64_t first_lsn
    Entry *entries
    size_t size
    size_t room
    size_t live


cdef int by_id(const void *a, const void *b) noexcept nogil:
    cdef uint64_t x = (<const cell *>a).key
    cdef uint64_t y = (<const cell *>b).key
    return (x > y) - (x < y)


cdef Entry *find(const Segment *segment, uint64_t id) noexcept nogil:
    """The entry of ``id``, which is not below the segment's first lsn; NULL when it has none."""
    cdef size_t low = 0
    cdef size_t high = segment.size
    cdef size_t middle
    cdef uint64_t lsn = id - segment.first_lsn
    while low < high:
        middle = (low + high) // 2
        if segment.entries[middle].lsn < lsn:
            low = middle + 1
        else:
            high = middle
    if low < segment.size and segment.entries[low].lsn == lsn:
        return segment.entries + low
    return NULL


cdef class LiveTable:
    """Add the segments of a log in order, then ask what waits."""

    cdef Segment *_segments
    cdef size_t _count
    cdef cell_table _moved  # id -> position, 0 = done
    cdef size_t _moved_live

    def __dealloc__(self):
        cdef size_t i
        for i in range(self._count):
            free(self._segments[i].entries)
        free(self._segments)
        free(self._moved.cells)

    def __len__(self):
        cdef size_t total = self._moved_live
        cdef size_t i
        for i in range(self._count):
            total += self._segments[i].live
        return total

    def add(
        self, uint64_t segment, const uint8_t[::1] data, bytes types, bytes offsets,
        uint64_t first_lsn, uint64_t dones_before,
    ):
        """Go through checked records of a segment.

        Args:
            segment: its number, that of the call before or a higher one.
            data: the segment from its first byte on.
            types: as ``Codec.scan`` found them; so ``offsets`` (u32 each) and ``first_lsn``.
            dones_before: DONE records at this offset or behind it are ignored.

        Returns:
            Fingerprints of the ENQ records (u64 each), totals of the DONE entries that counted and
            of those that were ignored (u64 each, see ``done_totals``), and the offsets of the
            records of other types (u32 each).
        """
        cdef size_t count = PyBytes_GET_SIZE(types)
        cdef const uint8_t *kinds = <const uint8_t *>PyBytes_AS_STRING(types)
        cdef const uint32_t *places = <const uint32_t *>PyBytes_AS_STRING(offsets)
        cdef uint64_t[2][TOTALS] totals
        cdef uint64_t *prints = <uint64_t *>malloc(count * sizeof(uint64_t) + 1)
        cdef uint32_t *others = <uint32_t *>malloc(count * sizeof(uint32_t) + 1)
        cdef size_t printed = 0
        cdef size_t other = 0
        cdef size_t i
        cdef int kind = 0
        cdef const uint8_t *at
        cdef bint is_good = True
        memset(totals, 0, sizeof(totals))
        try:
            if prints is NULL or others is NULL:
                raise MemoryError
            if <size_t>PyBytes_GET_SIZE(offsets) != count * sizeof(uint32_t):
                raise ValueError("one offset for each record")
            for i in range(count):
                if places[i] + sizeof(record_head) > <size_t>data.shape[0] or (
                    places[i] + sizeof(record_head)
                    + (<const record_head *>(&data[0] + places[i])).len > <size_t>data.shape[0]
                ):
                    raise ValueError("a record outside of the data")
            self.begin(segment, first_lsn)
            with nogil:
                for i in range(count):
                    kind = kinds[i]
                    at = &data[0] + places[i]
                    if kind == RECORD_ENQ and (<const record_head *>at).len >= 8:
                        is_good = self.enqueue(first_lsn + i, places[i])
                        memcpy(prints + printed, at + sizeof(record_head), 8)
                        printed += 1
                    elif kind == RECORD_DONE:
                        self.finish(at, places[i] < dones_before, totals)
                    elif kind == RECORD_MOVE and (<const record_head *>at).len >= 8:
                        is_good = self.move(at, segment << 32 | places[i])
                    else:
                        others[other] = places[i]
                        other += 1
                    if not is_good:
                        break
            if not is_good:
                raise MemoryError
            return (
                PyBytes_FromStringAndSize(<char *>prints, printed * sizeof(uint64_t)),
                PyBytes_FromStringAndSize(<char *>totals[0], sizeof(totals[0])),
                PyBytes_FromStringAndSize(<char *>totals[1], sizeof(totals[1])),
                PyBytes_FromStringAndSize(<char *>others, other * sizeof(uint32_t)),
            )
        finally:
            free(prints)
            free(others)

    cdef int begin(self, uint64_t segment, uint64_t first_lsn) except -1:
        """Make room for a segment that was not added to yet."""
        cdef Segment *grown
        if self._count and self._segments[self._count - 1].number >= segment:
            if self._segments[self._count - 1].number > segment:
                raise ValueError("segments come in order")
            return 0
        grown = <Segment *>realloc(self._segments, (self._count + 1) * sizeof(Segment))
        if grown is NULL:
            raise MemoryError
        self._segments = grown
        memset(grown + self._count, 0, sizeof(Segment))
        grown[self._count].number = segment
        grown[self._count].first_lsn = first_lsn
        self._count += 1
        return 0

    cdef bint enqueue(self, uint64_t lsn, uint32_t offset) noexcept nogil:
        cdef Segment *segment = self._segments + self._count - 1
        cdef Entry *grown
        cdef size_t room
        if lsn < segment.first_lsn or (lsn - segment.first_lsn) >> 32:
            return False
        if segment.size == segment.room:
            room = segment.room + segment.room // 2 + 1024
            grown = <Entry *>realloc(segment.entries, room * sizeof(Entry))
            if grown is NULL:
                return False
            segment.entries, segment.room = grown, room
        segment.entries[segment.size].lsn = <uint32_t>(lsn - segment.first_lsn)
        segment.entries[segment.size].offset = offset
        segment.size += 1
        segment.live += 1
        return True

    cdef void finish(
        self, const uint8_t *record, bint counts, uint64_t[TOTALS] *totals
    ) noexcept nogil:
        """Take the URLs of a DONE record out, or only add it up when it does not count."""
        cdef const uint8_t *at = record + sizeof(record_head)
        cdef size_t left = (<const record_head *>record).len
        cdef size_t size = done_size(at, left)
        cdef uint64_t id = 0
        while size:
            done_add(totals[0 if counts else 1], at)
            if counts:
                memcpy(&id, at, 8)
                self.remove(id)
            at += size
            left -= size
            size = done_size(at, left)

    cdef void remove(self, uint64_t id) noexcept nogil:
        cdef cell *moved = table_find(&self._moved, id)
        if moved is NULL:
            self.drop(id)
            return
        self._moved_live -= moved.value != 0
        moved.value = 0

    cdef void drop(self, uint64_t id) noexcept nogil:
        """Mark the ENQ of ``id`` as no longer waiting, if it stands in an array."""
        cdef Segment *segment = self.segment_of(id)
        cdef Entry *entry = NULL if segment is NULL else find(segment, id)
        if entry is not NULL and entry.offset != 0:
            segment.live -= 1
            entry.offset = 0

    cdef Segment *segment_of(self, uint64_t id) noexcept nogil:
        """The last segment that begins at ``id`` or before; NULL when none does."""
        cdef size_t low = 0
        cdef size_t high = self._count
        cdef size_t middle
        while low < high:
            middle = (low + high) // 2
            if self._segments[middle].first_lsn <= id:
                low = middle + 1
            else:
                high = middle
        return self._segments + low - 1 if low else NULL

    cdef bint move(self, const uint8_t *record, uint64_t position) noexcept nogil:
        cdef uint64_t id = 0
        cdef cell *moved
        memcpy(&id, record + sizeof(record_head), 8)
        if id == 0:
            return True
        if not table_reserve(&self._moved, 1):
            return False
        moved = table_find(&self._moved, id)
        if moved is NULL:
            self.drop(id)
        self._moved_live += moved is NULL or moved.value == 0
        table_put(&self._moved, id, position)
        return True

    def live(self):
        """Positions (u64 each) of all waiting URLs, in the order in which they were accepted."""
        cdef size_t total = len(self)
        cdef bytes result = PyBytes_FromStringAndSize(NULL, total * sizeof(uint64_t))
        cdef uint64_t *out = <uint64_t *>PyBytes_AS_STRING(result)
        cdef cell *moved = <cell *>malloc(self._moved_live * sizeof(cell) + 1)
        cdef size_t left = 0
        cdef size_t i
        if moved is NULL:
            raise MemoryError
        with nogil:
            for i in range(self._moved.room):
                if self._moved.cells[i].value != 0:
                    moved[left] = self._moved.cells[i]
                    left += 1
            qsort(moved, left, sizeof(cell), by_id)
            self.merge(out, moved, left)
            free(moved)
        return result

    cdef void merge(self, uint64_t *out, const cell *moved, size_t left) noexcept nogil:
        cdef const Segment *segment
        cdef const Entry *entry
        cdef size_t i, k
        for i in range(self._count):
            segment = self._segments + i
            for k in range(segment.size):
                entry = segment.entries + k
                if entry.offset == 0:
                    continue
                while left and moved.key < segment.first_lsn + entry.lsn:
                    out[0] = moved.value
                    out += 1
                    moved += 1
                    left -= 1
                out[0] = segment.number << 32 | entry.offset
                out += 1
        for i in range(left):
            out[i] = moved[i].value

    def live_by_segment(self):
        """Number of waiting URLs by the segment where their record lies."""
        cdef dict counts = {}
        cdef size_t i
        for i in range(self._count):
            counts[self._segments[i].number] = self._segments[i].live
        for i in range(self._moved.room):
            if self._moved.cells[i].value != 0:
                counts[self._moved.cells[i].value >> 32] += 1
        return counts

    def is_waiting(self, uint64_t id):
        """Whether the URL of this id waits. Cost: that of a DONE."""
        cdef cell *moved = table_find(&self._moved, id)
        cdef Segment *segment = self.segment_of(id)
        cdef Entry *entry = NULL if segment is NULL else find(segment, id)
        if moved is not NULL:
            return moved.value != 0
        return entry is not NULL and entry.offset != 0
