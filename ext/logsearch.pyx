"""What a URL log says of one URL and of its host: a walk over the heads of records.

Idea: to answer for one URL, nothing need be built of ten million others. Heads are trusted while
they make sense; checksums are left to the caller, who reads the few records that are found.

Invariant: a record found is whole in the window that was searched.

Cost: O(records), some ns each; no memory but that of what is found, and some bits for each URL of
the host.
"""

cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp

from layout cimport (
    RECORD_DONE, RECORD_ENQ, RECORD_HOST, RECORD_MOVE, RECORD_RETRY, RECORD_SEAL, enq_payload,
    move_payload, record_head,
)


cdef extern from "logrecord.h" nogil:
    ctypedef struct done_entry:
        uint64_t id_lsn
    enum:
        MAX_PAYLOAD
    size_t record_size(size_t payload)
    size_t done_size(const uint8_t *at, size_t left)

cdef extern from "idset.h" nogil:
    enum:
        ID_LEVELS
    ctypedef struct id_cell:
        pass
    ctypedef struct id_set:
        id_cell *cells
    int id_add(id_set *ids, uint64_t id, unsigned level)
    void id_remove(id_set *ids, uint64_t id)
    uint64_t id_count(const id_set *ids, uint64_t id, unsigned level, bint is_higher)

cdef enum:
    MAX_IDS = 16
    HOST_LENGTH = 10
    HOST_TEXT = 12

STOP_END = 0
"""The window ends here, perhaps in the middle of a record."""
STOP_SEALED = 1
"""The segment ends here."""
STOP_DAMAGED = 2
"""What stands here is no record."""


cdef packed struct retry_payload:
    uint64_t id_lsn


def find_prints(const uint8_t[::1] data not None, uint64_t wanted, Py_ssize_t start):
    """Return the offsets at which a u64 stands in ``data``, of ``start`` and every 8th behind."""
    cdef Py_ssize_t i, count
    cdef const uint64_t *value
    found = []
    if start < 0 or data.shape[0] - start < 8:
        return found
    count = (data.shape[0] - start) // 8
    value = <const uint64_t *>(&data[0] + start)
    i = 0
    while True:
        with nogil:
            while i < count and value[i] != wanted:
                i += 1
        if i == count:
            return found
        found.append(start + 8 * i)
        i += 1


