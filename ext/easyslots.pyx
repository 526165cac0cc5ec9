"""Easy handles at work: what stands in them from request to request, and which run longest.

Idea: a request that begins or ends changes a few fields of an object and two links of a list.
The list has the order of their starts, so whoever is late stands at its front.

Invariants:
1. A slot is in the list from ``begin`` to ``end``, and has a job exactly then.
2. ``_unasked`` is the oldest slot that ``late`` has not looked at; all newer ones are the same.
3. libcurl goes where ``aim`` says, whatever the URL says; SNI and Host stay the URL's.  A URL that
   says the address itself needs no word of it.

The fields stand in ``larbinpy/_native/easyslots.pxd``.

Cost: O(1) each, some 100 ns beside libcurl's own.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp, memcpy, strlen
from posix.time cimport CLOCK_MONOTONIC, CLOCK_REALTIME, clock_gettime, timespec

from larbinpy._native.jobs cimport FetchJob, FetchResult, new_result
from larbinpy._native.transfer cimport Transfer
from digits cimport put_number

import pycurl

cdef extern from "<arpa/inet.h>" nogil:
    enum:
        AF_INET6
    const char *inet_ntop(int family, const void *packed, char *text, unsigned int size)

cdef object URL = pycurl.URL
cdef object CONNECT_TO = pycurl.CONNECT_TO
cdef object FORBID_REUSE = pycurl.FORBID_REUSE
cdef object REQUEST_SIZE = pycurl.REQUEST_SIZE


cdef inline int64_t clock_ns(int clock) noexcept nogil:
    cdef timespec now
    clock_gettime(clock, &now)
    return <int64_t>now.tv_sec * 1000000000 + now.tv_nsec


cdef uint8_t *put_address(uint8_t *out, bytes ip) except NULL:
    """As it stands in a URL: at most 48 bytes."""
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(ip)
    cdef int i
    if PyBytes_GET_SIZE(ip) == 4:
        for i in range(4):
            out = put_number(out, at[i])
            out[0] = c"."
            out += 1
        return out - 1
    if PyBytes_GET_SIZE(ip) != 16:
        raise ValueError("an address has 4 or 16 bytes")
    out[0] = c"["
    inet_ntop(AF_INET6, at, <char *>out + 1, 47)
    out += strlen(<char *>out)
    out[0] = c"]"
    return out + 1


cdef inline bint is_text(bytes text, const uint8_t *other, size_t size) noexcept:
    return <size_t>PyBytes_GET_SIZE(text) == size and not memcmp(
        PyBytes_AS_STRING(text), other, size
    )


@cython.final
cdef class Slot:
    """An easy handle with its transfer, used for one request after another.

    Attributes:
        easy: a ``pycurl.Curl``.
        job: while it runs.
        headers, cookie: what the handle sends beside libcurl's own fields.
        unverified: why the server could not be verified, when this request goes on without.
        since_ns: when the job was first tried: the start, unless it waited for a descriptor.
        received: bytes that the connection had received for others; -1 = not asked.
        framing_bytes: received in this request, neither header nor body, if that was asked.
    """

    def __init__(self, easy, Transfer transfer not None):
        self.easy = easy
        self.transfer = transfer
        self.is_kept = self.is_verified = True
        self.unverified = ""
        self.cookie = self._ip = b""
        self._setopt, self._getinfo = easy.setopt, easy.getinfo

    cpdef object keep(self, bint is_kept):
        """Leave the connection open behind this request, or close it."""
        if is_kept is not self.is_kept:
            self._setopt(FORBID_REUSE, 0 if is_kept else 1)
            self.is_kept = is_kept

    cpdef object aim(self, FetchJob job):
        """Let the next request go to the job's address and port, and to no other.

        Raises:
            ValueError: the address or the port is none.
            pycurl.error: libcurl does not take it.
        """
        cdef uint8_t target[80]
        cdef uint8_t *out
        if job.port == self._port and job.ip == self._ip:
            return
        if not 0 < job.port < 65536:
            raise ValueError("a port has 16 bits and is not 0")
        memcpy(target, b"::", 2)
        out = put_address(target + 2, job.ip)
        if is_text(job.host, target + 2, out - target - 2):
            self._aim_nowhere()
            return
        out[0] = c":"
        out = put_number(out + 1, job.port)
        self._ip, self._port = b"", 0  # in case libcurl refuses
        self._setopt(CONNECT_TO, [target[:out - target]])
        self._ip, self._port = job.ip, job.port

    cdef int _aim_nowhere(self) except -1:
        if self._ip:
            self.easy.unsetopt(CONNECT_TO)
            self._ip, self._port = b"", 0
        return 0

    cpdef FetchResult result(
        self, FetchJob job, object outcome, bint keeps_body, bint is_truncated, str reason,
        int64_t end_ns,
    ):
        """What came of the request that ended last.

        Args:
            end_ns: when it ended, monotonic.
        """
        cdef Transfer transfer = self.transfer
        cdef FetchResult result = new_result()
        cdef int64_t begun_ns = transfer.sent_ns or self.start_ns
        result.job, result.outcome = job, outcome
        result.status = transfer.status
        result.headers = transfer.header_block()
        result.body = transfer.whole_body() if keeps_body else b""
        result.is_truncated = is_truncated
        result.start_us = self.start_us + (begun_ns - self.start_ns) // 1000
        result.duration_us = max(end_ns - begun_ns, 0) // 1000
        result.bytes_read = (
            transfer._header_bytes + transfer._body_bytes + self.framing_bytes
        )
        result.bytes_written = self._getinfo(REQUEST_SIZE)
        result.reason = reason or self.unverified
        return result


@cython.final
cdef class Running:
    """The slots that have a request, oldest first."""

    def __len__(self):
        return self._count

    cpdef object begin(self, Slot slot, FetchJob job, int64_t since_ns):
        """A request begins.

        Args:
            since_ns: when its job was first tried; 0 = now.
        """
        slot.start_ns = clock_ns(CLOCK_MONOTONIC)
        slot.start_us = clock_ns(CLOCK_REALTIME) // 1000
        slot.since_ns = since_ns or slot.start_ns
        slot.job = job
        slot.received = -1
        slot.framing_bytes = 0
        slot._older, slot._newer = self._newest, None
        if self._newest is None:
            self._oldest = slot
        else:
            self._newest._newer = slot
        self._newest = slot
        if self._unasked is None:
            self._unasked = slot
        self._count += 1

    cpdef FetchJob end(self, Slot slot):
        """The slot's request has ended; returns its job.

        Raises:
            ValueError: it has none.
        """
        cdef FetchJob job = slot.job
        cdef Slot older = slot._older, newer = slot._newer
        if job is None:
            raise ValueError("a slot without a job")
        if self._unasked is slot:
            self._unasked = newer
        if older is None:
            self._oldest = newer
        else:
            older._newer = newer
        if newer is None:
            self._newest = older
        else:
            newer._older = older
        slot.job = slot._older = slot._newer = None
        self._count -= 1
        return job

    @property
    def unasked_ns(self):
        """When the oldest one began that ``late`` has not looked at; -1 = there is none."""
        return -1 if self._unasked is None else self._unasked.start_ns

    def late(self, int64_t before_ns):
        """Slots that began until then and have no byte yet; each is looked at once."""
        cdef list late = []
        while self._unasked is not None and self._unasked.start_ns <= before_ns:
            if not self._unasked.transfer.first_ns:
                late.append(self._unasked)
            self._unasked = self._unasked._newer
        return late

    def chunked(self, int64_t before_ns):
        """Slots that began until then and receive a chunked response."""
        cdef Slot slot = self._oldest
        cdef list chunked = []
        while slot is not None and slot.start_ns <= before_ns:
            if slot.transfer.is_chunked:
                chunked.append(slot)
            slot = slot._newer
        return chunked
