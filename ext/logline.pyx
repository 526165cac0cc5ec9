"""Lines of ``crawl.log`` (``docs/crawl-log.md``), those of a batch of pages by one call.

Idea: each line is written where the one before has ended, into a buffer that is kept.  A text that
is not printable ASCII is spelt out by Python's ``json``; there are few.

Invariants:
1. Whatever the bytes of the web are, a line is printable ASCII and ends with its only line end.
2. There is room for a line before its first byte is written: ``FIXED_BYTES`` for all that is no
   text of the page, and ``GROWTH`` bytes for each byte of one.

Parts stand in ``jsonput.pxd`` and ``headerversion.pxd``.

Cost: 0.3 us a line of 400 bytes.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from headerversion cimport MAX_ETAG, Value, Version, version_of
from digits cimport put_number, put_padded
from jsonput cimport GROWTH, put, put_hex, put_string
from larbinpy._native.pages cimport Page, ParsedPage, Reading

import json
import time

from larbinpy.codes import Directive, Kind, Outcome


cdef extern from "arpa/inet.h" nogil:
    int AF_INET6
    enum:
        INET6_ADDRSTRLEN
    const char *inet_ntop(int family, const void *address, char *out, unsigned int size)

cdef enum:
    FIXED_BYTES = 2048  # of names, numbers, digest, ETag and Last-Modified
    MAX_NAME = 32       # of a digest's algorithm
    SECOND_US = 1_000_000
    PAGE = 0
    SUCCESS = 0

MAX_ETAG_BYTES = MAX_ETAG

cdef bytes NO_DIGEST = bytes(16)
cdef bytes BETWEEN_REASONS = b"; "
cdef list KINDS = [kind.name.lower().encode() for kind in Kind]
cdef list OUTCOMES = [outcome.label.encode() for outcome in Outcome]
cdef list DIRECTIVES = [
    b'"%b"' % b",".join(one.name.lower().encode() for one in Directive(bits)) if bits else b"null"
    for bits in range(1 << len(Directive))
]
assert [*Kind] == [*range(len(KINDS))] and [*Outcome] == [*range(len(OUTCOMES))]


def quoted(bytes text not None):
    """A JSON string of ASCII; ``null`` for an empty text.  What is no UTF-8 is escaped twice."""
    if not text:
        return b"null"
    shown = json.dumps(text.decode("utf-8", "backslashreplace"))
    return shown.replace("\x7f", "\\u007f").encode("ascii")


def version(bytes headers not None):
    """ETag and Last-Modified of a header block; empty: not sent, or not to be sent back."""
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(headers)
    cdef Version found = version_of(at, at + PyBytes_GET_SIZE(headers))
    return found.etag.at[:found.etag.size], found.modified.at[:found.modified.size]


cdef inline bytes name_of(list names, int number):
    if not 0 <= number < len(names):
        raise ValueError(f"{number} has no name")
    return names[number]


cdef inline uint8_t *put_bytes(uint8_t *out, bytes text):
    memcpy(out, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return out + PyBytes_GET_SIZE(text)


cdef inline uint8_t *put_text(uint8_t *out, bytes text) except NULL:
    """A text of the page, or null."""
    cdef uint8_t *behind = NULL
    if PyBytes_GET_SIZE(text):
        behind = put_string(
            out, <const uint8_t *>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)
        )
    return behind if behind != NULL else put_bytes(out, quoted(text))


cdef inline uint8_t *put_value(uint8_t *out, Value value) noexcept:
    """A value of a header field, which is printable, or null."""
    return put_string(out, value.at, value.size) if value.size else put(out, b"null")


cdef inline uint8_t *put_number_or_null(uint8_t *out, uint64_t number) noexcept:
    return put_number(out, number) if number else put(out, b"null")


cdef uint8_t *put_address(uint8_t *out, bytes ip) except NULL:
    """An address as people write it, or null."""
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(ip)
    cdef char text[INET6_ADDRSTRLEN]
    cdef int i
    if PyBytes_GET_SIZE(ip) == 0:
        return put(out, b"null")
    out = put(out, b'"')
    if PyBytes_GET_SIZE(ip) == 4:
        for i in range(4):
            out = put_number(out if i == 0 else put(out, b"."), at[i])
    elif PyBytes_GET_SIZE(ip) == 16:
        inet_ntop(AF_INET6, at, text, sizeof(text))
        out = put(out, text)
    else:
        raise ValueError("an address has 4 or 16 bytes")
    return put(out, b'"')


cdef uint8_t *put_digest(uint8_t *out, bytes algorithm, bytes digest):
    if digest == NO_DIGEST:
        return put(out, b"null")
    out = put(put_bytes(put(out, b'"'), algorithm), b":")
    out = put_hex(out, <const uint8_t *>PyBytes_AS_STRING(digest), PyBytes_GET_SIZE(digest))
    return put(out, b'"')


cdef uint8_t *put_near(uint8_t *out, ParsedPage parsed):
    cdef uint8_t bits[8]
    cdef int i
    if parsed.simhash == 0:
        return put(out, b'"simhash":null,"near":null')
    for i in range(8):
        bits[i] = <uint8_t>(parsed.simhash >> (56 - 8 * i))
    out = put_hex(put(out, b'"simhash":"'), bits, sizeof(bits))
    return put_number_or_null(put(out, b'","near":'), parsed.near)


cdef bytes reason_of(Page page, ParsedPage parsed):
    """What the shard and the parser say of how a page ended."""
    if not parsed.reason:
        return page.reason
    return page.reason + BETWEEN_REASONS + parsed.reason if page.reason else parsed.reason


@cython.final
cdef class LineMaker:
    """Writes log lines; keeps the last second it has spelt out, for most lines share it.

    Args:
        digest: name of the algorithm of all digests, at most 32 bytes.
    """

    cdef bytes _digest
    cdef uint64_t _second
    cdef bytes _second_text
    cdef uint8_t *_data
    cdef size_t _size
    cdef size_t _room

    def __cinit__(self, str digest not None="xxh3-128"):
        self._digest = digest.encode("ascii")
        if len(self._digest) > MAX_NAME:
            raise ValueError(f"{digest!r} is no name of an algorithm")
        self._second_text = b""

    def __dealloc__(self):
        free(self._data)

    def lines(self, list readings not None):
        """The lines of pages, one behind the other.

        Raises:
            ValueError: a number has no name, or an address or a digest has another size.
        """
        self._size = 0
        for reading in readings:
            self._reserve(reading)
            self._put_line(reading)
        return PyBytes_FromStringAndSize(<const char *>self._data, self._size)

    cdef int _reserve(self, Reading reading) except -1:
        """Make room for a line."""
        cdef Page page = reading.page
        cdef size_t texts = PyBytes_GET_SIZE(page.url) + PyBytes_GET_SIZE(page.via)
        texts += PyBytes_GET_SIZE(page.reason) + PyBytes_GET_SIZE(reading.mime)
        texts += PyBytes_GET_SIZE(reading.parsed.canonical)
        texts += PyBytes_GET_SIZE(BETWEEN_REASONS) + PyBytes_GET_SIZE(reading.parsed.reason)
        cdef size_t needed = self._size + FIXED_BYTES + GROWTH * texts
        cdef void *grown
        if PyBytes_GET_SIZE(reading.parsed.digest) != PyBytes_GET_SIZE(NO_DIGEST):
            raise ValueError("a digest has 16 bytes")
        if needed > self._room:
            grown = realloc(self._data, 2 * needed)
            if grown == NULL:
                raise MemoryError
            self._data, self._room = <uint8_t *>grown, 2 * needed
        return 0

    cdef uint8_t *_put_time(self, uint8_t *out, uint64_t us) except NULL:
        cdef uint64_t second = us // SECOND_US
        if second != self._second or not self._second_text:
            self._second_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)).encode()
            self._second = second
        out = put(put_bytes(out, self._second_text), b".")
        return put(put_padded(out, us % SECOND_US, 6), b"Z")

    cdef int _put_line(self, Reading reading) except -1:
        cdef Page page = reading.page
        cdef ParsedPage parsed = reading.parsed
        cdef uint8_t *out = self._data + self._size
        cdef int outcome = parsed.outcome
        out = self._put_time(put(out, b'{"ts":"'), page.start_us)
        out = put_bytes(put(out, b'","kind":"'), name_of(KINDS, page.kind))
        out = put_number(put(out, b'","id":'), page.id)
        out = put_number(put(out, b',"attempt":'), page.attempt)
        out = put_text(put(out, b',"url":'), page.url)
        out = put_bytes(put(out, b',"outcome":"'), name_of(OUTCOMES, outcome))
        out = put_number_or_null(put(out, b'","status":'), page.status)
        out = put_number(put(out, b',"bytes":'), parsed.body_bytes)
        out = put_text(put(out, b',"mime":'), reading.mime)
        out = put_number(put(out, b',"depth":'), page.depth)
        out = put_text(put(out, b',"via":'), page.via)
        out = put_address(put(out, b',"ip":'), page.ip)
        out = put_number(put(out, b',"duration_ms":'), (<uint64_t>page.duration_us + 500) // 1000)
        out = put_digest(put(out, b',"digest":'), self._digest, parsed.digest)
        out = put_near(put(out, b","), parsed)
        out = put_bytes(put(out, b',"robots":'), name_of(DIRECTIVES, parsed.directives))
        out = put_text(put(out, b',"canonical":'), parsed.canonical)
        out = self._put_version(out, page, outcome)
        out = put_text(put(out, b',"reason":'), reason_of(page, parsed))
        self._size = put(out, b"}\n") - self._data
        return 0

    cdef uint8_t *_put_version(self, uint8_t *out, Page page, int outcome):
        """ETag and Last-Modified, of a good page only."""
        cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(page.headers)
        cdef Version found = Version(Value(NULL, 0), Value(NULL, 0))
        if outcome == SUCCESS and page.kind == PAGE:
            found = version_of(at, at + PyBytes_GET_SIZE(page.headers))
        out = put_value(put(out, b',"etag":'), found.etag)
        return put_value(put(out, b',"modified":'), found.modified)
