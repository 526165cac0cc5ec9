"""What a shard asks of a LINKS payload (docs/protocol.md 4.2) before it takes its links.

Invariant: nothing is read outside of the payload, which is measured before it is walked.

Cost: one crossing a payload; a copy of its links, or 8 bytes for each.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from layout cimport link_entry
from loggroups cimport Size, Walk, measured, next_group, next_link, walk_of


def bare_links(bytes groups):
    """The links of a LINKS payload back to back, without the groups around them.

    Raises:
        ValueError: malformed groups.
    """
    cdef Walk walk
    cdef const uint8_t *first
    cdef bytes links = PyBytes_FromStringAndSize(NULL, PyBytes_GET_SIZE(groups))
    cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(links)
    cdef size_t size = 0
    measured(groups)
    walk = walk_of(groups)
    with nogil:
        while walk.at < walk.end:
            next_group(&walk)
            first = walk.at
            walk.at = walk.group_end
            memcpy(out + size, first, walk.at - first)
            size += walk.at - first
    return links[:size]


def fingerprints(bytes groups):
    """The fingerprints (u64 each) of all links of a LINKS payload, in their order.

    Raises:
        ValueError: malformed groups.
    """
    cdef Size found = measured(groups)
    cdef Walk walk = walk_of(groups)
    cdef const link_entry *link
    cdef bytes result = PyBytes_FromStringAndSize(NULL, found.links * sizeof(uint64_t))
    cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(result)
    with nogil:
        while walk.at < walk.end:
            next_group(&walk)
            while walk.links:
                link = next_link(&walk)
                memcpy(out, &link.fingerprint, sizeof(uint64_t))
                out += sizeof(uint64_t)
    return result
