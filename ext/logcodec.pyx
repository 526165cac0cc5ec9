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
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cutbytes cimport cut
from layout cimport RECORD_SEAL, enq_payload, link_entry, record_head
from loggroups cimport Size, Walk, measured, next_group, next_link, walk_of
from logrecord cimport (
    AT_CRC, AT_END, AT_LENGTH, AT_LSN, AT_SEAL, AT_SHORT, AT_TYPE, check_record, close_record,
    put_enq,
)
from logurl cimport enq_of, read_records, url_of, via_of


cdef extern from "crc32c.h" nogil:
    uint32_t CRC32C_START
    void crc32c_init()
    uint32_t crc32c_extend(uint32_t state, const uint8_t *data, size_t size)

cdef extern from "logrecord.h" nogil:
    enum:
        MAX_PAYLOAD, MIN_RECORD
    size_t record_size(size_t payload)


crc32c_init()

SCAN_END = AT_END
SCAN_SEALED = AT_SEAL
SCAN_SHORT = AT_SHORT
SCAN_LENGTH = AT_LENGTH
SCAN_TYPE = AT_TYPE
SCAN_CRC = AT_CRC
SCAN_LSN = AT_LSN


cdef struct Chain:  # over the records of a segment in order: what SEAL holds
    uint64_t records
    uint32_t crc  # inverted crc32c state over the crc fields so far


cdef inline void note(Chain *chain, const uint8_t *record) noexcept nogil:
    chain.records += 1
    chain.crc = crc32c_extend(chain.crc, record, 4)


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

    cdef Chain _chain
    cdef uint32_t _salt

    def __cinit__(self, bytes uuid, uint64_t segment):
        if PyBytes_GET_SIZE(uuid) != 16:
            raise ValueError("a crawl uuid has 16 bytes")
        self._salt = crc32c_extend(CRC32C_START, <const uint8_t *>PyBytes_AS_STRING(uuid), 16)
        self._salt = crc32c_extend(self._salt, <const uint8_t *>&segment, 8)
        self._chain.crc = CRC32C_START

    @property
    def records(self):
        """How many went through ``encode*`` and ``scan``."""
        return self._chain.records

    @property
    def chain(self):
        """Inverted crc32c state over their crc fields."""
        return self._chain.crc

    def encode_links(self, bytes groups, bytes mask, uint64_t first_lsn):
        """ENQ records of the links whose byte in ``mask`` is 1, one byte a link over all groups.

        Returns:
            The records back to back, and their offsets therein (u32 each).

        Raises:
            ValueError: malformed groups, or a mask of another length.
        """
        cdef Size found = measured(groups)
        cdef Walk walk = walk_of(groups)
        cdef Chain chain = self._chain
        cdef size_t size
        if <size_t>PyBytes_GET_SIZE(mask) != found.links or found.bound >> 32:
            raise ValueError("the mask needs one byte for each link")
        cdef bytes records = PyBytes_FromStringAndSize(NULL, found.bound)
        cdef bytes offsets = PyBytes_FromStringAndSize(NULL, found.links * sizeof(uint32_t))
        cdef const uint8_t *wanted = <const uint8_t *>PyBytes_AS_STRING(mask)
        cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(records)
        cdef uint32_t *places = <uint32_t *>PyBytes_AS_STRING(offsets)
        with nogil:
            size = self.put_links(&walk, wanted, first_lsn, out, places, &chain)
        cut(records, size)
        cut(offsets, (chain.records - self._chain.records) * sizeof(uint32_t))
        cdef tuple encoded = (records, offsets)
        self._chain = chain
        return encoded

    cdef size_t put_links(
        self, Walk *walk, const uint8_t *wanted, uint64_t lsn,
        uint8_t *out, uint32_t *offsets, Chain *chain,
    ) noexcept nogil:
        """Write records and offsets; returns the bytes of the records."""
        cdef const link_entry *link
        cdef size_t size = 0
        while walk.at < walk.end:
            next_group(walk)
            while walk.links:
                link = next_link(walk)
                if wanted[0] == 1:
                    offsets[0] = <uint32_t>size
                    size += put_enq(out + size, self._salt, walk, link, lsn)
                    note(chain, out + offsets[0])
                    offsets += 1
                    lsn += 1
                wanted += 1
        return size

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
        note(&self._chain, at)
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
        cdef ScanResult result = ScanResult()
        cdef Chain chain = self._chain
        cdef size_t count = 0
        if size >> 32:
            raise ValueError("a segment is shorter than 4 GiB")
        cdef bytes types = PyBytes_FromStringAndSize(NULL, room)
        cdef bytes offsets = PyBytes_FromStringAndSize(NULL, room * sizeof(uint32_t))
        cdef uint8_t *kinds = <uint8_t *>PyBytes_AS_STRING(types)
        cdef uint32_t *places = <uint32_t *>PyBytes_AS_STRING(offsets)
        result.stop, result.first_lsn, result.next_lsn = start, next_lsn, next_lsn
        with nogil:
            result.reason = self.scan_into(at, size, result, kinds, places, &count, &chain)
        cut(types, count)
        cut(offsets, count * sizeof(uint32_t))
        result.types, result.offsets = types, offsets
        self._chain = chain
        return result

    cdef int scan_into(
        self, const uint8_t *data, size_t size, ScanResult result,
        uint8_t *types, uint32_t *offsets, size_t *count, Chain *chain,
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
                return AT_LSN
            types[count[0]] = head.type
            offsets[count[0]] = <uint32_t>result.stop
            count[0] += 1
            result.stop += record_size(head.len)
            result.next_lsn += 1
            if head.type == RECORD_SEAL:
                return AT_SEAL
            note(chain, <const uint8_t *>head)
        return AT_END

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
    cdef bytes offsets = PyBytes_FromStringAndSize(NULL, count * sizeof(uint32_t))
    cdef uint32_t *out = <uint32_t *>PyBytes_AS_STRING(offsets)
    cdef uint64_t least = base
    cdef uint64_t offset
    cdef size_t i = 0
    with nogil:
        while i < count and places[start + i] >= least:
            offset = places[start + i] - base
            if offset >= size or size - offset < sizeof(record_head):
                break
            if size - offset < record_size((<const record_head *>(&data[0] + offset)).len):
                break
            out[i] = <uint32_t>offset
            least = places[start + i] + 1
            i += 1
    cut(offsets, i * sizeof(uint32_t))
    return offsets
