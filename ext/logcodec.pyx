"""Records of the URL log: encode, check and read them in batches (docs/format-queue.md).

Idea: a batch of links comes as the payload of LINKS frames and leaves as bytes that are written as
they are; no URL becomes a Python object on the way in.  On the way out one tuple a URL is made.

Invariants:
1. A ``Codec`` belongs to one segment: its salt is in every checksum, and it counts the records that
   went through ``encode*`` and ``scan`` in order, which is what SEAL holds.
2. Nothing is read outside the buffers given: groups are measured before they are encoded, records
   are checked (length, then crc, then inner lengths) before they are read.
3. A method that raises has changed nothing.

Cost: one crossing a batch; a link costs one copy and one pass of crc32c.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset
from posix.types cimport off_t

from layout cimport (
    LINK_HTTPS, RECORD_DONE, RECORD_ENQ, RECORD_MOVE, RECORD_SEAL,
    enq_payload, link_entry, link_group, record_head,
)


cdef extern from "unistd.h" nogil:
    ssize_t pread(int fd, void *buffer, size_t size, off_t offset)

cdef extern from "crc32c.h" nogil:
    uint32_t CRC32C_START
    void crc32c_init()
    uint32_t crc32c_extend(uint32_t state, const uint8_t *data, size_t size)
    uint32_t crc32c_tables(uint32_t state, const uint8_t *data, size_t size)

cdef extern from "logrecord.h" nogil:
    enum:
        MAX_PAYLOAD, MIN_RECORD, TOTALS
    ctypedef struct done_entry:
        const uint8_t digest[16]
    size_t record_size(size_t payload)
    size_t done_size(const uint8_t *at, size_t left)
    void done_add(uint64_t *totals, const uint8_t *at)
    size_t common_prefix(const uint8_t *a, const uint8_t *b, size_t limit)


crc32c_init()

SCAN_END = 0
SCAN_SEALED = 1
SCAN_SHORT = 2
SCAN_LENGTH = 3
SCAN_TYPE = 4
SCAN_CRC = 5
SCAN_LSN = 6

cdef enum:
    FIRST_READ = 512  # bytes that a record is read with; nearly all are shorter
    MAX_URL = 2083

cdef struct Walk:  # through the groups of a LINKS payload
    const uint8_t *at
    const uint8_t *end
    const uint8_t *group_end
    const uint8_t *via
    const uint8_t *tag
    uint32_t via_len
    uint32_t tag_len
    uint32_t links  # still to come in this group

cdef struct Size:  # of a LINKS payload
    size_t groups
    size_t links
    size_t bound  # bytes that its records take at most


cdef inline bint next_group(Walk *walk) noexcept nogil:
    """Step to the next group; false when its head, via, tag and links are not all there."""
    cdef const link_group *head = <const link_group *>walk.at
    if walk.end - walk.at < <ssize_t>sizeof(link_group):
        return False
    walk.via_len, walk.tag_len, walk.links = head.via_len, head.tag_len, head.links
    walk.via = walk.at + sizeof(link_group)
    walk.tag = walk.via + walk.via_len
    walk.at = walk.tag + walk.tag_len
    if walk.end - walk.via < <ssize_t>(<size_t>walk.via_len + walk.tag_len + head.links_bytes):
        return False
    walk.group_end = walk.at + head.links_bytes
    return walk.via_len <= MAX_URL


cdef inline const link_entry *next_link(Walk *walk) noexcept nogil:
    """The next link of the group, NULL when it does not fit in it or contradicts itself."""
    cdef const link_entry *link = <const link_entry *>walk.at
    cdef ssize_t left = walk.group_end - walk.at
    if left < <ssize_t>sizeof(link_entry) or left - <ssize_t>sizeof(link_entry) < link.url_len:
        return NULL
    if link.url_len > MAX_URL or link.host_start + link.host_len > link.url_len:
        return NULL
    walk.at += sizeof(link_entry) + link.url_len
    walk.links -= 1
    return link


cdef bint measure(const uint8_t *data, size_t size, Size *found) noexcept nogil:
    """Check a whole LINKS payload and sum it up; false when it is malformed."""
    cdef Walk walk
    cdef const link_entry *link
    cdef size_t payload
    memset(&walk, 0, sizeof(Walk))
    memset(found, 0, sizeof(Size))
    walk.at, walk.end = data, data + size
    while walk.at < walk.end:
        if not next_group(&walk):
            return False
        found.groups += 1
        while walk.links:
            link = next_link(&walk)
            if link is NULL:
                return False
            payload = sizeof(enq_payload) + link.url_len + walk.via_len + walk.tag_len
            if payload > MAX_PAYLOAD:
                return False
            found.links += 1
            found.bound += record_size(payload)
        if walk.at != walk.group_end:
            return False
    return True


cdef Size measured(bytes groups) except *:
    cdef Size found
    cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(groups)
    cdef size_t size = PyBytes_GET_SIZE(groups)
    cdef bint is_good
    with nogil:
        is_good = measure(data, size, &found)
    if not is_good:
        raise ValueError("malformed LINKS payload")
    return found


cdef Walk start(bytes groups) noexcept:
    """A walk that has not begun; the payload has been measured."""
    cdef Walk walk
    memset(&walk, 0, sizeof(Walk))
    walk.at = <const uint8_t *>PyBytes_AS_STRING(groups)
    walk.end = walk.at + PyBytes_GET_SIZE(groups)
    return walk


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


cdef size_t put_enq(
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


cdef int check_record(
    uint32_t salt, const uint8_t *data, size_t size, size_t at
) noexcept nogil:
    """Whether a whole record with a valid crc stands at ``at``: SCAN_END, or what is wrong."""
    cdef const record_head *head = <const record_head *>(data + at)
    if at > size or size - at < sizeof(record_head):
        return 2
    if head.len > MAX_PAYLOAD:
        return 3
    if head.type == 0:
        return 4
    if size - at < record_size(head.len):
        return 2
    if head.crc != record_crc(salt, data + at, head.len):
        return 5
    return 0


cdef const enq_payload *enq_of(const record_head *head) noexcept nogil:
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


cdef bytes via_of(const enq_payload *enq, bytes before):
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


cdef tuple url_of(const record_head *head, const enq_payload *enq, bytes via):
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


cdef class ScanResult:
    """What a scan found: good records up to ``stop``, and why it stopped there (``SCAN_*``)."""

    cdef readonly size_t stop
    cdef readonly int reason
    cdef readonly uint64_t first_lsn
    cdef readonly uint64_t next_lsn
    cdef readonly bytes types
    cdef readonly bytes offsets

    def __len__(self):
        return PyBytes_GET_SIZE(self.types)


cdef class Codec:
    """The records of one segment.

    Args:
        uuid: 16 bytes of the crawl.
        segment: number of the segment.
    """

    cdef readonly uint64_t records
    cdef readonly uint32_t chain  # inverted crc32c state over the crc fields so far
    cdef uint32_t _salt

    def __cinit__(self, bytes uuid, uint64_t segment):
        if PyBytes_GET_SIZE(uuid) != 16:
            raise ValueError("a crawl uuid has 16 bytes")
        self._salt = crc32c_extend(CRC32C_START, <const uint8_t *>PyBytes_AS_STRING(uuid), 16)
        self._salt = crc32c_extend(self._salt, <const uint8_t *>&segment, 8)
        self.chain = CRC32C_START

    cdef inline void note(self, const uint8_t *record) noexcept nogil:
        self.records += 1
        self.chain = crc32c_extend(self.chain, record, 4)

    def encode_links(self, bytes groups, bytes mask, uint64_t first_lsn):
        """ENQ records of the links whose byte in ``mask`` is 1, one byte a link over all groups.

        Returns:
            The records back to back, and their offsets therein (u32 each).

        Raises:
            ValueError: malformed groups, or a mask of another length.
        """
        cdef Size found = measured(groups)
        cdef Walk walk = start(groups)
        cdef const link_entry *link
        cdef const uint8_t *wanted = <const uint8_t *>PyBytes_AS_STRING(mask)
        cdef uint8_t *out
        cdef uint32_t *offsets
        cdef size_t size = 0
        cdef size_t count = 0
        if <size_t>PyBytes_GET_SIZE(mask) != found.links or found.bound >> 32:
            raise ValueError("the mask needs one byte for each link")
        out = <uint8_t *>malloc(found.bound + 1)
        offsets = <uint32_t *>malloc(found.links * sizeof(uint32_t) + 1)
        if out is NULL or offsets is NULL:
            free(out)
            free(offsets)
            raise MemoryError
        try:
            with nogil:
                while walk.at < walk.end:
                    next_group(&walk)
                    while walk.links:
                        link = next_link(&walk)
                        if wanted[0] == 1:
                            offsets[count] = <uint32_t>size
                            size += put_enq(out + size, self._salt, &walk, link, first_lsn + count)
                            self.note(out + offsets[count])
                            count += 1
                        wanted += 1
            return (
                PyBytes_FromStringAndSize(<char *>out, size),
                PyBytes_FromStringAndSize(<char *>offsets, count * sizeof(uint32_t)),
            )
        finally:
            free(out)
            free(offsets)

    def encode(self, uint8_t kind, bytes payload, uint64_t lsn):
        """One record of type ``kind``.

        Raises:
            ValueError: the payload is over 65,536 bytes, or the type is 0.
        """
        cdef size_t size = PyBytes_GET_SIZE(payload)
        cdef bytes record
        cdef uint8_t *at
        if size > MAX_PAYLOAD or kind == 0:
            raise ValueError("no such record")
        record = PyBytes_FromStringAndSize(NULL, record_size(size))
        at = <uint8_t *>PyBytes_AS_STRING(record)
        memcpy(at + sizeof(record_head), PyBytes_AS_STRING(payload), size)
        close_record(at, self._salt, kind, size, lsn)
        self.note(at)
        return record

    def scan(self, const uint8_t[::1] data, size_t start, uint64_t next_lsn):
        """Check the records of a segment from ``start`` on, as far as they are good.

        Args:
            data: the segment from its first byte on.
            next_lsn: lsn that the first record must have; 0 takes any.
        """
        cdef size_t size = data.shape[0]
        cdef const uint8_t *at = &data[0] if size else NULL
        cdef size_t room = (size - start) // MIN_RECORD + 1 if start < size else 1
        cdef uint8_t *types = <uint8_t *>malloc(room)
        cdef uint32_t *offsets = <uint32_t *>malloc(room * sizeof(uint32_t))
        cdef ScanResult result = ScanResult()
        cdef size_t count = 0
        try:
            if types is NULL or offsets is NULL:
                raise MemoryError
            if size >> 32:
                raise ValueError("a segment is shorter than 4 GiB")
            result.stop, result.first_lsn, result.next_lsn = start, next_lsn, next_lsn
            with nogil:
                result.reason = self.scan_into(at, size, result, types, offsets, &count)
            result.types = PyBytes_FromStringAndSize(<char *>types, count)
            result.offsets = PyBytes_FromStringAndSize(<char *>offsets, count * sizeof(uint32_t))
            return result
        finally:
            free(types)
            free(offsets)

    cdef int scan_into(
        self, const uint8_t *data, size_t size, ScanResult result,
        uint8_t *types, uint32_t *offsets, size_t *count,
    ) noexcept nogil:
        cdef const record_head *head
        cdef int fault
        while result.stop != size:
            fault = check_record(self._salt, data, size, result.stop)
            if fault:
                return fault
            head = <const record_head *>(data + result.stop)
            if result.next_lsn == 0:
                result.first_lsn = result.next_lsn = head.lsn
            if head.lsn != result.next_lsn:
                return 6
            types[count[0]] = head.type
            offsets[count[0]] = <uint32_t>result.stop
            count[0] += 1
            result.stop += record_size(head.len)
            result.next_lsn += 1
            if head.type == RECORD_SEAL:
                return 1
            self.note(<const uint8_t *>head)
        return 0

    def resync(self, const uint8_t[::1] data, size_t start, uint64_t next_lsn):
        """Offset of the first good record at or behind ``start`` whose lsn is not lower, or -1.

        Cost: a crc only where eight aligned bytes look like a head; plain bytes cost 1 ns each.
        """
        cdef size_t size = data.shape[0]
        cdef const uint8_t *at = &data[0] if size else NULL
        cdef size_t here = (start + 7) & ~<size_t>7
        cdef const record_head *head
        with nogil:
            while here + sizeof(record_head) <= size:
                head = <const record_head *>(at + here)
                if head.flags == 0 and head.reserved == 0 and head.lsn >= next_lsn and (
                    check_record(self._salt, at, size, here) == 0
                ):
                    break
                here += 8
        return here if here + sizeof(record_head) <= size else -1

    def record(self, const uint8_t[::1] data, size_t offset):
        """Type, lsn and payload of the checked record at ``offset``.

        Raises:
            ValueError: no good record stands there.
        """
        cdef const record_head *head
        if data.shape[0] == 0 or check_record(self._salt, &data[0], data.shape[0], offset):
            raise ValueError(f"no good record at {offset}")
        head = <const record_head *>(&data[0] + offset)
        return head.type, head.lsn, PyBytes_FromStringAndSize(
            <const char *>head + sizeof(record_head), head.len
        )

    def decode_urls(self, const uint8_t[::1] data, bytes offsets):
        """The URLs of ENQ and MOVE records at ``offsets`` (u32 each), in that order.

        Returns:
            Tuples of id_lsn, fingerprint, url, via, tag, host, port, https, depth, left, level,
            kind, hops, attempts, flags, score, relevance.

        Raises:
            ValueError: no good record stands there, or one of another type.
        """
        cdef const uint32_t *places = <const uint32_t *>PyBytes_AS_STRING(offsets)
        cdef size_t count = PyBytes_GET_SIZE(offsets) // sizeof(uint32_t)
        cdef size_t size = data.shape[0]
        if count == 0:
            return []
        if size == 0:
            raise ValueError("no records")
        return self.decode_at(&data[0], size, places, count)

    cdef list decode_at(
        self, const uint8_t *data, size_t size, const uint32_t *places, size_t count
    ):
        cdef list urls = []
        cdef bytes via = b""
        cdef const enq_payload *enq
        cdef const record_head *head
        cdef size_t i
        for i in range(count):
            head = <const record_head *>(data + places[i])
            enq = NULL
            if check_record(self._salt, data, size, places[i]) == 0:
                enq = enq_of(head)
            if enq is NULL:
                raise ValueError(f"no URL at place {i} of the batch")
            via = via_of(enq, via)
            urls.append(url_of(head, enq, via))
        return urls

    def read_urls(self, int fd, bytes offsets):
        """The same as ``decode_urls``, from the segment's file: one read a record.

        Raises:
            ValueError: no good record stands there, or it cannot be read.
        """
        cdef const uint32_t *places = <const uint32_t *>PyBytes_AS_STRING(offsets)
        cdef size_t count = PyBytes_GET_SIZE(offsets) // sizeof(uint32_t)
        cdef uint32_t *starts = <uint32_t *>malloc(count * sizeof(uint32_t) + 1)
        cdef uint8_t *arena = NULL
        cdef ssize_t size = -1
        try:
            if starts is NULL:
                raise MemoryError
            with nogil:
                size = read_records(fd, places, count, starts, &arena)
            if size < 0:
                raise ValueError("a record cannot be read")
            return self.decode_at(arena, size, starts, count)
        finally:
            free(arena)
            free(starts)


cdef ssize_t read_records(
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


def crc32c(const uint8_t[::1] data, uint32_t value=0, bint portable=False):
    """CRC-32C of ``data``, going on from ``value``; ``portable`` takes the way without SSE4.2."""
    cdef const uint8_t *at = &data[0] if data.shape[0] else NULL
    cdef size_t size = data.shape[0]
    cdef uint32_t state = ~value
    with nogil:
        state = crc32c_tables(state, at, size) if portable else crc32c_extend(state, at, size)
    return <uint32_t>~state


def split_groups(bytes groups):
    """The bare links of a LINKS payload back to back, and how many each group has (u32 each).

    Raises:
        ValueError: malformed groups.
    """
    cdef Size found = measured(groups)
    cdef Walk walk = start(groups)
    cdef const uint8_t *first
    cdef bytes links = PyBytes_FromStringAndSize(NULL, PyBytes_GET_SIZE(groups))
    cdef bytes counts = PyBytes_FromStringAndSize(NULL, found.groups * sizeof(uint32_t))
    cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(links)
    cdef uint32_t *count = <uint32_t *>PyBytes_AS_STRING(counts)
    cdef size_t size = 0
    with nogil:
        while walk.at < walk.end:
            next_group(&walk)
            first = walk.at
            memcpy(count, &walk.links, sizeof(uint32_t))
            count += 1
            walk.at = walk.group_end
            memcpy(out + size, first, walk.at - first)
            size += walk.at - first
    return links[:size], counts


def fingerprints(bytes groups):
    """The fingerprints (u64 each) of all links of a LINKS payload, in their order.

    Raises:
        ValueError: malformed groups.
    """
    cdef Size found = measured(groups)
    cdef Walk walk = start(groups)
    cdef const link_entry *link
    cdef bytes result = PyBytes_FromStringAndSize(NULL, found.links * sizeof(uint64_t))
    cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(result)
    with nogil:
        while walk.at < walk.end:
            next_group(&walk)
            while walk.links:
                link = next_link(&walk)
                memcpy(out, &link.fingerprint, sizeof(uint64_t))
                out += sizeof(uint64_t)
    return result


def positions(bytes offsets, uint64_t base):
    """``base`` plus each offset (u32 each), as u64 each."""
    cdef const uint32_t *place = <const uint32_t *>PyBytes_AS_STRING(offsets)
    cdef size_t count = PyBytes_GET_SIZE(offsets) // sizeof(uint32_t)
    cdef bytes result = PyBytes_FromStringAndSize(NULL, count * sizeof(uint64_t))
    cdef uint64_t *out = <uint64_t *>PyBytes_AS_STRING(result)
    cdef size_t i
    with nogil:
        for i in range(count):
            out[i] = base + place[i]
    return result


def window(const uint8_t[::1] data, uint64_t base, const uint64_t[::1] places, size_t start):
    """Which of ``places[start:]`` lie one behind the other as whole records in ``data``.

    Args:
        data: a piece of a segment; its first byte has the position ``base``.
        places: positions; the run ends where they turn back or leave the piece.

    Returns:
        Offsets in ``data`` (u32 each).
    """
    cdef size_t size = data.shape[0]
    cdef size_t count = places.shape[0] - start if start < <size_t>places.shape[0] else 0
    cdef uint32_t *offsets = <uint32_t *>malloc(count * sizeof(uint32_t) + 1)
    cdef uint64_t least = base
    cdef uint64_t offset
    cdef size_t i = 0
    try:
        if offsets is NULL:
            raise MemoryError
        with nogil:
            while i < count and places[start + i] >= least:
                offset = places[start + i] - base
                if offset >= size or size - offset < sizeof(record_head):
                    break
                if size - offset < record_size((<const record_head *>(&data[0] + offset)).len):
                    break
                offsets[i] = <uint32_t>offset
                least = places[start + i] + 1
                i += 1
        return PyBytes_FromStringAndSize(<char *>offsets, i * sizeof(uint32_t))
    finally:
        free(offsets)


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
