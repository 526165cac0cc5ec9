# One record of the URL log (docs/format-queue.md 3), header only: write it, check it.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from layout cimport RECORD_ENQ, enq_payload, link_entry, record_head
from loggroups cimport Walk


cdef extern from "crc32c.h" nogil:
    uint32_t crc32c_extend(uint32_t state, const uint8_t *data, size_t size)

cdef extern from "logrecord.h" nogil:
    enum:
        MAX_PAYLOAD
    size_t record_size(size_t payload)
    size_t common_prefix(const uint8_t *a, const uint8_t *b, size_t limit)

cdef enum:  # what ends a scan; 0 and what is wrong with a record
    AT_END, AT_SEAL, AT_SHORT, AT_LENGTH, AT_TYPE, AT_CRC, AT_LSN


cdef inline uint32_t record_crc(uint32_t salt, const uint8_t *at, size_t payload) noexcept nogil:
    return ~crc32c_extend(salt, at + 4, sizeof(record_head) - 4 + payload)


cdef inline size_t close_record(
    uint8_t *at, uint32_t salt, uint8_t kind, size_t payload, uint64_t lsn
) noexcept nogil:
    """Write head and padding around a payload that is in place; returns the record's size."""
    cdef record_head *head = <record_head *>at
    cdef size_t end = sizeof(record_head) + payload
    head.len = <uint32_t>payload
    head.type = kind
    head.flags = 0
    head.reserved = 0
    head.lsn = lsn
    head.crc = record_crc(salt, at, payload)
    memset(at + end, 0, record_size(payload) - end)
    return record_size(payload)


cdef inline size_t put_enq(
    uint8_t *at, uint32_t salt, const Walk *walk, const link_entry *link, uint64_t lsn
) noexcept nogil:
    """Write the ENQ record of one link; returns its size."""
    cdef enq_payload *enq = <enq_payload *>(at + sizeof(record_head))
    cdef const uint8_t *url = <const uint8_t *>link + sizeof(link_entry)
    cdef uint8_t *out = <uint8_t *>enq + sizeof(enq_payload)
    cdef size_t shared = common_prefix(url, walk.via, min(<uint32_t>link.url_len, walk.via_len))
    memset(enq, 0, sizeof(enq_payload))
    enq.fingerprint = link.fingerprint
    enq.depth, enq.left, enq.port = link.depth, link.left, link.port
    enq.host_start, enq.host_len = link.host_start, link.host_len
    enq.level, enq.kind, enq.hops, enq.flags = link.level, link.kind, link.hops, link.flags
    enq.score, enq.relevance = link.score, link.relevance
    enq.url_len = link.url_len
    enq.via_shared = <uint16_t>shared
    enq.via_rest = <uint16_t>(walk.via_len - shared)
    enq.tag_len = <uint16_t>walk.tag_len
    memcpy(out, url, link.url_len)
    out += link.url_len
    memcpy(out, walk.via + shared, enq.via_rest)
    out += enq.via_rest
    memcpy(out, walk.tag, walk.tag_len)
    out += walk.tag_len
    return close_record(at, salt, RECORD_ENQ, out - <uint8_t *>enq, lsn)


cdef inline int check_record(
    uint32_t salt, const uint8_t *data, size_t size, size_t at
) noexcept nogil:
    """Whether a whole record with a valid crc stands at ``at``: AT_END, or what is wrong."""
    cdef const record_head *head = <const record_head *>(data + at)
    if at > size or size - at < sizeof(record_head):
        return AT_SHORT
    if head.len > MAX_PAYLOAD:
        return AT_LENGTH
    if head.type == 0:
        return AT_TYPE
    if size - at < record_size(head.len):
        return AT_SHORT
    if head.crc != record_crc(salt, data + at, head.len):
        return AT_CRC
    return AT_END
