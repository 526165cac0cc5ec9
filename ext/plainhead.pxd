# What a header block says that decides how a page is read, header only, in one pass.

from libc.stdint cimport uint8_t

from headerline cimport behind_name, end_of_line, has_word, trim


cdef struct Head:
    const uint8_t *type  # value of the last Content-Type
    size_t type_size     # 0: there is none
    bint is_plain        # nothing is said that only the long way understands


cdef inline Head head_of(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Read a header block; with Content-Encoding, X-Robots-Tag, Refresh or a canonical Link it is
    not plain. Other Links are frequent, and nothing to us.
    """
    cdef Head head = Head(NULL, 0, True)
    cdef const uint8_t *line_end
    cdef const uint8_t *value
    while p < end:
        line_end = end_of_line(p, end)
        value = behind_name(p, line_end, b"content-type", 12)
        if value != NULL:
            head.type_size = trim(&value, line_end)
            head.type = value
        elif (
            behind_name(p, line_end, b"content-encoding", 16) != NULL
            or behind_name(p, line_end, b"x-robots-tag", 12) != NULL
            or behind_name(p, line_end, b"refresh", 7) != NULL
        ):
            head.is_plain = False
        else:
            value = behind_name(p, line_end, b"link", 4)
            if value != NULL and has_word(value, line_end, b"canonical", 9):
                head.is_plain = False
        p = line_end + 1
    return head
