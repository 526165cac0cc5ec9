# The links of one page that passed the rules, header only: room for them, their domains, which of
# them is the first of its kind, and how they are laid out for each shard.
#
# Invariants:
# 1. There is room for every link of the page before the first is taken, so nothing here can fail.
# 2. `first` is an open addressing table of 1 + index, 0 = empty, at least twice as large as the
#    number of links; only as much of it is cleared and used as the page needs.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from checks cimport MAX_SHARDS
from layout cimport (
    LINK_FORCE, LINK_HTTPS, fingerprint, link_entry, resolved_link, shard_of, siphash13,
)
from linkrules cimport (
    DUPLICATE, OUT_SITE, candidate, hash_of_host, host_domain, host_of, host_table, hosts_find,
    is_host, page_facts, url_of,
)


cdef extern from "mix.h" nogil:
    uint64_t mix64(uint64_t key)
    void PREFETCH_READ(const void *address)

cdef extern from "written.h" nogil:
    ctypedef struct written_cache:
        uint64_t *slots
    int written_init(written_cache *cache, int bits)
    uint64_t *written_slot(const written_cache *cache, uint64_t fp)
    bint written_has(const written_cache *cache, uint64_t fp)
    void written_add(written_cache *cache, const uint64_t *fps, int64_t count)
    void written_forget(written_cache *cache, uint32_t shard, uint32_t shards)


cdef struct page_links:
    candidate *found
    int64_t room
    uint32_t *first
    uint64_t first_room


cdef struct shard_buffers:
    uint32_t shards
    int64_t counts[MAX_SHARDS]
    int64_t sizes[MAX_SHARDS]
    uint8_t *entries[MAX_SHARDS]  # where the next entry goes
    uint64_t *fps[MAX_SHARDS]


# --- room ---------------------------------------------------------------------------------------
cdef inline uint64_t slots_for(int64_t links) noexcept nogil:
    """Size of the table for so many links, a power of 2."""
    cdef uint64_t slots = 16
    while slots < 2 * <uint64_t>links:
        slots *= 2
    return slots


cdef inline bint reserve_links(page_links *page, int64_t links) noexcept nogil:
    """Make room for so many links; false when there is no memory."""
    cdef void *grown
    cdef uint64_t slots = slots_for(links)
    if links > page.room:
        grown = realloc(page.found, links * sizeof(candidate))
        if grown is NULL:
            return False
        page.found = <candidate *>grown
        page.room = links
    if slots > page.first_room:
        grown = realloc(page.first, slots * sizeof(uint32_t))
        if grown is NULL:
            return False
        page.first = <uint32_t *>grown
        page.first_room = slots
    return True


cdef inline void free_links(page_links *page) noexcept nogil:
    free(page.found)
    free(page.first)


# --- domains ------------------------------------------------------------------------------------
cdef inline int64_t look_up_domains(page_links *page, int64_t count, const host_table *hosts,
                                    const uint8_t *key) noexcept nogil:
    """Fill in the domains that are cached; return how many are not.

    Neighbours mostly share their host, so it is hashed only when it changes.
    """
    cdef int64_t i, missing = 0
    cdef candidate *found
    cdef const resolved_link *before = NULL
    cdef host_domain *slot
    for i in range(count):
        found = &page.found[i]
        if before is not NULL and is_host(found.link, host_of(before), before.host_len):
            found.host = page.found[i - 1].host
            found.domain = page.found[i - 1].domain
            found.has_domain = page.found[i - 1].has_domain
        else:
            found.host = hash_of_host(key, host_of(found.link), found.link.host_len)
            slot = hosts_find(hosts, found.host)
            found.domain = slot.domain
            found.has_domain = slot.host != 0
        missing += not found.has_domain
        before = found.link
    return missing


# --- repeats ------------------------------------------------------------------------------------
cdef inline uint64_t clear_first(page_links *page, int64_t count) noexcept nogil:
    """Empty the table for a page of so many links; return its size."""
    cdef uint64_t slots = slots_for(count)
    memset(page.first, 0, slots * sizeof(uint32_t))
    return slots


cdef inline bint is_first(page_links *page, uint64_t fp, int64_t index,
                          uint64_t slots) noexcept nogil:
    """Whether no kept link has this fingerprint; notes it for `index` if so."""
    cdef uint64_t slot = mix64(fp) & (slots - 1)
    while page.first[slot] != 0:
        if page.found[page.first[slot] - 1].fp == fp:
            return False
        slot = (slot + 1) & (slots - 1)
    page.first[slot] = <uint32_t>index + 1
    return True


cdef inline int64_t drop_known(page_links *page, int64_t *count,
                               const written_cache *written, const uint8_t *key,
                               uint8_t flags, uint8_t *verdicts) noexcept nogil:
    """Fingerprint the links; keep the new ones in front; return the number dropped."""
    cdef int64_t i, kept = 0
    cdef candidate *found
    for i in range(count[0]):
        found = &page.found[i]
        found.fp = fingerprint(found.domain,
                               siphash13(key, url_of(found.link), found.link.url_len))
        PREFETCH_READ(written_slot(written, found.fp))
    cdef uint64_t slots = clear_first(page, count[0])
    for i in range(count[0]):
        found = &page.found[i]
        # A forced link is queued though it is written; the shard decides.
        if (
            (not flags & LINK_FORCE and written_has(written, found.fp))
            or not is_first(page, found.fp, kept, slots)
        ):
            if verdicts is not NULL:
                verdicts[found.index] = DUPLICATE
            continue
        page.found[kept] = found[0]
        kept += 1
    cdef int64_t dropped = count[0] - kept
    count[0] = kept
    return dropped


# --- scope --------------------------------------------------------------------------------------
cdef inline int64_t drop_outside(page_links *page, int64_t count, const host_table *domains,
                                 uint8_t *verdicts) noexcept nogil:
    """Keep the links to these domains in front; return their number."""
    cdef int64_t i, kept = 0
    cdef candidate *found
    for i in range(count):
        found = &page.found[i]
        if hosts_find(domains, found.domain | 1).host == 0:
            if verdicts is not NULL:
                verdicts[found.index] = OUT_SITE
            continue
        page.found[kept] = found[0]
        kept += 1
    return kept


# --- entries ------------------------------------------------------------------------------------
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


cdef inline void write_one(shard_buffers *out, const candidate *found,
                           const page_facts *page) noexcept nogil:
    """Write a link at the end of its shard's buffer."""
    out.entries[found.shard] += write_entry(out.entries[found.shard], found, page)
    out.fps[found.shard][0] = found.fp
    out.fps[found.shard] += 1
