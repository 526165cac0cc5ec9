# What the links of XML are relative to (XML Base), header only: the xml:base of the elements around
# them.
#
# Idea: a short stack of the open elements that have one. They are known by their names alone, so
# that what is not well-formed loses a base and nothing else. Who reads the links keeps a stack of
# his own, by rows that tell from which link on it is another one.
#
# Cost: a comparison of names a tag for each open element with a base, O(1).

from libc.stdint cimport uint8_t, uint32_t

from htmlbase cimport Buffer, Span, append, equals_span
from xmltag cimport Tag


cdef enum:
    MOST_BASES = 8  # in each other: those of a feed, an entry and a link are three


cdef struct OpenBase:
    Span name  # of its element
    Span value
    uint32_t inner  # elements of the same name that are open in it, and have none


cdef struct BaseRow:
    size_t start  # of a link: from there on
    uint32_t level  # so many of the reader's bases stay,
    Span value  # and this one follows; no data: none does


cdef struct BaseStack:
    OpenBase open[MOST_BASES]
    uint32_t depth
    uint32_t told  # so many of these are in the rows
    uint32_t reader_depth
    Buffer rows


cdef inline uint32_t place_of(const BaseStack *bases, Span name) noexcept nogil:
    """Behind the innermost element of a name; 0 when there is none."""
    cdef uint32_t place = bases.depth
    while place and not equals_span(bases.open[place - 1].name, name):
        place -= 1
    return place


cdef inline void enter_element(BaseStack *bases, const Tag *tag) noexcept nogil:
    cdef uint32_t place
    if tag.base.data != NULL and bases.depth < MOST_BASES:
        bases.open[bases.depth] = OpenBase(tag.name, tag.base, 0)
        bases.depth += 1
        return
    place = place_of(bases, tag.name)
    if place:
        bases.open[place - 1].inner += 1


cdef inline void leave_element(BaseStack *bases, Span name) noexcept nogil:
    """The innermost element of this name ends, and all that was left open in it."""
    cdef uint32_t place = place_of(bases, name)
    if place and bases.open[place - 1].inner:
        bases.open[place - 1].inner -= 1
    elif place:
        bases.depth = place - 1
        bases.told = min(bases.told, bases.depth)


cdef inline bint tell_bases(BaseStack *bases, size_t start) noexcept nogil:
    """Tell the reader what the link that starts there is relative to; false: there is no memory."""
    cdef BaseRow row = BaseRow(start, bases.depth, Span(NULL, 0))
    cdef Span bytes_of_row = Span(<const uint8_t *>&row, sizeof(BaseRow))
    if bases.told == bases.depth < bases.reader_depth and not append(&bases.rows, bytes_of_row):
        return False
    while bases.told < bases.depth:
        row.level, row.value = bases.told, bases.open[bases.told].value
        if not append(&bases.rows, bytes_of_row):
            return False
        bases.told += 1
    bases.reader_depth = bases.depth
    return True
