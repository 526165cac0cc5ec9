# The groups of a LINKS payload (docs/protocol.md 4.2), header only: measured once, then walked.
#
# Nothing is read outside of the payload: ``measure`` has checked all that ``next_group`` and
# ``next_link`` then step over.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from layout cimport enq_payload, link_entry, link_group


cdef extern from "logrecord.h" nogil:
    enum:
        MAX_PAYLOAD
    size_t record_size(size_t payload)

cdef enum:
    MAX_URL = 2083

cdef struct Walk:  # through the groups of a LINKS payload
    const uint8_t *at
    const uint8_t *end
    const uint8_t *group_end
    const uint8_t *via
    const uint8_t *tag
    uint32_t via_len
    uint32_t tag_len
    uint32_t links  # still to come in this group

cdef struct Size:  # of a LINKS payload
    size_t groups
    size_t links
    size_t link_bytes  # of the links with their URLs
    size_t bound  # bytes that its records take at most


cdef inline bint next_group(Walk *walk) noexcept nogil:
    """Step to the next group; false when its head, via, tag and links are not all there."""
    cdef const link_group *head = <const link_group *>walk.at
    if walk.end - walk.at < <ssize_t>sizeof(link_group):
        return False
    walk.via_len, walk.tag_len, walk.links = head.via_len, head.tag_len, head.links
    walk.via = walk.at + sizeof(link_group)
    walk.tag = walk.via + walk.via_len
    walk.at = walk.tag + walk.tag_len
    if walk.end - walk.via < <ssize_t>(<size_t>walk.via_len + walk.tag_len + head.links_bytes):
        return False
    walk.group_end = walk.at + head.links_bytes
    return walk.via_len <= MAX_URL


cdef inline const link_entry *next_link(Walk *walk) noexcept nogil:
    """The next link of the group, NULL when it does not fit in it or contradicts itself."""
    cdef const link_entry *link = <const link_entry *>walk.at
    cdef ssize_t left = walk.group_end - walk.at
    if left < <ssize_t>sizeof(link_entry) or left - <ssize_t>sizeof(link_entry) < link.url_len:
        return NULL
    if link.url_len > MAX_URL or link.host_start + link.host_len > link.url_len:
        return NULL
    walk.at += sizeof(link_entry) + link.url_len
    walk.links -= 1
    return link


cdef inline bint measure(const uint8_t *data, size_t size, Size *found) noexcept nogil:
    """Check a whole LINKS payload and sum it up; false when it is malformed."""
    cdef Walk walk
    cdef const link_entry *link
    cdef size_t payload
    memset(&walk, 0, sizeof(Walk))
    memset(found, 0, sizeof(Size))
    walk.at, walk.end = data, data + size
    while walk.at < walk.end:
        if not next_group(&walk):
            return False
        found.groups += 1
        found.link_bytes += walk.group_end - walk.at
        while walk.links:
            link = next_link(&walk)
            if link is NULL:
                return False
            payload = sizeof(enq_payload) + link.url_len + walk.via_len + walk.tag_len
            if payload > MAX_PAYLOAD:
                return False
            found.links += 1
            found.bound += record_size(payload)
        if walk.at != walk.group_end:
            return False
    return True


cdef inline Size measured(bytes groups) except *:
    cdef Size found
    cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(groups)
    cdef size_t size = PyBytes_GET_SIZE(groups)
    cdef bint is_good
    with nogil:
        is_good = measure(data, size, &found)
    if not is_good:
        raise ValueError("malformed LINKS payload")
    return found


cdef inline Walk walk_of(bytes groups) noexcept:
    """A walk that has not begun; the payload has been measured."""
    cdef Walk walk
    memset(&walk, 0, sizeof(Walk))
    walk.at = <const uint8_t *>PyBytes_AS_STRING(groups)
    walk.end = walk.at + PyBytes_GET_SIZE(groups)
    return walk
