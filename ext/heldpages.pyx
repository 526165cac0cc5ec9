"""Pages on their way from a shard to the parsers, and what the parsers answer.

Idea: a page is held as the record that the fetcher made, and its body stays where it lies: in the
memory that parsers see (``bodymemory.pyx``), or it is written to the socket from there.  Copies of
bodies would push everything else out of the caches.  Entries are those of ``docs/protocol.md``, 4.1
and 4.3.  An answer becomes an entry of a DONE record (``docs/format-queue.md``) without passing
through a Python object.

Invariants:
1. Every page given is held until it is answered; ``nbytes`` is the size of all that are held.
2. A held page is with one parser, whose load counts it, or unsent.
3. A payload that is malformed changes nothing.
4. A body that a parser was told of in the memory stays there until the parser has answered, or has
   a successor: one that was cut off may still be reading.

The entries stand in ``pageentry.pxd``, the loads of the parsers in ``parserloads.pxd``.

Cost: one crossing for each batch of frames and for each frame of answers.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from larbinpy._native.bodymemory cimport BodyMemory
from larbinpy._native.contents cimport HostContents
from larbinpy._native.jobs cimport FetchJob, FetchResult
from pageentry cimport (
    BODY_IN_FILE, BODY_IN_MEMORY, INLINE, MAX_REASON, head_of, leads_on, parsed_entry, parsed_size,
    parsed_to_done,
)
from parserloads cimport (
    NO_PARSER, PARSER_LOAD, least_loaded, loads_join, loads_leave, parser_loads,
)

from larbinpy.codes import Outcome
from larbinpy.errors import FormatError


cdef enum:
    BATCH_BYTES = 1 << 16           # a frame that holds as much goes out
    FRAME_BYTES = 1 << 20           # no frame holds more
    OVERHEAD_BYTES = 256            # what a held page costs beside body and headers, about
    DONE_BYTES = 65536              # payload of one DONE record
    KIND_PAGE = 0
    SUCCESS = 0
    NO_FILE = -1

PARSER_BYTES = PARSER_LOAD
MAX_REASON_BYTES = MAX_REASON

cdef uint64_t WITHOUT_ENQ = 1ull << 55

cdef object POISON = Outcome.POISON


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Held:
    """A page that no parser has answered for."""

    cdef FetchResult result
    cdef uint64_t size
    cdef int parser
    cdef int fd                     # of the file that holds its body, or NO_FILE
    cdef uint8_t attempt
    cdef uint8_t crashes


cdef inline uint64_t held_size(FetchResult result):
    cdef uint64_t size = PyBytes_GET_SIZE(result.body) + PyBytes_GET_SIZE(result.headers)
    return size + OVERHEAD_BYTES


def encode(
    FetchResult result not None, uint32_t epoch, uint8_t attempt=0, bint is_body_in_file=False
):
    """One PAGE entry; a body in a file leaves only its length."""
    if is_body_in_file:
        return head_of(result, epoch, attempt, BODY_IN_FILE, 0)
    return head_of(result, epoch, attempt, INLINE, 0) + result.body


@cython.final
cdef class Batch:
    """Entries that go to one parser in one frame, as the pieces of its payload."""

    cdef list pieces
    cdef size_t size
    cdef int entries

    def __cinit__(self):
        self.pieces = []

    cdef int add(self, bytes head, bytes body) except -1:
        self.pieces.append(head)
        if body:
            self.pieces.append(body)
        self.size += PyBytes_GET_SIZE(head) + PyBytes_GET_SIZE(body)
        self.entries += 1
        return 0

    cdef int close(self, int parser, int fd, list frames) except -1:
        """Add the frame, if there is something in it; nothing is in the batch then."""
        if self.entries:
            frames.append((parser, self.pieces, self.entries, fd))
            self.pieces, self.size, self.entries = [], 0, 0
        return 0


@cython.final
cdef class HeldPages:
    """All pages of a shard that wait for their answers.

    Args:
        epoch: of the shard; answers of another one are ignored.
        memory: where parsers see the bodies that lie there; None: they are sent all bodies.

    Process/thread: one thread.
    """

    cdef dict _held                 # id -> Held
    cdef list _unsent               # ids, in their order
    cdef dict _pinned               # parser that is gone -> bodies that it may still be reading
    cdef uint32_t _epoch
    cdef BodyMemory _memory
    cdef parser_loads _loads
    cdef readonly uint64_t nbytes
    cdef readonly uint64_t pages    # held results of queued URLs: not those for robots.txt
    cdef readonly uint64_t near     # pages that were answered and are near-duplicates

    def __cinit__(self, uint32_t epoch, BodyMemory memory=None):
        self._epoch = epoch
        self._memory = memory
        self._held = {}
        self._pinned = {}
        self._unsent = []

    def __dealloc__(self):
        free(self._loads.bytes)

    def __len__(self):
        return len(self._held)

    def __contains__(self, page_id):
        return page_id in self._held

    # --- what is held -----------------------------------------------------------------------

    def give_all(self, list results not None):
        """``give`` all of them; their bodies go into frames."""
        for result in results:
            self._hold(result, NO_FILE)

    def give(self, FetchResult result not None, int fd=-1):
        """Hold a result; ``fd``: a file that holds its body, which does not go into a frame."""
        self._hold(result, fd)

    cdef int _hold(self, FetchResult result, int fd) except -1:
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
        return 0

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
            self._loads.bytes[held.parser] -= held.size

    # --- to the parsers ---------------------------------------------------------------------

    def join(self, int parser):
        """A parser is there, with nothing to do yet; an earlier one of that number has ended."""
        self._pinned.pop(parser, None)
        loads_join(&self._loads, parser)

    def leave(self, int parser):
        """A parser is gone: what it had is unsent again, its attempt counted up."""
        cdef Held held
        cdef list pinned = self._pinned.setdefault(parser, [])
        for page_id, one in self._held.items():
            held = one
            if held.parser == parser:
                held.parser = NO_PARSER
                held.attempt = min(held.attempt + 1, 255)
                self._unsent.append(page_id)
                pinned.append(held.result.body)
        loads_leave(&self._loads, parser)

    def frames(self, parsers):
        """Frames with all that may be sent now.

        Args:
            parsers: numbers of those that can be sent to; a page goes to the one with the fewest
                bytes unanswered, to none that has ``PARSER_BYTES`` of them.

        Returns:
            Tuples of parser, pieces of the payload, entries and the descriptor of the one entry's
            body or -1, in the order in which they are to be sent.
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
            parser = least_loaded(&self._loads, batches)
            if parser == NO_PARSER:
                self._unsent = waiting[at:]
                break
            held.parser = parser
            self._loads.bytes[parser] += held.size
            batch = batches[parser]
            self._collect(parser, batch, held, frames)
        for parser, batch in batches.items():
            batch.close(parser, NO_FILE, frames)
        return frames

    cdef int _collect(self, int parser, Batch batch, Held held, list frames) except -1:
        cdef FetchResult result = held.result
        cdef bint is_in_file = held.fd != NO_FILE
        cdef int64_t place = self._place_of(held)
        cdef uint8_t where = BODY_IN_FILE if is_in_file else INLINE if place < 0 else BODY_IN_MEMORY
        cdef bytes head = head_of(result, self._epoch, held.attempt, where, place)
        cdef bytes body = result.body if where == INLINE else b""
        cdef size_t size = PyBytes_GET_SIZE(head) + PyBytes_GET_SIZE(body)
        if is_in_file or batch.size + size > FRAME_BYTES:
            batch.close(parser, NO_FILE, frames)
        batch.add(head, body)
        if is_in_file or batch.size >= BATCH_BYTES:
            batch.close(parser, held.fd, frames)
        return 0

    cdef int64_t _place_of(self, Held held) noexcept:
        """Where parsers see the body; -1: nowhere."""
        if self._memory is None or held.fd != NO_FILE:
            return -1
        return self._memory.place_of(held.result.body)

    # --- from the parsers -------------------------------------------------------------------

    def finish(self, bytes payload not None, uint32_t count, bint is_plain, HostContents same=None):
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
                    self.near += entry.near != 0
                    job = held.result.job
                    if is_plain and held.fd == NO_FILE and <int>job.kind == KIND_PAGE and (
                        not job.id & WITHOUT_ENQ
                    ):
                        if same is not None and entry.outcome == SUCCESS:
                            same.note(
                                job.host_id, entry.digest, entry.near != 0, leads_on(entry),
                                job.watch,
                            )
                        if not answers.add(data + at, used, job.position):
                            done.append(answers.taken())
                            answers.add(data + at, used, job.position)
                    else:
                        others.append((at, job, held.fd))
            at += used
        if answers.count:
            done.append(answers.taken())
        return done, others


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
