# One URL, header only: read by the URL standard or in larbin's way, with what `urlequal.h` takes
# for one.
#
# Invariant: what is written stands behind what `out` held before; `out` and `scratch` may grow, and
# belong to the caller.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint16_t
from libc.stdlib cimport free

from layout cimport RESOLVED_OK, RESOLVED_SLOW


cdef extern from "larbinurl.h" nogil:
    ctypedef struct url_text:
        const uint8_t *at
        const uint8_t *end

    ctypedef struct url_out:
        uint8_t *data
        size_t size
        size_t room

    ctypedef struct url_parts:
        uint8_t https
        uint8_t host_start
        uint8_t host_len
        uint16_t port

    ctypedef struct url_base:
        const uint8_t *url
        size_t size
        size_t path
        size_t name
        size_t query
        url_parts parts

    ctypedef struct url_context:
        const url_base *base
        const url_text *host
        int query_is_utf8

    void url_classes_init()
    url_text text_trimmed(url_text text)
    int text_has_breaks(url_text text)
    int text_without_breaks(url_text *text, url_out *out)
    int out_reserve(url_out *out, size_t more)
    void base_index(url_base *base)
    size_t url_room(const url_context *context, url_text text)
    int whatwg_parse(const url_context *context, url_text text, url_out *out, url_parts *parts)
    void larbin_index(url_base *base)
    size_t larbin_room(const url_base *base, url_text text)
    int larbin_url(const url_base *base, url_text text, url_out *out, url_parts *parts)
    size_t url_path_start(const uint8_t *url, const url_parts *parts)

cdef extern from "urlequal.h" nogil:
    size_t equal_url(uint8_t *url, size_t size, size_t path_at, int equal)


# How references are read: `context.base` may be NULL, `is_larbin` chooses the rules.
ctypedef struct reader:
    url_context context
    bint is_larbin
    int equal  # EQUAL_* bits of urlequal.h


cdef inline url_text text_of(bytes value) noexcept:
    """The bytes of an object that the caller keeps alive."""
    cdef url_text text
    text.at = <const uint8_t *>PyBytes_AS_STRING(value)
    text.end = text.at + PyBytes_GET_SIZE(value)
    return text


cdef inline int read_url(
    const reader *how, url_text text, url_out *scratch, url_out *out, url_parts *parts
) noexcept nogil:
    """Write one URL behind ``out``; its status, or -1 when there is no memory."""
    cdef size_t start = out.size
    cdef uint8_t *url
    text = text_trimmed(text)
    if text_has_breaks(text) and text_without_breaks(&text, scratch) < 0:
        return -1
    if how.is_larbin:
        if out_reserve(out, larbin_room(how.context.base, text)) < 0:
            return -1
        return larbin_url(how.context.base, text, out, parts)
    if out_reserve(out, url_room(&how.context, text)) < 0:
        return -1
    cdef int status = whatwg_parse(&how.context, text, out, parts)
    if status == RESOLVED_OK and how.equal:
        url = out.data + start
        out.size = start + equal_url(
            url, out.size - start, url_path_start(url, parts), how.equal
        )
    return status


cdef inline tuple read_one(const reader *how, bytes url):
    """One URL as ``(status, url, https, host_start, host_len, port)``."""
    cdef url_text text = text_of(url)
    cdef url_out out, scratch
    cdef url_parts parts
    cdef int status
    out.data = scratch.data = NULL
    out.size = out.room = scratch.size = scratch.room = 0
    parts.https = parts.host_start = parts.host_len = 0
    parts.port = 0
    try:
        status = read_url(how, text, &scratch, &out, &parts)
        if status < 0:
            raise MemoryError
        if status == RESOLVED_OK:
            value = PyBytes_FromStringAndSize(<char *>out.data, <Py_ssize_t>out.size)
            return status, value, parts.https != 0, parts.host_start, parts.host_len, parts.port
        value = b""
        if status == RESOLVED_SLOW:
            value = out.data[parts.host_start:out.size]
        return status, value, False, 0, 0, 0
    finally:
        free(out.data)
        free(scratch.data)
