"""Groups of links as they travel to the shards (``docs/protocol.md`` 4.2), of a batch of pages.

Idea: most pages of a crawl have few new links or none, so a batch of them is walked here, and
Python only sees what is sent.

Invariant: a group holds whole links in their order, and fits a frame.

Cost: one copy; only the links of a page that has more than half a MiB of them are walked.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from larbinpy._native.linkfilter cimport LinkBatch
from larbinpy._native.pages cimport Reading
from layout cimport link_entry, link_group

cdef enum:
    HALF_FRAME = 1 << 19  # of MAX_PAYLOAD: head, via, tag and one link more always fit
    KIND_ROBOTS = 1


cdef bytes group_of(bytes via, bytes tag, const uint8_t *links, size_t size, uint32_t count):
    """One group."""
    cdef size_t via_len = PyBytes_GET_SIZE(via), tag_len = PyBytes_GET_SIZE(tag)
    cdef bytes group = PyBytes_FromStringAndSize(
        NULL, sizeof(link_group) + via_len + tag_len + size
    )
    cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(group)
    cdef link_group *head = <link_group *>out
    if via_len > 0xFFFF or tag_len > 0xFFFF:
        raise ValueError("a group has no room for so long a URL or tag")
    head.via_len, head.tag_len, head.links, head.links_bytes = via_len, tag_len, count, size
    out += sizeof(link_group)
    memcpy(out, PyBytes_AS_STRING(via), via_len)
    memcpy(out + via_len, PyBytes_AS_STRING(tag), tag_len)
    memcpy(out + via_len + tag_len, links, size)
    return group


cdef int add_groups(list groups, bytes via, bytes tag, bytes links, uint32_t count) except -1:
    """Add the groups of one page for one shard."""
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(links)
    cdef const uint8_t *end = at + PyBytes_GET_SIZE(links)
    cdef const uint8_t *start = at
    cdef uint32_t number = 0
    if end - at <= HALF_FRAME:
        groups.append(group_of(via, tag, at, end - at, count))
        return 0
    while at < end:
        if <size_t>(end - at) < sizeof(link_entry):
            raise ValueError("link entries do not fill their buffer")
        at += sizeof(link_entry) + (<const link_entry *>at).url_len
        number += 1
        if at - start > HALF_FRAME or at >= end:
            if at > end:
                raise ValueError("link entries do not fill their buffer")
            groups.append(group_of(via, tag, start, at - start, number))
            start, number = at, 0
    return 0


def link_groups(bytes via not None, bytes tag not None, bytes links not None, uint32_t count):
    """The links of one page for one shard as groups that each fit a frame.

    Args:
        via: URL that they were found on; empty for seeds.
        links: link entries with their URLs, ``count`` of them.

    Raises:
        ValueError: the entries do not fill their buffer.
    """
    cdef list groups = []
    add_groups(groups, via, tag, links, count)
    return groups


def groups_of(list readings not None, Py_ssize_t shards):
    """The links of pages as they are sent.

    Args:
        readings: of ``pages.Reading``.
        shards: as many as the filter of their links had.

    Returns:
        Groups for each shard, and the fingerprints (u64 each) of all links in them.
    """
    cdef list groups = [[] for _ in range(shards)], fingerprints = []
    cdef Reading reading
    cdef LinkBatch batch
    cdef bytes via, tag, links
    cdef Py_ssize_t shard
    for reading in readings:
        if reading.links is None:
            continue
        batch = reading.links
        via = reading.via or reading.page.url
        # The tag of a robots.txt is the origin that asks.
        tag = b"" if reading.page.kind == KIND_ROBOTS else reading.page.tag
        for shard in range(shards):
            links = batch.entries[shard]
            if links:
                add_groups(groups[shard], via, tag, links, batch.counts[shard])
                fingerprints.append(batch.fingerprints[shard])
    return groups, b"".join(fingerprints)
