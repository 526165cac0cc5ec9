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

The parts stand in header-only files: items in ``linklist.pxd``, markup in ``xmltag.pxd``, what
links are relative to in ``xmlbase.pxd``.

Cost: O(bytes); some 3 ns a byte (tests/bench/micro_listscan.py).
One crossing and one nogil block per document.
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr, memset

from htmlbase cimport (
    IS_ALPHA, Buffer, Span, append, equals_fold, equals_span, html_class, release, reserve,
)
from htmltext cimport TEXT_GROWTH
from layout cimport ATTRIBUTE_HREF, ATTRIBUTE_SRC, ELEMENT_A, ELEMENT_IMG
from linklist cimport (
    LAST_BLANK, LinkList, add_text, close_item, drop_item, is_absolute, list_value, open_item,
    put_coded_text, trim,
)
from xmlbase cimport BaseRow, BaseStack, enter_element, leave_element, tell_bases
from xmltag cimport Tag, begins, begins_name, behind_text, read_tag, skip_declaration

cdef enum:
    CDATA_OPENER = 9  # bytes of <![CDATA[
    SCHEME_LETTERS = 6  # one more than https has


cdef struct Detail:
    Span name
    Span rel

cdef struct Document:
    LinkList found
    uint32_t noted  # links of which all is noted
    BaseStack bases
    const uint8_t *end
    bint every  # list all href and src, and all text that is a URL
    bint wants_details
    Buffer details  # a Detail for each link
    Tag root
    bint has_root
    Span reading  # name of the element whose text is being read
    uint8_t element  # what it is listed as
    bint is_sure


# --- XML ----------------------------------------------------------------------------------------
cdef void read_text(Document *doc, Tag *tag, uint8_t element, bint is_sure) noexcept nogil:
    """Read the text of this element, until a tag comes."""
    if tag.is_empty:
        return
    doc.reading = tag.name
    doc.element = element
    doc.is_sure = is_sure
    open_item(&doc.found)


cdef void note_link(Document *doc, Span name, Span rel) noexcept nogil:
    """Note what the link that was listed last is relative to and whose it is, if one was listed."""
    cdef Detail detail = Detail(name, rel)
    if doc.noted == doc.found.count:
        return
    doc.noted = doc.found.count
    if not tell_bases(&doc.bases, doc.found.start):
        doc.found.no_memory = True
    if doc.wants_details and not append(
        &doc.details, Span(<const uint8_t *>&detail, sizeof(Detail))
    ):
        doc.found.no_memory = True


cdef void list_attribute(
    Document *doc, const Tag *tag, Span value, uint8_t attribute
) noexcept nogil:
    list_value(&doc.found, value, ELEMENT_A, attribute, True)
    note_link(doc, tag.name, tag.rel)


cdef void take_tag(Document *doc, Tag *tag) noexcept nogil:
    """What a start tag means."""
    if not doc.has_root:
        doc.has_root = True
        doc.root = tag[0]
    drop_item(&doc.found)
    if doc.every:
        if tag.href.size:
            list_attribute(doc, tag, tag.href, ATTRIBUTE_HREF)
        if tag.src.size:
            list_attribute(doc, tag, tag.src, ATTRIBUTE_SRC)
        read_text(doc, tag, ELEMENT_A, False)
    elif equals_fold(tag.name, b"loc", 3):
        read_text(doc, tag, ELEMENT_IMG if equals_fold(tag.prefix, b"image", 5) else ELEMENT_A,
                  True)
    elif equals_fold(tag.name, b"link", 4):
        if tag.href.data == NULL:
            read_text(doc, tag, ELEMENT_A, True)
        elif not equals_fold(trim(tag.rel), b"enclosure", 9):  # media, as HTML's audio and video
            list_attribute(doc, tag, tag.href, ATTRIBUTE_HREF)
    elif equals_fold(tag.name, b"guid", 4) and not equals_fold(trim(tag.permalink), b"false", 5):
        read_text(doc, tag, ELEMENT_A, False)


cdef const uint8_t *end_tag(Document *doc, const uint8_t *p) noexcept nogil:
    """Take an end tag from behind "</": the text that ends here may be a link."""
    cdef Tag tag
    memset(&tag, 0, sizeof(Tag))
    p = read_tag(p, doc.end, &tag)
    if p != NULL and equals_span(tag.name, doc.reading):
        close_item(&doc.found, doc.element, 0, doc.is_sure)
        note_link(doc, doc.reading, Span(NULL, 0))
    drop_item(&doc.found)
    if p != NULL:
        leave_element(&doc.bases, tag.name)
    return p


