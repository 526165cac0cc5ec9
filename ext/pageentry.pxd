# Entries of PAGE and PARSED frames (`docs/protocol.md`, 4.1 and 4.3), header only: how a result
# becomes the one, and the declarations for the other.
#
# Invariant: the body is the last part of an entry, so its bytes may lie elsewhere than the rest: in
# a file, or in the memory of its shard, of which its place is told instead.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport UINT32_MAX, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from larbinpy._native.jobs cimport FetchJob, FetchResult


cdef extern from "pageentry.h" nogil:
    ctypedef struct page_entry:
        uint32_t size
        uint64_t id
        uint32_t epoch
        uint8_t attempt
        uint8_t kind
        uint8_t outcome
        uint8_t flags
        uint16_t status
        uint16_t depth
        uint16_t left
        uint8_t level
        uint8_t hops
        float score
        float relevance
        uint64_t start_us
        uint32_t duration_us
        uint8_t family
        uint8_t ip[16]
        uint16_t url_len
        uint16_t via_len
        uint16_t tag_len
        uint16_t reason_len
        uint32_t headers_len
        uint32_t body_len

    ctypedef struct parsed_entry:
        uint64_t id
        uint32_t epoch
        uint8_t outcome
        uint8_t filters
        uint16_t status
        uint32_t body_bytes
        uint32_t links
        uint32_t duplicates
        uint8_t digest[16]
        uint64_t near

    enum:
        FILTER_BYTES
    bint leads_on(const parsed_entry *entry)
    size_t parsed_size(const uint8_t *at, size_t left)
    size_t parsed_to_done(uint8_t *out, const uint8_t *at, size_t size)


cdef enum:
    MAX_REASON = 500
    INLINE = 0
    # flags
    TRUNCATED = 1
    BODY_IN_FILE = 2
    BODY_IN_MEMORY = 16
    WATCHED = 3
    WATCH_SHIFT = 2


cdef inline bytes reason_of(FetchResult result):
    if not result.reason:
        return b""
    return result.reason.encode("utf-8", "replace")[:MAX_REASON]


cdef inline uint8_t *put(uint8_t *out, bytes text):
    memcpy(out, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return out + PyBytes_GET_SIZE(text)


cdef inline bytes head_of(
    FetchResult result, uint32_t epoch, uint8_t attempt, uint8_t where, uint64_t place
):
    """A PAGE entry but for a body that is ``INLINE``, which has to follow.

    ``where``: or BODY_IN_FILE, or BODY_IN_MEMORY: then the body lies at ``place`` there.
    """
    cdef FetchJob job = result.job
    cdef bytes reason = reason_of(result)
    cdef page_entry entry
    cdef Py_ssize_t ip_len = PyBytes_GET_SIZE(job.ip)
    cdef size_t size = sizeof(entry) + PyBytes_GET_SIZE(job.url) + PyBytes_GET_SIZE(job.via)
    size += PyBytes_GET_SIZE(job.tag) + PyBytes_GET_SIZE(reason)
    size += PyBytes_GET_SIZE(result.headers)
    if where == BODY_IN_MEMORY:
        size += sizeof(place)
    cdef bytes head = PyBytes_FromStringAndSize(NULL, size)
    cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(head)
    memset(&entry, 0, sizeof(entry))
    entry.size = <uint32_t>(size - sizeof(uint32_t))
    if where == INLINE:
        entry.size += <uint32_t>PyBytes_GET_SIZE(result.body)
    entry.id = job.id
    entry.epoch = epoch
    entry.attempt = attempt
    entry.kind = <uint8_t><int>job.kind
    entry.outcome = <uint8_t><int>result.outcome
    entry.flags = TRUNCATED if result.is_truncated else 0
    entry.flags |= where
    entry.flags |= <uint8_t>((job.watch & WATCHED) << WATCH_SHIFT)
    entry.status = <uint16_t>result.status
    entry.depth, entry.left = <uint16_t>job.depth, <uint16_t>job.left
    entry.level, entry.hops = <uint8_t>job.level, <uint8_t>job.hops
    entry.score, entry.relevance = <float>job.score, <float>job.relevance
    entry.start_us = result.start_us
    entry.duration_us = <uint32_t>min(result.duration_us, <uint64_t>UINT32_MAX)
    if ip_len == 4 or ip_len == 16:
        entry.family = 4 if ip_len == 4 else 6
        memcpy(entry.ip, PyBytes_AS_STRING(job.ip), ip_len)
    elif ip_len:
        raise ValueError("an address has 4 or 16 bytes")
    entry.url_len = <uint16_t>PyBytes_GET_SIZE(job.url)
    entry.via_len = <uint16_t>PyBytes_GET_SIZE(job.via)
    entry.tag_len = <uint16_t>PyBytes_GET_SIZE(job.tag)
    entry.reason_len = <uint16_t>PyBytes_GET_SIZE(reason)
    entry.headers_len = <uint32_t>PyBytes_GET_SIZE(result.headers)
    entry.body_len = <uint32_t>PyBytes_GET_SIZE(result.body)
    memcpy(out, &entry, sizeof(entry))
    out = put(out + sizeof(entry), job.url)
    out = put(put(out, job.via), job.tag)
    out = put(put(out, reason), result.headers)
    if where == BODY_IN_MEMORY:
        memcpy(out, &place, sizeof(place))
    return head
