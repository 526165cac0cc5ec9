"""What a shard asks of a LINKS payload (docs/protocol.md 4.2) before it takes its links.

Invariant: nothing is read outside of the payload, which is measured before it is walked.

Cost: one crossing a payload; a copy of its links, or 8 bytes or one for each.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from layout cimport LINK_FORCE, link_entry
from loggroups cimport Size, Walk, measured, next_group, next_link, walk_of


def bare_links(bytes groups not None):
    """The links of a LINKS payload back to back, without the groups around them.

    Raises:
        ValueError: malformed groups.
    """
    cdef Size found = measured(groups)
    cdef Walk walk = walk_of(groups)
    cdef bytes links = PyBytes_FromStringAndSize(NULL, found.link_bytes)
    cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(links)
    with nogil:
        while walk.at < walk.end:
            next_group(&walk)
            memcpy(out, walk.at, walk.group_end - walk.at)
            out += walk.group_end - walk.at
            walk.at = walk.group_end
    return links


def fingerprints(bytes groups not None):
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


def with_forced(bytes groups not None, bytes mask not None):
    """The mask with 1 for every link of a LINKS payload that is to be queued even if seen.

    Args:
        mask: one byte for each link over all groups.

    Raises:
        ValueError: malformed groups, or a mask of another length.
    """
    cdef Size found = measured(groups)
    cdef Walk walk = walk_of(groups)
    if <size_t>PyBytes_GET_SIZE(mask) != found.links:
        raise ValueError(f"{found.links} links, but a mask of {len(mask)} bytes")
    # Made empty and filled: of a given byte Python would hand out the one that all others share.
    cdef bytes forced = PyBytes_FromStringAndSize(NULL, found.links)
    cdef char *out = PyBytes_AS_STRING(forced)
    memcpy(out, PyBytes_AS_STRING(mask), found.links)
    with nogil:
        while walk.at < walk.end:
            next_group(&walk)
            while walk.links:
                if next_link(&walk).flags & LINK_FORCE:
                    out[0] = 1
                out += 1
    return forced
