# The links of an XML document, header only: elements and attributes are known by their names.
#
# The document is searched from "<" to "<"; all that is kept on the way is the name of the element
# whose text is being read, and what links are relative to (xmlbase.pxd).

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr, memset

from htmlbase cimport Buffer, Span, append, equals_fold, equals_span
from layout cimport ATTRIBUTE_HREF, ATTRIBUTE_SRC, ELEMENT_A, ELEMENT_IMG
from linklist cimport LinkList, add_text, close_item, drop_item, list_value, open_item, trim
from xmlbase cimport BaseStack, enter_element, leave_element, tell_bases
from xmltag cimport Tag, begins, begins_name, behind_text, read_tag, skip_declaration

cdef enum:
    CDATA_OPENER = 9  # bytes of <![CDATA[


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


cdef inline void read_text(Document *doc, Tag *tag, uint8_t element, bint is_sure) noexcept nogil:
    """Read the text of this element, until a tag comes."""
    if tag.is_empty:
        return
    doc.reading = tag.name
    doc.element = element
    doc.is_sure = is_sure
    open_item(&doc.found)


cdef inline void note_link(Document *doc, Span name, Span rel) noexcept nogil:
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


cdef inline void list_attribute(
    Document *doc, const Tag *tag, Span value, uint8_t attribute
) noexcept nogil:
    list_value(&doc.found, value, ELEMENT_A, attribute, True)
    note_link(doc, tag.name, tag.rel)


cdef inline void take_tag(Document *doc, Tag *tag) noexcept nogil:
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


cdef inline const uint8_t *end_tag(Document *doc, const uint8_t *p) noexcept nogil:
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


cdef inline const uint8_t *start_tag(Document *doc, const uint8_t *p) noexcept nogil:
    cdef Tag tag
    memset(&tag, 0, sizeof(Tag))
    p = read_tag(p, doc.end, &tag)
    if p != NULL:
        enter_element(&doc.bases, &tag)
        take_tag(doc, &tag)
        if tag.is_empty:
            leave_element(&doc.bases, tag.name)
    return p


cdef inline const uint8_t *cdata(Document *doc, const uint8_t *p) noexcept nogil:
    cdef const uint8_t *start = p + CDATA_OPENER
    p = behind_text(start, doc.end, b"]]>", 3)
    if p != NULL:
        add_text(&doc.found, Span(start, p - 3 - start), False)
    return p


cdef inline const uint8_t *markup(Document *doc, const uint8_t *p) noexcept nogil:
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


cdef inline void scan_document(Document *doc, const uint8_t *p) noexcept nogil:
    cdef const uint8_t *text
    while p != NULL and not doc.found.no_memory:
        text = p
        p = <const uint8_t *>memchr(p, c'<', doc.end - p)
        if p == NULL:
            break
        add_text(&doc.found, Span(text, p - text), True)
        p = markup(doc, p)
    drop_item(&doc.found)
