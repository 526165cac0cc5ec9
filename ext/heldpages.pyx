"""Pages on their way from a shard to the parsers, and what the parsers answer.

Idea: a page is held as the record that the fetcher made; its bytes are copied once, into the frame
that takes it to a parser, and again only if that parser dies.  Entries are those of
``docs/protocol.md``, 4.1 and 4.3.  An answer becomes an entry of a DONE record (``docs/
format-queue.md``) without passing through a Python object.

Invariants:
1. Every page given is held until it is answered; ``nbytes`` is the size of all that are held.
2. A held page is with one parser, whose load counts it, or unsent.
3. A payload that is malformed changes nothing.

Cost: one crossing for each batch of frames and for each frame of answers.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from larbinpy._native.contents cimport Contents
from larbinpy._native.jobs cimport FetchJob, FetchResult
from larbinpy.codes import Outcome
from larbinpy.errors import FormatError

cdef extern from "pageentry.h" nogil:
    ctypedef struct page_entry:
        uint32_t size
        uint64_t id
        uint32_t epoch
        uint8_t attempt
        uint8_t kind
        uint8_t outcome
        uint8_t flags
        uint16_t status
        uint16_t depth
        uint16_t left
        uint8_t level
        uint8_t hops
        float score
        float relevance
        uint64_t start_us
        uint32_t duration_us
        uint8_t family
        uint8_t ip[16]
        uint16_t url_len
        uint16_t via_len
        uint16_t tag_len
        uint16_t reason_len
        uint32_t headers_len
        uint32_t body_len

    ctypedef struct parsed_entry:
        uint64_t id
        uint32_t epoch
        uint8_t outcome
        uint8_t filters
        uint8_t digest[16]
        uint64_t near

    size_t parsed_size(const uint8_t *at, size_t left)
    size_t parsed_to_done(uint8_t *out, const uint8_t *at, size_t size)

cdef enum:
    BATCH_BYTES = 1 << 16           # a frame that holds as much goes out
    FRAME_BYTES = 1 << 20           # no frame holds more
    PARSER_LOAD = 8 << 20           # what one parser may have unanswered
    OVERHEAD_BYTES = 256            # what a held page costs beside body and headers, about
    DONE_BYTES = 65536              # payload of one DONE record
    MAX_REASON = 500
    NO_PARSER = -1
    KIND_PAGE = 0
    SUCCESS = 0
    TRUNCATED = 1
    BODY_IN_FILE = 2

PARSER_BYTES = PARSER_LOAD
MAX_REASON_BYTES = MAX_REASON

cdef uint64_t WITHOUT_ENQ = 1ull << 55
cdef uint64_t MAX_DURATION_US = 0xFFFFFFFF

cdef object POISON = Outcome.POISON


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Held:
    """A page that no parser has answered for."""

    cdef FetchResult result
    cdef uint64_t size
    cdef int parser
    cdef int fd                     # of the file that holds its body, or -1
    cdef uint8_t attempt
    cdef uint8_t crashes


cdef inline bytes reason_of(FetchResult result):
    if not result.reason:
        return b""
    return result.reason.encode("utf-8", "replace")[:MAX_REASON]


cdef inline size_t entry_size(FetchResult result, bytes reason, bint in_file):
    cdef FetchJob job = result.job
    cdef size_t size = sizeof(page_entry) + PyBytes_GET_SIZE(job.url) + PyBytes_GET_SIZE(job.via)
    size += PyBytes_GET_SIZE(job.tag) + PyBytes_GET_SIZE(reason)
    size += PyBytes_GET_SIZE(result.headers)
    return size if in_file else size + PyBytes_GET_SIZE(result.body)


cdef inline uint8_t *put(uint8_t *out, bytes text):
    memcpy(out, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return out + PyBytes_GET_SIZE(text)


cdef int put_entry(
    uint8_t *out, size_t size, FetchResult result, bytes reason, uint32_t epoch, uint8_t attempt,
    bint in_file,
) except -1:
    """Write one entry of ``size`` bytes."""
    cdef FetchJob job = result.job
    cdef page_entry entry
    cdef Py_ssize_t ip_len = PyBytes_GET_SIZE(job.ip)
    memset(&entry, 0, sizeof(entry))
    entry.size = <uint32_t>(size - sizeof(uint32_t))
    entry.id = job.id
    entry.epoch = epoch
    entry.attempt = attempt
    entry.kind = <uint8_t><int>job.kind
    entry.outcome = <uint8_t><int>result.outcome
    entry.flags = (TRUNCATED if result.is_truncated else 0) | (BODY_IN_FILE if in_file else 0)
    entry.status = <uint16_t>result.status
    entry.depth, entry.left = <uint16_t>job.depth, <uint16_t>job.left
    entry.level, entry.hops = <uint8_t>job.level, <uint8_t>job.hops
    entry.score, entry.relevance = <float>job.score, <float>job.relevance
    entry.start_us = result.start_us
    entry.duration_us = <uint32_t>min(result.duration_us, MAX_DURATION_US)
    if ip_len == 4 or ip_len == 16:
        entry.family = 4 if ip_len == 4 else 6
        memcpy(entry.ip, PyBytes_AS_STRING(job.ip), ip_len)
    elif ip_len:
        raise ValueError("an address has 4 or 16 bytes")
    entry.url_len = <uint16_t>PyBytes_GET_SIZE(job.url)
    entry.via_len = <uint16_t>PyBytes_GET_SIZE(job.via)
    entry.tag_len = <uint16_t>PyBytes_GET_SIZE(job.tag)
    entry.reason_len = <uint16_t>PyBytes_GET_SIZE(reason)
    entry.headers_len = <uint32_t>PyBytes_GET_SIZE(result.headers)
    entry.body_len = <uint32_t>PyBytes_GET_SIZE(result.body)
    memcpy(out, &entry, sizeof(entry))
    out = put(out + sizeof(entry), job.url)
    out = put(put(out, job.via), job.tag)
    out = put(put(out, reason), result.headers)
    if not in_file:
        put(out, result.body)
    return 0


def encode(
    FetchResult result not None, uint32_t epoch, uint8_t attempt=0, bint is_body_in_file=False
):
    """One PAGE entry; a body in a file leaves only its length."""
    cdef bytes reason = reason_of(result)
    cdef size_t size = entry_size(result, reason, is_body_in_file)
    cdef bytes entry = PyBytes_FromStringAndSize(NULL, size)
    put_entry(
        <uint8_t *>PyBytes_AS_STRING(entry), size, result, reason, epoch, attempt,
        is_body_in_file,
    )
    return entry


@cython.final
cdef class Batch:
    """Pages that go to one parser in one frame."""

    cdef list pages
    cdef list reasons
    cdef size_t size

    def __cinit__(self):
        self.pages = []
        self.reasons = []


@cython.final
cdef class HeldPages:
    """All pages of a shard that wait for their answers.

    Args:
        epoch: of the shard; answers of another one are ignored.

    Process/thread: one thread.
    """

    cdef dict _held                 # id -> Held
    cdef list _unsent               # ids, in their order
    cdef uint32_t _epoch
    cdef uint64_t *_loads           # bytes that each parser has unanswered
    cdef int _parsers
    cdef readonly uint64_t nbytes
    cdef readonly uint64_t pages    # held results of queued URLs: not those for robots.txt

    def __cinit__(self, uint32_t epoch):
        self._epoch = epoch
        self._held = {}
        self._unsent = []

    def __dealloc__(self):
        free(self._loads)

    def __len__(self):
        return len(self._held)

    def __contains__(self, page_id):
        return page_id in self._held

    # --- what is held -----------------------------------------------------------------------

    def give(self, FetchResult result not None, int fd=-1):
        """Hold a result; ``fd``: a file that holds its body, which does not go into a frame."""
        cdef Held held = Held.__new__(Held)
        held.result = result
        held.size = held_size(result)
        held.parser = NO_PARSER
        held.fd = fd
        self._held[result.job.id] = held
        self._unsent.append(result.job.id)
        self.nbytes += held.size
        if not result.job.id & WITHOUT_ENQ:
            self.pages += 1

    def charge(self, page_id, int most):
        """A parser died with this page in hand: after ``most`` times it goes out as poison."""
        cdef Held held = self._held.get(page_id)
        if held is not None and held.crashes < 255:
            held.crashes += 1
            if held.crashes >= most:
                held.result.outcome = POISON

    def answered(self, page_id):
        """The page has been answered: it is forgotten.

        Returns:
            Its job and the descriptor of its body or -1; None when it was not held.
        """
        cdef Held held = self._held.pop(page_id, None)
        if held is None:
            return None
        self._forget(held)
        return held.result.job, held.fd

    cdef void _forget(self, Held held) noexcept:
        self.nbytes -= held.size
        if not held.result.job.id & WITHOUT_ENQ:
            self.pages -= 1
        if held.parser != NO_PARSER:
            self._loads[held.parser] -= held.size

    # --- to the parsers ---------------------------------------------------------------------

    def join(self, int parser):
        """A parser is there, with nothing to do yet."""
        cdef uint64_t *grown
        if parser < 0:
            raise ValueError(f"no parser {parser}")
        if parser >= self._parsers:
            grown = <uint64_t *>realloc(self._loads, (parser + 1) * sizeof(uint64_t))
            if grown is NULL:
                raise MemoryError
            memset(grown + self._parsers, 0, (parser + 1 - self._parsers) * sizeof(uint64_t))
            self._loads, self._parsers = grown, parser + 1

    def leave(self, int parser):
        """A parser is gone: what it had is unsent again, its attempt counted up."""
        cdef Held held
        for page_id, one in self._held.items():
            held = one
            if held.parser == parser:
                held.parser = NO_PARSER
                held.attempt = min(held.attempt + 1, 255)
                self._unsent.append(page_id)
        if 0 <= parser < self._parsers:
            self._loads[parser] = 0

    def frames(self, parsers):
        """Frames with all that may be sent now.

        Args:
            parsers: numbers of those that can be sent to; a page goes to the one with the fewest
                bytes unanswered, to none that has ``PARSER_BYTES`` of them.

        Returns:
            Tuples of parser, payload, entries and the descriptor of the one entry's body or -1,
            in the order in which they are to be sent.
        """
        cdef list frames = [], waiting = self._unsent
        cdef dict batches = {index: Batch() for index in parsers}
        cdef Held held
        cdef Batch batch
        cdef int parser
        cdef Py_ssize_t at
        if not waiting:
            return frames
        self._unsent = []
        for at in range(len(waiting)):
            held = self._held.get(waiting[at])
            if held is None or held.parser != NO_PARSER:
                continue
            parser = self._least_loaded(batches)
            if parser == NO_PARSER:
                self._unsent = waiting[at:]
                break
            held.parser = parser
            self._loads[parser] += held.size
            batch = batches[parser]
            self._collect(parser, batch, held, frames)
        for parser, batch in batches.items():
            self._close(parser, batch, frames)
        return frames

    cdef int _least_loaded(self, dict batches) except -2:
        cdef int best = NO_PARSER
        cdef uint64_t least = PARSER_LOAD
        for index in batches:
            if self._loads[<int>index] < least:
                best, least = index, self._loads[<int>index]
        return best

    cdef int _collect(self, int parser, Batch batch, Held held, list frames) except -1:
        cdef bytes reason = reason_of(held.result)
        cdef size_t size = entry_size(held.result, reason, held.fd >= 0)
        if held.fd >= 0 or batch.size + size > FRAME_BYTES:
            self._close(parser, batch, frames)
        batch.pages.append(held)
        batch.reasons.append(reason)
        batch.size += size
        if held.fd >= 0 or batch.size >= BATCH_BYTES:
            self._close(parser, batch, frames)
        return 0

    cdef int _close(self, int parser, Batch batch, list frames) except -1:
        """Make the frame of a batch, which is empty then."""
        cdef bytes payload, reason
        cdef uint8_t *out
        cdef Held held
        cdef size_t size
        cdef Py_ssize_t at
        if not batch.pages:
            return 0
        payload = PyBytes_FromStringAndSize(NULL, batch.size)
        out = <uint8_t *>PyBytes_AS_STRING(payload)
        held = batch.pages[0]
        for at in range(len(batch.pages)):
            held = batch.pages[at]
            reason = batch.reasons[at]
            size = entry_size(held.result, reason, held.fd >= 0)
            put_entry(out, size, held.result, reason, self._epoch, held.attempt, held.fd >= 0)
            out += size
        frames.append((parser, payload, len(batch.pages), held.fd))
        batch.pages, batch.reasons, batch.size = [], [], 0
        return 0

    # --- from the parsers -------------------------------------------------------------------

    def finish(self, bytes payload not None, uint32_t count, bint is_plain, dict same=None):
        """Take the answers of a PARSED frame.

        Args:
            is_plain: nothing else has to be settled for pages; if not, all of them are among the
                others.
            same: the latest contents of each host, which good plain pages are added to.

        Returns:
            Pages that are done: pairs of DONE entries (65,536 bytes at most) and their places
            (u64 each).  Then the others that were held: tuples of the offset of their entry, job
            and descriptor; they are requests for robots.txt, and tries in vain.

        Raises:
            FormatError: the entries do not fill the payload.
        """
        cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(payload)
        cdef size_t size = PyBytes_GET_SIZE(payload), at = 0, used
        cdef list done = [], others = []
        cdef Held held
        cdef FetchJob job
        cdef const parsed_entry *entry
        cdef Answers answers = Answers(size, count)
        check_parsed(data, size, count)
        while at < size:
            entry = <const parsed_entry *>(data + at)
            used = parsed_size(data + at, size - at)
            if entry.epoch == self._epoch:
                held = self._held.pop(entry.id, None)
                if held is not None:
                    self._forget(held)
                    job = held.result.job
                    if is_plain and held.fd < 0 and <int>job.kind == KIND_PAGE and (
                        not job.id & WITHOUT_ENQ
                    ):
                        if same is not None and entry.outcome == SUCCESS:
                            note_contents(same, job.host, entry)
                        if not answers.add(data + at, used, job.position):
                            done.append(answers.taken())
                            answers.add(data + at, used, job.position)
                    else:
                        others.append((at, job, held.fd))
            at += used
        if answers.count:
            done.append(answers.taken())
        return done, others


cdef int note_contents(dict same, bytes host, const parsed_entry *entry) except -1:
    cdef Contents contents = same.get(host)
    if contents is None:
        contents = same[host] = Contents()
    return contents.note(entry.digest, entry.near != 0)


cdef inline uint64_t held_size(FetchResult result):
    cdef uint64_t size = PyBytes_GET_SIZE(result.body) + PyBytes_GET_SIZE(result.headers)
    return size + OVERHEAD_BYTES


cdef int check_parsed(const uint8_t *data, size_t size, uint32_t count) except -1:
    cdef size_t at = 0, used
    for _ in range(count):
        used = parsed_size(data + at, size - at)
        if used == 0:
            raise FormatError("PARSED entry cut short")
        at += used
    if at != size:
        raise FormatError("PARSED entries do not fill their frame")
    return 0


@cython.final
cdef class Answers:
    """DONE entries with their places, as many as one record holds."""

    cdef bytes entries
    cdef bytes places
    cdef size_t size
    cdef size_t count

    def __cinit__(self, size_t size, size_t count):
        # A DONE entry is shorter than the PARSED entry that it is made of.
        self.entries = PyBytes_FromStringAndSize(NULL, min(size, <size_t>DONE_BYTES))
        self.places = PyBytes_FromStringAndSize(NULL, count * sizeof(uint64_t))

    cdef bint add(self, const uint8_t *parsed, size_t size, uint64_t place):
        """False when the record is full."""
        cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(self.entries)
        if self.size + size > <size_t>PyBytes_GET_SIZE(self.entries):
            return False
        self.size += parsed_to_done(out + self.size, parsed, size)
        memcpy(PyBytes_AS_STRING(self.places) + self.count * sizeof(place), &place, sizeof(place))
        self.count += 1
        return True

    cdef tuple taken(self):
        cdef tuple pair = (self.entries[:self.size], self.places[:self.count * sizeof(uint64_t)])
        self.size = self.count = 0
        return pair
