# The links of one page, header only: room for them, which of them pass the rules, their domains,
# which of them is the first of its kind, and what became of the others.
#
# Invariants:
# 1. There is room for every link of the page before the first is taken, so nothing here can fail.
# 2. `first` is an open addressing table of 1 + index, 0 = empty, at least twice as large as the
#    number of links; only as much of it is cleared and used as the page needs.
# 3. The links that are left stand in front, in their order; `count` is their number.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from layout cimport LINK_FORCE, fingerprint, resolved_link, siphash13
from linkrules cimport (
    ACCEPTED, DUPLICATE, LINKS_PER_PAGE, OUT_SITE, REASONS, candidate, hash_of_host, host_domain,
    host_of, host_table, hosts_find, hosts_slot, is_host, link_rules, page_facts, url_of, verdict,
)


cdef extern from "mix.h" nogil:
    uint64_t mix64(uint64_t key)
    void PREFETCH_READ(const void *address)

cdef extern from "written.h" nogil:
    ctypedef struct written_cache:
        uint64_t *slots
    int written_init(written_cache *cache, int bits)
    void written_free(written_cache *cache)
    uint64_t *written_slot(const written_cache *cache, uint64_t fp)
    bint written_has(const written_cache *cache, uint64_t fp)
    void written_add(written_cache *cache, const uint64_t *fps, int64_t count)
    void written_forget(written_cache *cache, uint32_t shard, uint32_t shards)


cdef struct page_links:
    candidate *found
    int64_t room
    uint32_t *first
    uint64_t first_room
    int64_t refused[REASONS]  # how many of the page for each reason
    uint8_t *verdicts         # of all links in their order, NULL = not asked for


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


# --- rules --------------------------------------------------------------------------------------
cdef inline void note_verdict(page_links *page, int64_t index, int reason) noexcept nogil:
    if page.verdicts is not NULL:
        page.verdicts[index] = <uint8_t>reason


cdef inline void refuse(page_links *page, int64_t index, int reason) noexcept nogil:
    page.refused[reason] += 1
    note_verdict(page, index, reason)


cdef inline int64_t take_allowed(page_links *page, const uint8_t *data, int64_t found,
                                 int64_t most, const link_rules *rules,
                                 const page_facts *facts) noexcept nogil:
    """Take the links that the rules accept among the first `most`; return their number."""
    cdef int64_t i, count = 0
    cdef int reason
    memset(page.refused, 0, sizeof(page.refused))
    for i in range(found):
        reason = LINKS_PER_PAGE
        if i < most:
            page.found[count].link = <const resolved_link *>data
            page.found[count].index = i
            reason = verdict(rules, &page.found[count], facts)
        if reason == ACCEPTED:
            count += 1
        else:
            refuse(page, i, reason)
        data += sizeof(resolved_link) + (<const resolved_link *>data).url_len
    return count


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
        else:
            found.host = hash_of_host(key, host_of(found.link), found.link.host_len)
            PREFETCH_READ(hosts_slot(hosts, found.host))
        before = found.link
    for i in range(count):
        found = &page.found[i]
        if i and found.host == page.found[i - 1].host:
            found.domain = page.found[i - 1].domain
            found.has_domain = page.found[i - 1].has_domain
        else:
            slot = hosts_find(hosts, found.host)
            found.domain = slot.domain
            found.has_domain = slot.host != 0
        missing += not found.has_domain
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
                               uint8_t flags) noexcept nogil:
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
            note_verdict(page, found.index, DUPLICATE)
            continue
        page.found[kept] = found[0]
        kept += 1
    cdef int64_t dropped = count[0] - kept
    count[0] = kept
    return dropped


# --- scope --------------------------------------------------------------------------------------
cdef inline int64_t drop_outside(page_links *page, int64_t count,
                                 const host_table *domains) noexcept nogil:
    """Keep the links to these domains in front; return their number."""
    cdef int64_t i, kept = 0
    cdef candidate *found
    for i in range(count):
        found = &page.found[i]
        if hosts_find(domains, found.domain | 1).host == 0:
            refuse(page, found.index, OUT_SITE)
            continue
        page.found[kept] = found[0]
        kept += 1
    return kept
