"""What a transfer receives: libcurl's write, header and socket callbacks.

Idea: libcurl calls us once per header line and once or more for a body, a dozen times per page.
So these callbacks are compiled, and they only append, count and compare.

Invariants:
1. The block holds the header lines of one response: it starts again at each status line that
   follows a finished block, so that 1xx responses and a proxy's answer leave nothing behind.
2. What is counted is never reset within a transfer: header bytes of all its responses, body bytes.
3. A transfer that breaks a limit is aborted, and ``abort`` says why (``ABORT_*``): libcurl's own
   code for that, 23, means many things.
4. Only the expected address gets a socket.

The fields stand in ``larbinpy/_native/transfer.pxd``.

Cost: O(bytes); a body that comes in one piece is not copied again.
"""

cimport cython

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_AsUTF8
from libc.errno cimport EMFILE, ENFILE, ENOBUFS, ENOMEM, errno
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

cdef extern from "<sys/socket.h>" nogil:
    enum:
        AF_INET, AF_INET6, SOCK_NONBLOCK, SOCK_CLOEXEC
    int socket(int domain, int type, int protocol)

cdef extern from "<arpa/inet.h>" nogil:
    int inet_pton(int family, const char *text, void *packed)

cdef enum:
    HEADER_BYTES = 65536
    HEADER_FIELDS = 200
    ERROR_BODY_BYTES = 65536
    FIRST_BLOCK_BYTES = 1024
    KEPT_BLOCK_BYTES = 8192
    # why a transfer was aborted
    TOO_BIG = 1
    BAD_TYPE = 2
    TOO_MANY_HEADERS = 3
    FOREIGN_ADDRESS = 4
    NO_DESCRIPTOR = 5
    NO_SOCKET = 6
    REPEATED = 9

ABORT_TOO_BIG = TOO_BIG
ABORT_TYPE = BAD_TYPE
ABORT_HEADERS = TOO_MANY_HEADERS
ABORT_ADDRESS = FOREIGN_ADDRESS
ABORT_DESCRIPTORS = NO_DESCRIPTOR
ABORT_SOCKET = NO_SOCKET
ABORT_REPEATED = REPEATED


cdef inline int64_t monotonic_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <int64_t>now.tv_sec * 1000000000 + now.tv_nsec


