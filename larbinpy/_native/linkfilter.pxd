# Fields of ``ext/linkfilter.pyx``, and what it does for other kernels.

from libc.stdint cimport int64_t, uint8_t

from linkpage cimport page_links, written_cache
from linkrules cimport host_table, link_rules, page_facts
from linkshards cimport shard_buffers


cdef class LinkBatch:
    cdef readonly list entries
    cdef readonly list counts
    cdef readonly list fingerprints
    cdef readonly int64_t found
    cdef readonly int64_t duplicates
    cdef readonly dict filtered
    cdef readonly bytes verdicts


cdef class LinkFilter:
    cdef bytes _key
    cdef const uint8_t *_sip_key
    cdef object _domain_of, _choose
    cdef bint _reverse
    cdef readonly int64_t links_per_page
    cdef list _texts  # that the rules point to
    cdef link_rules _rules
    cdef host_table _hosts
    cdef written_cache _written

    # Scratch of one call.
    cdef page_links _page
    cdef shard_buffers _out

    cdef LinkBatch sort_out(
        self, const uint8_t *data, size_t size, const page_facts *page, choose, bint has_verdicts
    )
    cdef int set_suffixes(self, forbidden, priority, domains) except -1
    cdef int set_places(self, sites, site_domains, prefixes) except -1
    cdef int64_t check_and_reserve(self, const uint8_t *data, size_t size) except -1
    cdef int make_verdicts(self, LinkBatch batch, int64_t found, bint has_verdicts) except -1
