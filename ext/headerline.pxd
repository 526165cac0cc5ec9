# A line of a header block as it was received, header only: which field it is, and its value.
#
# Lines end at LF; a field is a line that begins with its name, in any case, then blanks and a
# colon. A CR elsewhere than before the LF ends a value too.

from libc.stdint cimport uint8_t
from libc.string cimport memchr


cdef inline bint is_blank(uint8_t c) noexcept nogil:
    return c == c' ' or 9 <= c <= 13


cdef inline const uint8_t *end_of_line(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """The LF, or the end of the block."""
    cdef const uint8_t *found = <const uint8_t *>memchr(p, c'\n', end - p)
    return end if found == NULL else found


cdef inline bint begins_with(const uint8_t *p, const uint8_t *name, size_t size) noexcept nogil:
    """Whether this (lower-case) name stands here, in any case; so many bytes are there."""
    cdef size_t i
    for i in range(size):
        if p[i] != name[i] and not (c'A' <= p[i] <= c'Z' and (p[i] | 0x20) == name[i]):
            return False
    return True


cdef inline bint has_word(
    const uint8_t *p, const uint8_t *end, const uint8_t *word, size_t size
) noexcept nogil:
    """Whether this (lower-case) word stands somewhere in a line, in any case."""
    while <size_t>(end - p) >= size:
        if begins_with(p, word, size):
            return True
        p += 1
    return False


cdef inline const uint8_t *behind_name(
    const uint8_t *p, const uint8_t *end, const uint8_t *name, size_t size
) noexcept nogil:
    """Behind the colon of the field, NULL when the line is no field of this (lower-case) name."""
    if <size_t>(end - p) <= size or not begins_with(p, name, size):
        return NULL
    p += size
    while p < end and (p[0] == c' ' or p[0] == c'\t'):
        p += 1
    return p + 1 if p < end and p[0] == c':' else NULL


cdef inline size_t trim(const uint8_t **value, const uint8_t *line_end) noexcept nogil:
    """The size of the value that begins there and ends with its line; moves behind its blanks."""
    cdef const uint8_t *end = <const uint8_t *>memchr(value[0], c'\r', line_end - value[0])
    if end == NULL:
        end = line_end
    while value[0] < end and is_blank(value[0][0]):
        value[0] += 1
    while value[0] < end and is_blank((end - 1)[0]):
        end -= 1
    return end - value[0]