@cython.final
cdef class Search:
    """A search for the records of a URL and of its host, segment by segment in their order.

    Args:
        fingerprint: of the URL.
        host: of the URL; none, and nothing of it is wanted.
        ids: lsns under which the URL is known already, at most 16; those of records that are found
            are added.
    """

    cdef uint64_t _fp
    cdef uint64_t _ids[MAX_IDS]
    cdef int _known
    cdef bytes _host
    cdef id_set _waiting  # all URLs of the host that wait

    def __cinit__(self, uint64_t fingerprint, bytes host not None, ids=()):
        self._fp = fingerprint
        self._host = host
        for known in ids:
            self._add(known)

    def __dealloc__(self):
        free(self._waiting.cells)

    @property
    def ids(self):
        """The lsns under which the URL is known."""
        return [self._ids[i] for i in range(self._known)]

    def ahead(self, uint64_t id_lsn, unsigned level, bint newest_first):
        """Count the URLs of the host that wait and are taken before another one of it.

        Args:
            id_lsn: lsn of the other one.
            level: of the other one; all of a lower level are taken before it.
            newest_first: so are those of its level with a higher lsn, else those with a lower one.

        Cost: O(URLs of the host); 64 that came together cost 2 ns.
        """
        return id_count(&self._waiting, id_lsn, level % ID_LEVELS, newest_first)

    cdef void _add(self, uint64_t id_lsn) noexcept nogil:
        if self._known < MAX_IDS and not self._is_ours(id_lsn):
            self._ids[self._known] = id_lsn
            self._known += 1

    cdef bint _is_ours(self, uint64_t id_lsn) noexcept nogil:
        cdef int i
        for i in range(self._known):
            if self._ids[i] == id_lsn:
                return True
        return False

    def run(
        self, const uint8_t[::1] data not None, Py_ssize_t start, Py_ssize_t dones_before
    ):
        """Search a window of a segment.

        Args:
            start: offset of a record in the window.
            dones_before: DONE records at this offset or behind it end no wait of the host's URLs.

        Returns:
            (offset, type) of the records that are of the URL or its host; where the search
            stopped; and one of STOP_*.

        Raises:
            MemoryError: the host has more URLs than memory holds.
        """
        cdef const uint8_t *begin = &data[0] if data.shape[0] else NULL
        cdef const uint8_t *at = begin + start
        cdef const uint8_t *end = begin + data.shape[0]
        cdef const uint8_t *host = self._host
        cdef size_t host_len = len(self._host)
        cdef const record_head *head
        cdef bint is_found = False
        cdef bint has_room = True
        found = []
        while True:
            with nogil:
                while True:
                    head = <const record_head *>at
                    if <size_t>(end - at) < sizeof(record_head):
                        break
                    if not RECORD_ENQ <= head.type <= RECORD_SEAL or head.len > MAX_PAYLOAD:
                        break
                    if <size_t>(end - at) < record_size(head.len):
                        break
                    has_room = self._note(
                        head, at + sizeof(record_head), host, host_len, at - begin < dones_before
                    )
                    is_found = self._is_wanted(head, at + sizeof(record_head), host, host_len)
                    if is_found or head.type == RECORD_SEAL or not has_room:
                        break
                    at += record_size(head.len)
            if not has_room:
                raise MemoryError
            if is_found:
                found.append((at - begin, head.type))
                is_found = False
                at += record_size(head.len)
                continue
            return found, at - begin, stop_at(at, end)

    cdef bint _note(self, const record_head *head, const uint8_t *payload, const uint8_t *host,
                    size_t host_len, bint is_counted) noexcept nogil:
        """Note what a record says of waiting URLs of the host; false without memory for it."""
        cdef const enq_payload *enq = <const enq_payload *>payload
        cdef size_t size = head.len
        cdef uint64_t id_lsn = head.lsn
        if head.type == RECORD_DONE:
            if is_counted:
                self._end(payload, size)
            return True
        if head.type == RECORD_MOVE and size >= sizeof(move_payload):
            id_lsn = (<const move_payload *>payload).id_lsn
            enq = &(<const move_payload *>payload).enq
            size -= sizeof(move_payload) - sizeof(enq_payload)
        elif head.type != RECORD_ENQ or size < sizeof(enq_payload):
            return True
        if (enq.host_len != host_len or sizeof(enq_payload) + enq.host_start + host_len > size
                or memcmp(<const uint8_t *>(enq + 1) + enq.host_start, host, host_len) != 0):
            return True
        return host_len == 0 or id_add(&self._waiting, id_lsn, enq.level % ID_LEVELS) == 0

    cdef void _end(self, const uint8_t *payload, size_t size) noexcept nogil:
        """Take the URLs of a DONE record out of those of the host."""
        cdef size_t entry
        if self._waiting.cells == NULL:
            return
        while size:
            entry = done_size(payload, size)
            if entry == 0:
                return
            id_remove(&self._waiting, (<const done_entry *>payload).id_lsn)
            payload += entry
            size -= entry

    cdef bint _is_wanted(self, const record_head *head, const uint8_t *payload,
                         const uint8_t *host, size_t host_len) noexcept nogil:
        cdef size_t size = head.len
        if head.type == RECORD_ENQ:
            if size < sizeof(enq_payload) or (<const enq_payload *>payload).fingerprint != self._fp:
                return False
            self._add(head.lsn)
            return True
        if head.type == RECORD_MOVE:
            if (size < sizeof(move_payload)
                    or (<const move_payload *>payload).enq.fingerprint != self._fp):
                return False
            self._add((<const move_payload *>payload).id_lsn)
            return True
        if head.type == RECORD_DONE:
            return self._known > 0 and self._is_done(payload, size)
        if head.type == RECORD_RETRY:
            return (self._known > 0 and size >= sizeof(retry_payload)
                    and self._is_ours((<const retry_payload *>payload).id_lsn))
        if head.type == RECORD_HOST:
            return (size >= HOST_TEXT + host_len and payload[HOST_LENGTH] == host_len
                    and memcmp(payload + HOST_TEXT, host, host_len) == 0)
        return False

    cdef bint _is_done(self, const uint8_t *payload, size_t size) noexcept nogil:
        cdef size_t entry
        while size:
            entry = done_size(payload, size)
            if entry == 0:
                return False
            if self._is_ours((<const done_entry *>payload).id_lsn):
                return True
            payload += entry
            size -= entry
        return False


cdef int stop_at(const uint8_t *at, const uint8_t *end) noexcept:
    """Why a search has stopped at a place where nothing is wanted."""
    cdef const record_head *head = <const record_head *>at
    if <size_t>(end - at) < sizeof(record_head):
        return STOP_END
    if not RECORD_ENQ <= head.type <= RECORD_SEAL or head.len > MAX_PAYLOAD:
        return STOP_DAMAGED
    return STOP_END if <size_t>(end - at) < record_size(head.len) else STOP_SEALED
