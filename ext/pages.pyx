"""What a parser gets and what it makes of it: the records that exist once per page.

Idea: they are dataclasses to Python and structs to the other kernels
(``larbinpy/_native/pages.pxd`` has the fields), made from a whole frame and written to one without
a call per field.  Entries are those of ``docs/protocol.md``, 4.1 and 4.3.
No cycle can lead through them, so the garbage collector never looks at them.

Invariants:
1. Nothing of an entry is believed before its lengths are known to fill it.
2. The body of a page is a view of its frame, or of the memory of its shard, and keeps it alive;
   whoever has read a page lets go of its body, so a frame lives as long as a page of it waits.

Cost: 2,300 instructions a page; bodies are not touched.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from checks cimport MAX_SHARDS
from pageentry cimport BODY_IN_FILE, BODY_IN_MEMORY, FILTER_BYTES, page_entry, parsed_entry

from larbinpy.codes import NO_DIRECTIVES, Filtered, Outcome
from larbinpy.errors import FormatError

cdef enum:
    IPV4 = 4
    DIGEST_BYTES = 16
    MAX_FILTERS = 255
    SHARD_SHIFT = 56

cdef object SUCCESS = Outcome.SUCCESS
cdef bytes NO_DIGEST = bytes(DIGEST_BYTES)


@cython.final
@cython.no_gc
@cython.freelist(64)
@cython.dataclasses.dataclass
cdef class Page:
    """A result on its way to a parser; PAGE in ``docs/protocol.md``.

    Attributes:
        outcome: ``Outcome`` so far; ``SUCCESS`` means that the parser decides.
        flags: ``PAGE_*`` bits; that a body lies in the memory of its shard is nobody's business.
        ip: 4 or 16 bytes, empty when nothing was asked.
        body: bytes, or a view of them where they lie.
    """

    id: cython.ulonglong
    epoch: cython.uint
    attempt: cython.int
    kind: cython.int
    outcome: cython.int
    flags: cython.int
    status: cython.int
    depth: cython.int
    left: cython.int
    level: cython.int
    hops: cython.int
    score: cython.double
    relevance: cython.double
    start_us: cython.ulonglong
    duration_us: cython.uint
    ip: bytes
    url: bytes
    via: bytes
    tag: bytes
    reason: bytes
    headers: bytes
    body: object


@cython.final
@cython.no_gc
@cython.freelist(64)
@cython.dataclasses.dataclass
cdef class ParsedPage:
    """What a parser found out about one page; see PARSED in ``docs/protocol.md``.

    Attributes:
        filtered: ``Filtered`` reason -> number of links.
        near: id of the earlier page of its host that this one is a near-duplicate of; 0 = of none.
        simhash: 0 = not known.
        directives: whether they are obeyed or not; this and what follows is for the log, not in
            PARSED.
        canonical: the URL that the page says is its own, when that is another one, or that it
            redirects to.
        reason: why it ended so, for humans, beside what the shard has said.
    """

    id: cython.ulonglong
    epoch: cython.uint
    outcome: object
    status: cython.int = 0
    body_bytes: cython.uint = 0
    links: cython.uint = 0
    duplicates: cython.uint = 0
    digest: bytes = NO_DIGEST
    filtered: dict = cython.dataclasses.field(default_factory=dict)
    near: cython.ulonglong = 0
    simhash: cython.ulonglong = 0
    directives: object = NO_DIRECTIVES
    canonical: bytes = b""
    reason: bytes = b""


@cython.final
@cython.no_gc
@cython.freelist(64)
@cython.dataclasses.dataclass
cdef class Reading:
    """What became of one page.

    Attributes:
        body: decoded; to be stored when ``is_good``.
        links: a ``LinkBatch``; None = there are none.
        via: where the links were found, if that is not the page's URL.
    """

    page: Page
    parsed: ParsedPage
    mime: bytes = b""
    body: bytes = b""
    links: object = None
    via: bytes = b""

    @property
    def is_good(self):
        """Whether this is a page for the output."""
        return self.parsed.outcome == SUCCESS

    def take(self, batch, dropped=0):
        """Take the links, sorted out; ``dropped``: those that a scanner did not list."""
        self.links = batch
        self.parsed.links = batch.found + dropped
        self.parsed.duplicates = batch.duplicates
        self.parsed.filtered = batch.filtered
        if dropped:
            self.refuse(dropped, Filtered.LINKS_PER_PAGE)

    def refuse(self, count, reason):
        """Count links that are not followed; ``parsed.links`` has them already."""
        cdef dict filtered = self.parsed.filtered
        filtered[reason] = filtered.get(reason, 0) + count


# --- from a frame -------------------------------------------------------------------------------
cdef inline bytes text_at(const uint8_t **at, size_t size):
    """The text that begins there; moves behind it."""
    cdef bytes text = PyBytes_FromStringAndSize(<const char *>at[0], size)
    at[0] += size
    return text


cdef const uint8_t *behind_entry(const uint8_t *at, const uint8_t *end) except NULL:
    """Where an entry ends, which is all there as its lengths say."""
    cdef const page_entry *entry = <const page_entry *>at
    cdef uint64_t size
    if <size_t>(end - at) < sizeof(page_entry):
        raise FormatError("PAGE entry cut short")
    size = <uint64_t>entry.url_len + entry.via_len + entry.tag_len + entry.reason_len
    size += entry.headers_len
    if entry.flags & BODY_IN_MEMORY:
        size += sizeof(uint64_t)
    elif not entry.flags & BODY_IN_FILE:
        size += entry.body_len
    size += sizeof(page_entry)
    if size != <uint64_t>entry.size + sizeof(entry.size):
        raise FormatError("PAGE entry with wrong lengths")
    if size > <uint64_t>(end - at):
        raise FormatError("PAGE entry cut short")
    return at + size


cdef Page page_at(const uint8_t *at, Bodies bodies):
    """The page of a whole entry."""
    cdef Page page = Page.__new__(Page)
    cdef const page_entry *entry = <const page_entry *>at
    at += sizeof(page_entry)
    page.id, page.epoch, page.attempt = entry.id, entry.epoch, entry.attempt
    page.kind, page.outcome, page.flags = entry.kind, entry.outcome, entry.flags & ~BODY_IN_MEMORY
    page.status, page.depth, page.left = entry.status, entry.depth, entry.left
    page.level, page.hops = entry.level, entry.hops
    page.score, page.relevance = entry.score, entry.relevance
    page.start_us, page.duration_us = entry.start_us, entry.duration_us
    page.ip = b""
    if entry.family:
        page.ip = entry.ip[:4 if entry.family == IPV4 else 16]
    page.url = text_at(&at, entry.url_len)
    page.via = text_at(&at, entry.via_len)
    page.tag = text_at(&at, entry.tag_len)
    page.reason = text_at(&at, entry.reason_len)
    page.headers = text_at(&at, entry.headers_len)
    page.body = bodies.of(entry, at)
    return page


@cython.final
cdef class Bodies:
    """Where the bodies of a frame's pages may lie: in the frame, or in the memory of its shard."""

    cdef const uint8_t *start
    cdef object frame, memory
    cdef uint64_t memory_len

    def __cinit__(self, bytes payload, memory):
        self.start = <const uint8_t *>PyBytes_AS_STRING(payload)
        self.frame = memoryview(payload)
        self.memory, self.memory_len = memory, len(memory)

    cdef object of(self, const page_entry *entry, const uint8_t *behind):
        """A view of the body whose bytes or place stand behind the headers; empty if in a file."""
        cdef uint64_t place = behind - self.start
        if entry.flags & BODY_IN_MEMORY:
            memcpy(&place, behind, sizeof(place))
            if place > self.memory_len or entry.body_len > self.memory_len - place:
                raise FormatError("PAGE entry with a body outside the memory")
            return self.memory[place:place + entry.body_len]
        if entry.flags & BODY_IN_FILE:
            return b""
        return self.frame[place:place + entry.body_len]


