"""The plain way of a page through a parser: HTML in UTF-8 that came whole and as it is.

Idea: nearly every page is such. It is scanned, its links are resolved and sorted out by one call,
through buffers that are kept, without an object for what one step tells the next. Whatever is not
plain goes the long way (``parse/page.py``), which also knows the plain one and is the
specification of what is done here.

Invariants:
1. What is plain is read as the long way would; in doubt nothing is plain.
2. The long way may follow at any step: until then nothing was changed but what it changes again.

The header block is read by ``plainhead.pxd``; scanner, URLs and rules are those of their kernels.

Cost: O(bytes of the page).
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcmp

from htmlbase cimport Span
from htmlpage cimport Page as Scanned
from htmlpage cimport clear_all, release_all
from larbinpy._native.linkfilter cimport LinkBatch, LinkFilter
from larbinpy._native.linkscan cimport scan_into
from larbinpy._native.pages cimport Page, ParsedPage, Reading
from larbinpy._native.shared cimport Blame
from layout cimport ELEMENT_LINK, RESOLVED_OK, found_link, resolved_link
from linkrules cimport MAX_U16, page_facts, set_depth
from plainhead cimport Head, head_of
from urlbatch cimport BATCH_DONE, resolve_batch, resolve_link
from urlread cimport (
    base_index, read_url, reader, text_of, url_base, url_classes_init, url_out,
    url_text,
)

from larbinpy.codes import NO_DIRECTIVES, Directive, Filtered, Outcome


cdef extern from "resolved.h" nogil:
    bint has_slow(const uint8_t *data, size_t size)

cdef enum:
    KIND_PAGE = 0
    OUTCOME_SUCCESS = 0
    COMPARED = 12          # PAGE_WATCHED and PAGE_FIRST
    MAX_TYPES = 1024       # Content-Types whose answers are kept
    MAX_BYTES = (1 << 30) - 1  # of a page that can be scanned
    MAX_KEPT = 1 << 16     # bytes that a buffer keeps for the next page
    MOST_LINKS = 0xFFFF_FFFF

cdef bytes XHTML = b"application/xhtml+xml"
cdef object SUCCESS = Outcome.SUCCESS
cdef object LINKS_PER_PAGE = Filtered.LINKS_PER_PAGE
cdef int NOFOLLOW = Directive.NOFOLLOW

url_classes_init()


cdef inline bint has_bom(url_text body) noexcept:
    cdef const uint8_t *p = body.at
    cdef size_t size = body.end - p
    if size >= 3 and memcmp(p, b"\xef\xbb\xbf", 3) == 0:
        return True
    return size >= 2 and (memcmp(p, b"\xfe\xff", 2) == 0 or memcmp(p, b"\xff\xfe", 2) == 0)


cdef inline void empty(url_out *out) noexcept nogil:
    """For the next page; it keeps its room unless that is much."""
    if out.room > MAX_KEPT:
        free(out.data)
        out.data = NULL
        out.room = 0
    out.size = 0


@cython.final
cdef class PlainPages:
    """Reads plain pages.

    Args:
        links: the filter of found links.
        type_of: told a Content-Type; answers the type that it says when that is a type of pages,
            HTML, and in UTF-8, else None; the same for the same value.
        digest: of a body, bytes or a view of them; 16 bytes.
        directives_of: what the contents of meta elements ask of robots.
        is_new: see ``PageReader``; None = nobody asks.
        near: see ``PageReader``; asked about pages that a shard wants to be compared; None = nobody
            is.
        compares_all: ``near`` is asked about every page.
        max_bytes: the largest body.
        equal: ``larbinpy.url.Equal``: which URLs are taken for one.
        agent: our name in meta elements, in lower case.
        nofollow: pages may ask that their links be not followed.

    Process/thread: one thread.
    """

    cdef LinkFilter _links
    cdef object _type_of, _digest, _directives_of, _is_new, _near
    cdef bint _compares_all
    cdef Py_ssize_t _max_bytes
    cdef bytes _agent
    cdef bint _nofollow
    cdef dict _types

    # Scratch of one call.
    cdef Scanned _scanned
    cdef reader _how
    cdef url_base _base
    cdef url_out _url, _resolved, _canonical, _text

    def __cinit__(
        self, LinkFilter links not None, *, type_of, digest, directives_of, is_new,
        Py_ssize_t max_bytes, int equal, bytes agent not None, bint nofollow, near=None,
        bint compares_all=False,
    ):
        self._links = links
        self._type_of, self._digest = type_of, digest
        self._directives_of, self._is_new, self._near = directives_of, is_new, near
        self._compares_all = compares_all
        self._max_bytes = min(max_bytes, <Py_ssize_t>MAX_BYTES)
        self._agent = agent
        self._nofollow = nofollow
        self._types = {}
        self._scanned.agent = Span(<const uint8_t *>PyBytes_AS_STRING(agent), len(agent))
        self._scanned.max_links = <uint32_t>min(links.links_per_page, <long long>MOST_LINKS)
        self._how.equal = equal
        self._how.context.query_is_utf8 = True
        self._how.context.base = &self._base

    def __dealloc__(self):
        release_all(&self._scanned)
        free(self._url.data)
        free(self._resolved.data)
        free(self._canonical.data)
        free(self._text.data)

    def read_run(
        self, list pages not None, list readings not None, Blame slot not None, bint keeps
    ):
        """Read pages that follow each other, without Python between, and let go of their bodies.

        Args:
            pages: to be read; those that were, first.
            readings: of the pages that were read; what becomes of the next ones is added.
            slot: shows which page is in hand, and since when.
            keeps: pages are stored: only one is read, and its reading has its body.

        Returns:
            False when a page is not plain: it is the next one of ``pages``, and in hand.
        """
        cdef Py_ssize_t at = len(readings)
        cdef Py_ssize_t end = at + 1 if keeps else len(pages)
        cdef Reading reading
        cdef Page page
        for page in pages[at:end]:
            slot.begin_now(page.id)
            reading = self.read_one(page, keeps)
            if reading is None:
                return False
            readings.append(reading)
            page.body = b""
        return True

    def read(self, Page page not None):
        """What becomes of a page; None when it is not plain."""
        return self.read_one(page, True)

    cdef Reading read_one(self, Page page, bint keeps):
        cdef Reading reading
        cdef Py_buffer held
        cdef url_text body
        PyObject_GetBuffer(page.body, &held, PyBUF_SIMPLE)
        body.at = <const uint8_t *>held.buf
        body.end = body.at + held.len
        try:
            reading = self._read(page, body)
        finally:
            PyBuffer_Release(&held)
        if keeps and reading is not None:
            reading.body = bytes(page.body)
        return reading

    cdef Reading _read(self, Page page, url_text body):
        """What becomes of a page whose body is held in its place."""
        cdef bytes mime = self._mime(page, body)
        cdef bytes digest
        cdef url_text url
        cdef bint is_plain
        if mime is None:
            return None
        url = text_of(page.url)
        self._scanned.is_xml = mime == XHTML
        with nogil:
            is_plain = self._set_base(url) and self._scan(body) and self._resolve()
        if not is_plain:
            return None
        digest = self._digest(page.body)
        if self._is_new is not None and not self._is_new(digest, page.id):
            return None
        return self._reading(page, mime, digest, body.end - body.at)

    cdef bytes _mime(self, Page page, url_text body):
        """The type of a page that is plain as far as its head tells; else None."""
        cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(page.headers)
        cdef Head head
        if page.kind != KIND_PAGE or page.outcome != OUTCOME_SUCCESS or page.flags & ~COMPARED:
            return None
        if body.end - body.at > self._max_bytes or has_bom(body):
            return None
        if not (0 <= page.depth <= MAX_U16 and 0 <= page.left <= MAX_U16):
            return None
        head = head_of(at, at + PyBytes_GET_SIZE(page.headers))
        if not head.is_plain:
            return None
        return self._type(PyBytes_FromStringAndSize(<const char *>head.type, head.type_size))

    cdef bytes _type(self, bytes value):
        """What ``type_of`` answers; there are few different Content-Types in a crawl."""
        if value not in self._types:
            if len(self._types) >= MAX_TYPES:
                self._types.clear()
            self._types[value] = self._type_of(value)
        return self._types[value]

    # --- links ------------------------------------------------------------------------------

    cdef bint _set_base(self, url_text url) noexcept nogil:
        """Let links be relative to a URL, which must be in its normal form."""
        cdef reader how
        cdef size_t size = url.end - url.at
        how.context.base = NULL
        how.context.host = NULL
        how.context.query_is_utf8 = True
        how.is_larbin = False
        how.equal = 0
        empty(&self._url)
        if read_url(&how, url, &self._text, &self._url, &self._base.parts) != RESOLVED_OK:
            return False
        self._base.url, self._base.size = self._url.data, self._url.size
        base_index(&self._base)
        return self._url.size == size and memcmp(self._url.data, url.at, size) == 0

    cdef bint _scan(self, url_text body) noexcept nogil:
        clear_all(&self._scanned)
        scan_into(&self._scanned, body.at, body.end - body.at)
        return not (self._scanned.no_memory or self._scanned.base.is_set)

    cdef bint _resolve(self) noexcept nogil:
        """Resolve the links of the page that was scanned, and what it says is its own URL."""
        cdef url_text links, value
        cdef found_link canonical = found_link(ELEMENT_LINK, 0, 0, 0, 0)
        links.at = self._scanned.links.data
        links.end = links.at + self._scanned.links.size
        empty(&self._text)
        empty(&self._resolved)
        empty(&self._canonical)
        if resolve_batch(&self._how, links, &self._text, &self._resolved) != BATCH_DONE:
            return False
        if self._scanned.canonical.is_set:
            value.at = self._scanned.canonical.data
            value.end = value.at + self._scanned.canonical.size
            if resolve_link(&self._how, &canonical, value, &self._text, &self._canonical) < 0:
                return False
        return not (
            has_slow(self._resolved.data, self._resolved.size)
            or has_slow(self._canonical.data, self._canonical.size)
        )

    # --- what is told -----------------------------------------------------------------------

    cdef Reading _reading(self, Page page, bytes mime, bytes digest, uint32_t body_bytes):
        cdef Reading reading = Reading.__new__(Reading)
        cdef ParsedPage parsed = ParsedPage.__new__(ParsedPage)
        reading.page, reading.parsed = page, parsed
        reading.mime, reading.body, reading.via = mime, b"", b""
        parsed.id, parsed.epoch, parsed.status = page.id, page.epoch, page.status
        parsed.outcome, parsed.digest, parsed.body_bytes = SUCCESS, digest, body_bytes
        parsed.directives, parsed.canonical = self._directives(), self._own_url(page)
        parsed.reason = b""
        if self._is_left(page, parsed):
            parsed.filtered = {}
        else:
            reading.links = self._sort_out(page, parsed)
        return reading

    cdef bint _is_left(self, Page page, ParsedPage parsed) except -1:
        """Whether the links of a page are not wanted because it is near to another one."""
        if self._near is None or not (page.flags & COMPARED or self._compares_all):
            return False
        return self._near(page, parsed, bytes(page.body))

    cdef object _directives(self):
        """What the page asks of robots."""
        if not self._scanned.robots.size:
            return NO_DIRECTIVES
        return self._directives_of(self._scanned.robots.data[:self._scanned.robots.size])

    cdef bytes _own_url(self, Page page):
        """The URL that the page says is its own, when that is another one."""
        cdef bytes url
        if self._canonical.size <= sizeof(resolved_link):
            return b""
        url = self._canonical.data[sizeof(resolved_link):self._canonical.size]
        return b"" if url == page.url else url

    cdef LinkBatch _sort_out(self, Page page, ParsedPage parsed):
        cdef page_facts facts
        cdef LinkBatch batch
        cdef uint32_t dropped = self._scanned.dropped
        facts.host = self._url.data + self._base.parts.host_start
        facts.host_len = self._base.parts.host_len
        facts.other_host, facts.other_host_len = NULL, 0
        facts.kind = facts.hops = facts.flags = 0
        facts.nofollow = self._nofollow and (<int>parsed.directives & NOFOLLOW) != 0
        set_depth(&facts, &self._links._rules, page.depth, page.left)
        batch = self._links.sort_out(
            self._resolved.data, self._resolved.size, &facts, None, False
        )
        parsed.links, parsed.duplicates = batch.found + dropped, batch.duplicates
        parsed.filtered = batch.filtered
        if dropped:
            parsed.filtered[LINKS_PER_PAGE] = parsed.filtered.get(LINKS_PER_PAGE, 0) + dropped
        return batch
