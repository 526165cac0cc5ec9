# Tables in memory that all processes of a crawl share: words, blocks of counters, next time per IP.
#
# Idea.  The supervisor makes one anonymous file (create), every process maps it.  Nothing in it is
# ever locked: single words change by atomic instructions, a block of words has one writer and a
# sequence counter (atomics.h), an address is claimed by a time stamp (iptable.h).  So a process
# that is killed at any instruction leaves nothing that another one would wait for.
#
# Invariants.  Offsets are multiples of 8; a view keeps its buffer alive and never reads behind it.
# Cost.  A few instructions each; these are calls from Python for numbers that change once a page or
# less.  The host table claims addresses by the same header, without Python.

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from tables cimport SET_SLOTS, ip_claim, ip_forget, ip_key, ip_release, ip_slot, ip_until

import fcntl
import os


cdef extern from "atomics.h" nogil:
    uint64_t atomic_get(const uint64_t *at)
    void atomic_set(uint64_t *at, uint64_t value)
    uint64_t atomic_add(uint64_t *at, uint64_t delta)
    int atomic_take(uint64_t *at, uint64_t n)
    void sequence_write(uint64_t *block, const uint64_t *values, size_t count)
    int sequence_read(const uint64_t *block, uint64_t *values, size_t count, int tries)


cdef extern from "sys/prctl.h":
    int PR_SET_PDEATHSIG
    int prctl(int option, unsigned long value)


cdef enum:
    WORD_BYTES = 8
    STORING_NS = 1
    NS_PER_S = 1_000_000_000
    READ_TRIES = 1000  # a writer is at work for about a microsecond

SLOT_BYTES = sizeof(ip_slot)
SLOTS_PER_SET = SET_SLOTS
STORING = STORING_NS


def create(size: int):
    """Return the descriptor of an anonymous file of ``size`` zero bytes that cannot shrink or grow.

    It is closed on exec; pass it on by name (``pass_fds``) or over a socket.
    """
    fd = os.memfd_create("larbinpy", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(fd, size)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    except OSError:
        os.close(fd)
        raise
    return fd


def set_death_signal(signo: int):
    """Let the kernel send ``signo`` to this process when the thread that made it ends.

    Raises:
        OSError: the signal number is wrong.
    """
    if prctl(PR_SET_PDEATHSIG, signo) != 0:
        raise OSError(f"no death signal {signo}")


cdef Py_ssize_t words_from(unsigned char[::1] memory, Py_ssize_t offset) except -1:
    """Number of whole words behind an offset."""
    if not 0 <= offset < memory.shape[0]:
        raise ValueError(f"offset {offset} is outside of the buffer")
    if <size_t>&memory[0] % WORD_BYTES or offset % WORD_BYTES:
        raise ValueError(f"words must be aligned, offset {offset} is not")
    return (memory.shape[0] - offset) // WORD_BYTES


@cython.final
cdef class Words:
    """Unsigned 64-bit words in a writable buffer; each operation is atomic, for all processes.

    Args:
        offset: bytes, a multiple of 8.
        count: number of words, -1 = as many as the buffer holds.

    Additions wrap around after 2^64.  An index out of range raises ``IndexError``.
    """

    def __cinit__(self, buffer, offset: int = 0, count: int = -1):
        self._memory = buffer
        cdef Py_ssize_t room = words_from(self._memory, offset)
        if count > room:
            raise ValueError(f"{count} words do not fit, only {room}")
        self._count = room if count < 0 else count
        self._words = <uint64_t *>(&self._memory[0] + <Py_ssize_t>offset)

    def __len__(self):
        """Return the number of words."""
        return self._count

    cdef uint64_t *_at(self, Py_ssize_t i) except NULL:
        if not 0 <= i < self._count:
            raise IndexError(f"no word {i}")
        return self._words + i

    def load(self, i: int):
        """Return word ``i``."""
        return atomic_get(self._at(i))

    def store(self, i: int, value: int):
        """Set word ``i``."""
        atomic_set(self._at(i), value)

    def add(self, i: int, delta: int):
        """Add to word ``i`` (a negative number subtracts) and return what it was before."""
        cdef uint64_t amount = delta & 0xFFFF_FFFF_FFFF_FFFF
        return atomic_add(self._at(i), amount)

    def take(self, i: int, n: int):
        """Subtract ``n`` from word ``i`` if it is at least ``n``; return whether it was."""
        return bool(atomic_take(self._at(i), n))

    def snapshot(self):
        """Return all words, each read once in the order of their numbers."""
        cdef Py_ssize_t i
        return [atomic_get(self._words + i) for i in range(self._count)]


cdef class Blame:
    """What a process has in hand, and since when, for those who look after it: two words.

    Args:
        offset: bytes, a multiple of 8: the id, and behind it the time (monotonic); 0 = nothing is
            in hand, ``STORING`` = it waits for a disk.
    """

    def __cinit__(self, buffer, offset: int):
        self._memory = buffer
        if words_from(self._memory, offset) < 2:
            raise ValueError("two words do not fit")
        self._words = <uint64_t *>(&self._memory[0] + <Py_ssize_t>offset)

    def begin(self, uint64_t page_id, uint64_t now_ns):
        """Note that the parsing of a page begins; ``now_ns`` is not 0."""
        atomic_set(self._words, page_id)
        atomic_set(self._words + 1, now_ns)

    cdef void begin_now(self, uint64_t page_id) noexcept nogil:
        """``begin`` for a kernel, by the clock."""
        cdef timespec now
        clock_gettime(CLOCK_MONOTONIC, &now)
        atomic_set(self._words, page_id)
        atomic_set(self._words + 1, <uint64_t>now.tv_sec * NS_PER_S + now.tv_nsec)

    def store(self):
        """Note that the page in hand is parsed, and is being stored."""
        atomic_set(self._words + 1, STORING_NS)

    def end(self):
        """Note that no page is being parsed."""
        atomic_set(self._words + 1, 0)


@cython.final
cdef class SeqBlock:
    """A block of words that one process publishes and others read as of one moment.

    Args:
        offset: bytes, a multiple of 8; the block takes ``words + 1`` words from there.
    """

    cdef unsigned char[::1] _memory
    cdef uint64_t *_block
    cdef uint64_t *_values
    cdef Py_ssize_t _count

    def __cinit__(self, buffer, offset: int, words: int):
        self._memory = buffer
        if not 0 <= words < words_from(self._memory, offset):
            raise ValueError(f"{words} words and their counter do not fit")
        self._block = <uint64_t *>(&self._memory[0] + <Py_ssize_t>offset)
        self._count = words
        self._values = <uint64_t *>calloc(max(words, 1), WORD_BYTES)
        if self._values == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self._values)

    def publish(self, values: list):
        """Show ``values`` to the readers; only one process may write to a block.

        Raises:
            ValueError: the number of values is not that of the block; nothing was shown.
        """
        cdef Py_ssize_t i
        if len(values) != self._count:
            raise ValueError(f"{len(values)} values for {self._count} words")
        for i in range(self._count):
            self._values[i] = values[i]
        sequence_write(self._block, self._values, self._count)

    def read(self):
        """Return the values last published, ``None`` if a writer is always at work (or was killed).

        A block that was never written reads as zeros.
        """
        cdef Py_ssize_t i
        if not sequence_read(self._block, self._values, self._count, READ_TRIES):
            return None
        return [self._values[i] for i in range(self._count)]


