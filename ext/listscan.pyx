"""Find the links of documents that are no HTML: sitemaps, feeds, other XML, and plain text.

Idea: the links of an XML document are known by the names of a few elements and attributes, in
whatever format it is; so one tokenizer that builds nothing serves sitemaps, RSS and Atom. It runs
on memchr from "<" to "<" and keeps a pointer to the element whose text is being read.

Invariants:
1. Every byte of input is looked at a constant number of times: a search that fails ends the
   document.
2. No recursion, no tree, no entity but XML's own five and numbers; whatever a doctype declares is
   skipped, so nothing grows and nothing is loaded.
3. Output is valid UTF-8, whatever the input is, and bounded by it.

The parts stand in header-only files: what is a link in ``xmllinks.pxd`` and ``textlinks.pxd``,
items in ``linklist.pxd``, markup in ``xmltag.pxd``, what links are relative to in ``xmlbase.pxd``;
here is what Python sees of them.

Cost: O(bytes); some 3 ns a byte (tests/bench/micro_listscan.py).
One crossing and one nogil block per document.
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from htmlbase cimport Buffer, Span, release, reserve
from htmltext cimport TEXT_GROWTH
from linklist cimport LinkList, put_coded_text
from textlinks cimport scan_prose, scan_text_lines
from xmlbase cimport BaseRow, BaseStack
from xmllinks cimport Detail, Document, scan_document


@cython.final
cdef class Listing:
    """What was found in a document.

    ``links`` holds ``found_link`` items (docs/protocol.md, section 6) in the order of the
    document, ``count`` of them; ``dropped`` more were found behind the limit.
    ``root`` is the name of an XML document's first element, in lower case and without its prefix;
    empty when there is none.
    ``bases`` tells what links are relative to: rows of an offset in ``links``, a level and a value.
    From that link on so many of the bases before stay, and this one follows, which is relative to
    them; None = none follows. Links before the first row are relative to the document.
    ``details`` has for each link of an XML document, when they were asked for: the name of its
    element without a prefix, and its rel as it is written, None where it has none.
    """

    cdef readonly bytes links
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t dropped
    cdef readonly bytes root
    cdef readonly list bases
    cdef readonly list details


cdef list details_of(const Document *doc):
    cdef const Detail *detail = <const Detail *>doc.details.data
    cdef size_t i
    return [
        (bytes_of(detail[i].name), bytes_of(detail[i].rel))
        for i in range(doc.details.size // sizeof(Detail))
    ]


cdef list bases_of(const BaseStack *bases):
    cdef const BaseRow *row = <const BaseRow *>bases.rows.data
    cdef size_t i
    return [
        (row[i].start, row[i].level, decoded(row[i].value))
        for i in range(bases.rows.size // sizeof(BaseRow))
    ]


cdef bytes decoded(Span value):
    """The value of an attribute, None where there is none."""
    cdef Buffer text
    if value.data == NULL:
        return None
    memset(&text, 0, sizeof(text))
    if not reserve(&text, TEXT_GROWTH * value.size):
        raise MemoryError
    try:
        return text.data[:put_coded_text(value, text.data, True)]
    finally:
        release(&text)


cdef bytes bytes_of(Span span):
    return None if span.data == NULL else <bytes>span.data[:span.size]


cdef size_t checked_size(bytes text) except? 0:
    if len(text) >= 1 << 30:
        raise ValueError(f"a document of {len(text)} bytes; the limit is 1 GiB")
    return len(text)


cdef Listing take_results(LinkList *found):
    """What was found; its memory is released."""
    cdef Listing result = Listing.__new__(Listing)
    try:
        if found.no_memory:
            raise MemoryError
        result.links = found.links.data[:found.links.size] if found.links.size else b""
    finally:
        release(&found.links)
    result.count = found.count
    result.dropped = found.dropped
    result.root = b""
    result.bases = []
    result.details = []
    return result


def scan_xml(
    bytes text not None, uint32_t max_links=50_000, bint every=False, bint details=False
):
    """Find the links of an XML document: the texts of loc, link and permanent guid, the href of
    link.

    Args:
        text: UTF-8; may be invalid, and need not be well-formed.
        max_links: links beyond these are counted in ``dropped`` and not listed.
        every: instead, each href and src of whatever element, and each text of an element that is
            an absolute URL.
        details: fill ``details``.

    Raises:
        ValueError: the document has a gigabyte or more.

    Cost: O(bytes of the document), memory too.
    """
    cdef Document doc
    cdef const uint8_t *start = <const uint8_t *><const char *>text
    memset(&doc, 0, sizeof(doc))
    doc.end = start + checked_size(text)
    doc.found.max_links = max_links
    doc.every = every
    doc.wants_details = details
    with nogil:
        scan_document(&doc, start)
    cdef Listing result
    try:
        result = take_results(&doc.found)
        result.bases = bases_of(&doc.bases)
        result.details = details_of(&doc)
    finally:
        release(&doc.bases.rows)
        release(&doc.details)
    if doc.has_root:
        result.root = doc.root.name.data[:doc.root.name.size].lower()
    return result


ctypedef void (*scanner)(LinkList *found, const uint8_t *p, const uint8_t *end) noexcept nogil


cdef Listing scan_by(scanner scan, bytes text, uint32_t max_links):
    cdef LinkList found
    cdef const uint8_t *start = <const uint8_t *><const char *>text
    cdef const uint8_t *end = start + checked_size(text)
    memset(&found, 0, sizeof(found))
    found.max_links = max_links
    with nogil:
        scan(&found, start, end)
    return take_results(&found)


def scan_lines(bytes text not None, uint32_t max_links=50_000):
    """Find the lines that are absolute URLs, as in a text sitemap; see ``scan_xml``."""
    return scan_by(scan_text_lines, text, max_links)


def scan_text(bytes text not None, uint32_t max_links=50_000):
    """Find the absolute URLs that stand in a text; see ``scan_xml``.

    A URL ends before a space, ``<``, ``>``, ``"`` and other signs that no URL has; stops, commas
    and closing brackets at its end belong to the text.
    """
    return scan_by(scan_prose, text, max_links)