def decode_pages(bytes payload not None, uint32_t count, memory=b""):
    """Decode the entries of a PAGE frame; bodies are views, or empty if in a descriptor.

    Args:
        memory: a view of the memory of the shard that sent it.

    Raises:
        FormatError: the entries do not fill the payload, or a body lies outside the memory.
    """
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(payload)
    cdef const uint8_t *end = at + PyBytes_GET_SIZE(payload)
    cdef const uint8_t *behind
    cdef Bodies bodies = Bodies(payload, memory)
    cdef list pages = []
    for _ in range(count):
        behind = behind_entry(at, end)
        pages.append(page_at(at, bodies))
        at = behind
    if at != end:
        raise FormatError("PAGE entries do not fill their frame")
    return pages


# --- to a frame ---------------------------------------------------------------------------------
cdef inline size_t parsed_bytes(ParsedPage page) except 0:
    """Bytes of its PARSED entry."""
    cdef Py_ssize_t filters = len(page.filtered)
    if PyBytes_GET_SIZE(page.digest) != DIGEST_BYTES or filters > MAX_FILTERS:
        raise ValueError("a digest has 16 bytes, and a page 255 reasons at most")
    return sizeof(parsed_entry) + filters * FILTER_BYTES


cdef int put_parsed(uint8_t *out, ParsedPage page) except -1:
    """Write a PARSED entry, for which there is room."""
    cdef parsed_entry *fixed = <parsed_entry *>out
    cdef dict filtered = page.filtered
    cdef uint8_t outcome = page.outcome
    cdef uint32_t count
    fixed.id, fixed.epoch, fixed.near = page.id, page.epoch, page.near
    fixed.outcome, fixed.filters, fixed.status = outcome, len(filtered), page.status
    fixed.body_bytes, fixed.links, fixed.duplicates = page.body_bytes, page.links, page.duplicates
    memcpy(fixed.digest, PyBytes_AS_STRING(page.digest), DIGEST_BYTES)
    out += sizeof(parsed_entry)
    for reason, number in filtered.items():
        out[0], count = reason, number
        memcpy(out + 1, &count, sizeof(count))
        out += FILTER_BYTES
    return 0