@cython.final
cdef class Transfer:
    """What one easy handle receives; made once per handle and reset for each request.

    Args:
        opened: told the descriptor of each socket that is opened (``EventLoop.opened``).
        types: prefixes of acceptable content types, in lower case.
    """

    def __cinit__(self, object opened not None, tuple types not None):
        for prefix in types:
            if not isinstance(prefix, bytes):
                raise TypeError("content types are bytes")
        self._opened = opened
        self._types = types
        self._ip = b""
        self._first = b""
        self._block = <char *>malloc(FIRST_BLOCK_BYTES)
        if self._block == NULL:
            raise MemoryError
        self._block_size = FIRST_BLOCK_BYTES

    def __dealloc__(self):
        free(self._block)

    cpdef object reset(
        self, bytes ip, int port, uint64_t limit, bint check_type, bint check_length
    ):
        """Forget the last response and expect the next.

        Args:
            ip: the only address that may be connected to, 4 or 16 bytes, network order.
            limit: most body bytes.
            check_type: abort a 2xx response whose content type is not acceptable.
            check_length: abort a 2xx response that declares more than ``limit`` bytes.
        """
        self._ip = ip
        self._port = port
        self._limit = limit
        self._check_type = check_type
        self._check_length = check_length
        self._forget_block()
        self._header_bytes = 0
        self._body_bytes = 0
        self._first = b""
        self._rest = None
        self.sent_ns = 0
        self.abort = 0
        self.first_ns = 0
        self.last_ns = 0
        self._shrink()

    @property
    def headers(self):
        """Header block of the final response: status line and fields, each ended by CR LF."""
        return self.header_block()

    @property
    def body(self):
        """The body so far, content encoding not removed."""
        return self.whole_body()

    @property
    def is_ambiguous(self):
        """Whether the response says twice, and differently, where its body ends (RFC 9112, 6.3)."""
        return self.is_chunked and self._has_length

    @property
    def bytes_read(self):
        """Header bytes of all responses and body bytes."""
        return self._header_bytes + self._body_bytes

    def open_socket(self, int purpose, object address):
        """OPENSOCKETFUNCTION: a non-blocking socket for the expected address, and for no other."""
        cdef int fd
        if address[3][1] != self._port or not self._is_expected(address[3][0]):
            self.abort = FOREIGN_ADDRESS
            return -1
        fd = socket(address[0], address[1] | SOCK_NONBLOCK | SOCK_CLOEXEC, address[2])
        if fd < 0:
            out = errno == EMFILE or errno == ENFILE or errno == ENOBUFS or errno == ENOMEM
            self.abort = NO_DESCRIPTOR if out else NO_SOCKET
            return -1
        self._opened(fd)
        return fd

    cdef bytes header_block(self):
        return PyBytes_FromStringAndSize(self._block, self._block_len)

    cdef bytes whole_body(self):
        return self._first if self._rest is None else bytes(self._rest)

    cdef bint _is_expected(self, str address) except -1:
        cdef char packed[16]
        cdef Py_ssize_t size = PyBytes_GET_SIZE(self._ip)
        cdef int family = AF_INET if size == 4 else AF_INET6
        if size != 4 and size != 16:
            return False
        if inet_pton(family, PyUnicode_AsUTF8(address), packed) != 1:
            return False
        return memcmp(packed, PyBytes_AS_STRING(self._ip), size) == 0

    def before_request(self, str ip, str local_ip, int port, int local_port):
        """PREREQFUNCTION: a transfer is one request; returns 1 to forbid another.

        libcurl sends a request again by itself when the kept connection that it went out on was
        closed without an answer.  It is a request like any other, so it has to wait its turn.
        """
        if self.sent_ns:
            self.abort = REPEATED
            return 1
        self.sent_ns = monotonic_ns()
        return 0

    def write(self, bytes data not None):
        """WRITEFUNCTION: append; returns the bytes taken, fewer to abort."""
        cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
        self.last_ns = monotonic_ns()
        if self._body_bytes + <uint64_t>size > self._limit:
            self._append(data[:self._limit - self._body_bytes])
            self.abort = TOO_BIG
            return 0
        self._append(data)
        return size

    def header(self, bytes line not None):
        """HEADERFUNCTION: append one line; returns the bytes taken, fewer to abort."""
        cdef const char *text = PyBytes_AS_STRING(line)
        cdef Py_ssize_t size = PyBytes_GET_SIZE(line)
        cdef Py_ssize_t kept = size
        self._header_bytes += size
        if self.first_ns == 0:
            self.first_ns = monotonic_ns()
        while kept and (text[kept - 1] == c"\n" or text[kept - 1] == c"\r"):
            kept -= 1
        if self._header_bytes > HEADER_BYTES:
            self.abort = TOO_MANY_HEADERS
        elif self.is_complete and not self._is_new_block(text, kept):
            return size     # a trailer: counted, not kept
        elif kept == 0:
            self._end_block()
        else:
            self._take_line(text, kept)
        return 0 if self.abort else size

    cdef bint _is_new_block(self, const char *text, Py_ssize_t size) noexcept:
        # A block behind a 1xx, or behind a proxy's answer to CONNECT.
        return self._body_bytes == 0 and starts_with(text, size, b"http/", 5)

    cdef void _forget_block(self) noexcept:
        self._block_len = 0
        self._type_start = 0
        self._type_end = 0
        self._length = 0
        self._has_length = False
        self._fields = 0
        self.status = 0
        self.is_complete = False
        self.has_location = False
        self.has_cookies = False
        self.is_chunked = False

    cdef int _shrink(self) except -1:
        # One long block must not be paid for by every handle for ever.
        cdef char *smaller
        if self._block_size > KEPT_BLOCK_BYTES:
            smaller = <char *>realloc(self._block, FIRST_BLOCK_BYTES)
            if smaller != NULL:
                self._block = smaller
                self._block_size = FIRST_BLOCK_BYTES
        return 0

    cdef int _append(self, bytes data) except -1:
        # Most bodies come in one piece, which is kept as it is. More pieces go to one buffer:
        # a list of them would cost 40 bytes for each byte of a body sent byte by byte.
        self._body_bytes += PyBytes_GET_SIZE(data)
        if self._rest is not None:
            self._rest += data
        elif not self._first:
            self._first = data
        else:
            self._rest = bytearray(self._first)
            self._rest += data
            self._first = b""
        return 0

    cdef int _take_line(self, const char *text, Py_ssize_t size) except -1:
        cdef Py_ssize_t start
        if self._block_len == 0 or self.is_complete:
            self._forget_block()
            self.status = status_of(text, size)
        else:
            self._fields += 1
        if self._fields > HEADER_FIELDS:
            self.abort = TOO_MANY_HEADERS
            return 0
        start = self._block_len
        self._reserve(start + size + 2)
        memcpy(self._block + start, text, size)
        memcpy(self._block + start + size, b"\r\n", 2)
        self._block_len = start + size + 2
        if start:
            self._note(start, size)
        return 0

    cdef int _reserve(self, Py_ssize_t size) except -1:
        cdef char *grown
        if size > self._block_size:
            grown = <char *>realloc(self._block, 2 * size)
            if grown == NULL:
                raise MemoryError
            self._block = grown
            self._block_size = 2 * size
        return 0

    cdef void _note(self, Py_ssize_t start, Py_ssize_t size) noexcept:
        # Remember the fields that decide something at the end of the block.
        cdef const char *line = self._block + start
        if starts_with(line, size, b"content-", 8):
            if starts_with(line + 8, size - 8, b"type:", 5):
                self._type_start = start + 13
                self._type_end = start + size
            elif starts_with(line + 8, size - 8, b"length:", 7):
                self._length = number_of(line + 15, size - 15)
                self._has_length = True
        elif starts_with(line, size, b"location:", 9):
            self.has_location = True
        elif starts_with(line, size, b"set-cookie:", 11):
            self.has_cookies = True
        elif starts_with(line, size, b"transfer-encoding:", 18):
            self.is_chunked = True

    cdef int _end_block(self) except -1:
        self.is_complete = True
        self.last_ns = monotonic_ns()
        if self.status >= 300:
            # The body of a redirection or an error is read only to keep the connection.
            self._limit = min(self._limit, <uint64_t>ERROR_BODY_BYTES)
        elif self.status >= 200:
            if self._check_type and not self._is_acceptable():
                self.abort = BAD_TYPE
            elif self._check_length and self._length > self._limit:
                self.abort = TOO_BIG
        return 0

    cdef bint _is_acceptable(self) except -1:
        cdef Py_ssize_t start = self._type_start
        cdef bytes prefix
        while start < self._type_end and is_blank(self._block[start]):
            start += 1
        if start == self._type_end:
            return True     # no type given: the parser looks at the bytes
        for prefix in self._types:
            if starts_with(
                self._block + start, self._type_end - start,
                PyBytes_AS_STRING(prefix), PyBytes_GET_SIZE(prefix),
            ):
                return True
        return False


