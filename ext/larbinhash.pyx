"""larbin's hash codes, bit for bit, and its bit-hashtable.

Idea: for comparing with larbin, and for continuing its crawls, a URL is one bit among 64 million.
All arithmetic is unsigned 32-bit and wraps; a code is taken modulo the size of larbin's table.

1. The codes decide what larbin's ``hashtable.bin`` and ``dupfile.bin`` mean: never change them.
2. Bit ``code`` lives in byte ``code >> 3``, mask ``1 << (code & 7)``.
3. ``BitTable.__len__`` is the number of bits set, at all times.

The page code is a polynomial modulo 64,000,000 that never wraps in larbin's 32 bits, so the kernel
may reduce it lazily: a 64-bit sum is reduced when it passes 2**59, about every seventh byte.

Cost: one crossing and one nogil block per batch; about 1 ns a byte for URLs and pages; one cache
miss per tested bit, hidden by prefetching the batch.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int8_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from layout cimport link_entry


cdef extern from "links.h" nogil:
    int64_t count_links(const uint8_t *data, size_t size)
    size_t file_start(const uint8_t *url, size_t url_len, size_t host_end)

cdef extern from "mix.h" nogil:
    void PREFETCH_WRITE(const void *address)

cdef extern from * nogil:
    int popcount64 "__builtin_popcountll" (unsigned long long word)

cdef enum:
    TABLE_BITS = 64_000_000  # larbin's hashSize and dupSize
    HOST_SLOTS = 20_000      # larbin's table of named sites
    IP_SLOTS = 10_000        # larbin's table of IP sites
    AHEAD = 16               # codes between a prefetch and its test

cdef uint64_t LAZY_LIMIT = <uint64_t>1 << 59  # 23 * LAZY_LIMIT + 121 still fits in 64 bits


cdef inline uint32_t append31(uint32_t code, const uint8_t *text, size_t size) noexcept nogil:
    cdef size_t i
    for i in range(size):
        code = 31 * code + text[i]
    return code


cdef inline uint32_t link_code(const link_entry *link) noexcept nogil:
    cdef const uint8_t *url = <const uint8_t *>link + sizeof(link_entry)
    cdef size_t file = file_start(url, link.url_len, link.host_start + link.host_len)
    cdef uint32_t code = append31(link.port, url + link.host_start, link.host_len)
    return append31(code, url + file, link.url_len - file) % TABLE_BITS


cdef void codes_of(const uint8_t *links, int64_t count, uint32_t *codes) noexcept nogil:
    cdef int64_t i
    cdef const link_entry *link
    for i in range(count):
        link = <const link_entry *>links
        codes[i] = link_code(link)
        links += sizeof(link_entry) + link.url_len


def url_code(bytes host not None, bytes file not None, unsigned int port):
    """Return larbin's code of ``http://host:port/file``, below 64,000,000.

    Args:
        file: path and query, from the slash.
    """
    cdef uint32_t code = append31(port, host, len(host))
    return append31(code, file, len(file)) % TABLE_BITS


def url_codes(bytes links not None):
    """Return the codes of link entries: a little-endian u32 per link.

    Args:
        links: ``link_entry`` records with their URLs (``docs/protocol.md`` 4.2), no group heads.

    Raises:
        ValueError: the records do not fill the buffer.
    """
    cdef const uint8_t *data = links
    cdef size_t size = len(links)
    cdef int64_t count = count_links(data, size)
    if count < 0:
        raise ValueError("link entries do not fill their buffer")
    cdef bytes codes = PyBytes_FromStringAndSize(NULL, count * sizeof(uint32_t))
    cdef uint32_t *out = <uint32_t *>PyBytes_AS_STRING(codes)
    with nogil:
        codes_of(data, count, out)
    return codes


def host_code(bytes host not None):
    """Return larbin's code of a host name, below 20,000."""
    cdef uint32_t code = 0
    cdef uint8_t byte
    for byte in host:
        code = 37 * code + byte
    return code % HOST_SLOTS


def ip_code(bytes ip4 not None):
    """Return larbin's code of an IPv4 address, below 10,000.

    Args:
        ip4: 4 bytes in network order; larbin reads them as signed.
    """
    if len(ip4) != 4:
        raise ValueError(f"an IPv4 address has 4 bytes, not {len(ip4)}")
    cdef uint32_t code = 0
    cdef uint8_t byte
    for byte in ip4:
        code = 31 * code + <uint32_t><int8_t>byte
    return code % IP_SLOTS


cdef uint32_t code_of_page(const uint8_t *page, size_t size) noexcept nogil:
    cdef uint64_t code = 0
    cdef size_t i
    for i in range(size):
        if b'A' < page[i] < b'z':
            code = 23 * code + page[i]
            if code >= LAZY_LIMIT:
                code %= TABLE_BITS
        elif page[i] == 0:
            break
    return code % TABLE_BITS


