# URLs out of the records of the URL log, header only: read from a file, checked, made a tuple.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcmp, memcpy
from posix.types cimport off_t

from layout cimport LINK_HTTPS, RECORD_ENQ, RECORD_MOVE, enq_payload, record_head


cdef extern from "unistd.h" nogil:
    ssize_t pread(int fd, void *buffer, size_t size, off_t offset)

cdef extern from "logrecord.h" nogil:
    enum:
        MAX_PAYLOAD
    size_t record_size(size_t payload)

cdef enum:
    FIRST_READ = 512  # bytes that a record is read with; nearly all are shorter


cdef inline const enq_payload *enq_of(const record_head *head) noexcept nogil:
    """The ENQ payload in a checked ENQ or MOVE record, NULL when there is none."""
    cdef size_t skip = 8 if head.type == RECORD_MOVE else 0
    cdef const enq_payload *enq
    if head.type != RECORD_ENQ and head.type != RECORD_MOVE:
        return NULL
    if head.len < sizeof(enq_payload) + skip:
        return NULL
    enq = <const enq_payload *>(<const uint8_t *>head + sizeof(record_head) + skip)
    if head.len - skip < sizeof(enq_payload) + enq.url_len + enq.via_rest + enq.tag_len:
        return NULL
    if enq.via_shared > enq.url_len or enq.host_start + enq.host_len > enq.url_len:
        return NULL
    return enq


cdef inline bytes via_of(const enq_payload *enq, bytes before):
    """``via`` of a record; ``before`` itself when it is the same (the links of one page are)."""
    cdef const char *url = <const char *>enq + sizeof(enq_payload)
    cdef size_t size = <size_t>enq.via_shared + enq.via_rest
    cdef char *old = PyBytes_AS_STRING(before)
    cdef bytes via
    if <size_t>PyBytes_GET_SIZE(before) == size and memcmp(old, url, enq.via_shared) == 0 and (
        memcmp(old + enq.via_shared, url + enq.url_len, enq.via_rest) == 0
    ):
        return before
    via = PyBytes_FromStringAndSize(NULL, size)
    memcpy(PyBytes_AS_STRING(via), url, enq.via_shared)
    memcpy(PyBytes_AS_STRING(via) + enq.via_shared, url + enq.url_len, enq.via_rest)
    return via


cdef inline tuple url_of(const record_head *head, const enq_payload *enq, bytes via):
    cdef const char *url = <const char *>enq + sizeof(enq_payload)
    cdef uint64_t id_lsn = head.lsn
    if head.type == RECORD_MOVE:
        memcpy(&id_lsn, <const uint8_t *>head + sizeof(record_head), 8)
    return (
        id_lsn, enq.fingerprint, PyBytes_FromStringAndSize(url, enq.url_len), via,
        PyBytes_FromStringAndSize(url + enq.url_len + enq.via_rest, enq.tag_len),
        PyBytes_FromStringAndSize(url + enq.host_start, enq.host_len),
        enq.port, (enq.flags & LINK_HTTPS) != 0, enq.depth, enq.left, enq.level, enq.kind,
        enq.hops, enq.attempts, enq.flags, enq.score, enq.relevance,
    )


cdef inline ssize_t read_records(
    int fd, const uint32_t *places, size_t count, uint32_t *starts, uint8_t **arena
) noexcept nogil:
    """Gather records in one buffer that the caller frees; returns its size, -1 when one is bad."""
    cdef size_t room = 0
    cdef size_t used = 0
    cdef size_t whole, i
    cdef ssize_t got
    cdef uint8_t *grown
    for i in range(count):
        if room - used < MAX_PAYLOAD + 64:
            room = 2 * room + 2 * MAX_PAYLOAD
            grown = <uint8_t *>realloc(arena[0], room)
            if grown is NULL or used >> 32:
                return -1
            arena[0] = grown
        got = pread(fd, arena[0] + used, FIRST_READ, places[i])
        if got < <ssize_t>sizeof(record_head):
            return -1
        whole = record_size((<const record_head *>(arena[0] + used)).len)
        if whole > MAX_PAYLOAD + 64:
            return -1
        if whole > <size_t>got:
            got = pread(fd, arena[0] + used, whole, places[i])
            if got < <ssize_t>whole:
                return -1
        starts[i] = <uint32_t>used
        used += whole
    return used
