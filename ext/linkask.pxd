# What Python is asked about the links of one page, header only: the domains of hosts that are not
# cached, and which links somebody else would not follow.
#
# Invariant: an answer that is no answer is an error, and no place outside a table is written.

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t

from layout cimport KIND_SITEMAP, LINK_SEED, siphash13
from linkpage cimport page_links, refuse
from linkrules cimport (
    ACCEPTED, REASONS, candidate, hash_of_host, host_domain, host_of, host_table, hosts_find,
    hosts_put, url_of,
)


cdef inline int ask_domains(page_links *page, int64_t count, host_table *hosts,
                            const uint8_t *key, domain_of) except -1:
    """Ask for the domains of hosts that are not cached; each host once."""
    cdef int64_t i
    cdef candidate *found
    cdef host_domain *slot
    cdef bytes domain
    for i in range(count):
        found = &page.found[i]
        if found.has_domain:
            continue
        slot = hosts_find(hosts, found.host)
        if slot.host == 0:
            domain = domain_of(PyBytes_FromStringAndSize(
                <const char *>host_of(found.link), found.link.host_len))
            found.domain = siphash13(key, domain, len(domain))
            hosts_put(hosts, found.host, found.domain)
        else:
            found.domain = slot.domain
    return 0


cdef inline bint has_domain_in(const host_table *domains, bytes host, const uint8_t *key,
                               domain_of) except -1:
    """Whether the registered domain of a host is one of these."""
    cdef bytes domain = domain_of(host)
    return hosts_find(domains, hash_of_host(key, domain, len(domain))).host != 0


cdef inline int64_t drop_unchosen(page_links *page, int64_t count, choose) except -1:
    """Keep what `choose` accepts in front; return the number of links."""
    cdef int64_t i, kept = 0
    cdef candidate *found
    cdef uint8_t reason
    urls = []
    places = []
    for i in range(count):
        found = &page.found[i]
        urls.append(PyBytes_FromStringAndSize(<const char *>url_of(found.link),
                                              found.link.url_len))
        places.append(found.index)
    cdef bytes answers = choose(urls, places)
    if len(answers) != count:
        raise ValueError(f"{len(answers)} answers for {count} links")
    for i in range(count):
        reason = <uint8_t>answers[i]
        if reason == ACCEPTED:
            page.found[kept] = page.found[i]
            kept += 1
            continue
        if reason >= REASONS:
            raise ValueError(f"{reason} is no reason to refuse a link")
        refuse(page, page.found[i].index, reason)
    return kept


cdef inline int choose_again(list urls, uint8_t *verdicts, choose) except -1:
    """Ask `choose` about what the rules accept, but for seeds and sitemaps."""
    cdef Py_ssize_t i
    places = [
        i for i in range(len(urls))
        if verdicts[i] == ACCEPTED and not urls[i][3] & LINK_SEED and urls[i][4] != KIND_SITEMAP
    ]
    if places:
        answers = choose([urls[i][0] for i in places], places)
        for i, reason in zip(places, answers, strict=True):
            verdicts[i] = reason
    return 0
