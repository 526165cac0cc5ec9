# Checks of what kernels are given for a whole crawl, header only: its hash key and its shards.

from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport uint8_t, uint32_t


cdef enum:
    KEY_BYTES = 16
    MAX_SHARDS = 256


cdef inline const uint8_t *checked_key(bytes key) except NULL:
    if len(key) != KEY_BYTES:
        raise ValueError(f"a hash key has {KEY_BYTES} bytes, not {len(key)}")
    return <const uint8_t *>PyBytes_AS_STRING(key)


cdef inline uint32_t checked_shards(unsigned long shards) except 0:
    if not 1 <= shards <= MAX_SHARDS:
        raise ValueError(f"a crawl has 1 to {MAX_SHARDS} shards, not {shards}")
    return <uint32_t>shards
