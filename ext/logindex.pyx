"""The index of crawl.log: where the lines of a URL are, without a look at the lines.

Idea: an entry of 16 bytes a line, in the order of the lines: a keyed hash of its URL, and where
the line ends. Whoever asks for a URL reads them all; ten million take 0.1 s, and nothing is sorted.

1. The end of an entry is the start of the next one's line.
2. The hash 0 stands for lines that nobody has indexed; they must be searched themselves.

docs/format-index.md is the contract. Cost: O(entries); a find looks at 16 bytes each.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr

from checks cimport checked_key
from layout cimport siphash13


cdef extern from *:
    """
    #ifndef _GNU_SOURCE
    #define _GNU_SOURCE
    #endif
    #include <string.h>
    """
    void *memmem(const void *text, size_t size, const void *wanted, size_t wanted_size) nogil


cdef packed struct index_entry:
    uint64_t hash
    uint64_t end

cdef enum:
    KEY_BYTES = 7


def hash_of(bytes key not None, bytes url not None):
    """Return the hash of a URL as a line spells it, never 0; ``key`` has 16 bytes."""
    return siphash13(checked_key(key), url, len(url)) or 1


cdef uint64_t hash_in(const uint8_t *key, const uint8_t *p, const uint8_t *end) noexcept nogil:
    """The hash of the URL in a line; of nothing where it has none."""
    cdef const uint8_t *start
    p = <const uint8_t *>memmem(p, end - p, b'"url":"', KEY_BYTES)
    if p == NULL:
        return siphash13(key, end, 0) or 1
    start = p = p + KEY_BYTES
    while p < end and p[0] != c'"':
        p += 2 if p[0] == c'\\' and p + 1 < end else 1
    return siphash13(key, start, p - start) or 1


cdef Py_ssize_t count_lines(const uint8_t *p, const uint8_t *end) noexcept nogil:
    cdef Py_ssize_t count = 0
    while True:
        p = <const uint8_t *>memchr(p, c'\n', end - p)
        if p == NULL:
            return count
        p += 1
        count += 1


def entries(bytes key not None, bytes lines not None, uint64_t start):
    """Return the entries of whole lines that lie behind each other.

    Args:
        start: where the first line begins.

    Cost: 40 ns a line.
    """
    cdef const uint8_t *sip_key = checked_key(key)
    cdef const uint8_t *begin = lines
    cdef const uint8_t *at = begin
    cdef const uint8_t *end = at + len(lines)
    cdef const uint8_t *stop
    cdef Py_ssize_t i, count = count_lines(at, end)
    cdef bytes out = PyBytes_FromStringAndSize(NULL, count * sizeof(index_entry))
    cdef index_entry *entry = <index_entry *>PyBytes_AS_STRING(out)
    with nogil:
        for i in range(count):
            stop = <const uint8_t *>memchr(at, c'\n', end - at)
            entry[i].hash = hash_in(sip_key, at, stop)
            at = stop + 1
            entry[i].end = start + <uint64_t>(at - begin)
    return out


def find(const uint8_t[::1] data not None, uint64_t wanted, uint64_t start):
    """Find the lines of a URL.

    Args:
        data: whole entries.
        wanted: what ``hash_of`` says of the URL.
        start: where the line of the first entry begins.

    Returns:
        the lines that have this hash, and what nobody has indexed, as lists of (start, end); and
        the end of the last entry, or -1 when the ends do not grow: then this is no index.
    """
    cdef Py_ssize_t count = data.shape[0] // <Py_ssize_t>sizeof(index_entry)
    cdef const index_entry *entry = <const index_entry *>&data[0] if count else NULL
    cdef Py_ssize_t i = 0
    cdef uint64_t before = start
    cdef bint grows = True
    lines = []
    gaps = []
    while True:
        with nogil:
            while i < count:
                if entry[i].end <= before:
                    grows = False
                    break
                if entry[i].hash == wanted or entry[i].hash == 0:
                    break
                before = entry[i].end
                i += 1
        if i == count:
            return lines, gaps, before
        if not grows:
            return lines, gaps, -1
        (lines if entry[i].hash else gaps).append((before, entry[i].end))
        before = entry[i].end
        i += 1