def encode_parsed(ParsedPage page not None):
    """One PARSED entry.

    Raises:
        ValueError: the digest has not 16 bytes, or there are more than 255 reasons.
    """
    cdef bytes entry = PyBytes_FromStringAndSize(NULL, parsed_bytes(page))
    put_parsed(<uint8_t *>PyBytes_AS_STRING(entry), page)
    return entry


def answers_of(list readings not None):
    """The PARSED entries of pages: for each of their shards a payload and its number of entries.

    Raises:
        ValueError: as ``encode_parsed``.
    """
    cdef dict answers = {}
    cdef size_t sizes[MAX_SHARDS]
    cdef uint32_t counts[MAX_SHARDS]
    cdef uint8_t *out[MAX_SHARDS]
    cdef Reading reading
    cdef bytes payload
    cdef int shard
    memset(sizes, 0, sizeof(sizes))
    memset(counts, 0, sizeof(counts))
    for reading in readings:
        shard = reading.page.id >> SHARD_SHIFT
        sizes[shard] += parsed_bytes(reading.parsed)
        counts[shard] += 1
    for reading in readings:
        shard = reading.page.id >> SHARD_SHIFT
        if shard not in answers:
            payload = PyBytes_FromStringAndSize(NULL, sizes[shard])
            out[shard] = <uint8_t *>PyBytes_AS_STRING(payload)
            answers[shard] = payload, counts[shard]
        put_parsed(out[shard], reading.parsed)
        out[shard] += parsed_bytes(reading.parsed)
    return answers
