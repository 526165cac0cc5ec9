# Numbers as decimal digits, header only: printf would be the dearest part of beginning a request.
#
# Invariant: the caller has made room.

from libc.stdint cimport uint8_t, uint64_t


cdef inline uint8_t *put_padded(uint8_t *out, uint64_t number, int digits) noexcept nogil:
    """The last so many decimal digits."""
    cdef int i
    for i in range(digits - 1, -1, -1):
        out[i] = c'0' + <uint8_t>(number % 10)
        number //= 10
    return out + digits


cdef inline uint8_t *put_number(uint8_t *out, uint64_t number) noexcept nogil:
    cdef int digits = 1
    cdef uint64_t rest = number // 10
    while rest:
        digits += 1
        rest //= 10
    return put_padded(out, number, digits)
