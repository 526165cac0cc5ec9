# A table of open addressing from numbers to numbers, header only; keys are not 0.
#
# A table begins as zeros, without memory, and costs nothing until something is put into it; then 16
# bytes a cell, of which at most three in four are taken.  Whoever has it frees its cells.

from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free


cdef extern from "mix.h" nogil:
    uint64_t mix64(uint64_t x)

cdef enum:
    LEAST_CELLS = 64

cdef struct cell:
    uint64_t key  # 0: empty
    uint64_t value

cdef struct cell_table:
    cell *cells
    size_t room  # a power of two, or 0
    size_t count


cdef inline size_t table_home(const cell_table *of, uint64_t key) noexcept nogil:
    return mix64(key) & (of.room - 1)


cdef inline cell *table_find(const cell_table *of, uint64_t key) noexcept nogil:
    """The cell of a key, NULL when it has none."""
    cdef size_t at
    if of.count == 0:
        return NULL
    at = table_home(of, key)
    while of.cells[at].key != 0:
        if of.cells[at].key == key:
            return of.cells + at
        at = (at + 1) & (of.room - 1)
    return NULL


cdef inline void table_put(cell_table *of, uint64_t key, uint64_t value) noexcept nogil:
    """Set a key; there is room for it."""
    cdef size_t at = table_home(of, key)
    while of.cells[at].key != 0 and of.cells[at].key != key:
        at = (at + 1) & (of.room - 1)
    of.count += of.cells[at].key == 0
    of.cells[at].key = key
    of.cells[at].value = value


cdef inline void table_drop(cell_table *of, uint64_t key) noexcept nogil:
    """Forget a key, and close the hole that it leaves in the run of cells behind it."""
    cdef cell *found = table_find(of, key)
    cdef size_t hole, at, way
    if found is NULL:
        return
    hole = found - of.cells
    at = (hole + 1) & (of.room - 1)
    while of.cells[at].key != 0:
        # A cell may step back into the hole unless its home lies behind the hole.
        way = at - table_home(of, of.cells[at].key)
        if (way & (of.room - 1)) >= ((at - hole) & (of.room - 1)):
            of.cells[hole] = of.cells[at]
            hole = at
        at = (at + 1) & (of.room - 1)
    of.cells[hole].key = 0
    of.count -= 1


cdef inline bint table_reserve(cell_table *of, size_t more) noexcept nogil:
    """Make room for ``more`` keys beyond those that are there; false without memory."""
    cdef size_t room = of.room if of.room else LEAST_CELLS
    cdef size_t i
    cdef cell_table grown
    while 3 * room < 4 * (of.count + more):
        room *= 2
    if room == of.room:
        return True
    grown.cells = <cell *>calloc(room, sizeof(cell))
    if grown.cells is NULL:
        return False
    grown.room, grown.count = room, 0
    for i in range(of.room):
        if of.cells[i].key != 0:
            table_put(&grown, of.cells[i].key, of.cells[i].value)
    free(of.cells)
    of[0] = grown
    return True
