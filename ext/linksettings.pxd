# From the settings of Python to the rules of `linkrules.pxd`, header only.
#
# Invariant: rules that were filled here own their tables; `free_rules` frees them, also those of
# rules that are zeroed or filled in part.

from libc.stdint cimport UINT32_MAX, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free

from linkrules cimport (
    MAX_U16, hash_of_host, host_table, hosts_free, hosts_init, hosts_put, link_rules, suffix,
    suffix_set, suffixes_add, suffixes_init,
)


cdef inline uint16_t checked_u16(str name, long value) except? MAX_U16:
    if not 0 <= value <= MAX_U16:
        raise ValueError(f"{name} is {value}, not within 0 to {MAX_U16}")
    return <uint16_t>value


cdef inline uint32_t limit_of(uint32_t most) noexcept:
    """A limit as `linklimits.h` has it, where 0 means none."""
    return most if most else UINT32_MAX


cdef inline tuple fill_suffixes(suffix_set *known, texts):
    """Fill a zeroed set; what is returned must live as long, for the set points to it."""
    cdef bytes text
    cdef tuple kept = tuple([text.lower() for text in texts])
    cdef suffix *entries = <suffix *>calloc(max(len(kept), 1), sizeof(suffix))
    if entries is NULL:
        raise MemoryError
    suffixes_init(known, entries)
    for text in kept:
        if not text:
            raise ValueError("an empty suffix would match everything")
        suffixes_add(known, text, len(text))
    return kept


cdef inline int fill_places(host_table *known, places, const uint8_t *key) except -1:
    """Fill a zeroed table with hashes; nothing of the texts is kept."""
    cdef bytes place
    places = tuple(places or ())
    if hosts_init(known, len(places) + 1) < 0:
        raise MemoryError
    for place in places:
        hosts_put(known, hash_of_host(key, place, len(place)), 0)
    return 0


cdef inline void free_rules(link_rules *rules) noexcept:
    free(rules.forbidden.entries)
    free(rules.never_forbidden.entries)
    free(rules.priority.entries)
    free(rules.domains.entries)
    hosts_free(&rules.sites)
    hosts_free(&rules.site_domains)
    hosts_free(&rules.prefixes)