cdef inline bint is_blank(char byte) noexcept nogil:
    return byte == c" " or byte == c"\t"


cdef bint starts_with(
    const char *text, Py_ssize_t size, const char *lower, Py_ssize_t lower_size
) noexcept nogil:
    # ``lower`` is lower case already; ASCII letters of ``text`` are folded.
    cdef Py_ssize_t i
    cdef char byte
    if size < lower_size:
        return False
    for i in range(lower_size):
        byte = text[i]
        if c"A" <= byte <= c"Z":
            byte |= 0x20
        if byte != lower[i]:
            return False
    return True


cdef int status_of(const char *text, Py_ssize_t size) noexcept nogil:
    # The three digits behind the first blank of a status line; 0 when there are none.
    cdef Py_ssize_t i = 0
    cdef int digit
    cdef int status = 0
    while i < size and text[i] != c" ":
        i += 1
    while i < size and text[i] == c" ":
        i += 1
    for digit in range(3):
        if i + digit >= size or not c"0" <= text[i + digit] <= c"9":
            return 0
        status = 10 * status + (text[i + digit] - c"0")
    return status


cdef uint64_t number_of(const char *text, Py_ssize_t size) noexcept nogil:
    # Digits behind blanks, at most 18 of them; libcurl itself judges what is malformed.
    cdef Py_ssize_t i = 0
    cdef int digits = 0
    cdef uint64_t number = 0
    while i < size and is_blank(text[i]):
        i += 1
    while i < size and digits < 18 and c"0" <= text[i] <= c"9":
        number = 10 * number + <uint64_t>(text[i] - c"0")
        i += 1
        digits += 1
    return number
