# JSON as it is written into a buffer, header only: strings of printable ASCII; numbers are in
# `digits.pxd`.
#
# Invariant: the caller has made room; a byte of a text becomes at most `GROWTH` bytes.

from libc.stdint cimport uint8_t
from libc.string cimport memcpy, strlen

cdef enum:
    GROWTH = 6          # \u0000


cdef inline uint8_t *put(uint8_t *out, const char *text) noexcept nogil:
    cdef size_t size = strlen(text)
    memcpy(out, text, size)
    return out + size


cdef inline uint8_t *put_hex(uint8_t *out, const uint8_t *data, size_t size) noexcept nogil:
    cdef const char *digits = b"0123456789abcdef"
    cdef size_t i
    for i in range(size):
        out[2 * i] = digits[data[i] >> 4]
        out[2 * i + 1] = digits[data[i] & 15]
    return out + 2 * size


cdef inline uint8_t *put_string(uint8_t *out, const uint8_t *text, size_t size) noexcept nogil:
    """A string; NULL when the text has other bytes than printable ASCII."""
    cdef size_t i
    out[0] = c'"'
    out += 1
    for i in range(size):
        if text[i] < 0x20 or text[i] >= 0x7F:
            return NULL
        if text[i] == c'"' or text[i] == c'\\':
            out[0] = c'\\'
            out += 1
        out[0] = text[i]
        out += 1
    out[0] = c'"'
    return out + 1