def page_code(bytes page not None):
    """Return larbin's code of a page: its bytes between ``A`` and ``z``, up to the first NUL."""
    cdef const uint8_t *data = page
    cdef size_t size = len(page)
    cdef uint32_t code
    with nogil:
        code = code_of_page(data, size)
    return code


@cython.final
cdef class BitTable:
    """larbin's bit-hashtable: one bit per code, never resized.

    Args:
        bits: size, a multiple of 8; larbin's tables have 64,000,000.

    Process/thread: private to one process; not for several threads.
    """

    cdef uint8_t *_table
    cdef readonly uint64_t size
    cdef uint64_t _set

    def __cinit__(self, uint64_t bits=TABLE_BITS):
        if bits == 0 or bits % 8 or bits > <uint64_t>1 << 32:
            raise ValueError(f"a bit table has a multiple of 8 bits up to 2**32, not {bits}")
        self._table = <uint8_t *>calloc(bits // 8, 1)
        if self._table is NULL:
            raise MemoryError
        self.size = bits

    def __dealloc__(self):
        free(self._table)

    def __len__(self):
        return self._set

    cdef inline bint test_and_set(self, uint32_t code) noexcept nogil:
        cdef uint8_t mask = 1 << (code & 7)
        cdef bint was_new = not self._table[code >> 3] & mask
        self._table[code >> 3] |= mask
        self._set += was_new
        return was_new

    cdef int64_t checked(self, bytes codes) except -1:
        """Return the number of codes; all of them are below the size."""
        cdef const uint32_t *values = <const uint32_t *>PyBytes_AS_STRING(codes)
        cdef int64_t i, count = len(codes) // sizeof(uint32_t)
        cdef uint32_t highest = 0
        if len(codes) % sizeof(uint32_t):
            raise ValueError(f"codes have 4 bytes each; got {len(codes)} bytes")
        for i in range(count):
            highest = max(highest, values[i])
        if highest >= self.size:
            raise ValueError(f"code {highest} is beyond a table of {self.size} bits")
        return count

    cdef void add_all(self, const uint32_t *codes, int64_t count, char *was_new) noexcept nogil:
        cdef int64_t i
        for i in range(min(count, <int64_t>AHEAD)):
            PREFETCH_WRITE(&self._table[codes[i] >> 3])
        for i in range(count):
            if i + AHEAD < count:
                PREFETCH_WRITE(&self._table[codes[i + AHEAD] >> 3])
            was_new[i] = self.test_and_set(codes[i])

    def add_many(self, bytes codes not None):
        """Set the bits of the codes, in order, and tell which were new.

        Args:
            codes: a little-endian u32 per code, each below ``size``.

        Returns:
            One byte per code: 1 = was new. The second of two equal codes is not new.

        Raises:
            ValueError: a code is not below ``size``; nothing was set.
        """
        cdef int64_t count = self.checked(codes)
        cdef const uint32_t *values = <const uint32_t *>PyBytes_AS_STRING(codes)
        cdef bytes mask = PyBytes_FromStringAndSize(NULL, count)
        cdef char *was_new = PyBytes_AS_STRING(mask)
        with nogil:
            self.add_all(values, count, was_new)
        return mask

    def contains_many(self, bytes codes not None):
        """Tell which codes are set: one byte per code, arguments as for ``add_many``."""
        cdef int64_t i, count = self.checked(codes)
        cdef const uint32_t *values = <const uint32_t *>PyBytes_AS_STRING(codes)
        cdef bytes mask = PyBytes_FromStringAndSize(NULL, count)
        cdef char *is_set = PyBytes_AS_STRING(mask)
        with nogil:
            for i in range(count):
                is_set[i] = self._table[values[i] >> 3] >> (values[i] & 7) & 1
        return mask

    def add(self, uint32_t code):
        """Set the bit of one code; return whether it was new."""
        if code >= self.size:
            raise ValueError(f"code {code} is beyond a table of {self.size} bits")
        return self.test_and_set(code)

    def to_bytes(self):
        """Return the raw table, as larbin writes it to ``hashtable.bin``."""
        return PyBytes_FromStringAndSize(<char *>self._table, self.size // 8)

    def load(self, bytes raw not None):
        """Replace the table by a raw one.

        Raises:
            ValueError: the length is not ``size // 8``; the table is unchanged.
        """
        if <uint64_t>len(raw) != self.size // 8:
            raise ValueError(f"a table of {self.size} bits has {self.size // 8} bytes, "
                             f"not {len(raw)}")
        cdef const uint8_t *data = raw
        cdef uint64_t i, word, bytes_, total = 0
        bytes_ = self.size // 8
        with nogil:
            memcpy(self._table, data, bytes_)
            for i in range(bytes_ // 8):
                memcpy(&word, data + 8 * i, 8)
                total += popcount64(word)
            for i in range(bytes_ & ~<uint64_t>7, bytes_):
                total += popcount64(data[i])
            self._set = total
