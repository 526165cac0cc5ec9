"""Link entries for those who write or read them without the filter: whose a URL is, what is forced.

An importer makes entries of URLs that were accepted before, and a shard must queue some of the
links that it gets though it has seen them (``docs/protocol.md`` 4.2).

Invariant: the fingerprint decides the shard and lies in the log; never change how it is made.
Cost: O(bytes of the URL), O(entries); about 1 ns an entry.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from checks cimport checked_key, checked_shards
from layout cimport LINK_FORCE, fingerprint, link_entry, shard_of, siphash13


cdef extern from "links.h" nogil:
    int64_t count_links(const uint8_t *data, size_t size)


def fingerprint_of(bytes key not None, bytes domain not None, bytes url not None):
    """Return the fingerprint of a URL: 16 bits of its registered domain, 48 of the URL.

    Args:
        key: the crawl's hash key, 16 bytes.
        domain: registered domain of the URL's host.
        url: normalised URL.
    """
    cdef const uint8_t *sip_key = checked_key(key)
    return fingerprint(siphash13(sip_key, domain, len(domain)), siphash13(sip_key, url, len(url)))


def shard(uint64_t fp, unsigned long shards):
    """Return the shard of a fingerprint, from 0 to ``shards - 1``."""
    return shard_of(fp, checked_shards(shards))


def with_forced(bytes group_links not None, bytes mask not None):
    """Return the mask with 1 for every link that is to be queued even if seen.

    Args:
        group_links: the links of a group, without its head.
        mask: one byte per link.

    Raises:
        ValueError: the records do not fill the buffer, or the mask has another length.
    """
    cdef const uint8_t *data = group_links
    cdef int64_t i, count = count_links(data, len(group_links))
    if count < 0:
        raise ValueError("link entries do not fill their buffer")
    if count != len(mask):
        raise ValueError(f"{count} links, but a mask of {len(mask)} bytes")
    # Made empty and filled: of a given byte Python would hand out the one that all others share.
    cdef bytes forced = PyBytes_FromStringAndSize(NULL, count)
    cdef const char *given = PyBytes_AS_STRING(mask)
    cdef char *out = PyBytes_AS_STRING(forced)
    with nogil:
        memcpy(out, given, <size_t>count)
        for i in range(count):
            if (<const link_entry *>data).flags & LINK_FORCE:
                out[i] = 1
            data += sizeof(link_entry) + (<const link_entry *>data).url_len
    return forced
