# All links of a page, header only: `found_link` items become `resolved_link` items, in the same
# order and number (docs/protocol.md, section 6).

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from layout cimport (
    ELEMENT_A, ELEMENT_AREA, ELEMENT_BASE, ELEMENT_FORM, ELEMENT_META, ELEMENT_OTHER,
    ELEMENT_REDIRECT, ELEMENT_SEED, RESOLVED_EMPTY, RESOLVED_OK, RESOLVED_SLOW, found_link,
    resolved_link,
)
from urlread cimport (
    out_reserve, read_url, reader, text_of, text_trimmed, url_out, url_parts, url_text,
)


# What a batch ends with.
cdef enum:
    BATCH_DONE, BATCH_TORN, BATCH_NO_MEMORY

# A URL is seldom longer than the reference that it comes from plus this.
cdef enum:
    ROOM_PER_LINK = 64


cdef inline bint is_fetched_when_empty(uint8_t element) noexcept nogil:
    """Whether an empty reference means the document itself, as it does for hyperlinks."""
    return (
        element == ELEMENT_A
        or element == ELEMENT_AREA
        or element == ELEMENT_BASE
        or element == ELEMENT_META
        or element == ELEMENT_REDIRECT
        or element == ELEMENT_SEED
        or element == ELEMENT_FORM
        or element == ELEMENT_OTHER
    )


cdef inline int resolve_link(
    const reader *how, const found_link *found, url_text value, url_out *scratch, url_out *out
) noexcept nogil:
    """Write the item of one link; -1 when there is no memory."""
    cdef size_t start = out.size
    cdef resolved_link item
    cdef url_parts parts
    cdef url_text trimmed = text_trimmed(value)
    cdef int status = RESOLVED_EMPTY
    if out_reserve(out, sizeof(resolved_link)) < 0:
        return -1
    out.size += sizeof(resolved_link)
    parts.https = parts.host_start = parts.host_len = 0
    parts.port = 0
    if trimmed.at < trimmed.end or is_fetched_when_empty(found.element):
        status = read_url(how, trimmed, scratch, out, &parts)
        if status < 0:
            return -1
    item.status = <uint8_t>status
    item.element = found.element
    item.rel = found.rel
    item.https = item.host_start = item.host_len = 0
    item.port = 0
    if status == RESOLVED_OK:
        item.https = parts.https
        item.host_start = parts.host_start
        item.host_len = parts.host_len
        item.port = parts.port
    else:
        out.size = start + sizeof(resolved_link)
    item.url_len = <uint32_t>(out.size - start - sizeof(resolved_link))
    memcpy(out.data + start, &item, sizeof(resolved_link))
    return 0


cdef inline int resolve_batch(
    const reader *how, url_text links, url_out *scratch, url_out *out
) noexcept nogil:
    """Resolve all of ``links``; one of ``BATCH_*``."""
    cdef found_link found
    cdef url_text value
    while links.at < links.end:
        if <size_t>(links.end - links.at) < sizeof(found_link):
            return BATCH_TORN
        memcpy(&found, links.at, sizeof(found_link))
        value.at = links.at + sizeof(found_link)
        if <size_t>(links.end - value.at) < found.value_len:
            return BATCH_TORN
        value.end = links.at = value.at + found.value_len
        if resolve_link(how, &found, value, scratch, out) < 0:
            return BATCH_NO_MEMORY
    return BATCH_DONE


cdef inline bytes resolve_all(const reader *how, bytes links):
    """One batch with its buffers."""
    cdef url_text text = text_of(links)
    cdef url_out out, scratch
    cdef int ended
    out.data = scratch.data = NULL
    out.size = out.room = scratch.size = scratch.room = 0
    try:
        with nogil:
            ended = BATCH_NO_MEMORY
            if out_reserve(&out, 2 * <size_t>(text.end - text.at) + ROOM_PER_LINK) == 0:
                ended = resolve_batch(how, text, &scratch, &out)
        if ended == BATCH_NO_MEMORY:
            raise MemoryError
        if ended == BATCH_TORN:
            raise ValueError("links do not fill their buffer exactly")
        return PyBytes_FromStringAndSize(<char *>out.data, <Py_ssize_t>out.size)
    finally:
        free(out.data)
        free(scratch.data)


cdef inline list slow_of(bytes links, bytes resolved):
    """The links that were answered SLOW, each with the offset of its item."""
    cdef url_text found_at = text_of(links)
    cdef url_text item_at = text_of(resolved)
    cdef const uint8_t *first = item_at.at
    cdef found_link found
    cdef resolved_link item
    slow = []
    while (
        <size_t>(item_at.end - item_at.at) >= sizeof(resolved_link)
        and <size_t>(found_at.end - found_at.at) >= sizeof(found_link)
    ):
        memcpy(&item, item_at.at, sizeof(resolved_link))
        memcpy(&found, found_at.at, sizeof(found_link))
        found_at.at += sizeof(found_link)
        if (
            found.value_len > <size_t>(found_at.end - found_at.at)
            or item.url_len > <size_t>(item_at.end - item_at.at) - sizeof(resolved_link)
        ):
            break
        if item.status == RESOLVED_SLOW:
            slow.append((found_at.at[:found.value_len], item_at.at - first))
        found_at.at += found.value_len
        item_at.at += sizeof(resolved_link) + item.url_len
    return slow
