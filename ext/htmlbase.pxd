# Ground of the page scanner, header only: byte classes, growable buffers, tables of names.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy


cdef extern from "htmlclass.h" nogil:
    enum:
        IS_SPACE, IS_TAG_NAME_END, IS_ATTRIBUTE_END, IS_UNQUOTED_END, IS_ALPHA, IS_DIGIT, IS_CODED
        HASHED, BLOCK, HALF
    const uint8_t html_class[256]
    const uint8_t html_name[256]
    const uint16_t html_c1[32]
    uint8_t html_lower(uint8_t c)
    uint64_t name_hash(uint64_t hash, uint8_t c)
    bint has_coded_block(const uint8_t *p)
    bint has_coded_half(const uint8_t *p)


# --- a run of bytes that somebody else owns ---------------------------------------------------
cdef struct Span:
    const uint8_t *data
    size_t size


cdef inline bint equals_span(Span one, Span two) noexcept nogil:
    return one.size == two.size and (one.size == 0 or memcmp(one.data, two.data, one.size) == 0)


cdef inline bint equals_fold(Span span, const char *lower_name, size_t size) noexcept nogil:
    """Whether the span is this (lower-case) name, in any case."""
    cdef size_t i
    if span.size != size:
        return False
    for i in range(size):
        if html_lower(span.data[i]) != <uint8_t>lower_name[i]:
            return False
    return True


# --- a buffer that grows; all zero is an empty one --------------------------------------------
cdef struct Buffer:
    uint8_t *data
    size_t size
    size_t capacity
    bint is_set  # tells an empty value from none


cdef inline bint reserve(Buffer *buffer, size_t extra) noexcept nogil:
    """Make room for `extra` more bytes; false when there is no memory, and nothing changed."""
    cdef size_t wanted = buffer.size + extra
    cdef uint8_t *grown
    if wanted <= buffer.capacity:
        return True
    wanted = max(wanted, 2 * buffer.capacity, <size_t>512)
    grown = <uint8_t *>realloc(buffer.data, wanted)
    if grown == NULL:
        return False
    buffer.data = grown
    buffer.capacity = wanted
    return True


cdef inline bint append(Buffer *buffer, Span span) noexcept nogil:
    """Copy the span to the end; false when there is no memory."""
    if not reserve(buffer, span.size):
        return False
    if span.size:
        memcpy(buffer.data + buffer.size, span.data, span.size)
    buffer.size += span.size
    buffer.is_set = True
    return True


cdef inline void release(Buffer *buffer) noexcept nogil:
    free(buffer.data)
    buffer.data = NULL


# --- a table of names, open addressing, filled once at import ---------------------------------
cdef struct Name:
    uint64_t hash
    uint8_t size
    uint8_t text[31]  # the longest is CounterClockwiseContourIntegral


cdef struct Names:
    Name *entries  # from 1; 0 means "not found"
    uint16_t *slots  # index of an entry, 0 = free
    uint32_t mask  # number of slots (a power of two) - 1


cdef inline uint32_t spread(uint64_t hash) noexcept nogil:
    return <uint32_t>(hash * <uint64_t>0x9E3779B97F4A7C15 >> 32)


cdef inline uint16_t find_name(
    const Names *names, uint64_t hash, Span name, bint fold
) noexcept nogil:
    """Index of the name, 0 when it is unknown; `hash` is of its bytes, in lower case if `fold`."""
    cdef uint32_t slot = spread(hash) & names.mask
    cdef uint16_t index = names.slots[slot]
    while index:
        if names.entries[index].hash == hash and is_name(&names.entries[index], name, fold):
            return index
        slot = (slot + 1) & names.mask
        index = names.slots[slot]
    return 0


cdef inline bint is_name(const Name *entry, Span name, bint fold) noexcept nogil:
    """Whether these are equal; their hashes are."""
    cdef size_t i
    if entry.size != name.size:
        return False
    if name.size <= HASHED:
        return True
    for i in range(name.size):
        if entry.text[i] != (html_lower(name.data[i]) if fold else name.data[i]):
            return False
    return True


cdef inline void add_name(Names *names, uint16_t index, Span name) noexcept nogil:
    """Enter a name (of at most 31 bytes, not yet there) under `index`."""
    cdef uint64_t hash = 0
    cdef size_t i
    cdef uint32_t slot
    for i in range(name.size):
        hash = name_hash(hash, name.data[i])
    slot = spread(hash) & names.mask
    while names.slots[slot]:
        slot = (slot + 1) & names.mask
    names.slots[slot] = index
    names.entries[index].hash = hash
    names.entries[index].size = <uint8_t>name.size
    memcpy(names.entries[index].text, name.data, name.size)
