# cython: language_level=3
"""URLs: split, resolve and normalise, by the URL standard or in larbin's own way.

Idea: a page's links come as one buffer of ``found_link`` items and leave as one of
``resolved_link`` items, in the same order and number (docs/protocol.md, section 6): that is
``urlbatch.pxd``, on ``urlread.pxd``, which reads one URL. The parsers are C headers: ``whatwg.h``
on ``urlhost.h`` for the standard, ``larbinurl.h`` for larbin's mode, ``urlequal.h`` for URLs that
are taken for one.

Invariants:

1. A URL that comes out is ASCII, at most 2,083 bytes (larbin: 1,023), without fragment and user
   info, and its host is one that DNS could know.
2. By the standard, a URL that comes out comes out unchanged when it goes in again, also with the
   options of ``urlequal.h``, which are rewritings of what the standard gives.
3. What a kernel cannot do alone (a host with non-ASCII bytes, a query to be written in another
   encoding) is answered SLOW and left to ``larbinpy.url``.

Cost: O(bytes); one crossing, one ``nogil`` block and one growing buffer a page.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t

from layout cimport RESOLVED_OK
from urlbatch cimport resolve_all, slow_of
from urlread cimport (
    base_index, larbin_index, read_one, reader, text_of, url_base, url_classes_init, url_text,
)


url_classes_init()


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
    return slow_of(links, resolved)
