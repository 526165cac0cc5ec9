# What a header block says of a page's version, header only: ETag and Last-Modified (RFC 9110,
# section 8.8), as far as a later crawl could send them back.
#
# Invariant: a value lies within its line, is printable ASCII, and no longer than `MAX_ETAG`.

from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp

cdef enum:
    MAX_ETAG = 200
    DATE_BYTES = 29  # Sun, 06 Nov 1994 08:49:37 GMT


cdef struct Value:  # size 0: it was not sent, or cannot be sent back
    const uint8_t *at
    size_t size


cdef struct Version:
    Value etag
    Value modified


cdef inline bint is_named(const uint8_t *p, const uint8_t *end, const char *name,
                          size_t size) noexcept nogil:
    """Whether a line begins with this name, given in lower case with its colon, in any case."""
    cdef size_t i
    if <size_t>(end - p) < size:
        return False
    for i in range(size):
        if p[i] != name[i] and not (c'A' <= p[i] <= c'Z' and (p[i] | 0x20) == name[i]):
            return False
    return True


cdef inline Value value_of(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """What stands there without blanks around it; nothing when it is not all printable."""
    cdef const uint8_t *at
    if end > p and (end - 1)[0] == c'\r':
        end -= 1
    while p < end and (p[0] == c' ' or p[0] == c'\t'):
        p += 1
    while end > p and ((end - 1)[0] == c' ' or (end - 1)[0] == c'\t'):
        end -= 1
    at = p
    while at < end:
        if not c' ' <= at[0] <= c'~':
            return Value(NULL, 0)
        at += 1
    return Value(p, end - p)


cdef inline bint is_date(Value value) noexcept nogil:
    cdef const uint8_t *p = value.at
    if value.size != DATE_BYTES or not c'A' <= p[0] <= c'Z':
        return False
    if not (c'a' <= p[1] <= c'z' and c'a' <= p[2] <= c'z'):
        return False
    return p[3] == c',' and p[4] == c' ' and memcmp(p + DATE_BYTES - 3, b"GMT", 3) == 0


cdef inline Version version_of(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Read a header block, whose first line is no field; of equal fields the first counts."""
    cdef Version found = Version(Value(NULL, 0), Value(NULL, 0))
    cdef bint has_etag = False, has_modified = False
    cdef const uint8_t *line_end
    p = <const uint8_t *>memchr(p, c'\n', end - p)
    while p != NULL:
        p += 1
        line_end = <const uint8_t *>memchr(p, c'\n', end - p)
        if not has_etag and is_named(p, end, b"etag:", 5):
            has_etag = True
            if line_end != NULL:
                found.etag = value_of(p + 5, line_end)
        elif not has_modified and is_named(p, end, b"last-modified:", 14):
            has_modified = True
            if line_end != NULL:
                found.modified = value_of(p + 14, line_end)
        p = line_end
    if found.etag.size > MAX_ETAG:
        found.etag.size = 0
    if not is_date(found.modified):
        found.modified.size = 0
    return found