@cython.final
cdef class IpTable:
    """When each address may be asked next, over all processes; see ``iptable.h`` for the proof.

    Args:
        offset: bytes, a multiple of 8.
        slots: a multiple of 16 (a set); 16 bytes each.  Should be several times the number of
            addresses that are waited for at one moment.

    It gives out its memory as a buffer, for ``HostTable(ip_table=...)``.
    Invariant: from claim to release, or for ``lease_ns``, an address has one owner.  When all slots
    of an address's set are claimed for other addresses, the claim is granted and not noted.
    """

    cdef unsigned char[::1] _memory
    cdef ip_slot *_slots
    cdef Py_ssize_t _count
    cdef dict _until

    def __cinit__(self, buffer, offset: int, slots: int):
        cdef Py_ssize_t size = slots * SLOT_BYTES, start = offset
        self._memory = buffer
        if slots <= 0 or slots % SET_SLOTS:
            raise ValueError(f"slots must be a multiple of {SET_SLOTS}, not {slots}")
        if size > words_from(self._memory, offset) * WORD_BYTES:
            raise ValueError(f"{slots} slots do not fit")
        self._memory = self._memory[start:start + size]
        self._slots = <ip_slot *>&self._memory[0]
        self._count = slots
        self._until = {}

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self._slots, self._count * SLOT_BYTES, False, flags)

    cdef uint64_t _key(self, bytes ip) except? 0:
        if len(ip) not in (4, 16):
            raise ValueError("an address has 4 or 16 bytes")
        return ip_key(ip, len(ip))

    def claim(self, bytes ip not None, now_ns: int, lease_ns: int, owner: int = 0):
        """Claim an address until its release, or until ``now_ns + lease_ns`` if that never comes.

        Args:
            owner: 1 to 511: a number of the process, for ``forget``; 0 = none.

        Returns:
            0 when it is ours, else the time from which it is worth trying again.

        Cost: reads one set of slots (256 bytes) twice; never waits.
        """
        cdef uint64_t key = self._key(ip), now = now_ns, lease = lease_ns, number = owner
        cdef uint64_t free_at_ns = ip_claim(self._slots, self._count, key, now, lease, number)
        if not free_at_ns:
            self._until[key] = ip_until(now, lease, number)
        return free_at_ns

    def release(self, bytes ip not None, free_at_ns: int):
        """End our claim: the address may be asked from ``free_at_ns`` on.

        Nothing happens without a claim of ours, or when it ran out and somebody else has it.
        """
        cdef uint64_t key = self._key(ip)
        until_ns = self._until.pop(key, None)
        if until_ns is not None:
            ip_release(self._slots, self._count, key, until_ns, free_at_ns)

    def forget(self, owner: int, now_ns: int, free_at_ns: int):
        """Free the claims of a process that is dead: their addresses may be asked from then on.

        Cost: a look at every slot.
        """
        cdef uint64_t number = owner, now = now_ns, free_at = free_at_ns
        with nogil:
            ip_forget(self._slots, self._count, number, now, free_at)
