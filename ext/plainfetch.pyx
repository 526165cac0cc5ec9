"""The plain way of a request through libcurl: nothing has to be decided about it.

Idea: nearly every request goes to a public IPv4 address, by a handle that needs no other setting
than its URL, and nearly every one ends with a whole good response.  Both are handled here, a batch
at a time; whatever is not plain is left to ``CurlFetcher``, which knows the plain way too and is
the specification of what is done here.

Invariant: what is plain is handled as ``CurlFetcher`` would; in doubt nothing is plain.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint64_t

from larbinpy._native.easyslots cimport Running, Slot
from larbinpy._native.jobs cimport FetchJob
from larbinpy._native.transfer cimport Transfer

from larbinpy.codes import Kind, Outcome

import pycurl

cdef object PAGE = Kind.PAGE
cdef object SUCCESS = Outcome.SUCCESS
cdef object URL = pycurl.URL
# What ``setopt`` and ``add_handle`` raise for what they do not take.
cdef tuple REFUSALS = (pycurl.error, UnicodeError, ValueError, TypeError)


@cython.final
cdef class PlainFetch:
    """Begins and ends plain requests for pages.

    Args:
        multi: a ``pycurl.CurlMulti``.
        running, idle, slots: the fetcher's own, the last by handle.
        make: a new slot, which stands in ``slots``.
        is_plain: handles differ in nothing but their URL: no proxy, cookies or headers of origins,
            and every server is verified.
        public: for each first byte of an IPv4 address, 1 when all of them may be asked.
        own_ports: ports that are never plain.
        closers: servers (host and port) whose connections are not kept.
        limit: most body bytes.
        check_type: only some content types are wanted.
    """

    cdef object _add
    cdef object _remove
    cdef object _read
    cdef Running _running
    cdef list _idle
    cdef dict _slots
    cdef object _make
    cdef bint _is_plain
    cdef bytes _public
    cdef frozenset _own_ports
    cdef object _closers
    cdef uint64_t _limit
    cdef bint _check_type

    def __init__(
        self, multi, Running running not None, list idle not None, dict slots not None, make, *,
        bint is_plain, bytes public not None, frozenset own_ports not None, closers,
        uint64_t limit, bint check_type,
    ):
        if len(public) != 256:
            raise ValueError("there are 256 first bytes")
        self._add, self._remove = multi.add_handle, multi.remove_handle
        self._read = multi.info_read
        self._running, self._idle, self._slots, self._make = running, idle, slots, make
        self._is_plain, self._public, self._own_ports = is_plain, public, own_ports
        self._closers, self._limit, self._check_type = closers, limit, check_type

    def begin(self, list jobs not None, Py_ssize_t room, bint keep):
        """Begin what is plain, at most ``room`` requests; returns the jobs that are left.

        Args:
            keep: leave the connections open.
        """
        cdef FetchJob job
        cdef list left = []
        for job in jobs:
            if room > 0 and self._is_begun(job, keep):
                room -= 1
            else:
                left.append(job)
        return left

    cdef bint _is_begun(self, FetchJob job, bint keep) except -1:
        cdef Slot slot
        if not (self._is_plain and self._may_ask(job)):
            return False
        slot = self._idle.pop() if self._idle else self._make()
        try:
            slot._setopt(URL, job.url)
            slot.keep(keep)
            slot.aim(job)
            slot.transfer.reset(job.ip, job.port, self._limit, self._check_type, True)
            self._running.begin(slot, job, 0)
            self._add(slot.easy)
        except REFUSALS:
            if slot.job is not None:
                self._running.end(slot)
            self._idle.append(slot)
            return False
        return True

    cdef bint _may_ask(self, FetchJob job) except -1:
        if job.kind is not PAGE or PyBytes_GET_SIZE(job.ip) != 4 or not 0 < job.port < 65536:
            return False
        if not PyBytes_AS_STRING(self._public)[<unsigned char>PyBytes_AS_STRING(job.ip)[0]]:
            return False
        if self._own_ports and job.port in self._own_ports:
            return False
        return not (self._closers and (job.host, job.port) in self._closers)

    def ended(self):
        """Take what has ended from libcurl.

        Returns:
            Results of those that were plain; then slot, libcurl's code and words of each other,
            which still runs.
        """
        cdef list results = [], others = []
        cdef object queued = True, succeeded, failed
        while queued:
            queued, succeeded, failed = self._read()
            for easy in succeeded:
                self._end(<Slot>self._slots[easy], results, others)
            for easy, code, text in failed:
                others.append((self._slots[easy], code, text))
        return results, others

    cdef int _end(self, Slot slot, list results, list others) except -1:
        cdef Transfer transfer = slot.transfer
        if not self._is_good(transfer) or slot.job.kind is not PAGE:
            others.append((slot, 0, ""))
            return 0
        job = self._running.end(slot)
        self._remove(slot.easy)
        self._idle.append(slot)
        results.append(slot.result(job, SUCCESS, True, False, "", transfer.last_ns))
        return 0

    cdef bint _is_good(self, Transfer transfer) noexcept:
        if transfer.abort or not 200 <= transfer.status < 300 or transfer.status == 206:
            return False
        # Cookies are kept, and a body that has two ends closes its connection, the long way.
        return not (transfer.has_cookies or (transfer.is_chunked and transfer._has_length))
