"""CRC-32C, the checksum of all that is stored (docs/format-queue.md 3).

Cost: an instruction for eight bytes where the processor has SSE4.2, else tables.
"""

from libc.stdint cimport uint8_t, uint32_t


cdef extern from "crc32c.h" nogil:
    void crc32c_init()
    uint32_t crc32c_extend(uint32_t state, const uint8_t *data, size_t size)
    uint32_t crc32c_tables(uint32_t state, const uint8_t *data, size_t size)


crc32c_init()


def crc32c(const uint8_t[::1] data, uint32_t value=0, bint portable=False):
    """CRC-32C of ``data``, going on from ``value``; ``portable`` takes the way without SSE4.2."""
    cdef const uint8_t *at = &data[0] if data.shape[0] else NULL
    cdef size_t size = data.shape[0]
    cdef uint32_t state = ~value
    with nogil:
        state = crc32c_tables(state, at, size) if portable else crc32c_extend(state, at, size)
    return <uint32_t>~state
