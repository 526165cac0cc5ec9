"""Where the URLs of a log lie: which records are live, and where moved ones have gone.

Idea: records begin at multiples of eight, so a bit for each eight bytes of a segment tells which of
its records hold a live URL; that costs a 64th of the log, however many of them are done.  A caller
keeps the position that it was given first.  When the log moves a URL, two tables of open addressing
(first position -> where it lies now, and back) keep that promise until the URL is finished.

Invariants:
1. A bit is set exactly when the newest record of a URL that is not done lies there.
2. ``here`` and ``first`` are inverse to each other, and hold moved, live URLs only.
3. Memory is taken before anything is changed, so a MemoryError leaves the map as it was.

Cost: one crossing and one nogil block a batch; O(log segments) and one bit for each position, and a
probe of a table that is empty until something is moved; 21 to 43 bytes twice for a moved URL.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memmove, memset

from celltable cimport cell, cell_table, table_drop, table_find, table_put, table_reserve


cdef extern from * nogil:
    int first_bit "__builtin_ctzll" (unsigned long long word)

cdef enum:
    SEGMENT_SHIFT = 32
    ALIGN_SHIFT = 3


cdef struct bitmap:
    uint64_t segment
    uint64_t *words
    size_t size  # words
    size_t live


@cython.final
cdef class PlaceMap:
    """Know which positions of a log hold live URLs; positions given to it are never forgotten.

    A *position* is ``segment << 32 | offset``, the offset a multiple of 8 and not 0.
    """

    cdef bitmap *_maps  # by rising segment numbers
    cdef size_t _count
    cdef cell_table _here  # first position -> where it lies now
    cdef cell_table _first  # where it lies now -> first position

    def __dealloc__(self):
        cdef size_t i
        for i in range(self._count):
            free(self._maps[i].words)
        free(self._maps)
        free(self._here.cells)
        free(self._first.cells)

    @property
    def moved(self):
        """Live URLs that do not lie where their callers think."""
        return self._here.count

    @property
    def nbytes(self):
        """Bytes of memory."""
        cdef size_t total = self._count * sizeof(bitmap)
        cdef size_t i
        for i in range(self._count):
            total += self._maps[i].size * sizeof(uint64_t)
        return total + (self._here.room + self._first.room) * sizeof(cell)

    def live(self, segment: int):
        """Live URLs in a segment; 0 for one that is not known."""
        cdef bitmap *found = self.find_map(segment)
        return 0 if found is NULL else found.live

    # --- finding one's way ----------------------------------------------------------------------

    cdef size_t index(self, uint64_t segment) noexcept nogil:
        """Where the map of a segment stands or would stand."""
        cdef size_t low = 0
        cdef size_t high = self._count
        cdef size_t middle
        while low < high:
            middle = (low + high) // 2
            if self._maps[middle].segment < segment:
                low = middle + 1
            else:
                high = middle
        return low

    cdef bitmap *find_map(self, uint64_t segment) noexcept nogil:
        cdef size_t at = self.index(segment)
        if at < self._count and self._maps[at].segment == segment:
            return self._maps + at
        return NULL

    cdef uint64_t current(self, uint64_t place) noexcept nogil:
        """Where the URL lies that was put, or moved, to ``place``."""
        cdef cell *found = table_find(&self._here, place)
        return place if found is NULL else found.value

    cdef bint is_set(self, uint64_t place) noexcept nogil:
        cdef bitmap *found = self.find_map(place >> SEGMENT_SHIFT)
        cdef size_t bit = <uint32_t>place >> ALIGN_SHIFT
        if found is NULL or bit >> 6 >= found.size:
            return False
        return found.words[bit >> 6] >> (bit & 63) & 1

    cdef void mark(self, uint64_t place) noexcept nogil:
        """Set a bit; there is room for it."""
        cdef bitmap *found = self.find_map(place >> SEGMENT_SHIFT)
        cdef size_t bit = <uint32_t>place >> ALIGN_SHIFT
        cdef uint64_t mask = <uint64_t>1 << (bit & 63)
        found.live += not found.words[bit >> 6] & mask
        found.words[bit >> 6] |= mask

    cdef void clear(self, uint64_t place) noexcept nogil:
        """Take a bit that is set back."""
        cdef bitmap *found = self.find_map(place >> SEGMENT_SHIFT)
        cdef size_t bit = <uint32_t>place >> ALIGN_SHIFT
        found.words[bit >> 6] &= ~(<uint64_t>1 << (bit & 63))
        found.live -= 1

    cdef int reserve(self, uint64_t place) except -1:
        """Make room for the bit of a position."""
        cdef uint64_t segment = place >> SEGMENT_SHIFT
        cdef size_t words = (<uint32_t>place >> (ALIGN_SHIFT + 6)) + 1
        cdef size_t at = self.index(segment)
        cdef bitmap *grown
        cdef uint64_t *wider
        if at == self._count or self._maps[at].segment != segment:
            grown = <bitmap *>realloc(self._maps, (self._count + 1) * sizeof(bitmap))
            if grown is NULL:
                raise MemoryError
            self._maps = grown
            memmove(grown + at + 1, grown + at, (self._count - at) * sizeof(bitmap))
            memset(grown + at, 0, sizeof(bitmap))
            grown[at].segment = segment
            self._count += 1
        if words > self._maps[at].size:
            words += words // 4 + 64
            wider = <uint64_t *>realloc(self._maps[at].words, words * sizeof(uint64_t))
            if wider is NULL:
                raise MemoryError
            memset(wider + self._maps[at].size, 0,
                   (words - self._maps[at].size) * sizeof(uint64_t))
            self._maps[at].words, self._maps[at].size = wider, words
        return 0

    # --- what comes and goes --------------------------------------------------------------------

    def add(self, base: int, bytes offsets not None):
        """Note new URLs.

        Args:
            base: position that the offsets count from.
            offsets: u32 each, rising; all in the segment of ``base``.

        Raises:
            ValueError: a position that no record can have.
        """
        cdef size_t count = PyBytes_GET_SIZE(offsets) // sizeof(uint32_t)
        cdef const char *at = PyBytes_AS_STRING(offsets)
        cdef uint64_t start = base
        cdef uint32_t offset
        cdef uint64_t bad = start & 7
        cdef uint64_t highest = 0
        cdef size_t i
        if not count:
            return
        for i in range(count):
            memcpy(&offset, at + i * sizeof(uint32_t), sizeof(uint32_t))
            bad |= offset & 7 | (start + offset) >> SEGMENT_SHIFT ^ start >> SEGMENT_SHIFT
            highest = max(highest, start + offset)
        if bad or not <uint32_t>start:
            raise ValueError("no positions of records of one segment")
        self.reserve(highest)
        with nogil:
            for i in range(count):
                memcpy(&offset, at + i * sizeof(uint32_t), sizeof(uint32_t))
                self.mark(start + offset)

    def load(self, const uint64_t[::1] places):
        """Note URLs that wait in a log that was opened, by their positions.

        Raises:
            ValueError: a position that no record can have.
        """
        cdef size_t i
        cdef size_t count = places.shape[0]
        cdef uint64_t place
        for i in range(count):
            place = places[i]
            if place & 7 or not <uint32_t>place:
                raise ValueError(f"no record at position {place}")
            self.reserve(place)
            self.mark(place)

    def where(self, const uint64_t[::1] places):
        """Return where the URLs of these positions lie now (u64 each)."""
        cdef size_t count = places.shape[0]
        cdef bytes result = PyBytes_FromStringAndSize(NULL, count * sizeof(uint64_t))
        cdef uint64_t *out = <uint64_t *>PyBytes_AS_STRING(result)
        cdef size_t i
        with nogil:
            for i in range(count):
                out[i] = self.current(places[i])
        return result

    def check(self, const uint64_t[::1] places):
        """Return the first of these positions without a live URL; 0 when all have one."""
        cdef size_t i
        cdef uint64_t bad = 0
        with nogil:
            for i in range(<size_t>places.shape[0]):
                if not self.is_set(self.current(places[i])):
                    bad = places[i]
                    break
        return bad

    def finish(self, const uint64_t[::1] places):
        """Forget the URLs of these positions; those that are not live are passed over."""
        cdef size_t i
        cdef uint64_t place
        with nogil:
            for i in range(<size_t>places.shape[0]):
                place = self.current(places[i])
                if self.is_set(place):
                    self.clear(place)
                    self.forget(place)

    cdef void forget(self, uint64_t place) noexcept nogil:
        """Take the URL that lies at ``place`` out of both tables."""
        cdef cell *found = table_find(&self._first, place)
        if found is not NULL:
            table_drop(&self._here, found.value)
            table_drop(&self._first, place)

    def survivors(self, segment: int, limit: int):
        """Return the first ``limit`` positions (u64 each) of live URLs in a segment, rising."""
        cdef bitmap *found = self.find_map(segment)
        cdef size_t room = 0 if found is NULL else min(<size_t>limit, found.live)
        cdef uint64_t *out = <uint64_t *>malloc(room * sizeof(uint64_t) + 1)
        cdef size_t count = 0
        cdef size_t i = 0
        cdef uint64_t word
        if out is NULL:
            raise MemoryError
        with nogil:
            while count < room:
                word = found.words[i]
                while word and count < room:
                    out[count] = found.segment << SEGMENT_SHIFT | (
                        (i << 6 | <size_t>first_bit(word)) << ALIGN_SHIFT
                    )
                    count += 1
                    word &= word - 1
                i += 1
        try:
            return PyBytes_FromStringAndSize(<char *>out, count * sizeof(uint64_t))
        finally:
            free(out)

    def move(self, place: int, target: int):
        """Note that a live URL lies at ``target`` from now on; its old positions stay good.

        Raises:
            ValueError: no live URL at ``place``, or a target that no record can have.
        """
        cdef uint64_t now = self.current(place)
        cdef uint64_t goal = target
        cdef uint64_t first
        cdef cell *found
        if not self.is_set(now) or goal & 7 or not <uint32_t>goal or self.is_set(goal):
            raise ValueError(f"no move from {place} to {target}")
        self.reserve(goal)
        if not table_reserve(&self._here, 1) or not table_reserve(&self._first, 1):
            raise MemoryError
        found = table_find(&self._first, now)
        first = now if found is NULL else found.value
        self.clear(now)
        self.mark(goal)
        table_drop(&self._first, now)
        table_put(&self._first, goal, first)
        table_put(&self._here, first, goal)

    def drop(self, segment: int):
        """Forget a segment whose URLs are all finished or moved; else nothing is done."""
        cdef size_t at = self.index(segment)
        if at == self._count or self._maps[at].segment != <uint64_t>segment or self._maps[at].live:
            return
        free(self._maps[at].words)
        self._count -= 1
        memmove(self._maps + at, self._maps + at + 1, (self._count - at) * sizeof(bitmap))