cdef const uint8_t *start_tag(Document *doc, const uint8_t *p) noexcept nogil:
    cdef Tag tag
    memset(&tag, 0, sizeof(Tag))
    p = read_tag(p, doc.end, &tag)
    if p != NULL:
        enter_element(&doc.bases, &tag)
        take_tag(doc, &tag)
        if tag.is_empty:
            leave_element(&doc.bases, tag.name)
    return p


cdef const uint8_t *cdata(Document *doc, const uint8_t *p) noexcept nogil:
    cdef const uint8_t *start = p + CDATA_OPENER
    p = behind_text(start, doc.end, b"]]>", 3)
    if p != NULL:
        add_text(&doc.found, Span(start, p - 3 - start), False)
    return p


cdef const uint8_t *markup(Document *doc, const uint8_t *p) noexcept nogil:
    """Take what begins with the "<" at `p`."""
    if begins(p, doc.end, b"</", 2):
        return end_tag(doc, p + 2)
    if begins(p, doc.end, b"<!--", 4):
        return behind_text(p + 4, doc.end, b"-->", 3)
    if begins(p, doc.end, b"<![CDATA[", CDATA_OPENER):
        return cdata(doc, p)
    if begins(p, doc.end, b"<!", 2):
        return skip_declaration(p + 2, doc.end)
    if begins(p, doc.end, b"<?", 2):
        return behind_text(p + 2, doc.end, b"?>", 2)
    if p + 1 < doc.end and begins_name(p[1]):
        return start_tag(doc, p + 1)
    add_text(&doc.found, Span(p, 1), False)
    return p + 1


cdef void scan_document(Document *doc, const uint8_t *p) noexcept nogil:
    cdef const uint8_t *text
    while p != NULL and not doc.found.no_memory:
        text = p
        p = <const uint8_t *>memchr(p, c'<', doc.end - p)
        if p == NULL:
            break
        add_text(&doc.found, Span(text, p - text), True)
        p = markup(doc, p)
    drop_item(&doc.found)


# --- text ---------------------------------------------------------------------------------------
cdef void scan_text_lines(LinkList *found, const uint8_t *p, const uint8_t *end) noexcept nogil:
    """List each line that is an absolute URL."""
    cdef const uint8_t *start
    cdef Span line
    while p < end and not found.no_memory:
        start = p
        while p < end and p[0] != c'\n' and p[0] != c'\r':
            p += 1
        line = trim(Span(start, p - start))
        if is_absolute(line):
            list_value(found, line, ELEMENT_A, 0, False)
        p += 1


cdef bint ends_url(uint8_t c) noexcept nogil:
    """Whether no URL that stands in a text goes on here."""
    return (c <= LAST_BLANK or c == c'<' or c == c'>' or c == c'"' or c == c'`' or c == c'{'
            or c == c'}' or c == c'|' or c == c'\\' or c == c'^' or c == 0x7F)


cdef bint is_punctuation(uint8_t c) noexcept nogil:
    """Whether this, at the end of a URL in a text, belongs to the text."""
    return (c == c'.' or c == c',' or c == c';' or c == c':' or c == c'!' or c == c'?'
            or c == c"'" or c == c')' or c == c']' or c == c'*' or c == c'_')


cdef void scan_prose(LinkList *found, const uint8_t *start, const uint8_t *end) noexcept nogil:
    """List each absolute URL; the letters of its scheme stand before the colon that is found."""
    cdef const uint8_t *p = start
    cdef const uint8_t *url
    cdef Span value
    while not found.no_memory:
        p = <const uint8_t *>memchr(p, c':', end - p)
        if p == NULL:
            return
        url = p
        while url > start and p - url < SCHEME_LETTERS and html_class[(url - 1)[0]] & IS_ALPHA:
            url -= 1
        p += 1
        if is_absolute(Span(url, end - url)):
            while p < end and not ends_url(p[0]):
                p += 1
            value = Span(url, p - url)
            while is_punctuation(value.data[value.size - 1]):
                value.size -= 1
            list_value(found, value, ELEMENT_A, 0, False)
        start = p


# --- the border to Python -----------------------------------------------------------------------
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
