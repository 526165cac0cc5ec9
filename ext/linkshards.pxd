# The kept links of one page as they travel, header only: a buffer of link entries for each shard.
#
# Invariant: the buffers are as long as `count_entries` found, and nothing is kept or dropped after
# it; so writing needs no checks.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from checks cimport MAX_SHARDS
from layout cimport LINK_HTTPS, link_entry, resolved_link, shard_of
from linkpage cimport page_links
from linkrules cimport candidate, page_facts, url_of


cdef struct shard_buffers:
    uint32_t shards
    int64_t counts[MAX_SHARDS]
    int64_t sizes[MAX_SHARDS]
    uint8_t *entries[MAX_SHARDS]  # where the next entry goes
    uint64_t *fps[MAX_SHARDS]


cdef inline void count_entries(page_links *page, int64_t count,
                               shard_buffers *out) noexcept nogil:
    """Give each link to its shard."""
    cdef int64_t i
    cdef candidate *found
    memset(out.counts, 0, out.shards * sizeof(int64_t))
    memset(out.sizes, 0, out.shards * sizeof(int64_t))
    for i in range(count):
        found = &page.found[i]
        found.shard = shard_of(found.fp, out.shards)
        out.counts[found.shard] += 1
        out.sizes[found.shard] += sizeof(link_entry) + found.link.url_len


cdef inline size_t write_entry(uint8_t *out, const candidate *found,
                               const page_facts *page) noexcept nogil:
    """Write one link entry with its URL; return its size."""
    cdef const resolved_link *link = found.link
    cdef link_entry *entry = <link_entry *>out
    entry.fingerprint = found.fp
    entry.url_len = <uint16_t>link.url_len
    entry.depth = page.depth
    entry.left = found.left
    entry.port = link.port
    entry.host_start = link.host_start
    entry.host_len = link.host_len
    entry.level = found.level
    entry.kind = page.kind
    entry.hops = page.hops
    entry.flags = page.flags | (LINK_HTTPS if link.https else 0)
    entry.reserved = 0
    entry.score = 0
    entry.relevance = 0
    memcpy(out + sizeof(link_entry), url_of(link), link.url_len)
    return sizeof(link_entry) + link.url_len


cdef inline int make_buffers(shard_buffers *out, list entries, list counts,
                             list fingerprints) except -1:
    """Make a bytes object for each shard, of the exact size; they belong to the lists."""
    cdef uint32_t i
    cdef bytes buffer, fps
    for i in range(out.shards):
        buffer = PyBytes_FromStringAndSize(NULL, out.sizes[i])
        fps = PyBytes_FromStringAndSize(NULL, out.counts[i] * sizeof(uint64_t))
        out.entries[i] = <uint8_t *>PyBytes_AS_STRING(buffer)
        out.fps[i] = <uint64_t *>PyBytes_AS_STRING(fps)
        entries.append(buffer)
        fingerprints.append(fps)
        counts.append(out.counts[i])
    return 0


cdef inline void write_one(shard_buffers *out, const candidate *found,
                           const page_facts *page) noexcept nogil:
    """Write a link at the end of its shard's buffer."""
    out.entries[found.shard] += write_entry(out.entries[found.shard], found, page)
    out.fps[found.shard][0] = found.fp
    out.fps[found.shard] += 1


cdef inline void write_entries(shard_buffers *out, const page_links *links, int64_t count,
                               const page_facts *page, bint is_reversed) noexcept nogil:
    """Lay the links out, each at the end of its shard's buffer."""
    cdef int64_t i, at
    for i in range(count):
        at = count - 1 - i if is_reversed else i
        write_one(out, &links.found[at], page)
