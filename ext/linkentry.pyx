"""Whose a URL is, for those who ask without the filter: its fingerprint, and its shard.

An importer makes entries of URLs that were accepted before (``docs/protocol.md`` 4.2), and a
command asks for one URL.

Invariant: the fingerprint decides the shard and lies in the log; never change how it is made.
Cost: O(bytes of the URL).
"""

from libc.stdint cimport uint8_t, uint64_t

from checks cimport checked_key, checked_shards
from layout cimport fingerprint, shard_of, siphash13


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
