"""The index of crawl.log: where the lines of a URL or of a page are, without a look at the lines.

Idea: an entry of 16 bytes a line, in the order of the lines: keyed hashes of its URL and of its
page's digest, and where the line ends. Whoever asks for one reads them all; ten million take 0.1 s,
and nothing is sorted. Hashes of 32 bits lead astray once in four thousand million lines.

1. The end of an entry is the start of the next one's line.
2. The URL hash 0 stands for lines that nobody has indexed; they must be searched themselves.
3. Only lines of pages that were fetched well have the hash of a digest, others 0: there are no two
   of one digest where duplicates are dropped.

docs/format-index.md is the contract. Cost: O(entries); a find looks at 16 bytes each.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp

from checks cimport checked_key
from layout cimport siphash13


cdef packed struct index_entry:
    uint32_t url
    uint32_t digest
    uint64_t end

cdef const char *URL_KEY = b'"url":"'
cdef const char *GOOD = b'","outcome":"success"'
cdef const char *DIGEST_KEY = b'"digest":"'
cdef enum:
    URL_KEY_BYTES = 7
    URL_KEY_RARE = 1  # its letter that lines have least of
    GOOD_BYTES = 21
    DIGEST_KEY_BYTES = 10
    DIGEST_KEY_RARE = 3


def hash_of(bytes key not None, bytes text not None):
    """Return the hash of a URL or a digest as a line spells it, never 0; ``key`` has 16 bytes."""
    return text_hash(checked_key(key), text, len(text))


cdef uint32_t text_hash(const uint8_t *key, const uint8_t *text, size_t size) noexcept nogil:
    return <uint32_t>siphash13(key, text, size) or 1


cdef const uint8_t *behind(
    const uint8_t *p, const uint8_t *end, const char *key, size_t size, size_t rare
) noexcept nogil:
    """What stands behind the first ``key`` at ``p`` or later; NULL where none stands.

    Lines have few of its letter ``rare``: so this is faster than memmem.
    """
    while <size_t>(end - p) >= size:
        p = <const uint8_t *>memchr(p + rare, key[rare], end - p - size + 1)
        if p == NULL:
            return NULL
        p -= rare
        if memcmp(p, key, size) == 0:
            return p + size
        p += 1
    return NULL


cdef const uint8_t *string_end(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Where the JSON string ends whose inside begins at ``p``."""
    cdef const uint8_t *quote = <const uint8_t *>memchr(p, c'"', end - p)
    if quote == NULL:
        quote = end
    if memchr(p, c'\\', quote - p) == NULL:  # as nearly always
        return quote
    while p < end and p[0] != c'"':
        p += 2 if p[0] == c'\\' and p + 1 < end else 1
    return p


cdef void put_hashes(
    const uint8_t *key, const uint8_t *p, const uint8_t *end, index_entry *entry
) noexcept nogil:
    """Hash what a line says; nothing for its URL where it has none."""
    cdef const uint8_t *start
    entry.digest = 0
    start = behind(p, end, URL_KEY, URL_KEY_BYTES, URL_KEY_RARE)
    if start == NULL:
        entry.url = text_hash(key, end, 0)
        return
    p = string_end(start, end)
    entry.url = text_hash(key, start, p - start)
    if end - p < GOOD_BYTES or memcmp(p, GOOD, GOOD_BYTES) != 0:
        return
    start = behind(p, end, DIGEST_KEY, DIGEST_KEY_BYTES, DIGEST_KEY_RARE)
    if start != NULL:
        entry.digest = text_hash(key, start, string_end(start, end) - start)


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

    Cost: 0.2 us a line, on a machine that was busy.
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
            put_hashes(sip_key, at, stop, entry + i)
            at = stop + 1
            entry[i].end = start + <uint64_t>(at - begin)
    return out


def find(const uint8_t[::1] data not None, uint32_t wanted, uint64_t start, bint by_digest):
    """Find the lines of a URL or of a digest.

    Args:
        data: whole entries.
        wanted: what ``hash_of`` says of it.
        start: where the line of the first entry begins.
        by_digest: it is a digest.

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
                if (entry[i].digest if by_digest else entry[i].url) == wanted or entry[i].url == 0:
                    break
                before = entry[i].end
                i += 1
        if i == count:
            return lines, gaps, before
        if not grows:
            return lines, gaps, -1
        (lines if entry[i].url else gaps).append((before, entry[i].end))
        before = entry[i].end
        i += 1
