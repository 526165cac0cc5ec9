# cython: language_level=3
"""URLs: split, resolve and normalise, by the URL standard or in larbin's own way.

Idea: a page's links come as one buffer of ``found_link`` items and leave as one of
``resolved_link`` items, in the same order and number (docs/protocol.md, section 6). The parsers
are C headers: ``whatwg.h`` on ``urlhost.h`` for the standard, ``larbinurl.h`` for larbin's mode,
``urlequal.h`` for URLs that are taken for one.

Invariants:

1. A URL that comes out is ASCII, at most 2,083 bytes (larbin: 1,023), without fragment and user
   info, and its host is one that DNS could know.
2. By the standard, a URL that comes out comes out unchanged when it goes in again, also with the
   options of ``urlequal.h``, which are rewritings of what the standard gives.
3. What a kernel cannot do alone (a host with non-ASCII bytes, a query to be written in another
   encoding) is answered SLOW and left to ``larbinpy.url``.

Cost: O(bytes); one crossing, one ``nogil`` block and one growing buffer a page.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from layout cimport (
    ELEMENT_A,
    ELEMENT_AREA,
    ELEMENT_BASE,
    ELEMENT_FORM,
    ELEMENT_META,
    ELEMENT_OTHER,
    ELEMENT_REDIRECT,
    ELEMENT_SEED,
    RESOLVED_EMPTY,
    RESOLVED_OK,
    RESOLVED_SLOW,
    found_link,
    resolved_link,
)


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


# What a batch ends with.
cdef enum:
    BATCH_DONE, BATCH_TORN, BATCH_NO_MEMORY

# A URL is seldom longer than the reference that it comes from plus this.
cdef enum:
    ROOM_PER_LINK = 64

# How references are read: `context.base` may be NULL, `is_larbin` chooses the rules.
ctypedef struct reader:
    url_context context
    bint is_larbin
    int equal  # EQUAL_* bits of urlequal.h

url_classes_init()


cdef inline url_text text_of(bytes value) noexcept:
    """The bytes of an object that the caller keeps alive."""
    cdef url_text text
    text.at = <const uint8_t *>PyBytes_AS_STRING(value)
    text.end = text.at + PyBytes_GET_SIZE(value)
    return text


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


cdef int read_url(
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


cdef int resolve_batch(
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


cdef bytes resolve_all(const reader *how, bytes links):
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


cdef tuple read_one(const reader *how, bytes url):
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


cdef class _Base:
    """A normalised URL and its offsets; what both kinds of base share."""

    cdef readonly bytes url
    """The base, normalised."""
    cdef url_base _base
    cdef reader _how

    cdef int _read(self, bytes url, bint is_larbin, int equal) except -1:
        self._how.context.base = NULL
        self._how.context.host = NULL
        self._how.context.query_is_utf8 = True
        self._how.is_larbin = is_larbin
        self._how.equal = 0  # what links are relative to is the page as it was asked for
        status, self.url, https, start, size, port = read_one(&self._how, url)
        if status != RESOLVED_OK:
            raise ValueError(f"no absolute URL to resolve against: {url[:100]!r}")
        self._base.url = <const uint8_t *>PyBytes_AS_STRING(self.url)
        self._base.size = <size_t>PyBytes_GET_SIZE(self.url)
        self._base.parts.https = https
        self._base.parts.host_start = start
        self._base.parts.host_len = size
        self._base.parts.port = port
        self._how.context.base = &self._base
        self._how.equal = equal
        if is_larbin:
            larbin_index(&self._base)
        else:
            base_index(&self._base)
        return 0


cdef class Base(_Base):
    """An absolute http or https URL that references resolve against, by the URL standard.

    Args:
        equal: ``larbinpy.url.Equal``: which resolved URLs are taken for one.

    Raises:
        ValueError: the URL does not parse, is of another scheme, or has a non-ASCII host.
    """

    def __cinit__(self, url: bytes, equal: int = 0):
        self._read(url, False, equal)

    def resolve(
        self, links: bytes, *, encoding_is_utf8: bool = True, exact: bool = False
    ) -> bytes:
        """Resolve a page's links: ``found_link`` items to ``resolved_link`` items.

        Args:
            links: items of docs/protocol.md, section 6, back to back.
            encoding_is_utf8: False makes a non-ASCII query SLOW, because the standard wants it in
                the document's encoding.
            exact: ``equal`` is not asked.

        Raises:
            ValueError: the items do not fill the buffer exactly.

        Cost: O(bytes), about 0.1 us a link; the GIL is released.
        """
        cdef reader how = self._how
        how.context.query_is_utf8 = encoding_is_utf8
        if exact:
            how.equal = 0
        return resolve_all(&how, links)


cdef class LarbinBase(_Base):
    """An absolute http URL that references resolve against as larbin does it.

    Raises:
        ValueError: larbin would not take the URL.
    """

    def __cinit__(self, url: bytes):
        self._read(url, True, 0)

    def resolve(
        self, links: bytes, *, encoding_is_utf8: bool = True, exact: bool = False
    ) -> bytes:
        """The same as ``Base.resolve``; the keywords change nothing here."""
        return resolve_all(&self._how, links)


def parse(
    url: bytes, base: Base | None = None, host: bytes | None = None, exact: bool = False
) -> tuple:
    """Parse one URL by the standard.

    Args:
        url: UTF-8; relative only when there is a base.
        host: what the host in ``url`` is to be read as, for a second try after SLOW.
        exact: ``equal`` of the base is not asked.

    Returns:
        ``(status, url, https, host_start, host_len, port)``, status as in ``resolved_link``. The
        URL is empty unless status is OK; when it is SLOW, this field is the percent-decoded host
        (its query never makes a single URL SLOW).
    """
    cdef reader how
    cdef url_text host_text
    how.is_larbin = False
    how.equal = 0
    how.context.query_is_utf8 = True
    how.context.base = NULL
    how.context.host = NULL
    if base is not None:
        how.context.base = &base._base
        how.equal = 0 if exact else base._how.equal
    if host is not None:
        host_text = text_of(host)
        how.context.host = &host_text
    return read_one(&how, url)


def larbin_parse(url: bytes) -> tuple | None:
    """Parse one absolute URL as larbin does: ``(host, port, file)``, None when it is invalid."""
    cdef reader how
    how.is_larbin = True
    how.equal = 0
    how.context.base = NULL
    how.context.host = NULL
    how.context.query_is_utf8 = True
    status, value, _, start, size, port = read_one(&how, url)
    if status != RESOLVED_OK:
        return None
    return value[start:start + size], port, value[value.index(b"/", start + size):]


def slow_links(links: bytes, resolved: bytes) -> list:
    """The links that were answered SLOW, as ``(value, offset of its item in resolved)``.

    ``resolved`` must be what ``resolve(links)`` answered.
    """
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
