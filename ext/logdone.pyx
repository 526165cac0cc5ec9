"""DONE records of the URL log: what they add up to, and the digests of their pages.

docs/format-queue.md 4 is the contract.  Entries are measured before they are read.

Cost: one crossing a batch; an entry costs about 10 ns.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from layout cimport RECORD_DONE, record_head


cdef extern from "logrecord.h" nogil:
    enum:
        TOTALS
    ctypedef struct done_entry:
        const uint8_t digest[16]
    size_t done_size(const uint8_t *at, size_t left)
    void done_add(uint64_t *totals, const uint8_t *at)


def done_totals(bytes entries):
    """What DONE entries add up to: u64 values in the order of ``ext/logrecord.h``.

    Raises:
        ValueError: the entries do not fill the bytes exactly.
    """
    cdef bytes result = PyBytes_FromStringAndSize(NULL, TOTALS * sizeof(uint64_t))
    cdef uint64_t *totals = <uint64_t *>PyBytes_AS_STRING(result)
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(entries)
    cdef size_t left = PyBytes_GET_SIZE(entries)
    cdef size_t size = 1
    memset(totals, 0, TOTALS * sizeof(uint64_t))
    with nogil:
        while left:
            size = done_size(at, left)
            if size == 0:
                break
            done_add(totals, at)
            at += size
            left -= size
    if left:
        raise ValueError("malformed DONE entries")
    return result


cdef uint64_t[2] NO_DIGEST = [0, 0]


cdef size_t add_digests(uint8_t *out, const uint8_t *at, size_t left) noexcept nogil:
    """Append the digests of DONE entries that have one; returns the bytes written."""
    cdef size_t written = 0
    cdef size_t size = done_size(at, left)
    cdef const uint8_t *digest
    while size:
        digest = (<const done_entry *>at).digest
        if memcmp(digest, NO_DIGEST, sizeof(NO_DIGEST)) != 0:
            memcpy(out + written, digest, sizeof(NO_DIGEST))
            written += sizeof(NO_DIGEST)
        at += size
        left -= size
        size = done_size(at, left)
    return written


def digests(const uint8_t[::1] data, bytes types, bytes offsets, uint64_t dones_before):
    """The page digests in the DONE records of a segment.

    Args:
        data: the segment from its first byte on.
        types: as ``Codec.scan`` found them; so ``offsets`` (u32 each).
        dones_before: DONE records at this offset or behind it are ignored.

    Returns:
        16 bytes each, in their order; pages without a body have none.
    """
    cdef size_t count = PyBytes_GET_SIZE(types)
    cdef const uint8_t *kinds = <const uint8_t *>PyBytes_AS_STRING(types)
    cdef const uint32_t *places = <const uint32_t *>PyBytes_AS_STRING(offsets)
    cdef size_t bound = 0
    cdef size_t size = 0
    cdef size_t i
    cdef const record_head *head
    cdef uint8_t *out = NULL
    if <size_t>PyBytes_GET_SIZE(offsets) != count * sizeof(uint32_t):
        raise ValueError("one offset for each record")
    for i in range(count):
        if places[i] + sizeof(record_head) > <size_t>data.shape[0]:
            raise ValueError("a record outside of the data")
        head = <const record_head *>(&data[0] + places[i])
        if places[i] + sizeof(record_head) + head.len > <size_t>data.shape[0]:
            raise ValueError("a record outside of the data")
        if kinds[i] == RECORD_DONE:
            bound += head.len  # no entry is shorter than its digest
    out = <uint8_t *>malloc(bound + 1)
    if out is NULL:
        raise MemoryError
    try:
        with nogil:
            for i in range(count):
                if kinds[i] == RECORD_DONE and places[i] < dones_before:
                    head = <const record_head *>(&data[0] + places[i])
                    size += add_digests(out + size, <const uint8_t *>(head + 1), head.len)
        return PyBytes_FromStringAndSize(<char *>out, size)
    finally:
        free(out)
