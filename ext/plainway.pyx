"""The plain way of a page through a shard: nobody has anything to say about it.

Idea: nearly every URL is asked for because its host has an address and rules that allow it, and
nearly every request ends with a whole good response of a host that is well.  Those two questions
are answered here by a few look-ups; whatever is not plain goes the long way, which also knows the
plain one (``shard/requests.py``, ``shard/results.py``) and is the specification of what is done
here.

Invariant: what is plain is handled as the long way would; in doubt nothing is plain.
"""

cimport cython
from cpython cimport array
from cpython.bytes cimport PyBytes_GET_SIZE

from larbinpy._native.contents cimport HostContents, contents_watch, host_contents
from larbinpy._native.jobs cimport FetchJob, FetchResult
from larbinpy.codes import Kind, Outcome

import array

cdef object PAGE = Kind.PAGE
cdef object SITEMAP = Kind.SITEMAP
cdef object SUCCESS = Outcome.SUCCESS
cdef unsigned long long WITHOUT_ENQ = 1ull << 55
cdef long long SECOND_NS = 1_000_000_000


@cython.final
cdef class PlainStarts:
    """Tells URLs that may be asked for at once.

    Args:
        origins: the rules of each origin, by ``FetchJob.origin``: objects with ``allows`` and
            ``fresh_ns``, until when they hold.
        is_open: everything is allowed, nothing is known of origins.
        ipv4: address of each host by number; 0 = none, or not IPv4.
        expires_s: until when each address holds, monotonic seconds.
        private: numbers of hosts whose address only some URLs may use.
        troubles: hosts that may have to be left alone.
        same, most_same: the latest contents of each host that was asked before, and how many in a
            row may be the same; 0 = any number.
        watch_after: pages of a host after which some are to be compared; 0 = all.

    The containers are those that their owners change.
    """

    cdef dict _origins
    cdef bint _is_open
    cdef array.array _ipv4
    cdef array.array _expires_s
    cdef set _private
    cdef dict _troubles
    cdef HostContents _same
    cdef unsigned int _most_same
    cdef unsigned int _watch_after

    def __cinit__(
        self, dict origins not None, bint is_open, array.array ipv4 not None,
        array.array expires_s not None, set private not None, dict troubles not None,
        HostContents same not None, unsigned int most_same, unsigned int watch_after,
    ):
        if ipv4.itemsize != 4 or expires_s.itemsize != 4:
            raise ValueError("addresses and times are u32 each")
        self._origins = origins
        self._is_open = is_open
        self._ipv4 = ipv4
        self._expires_s = expires_s
        self._private = private
        self._troubles = troubles
        self._same = same
        self._most_same = most_same
        self._watch_after = watch_after

    def sort(self, list jobs not None, long long now_ns):
        """Jobs that may be asked for now, which have got their addresses, and the others."""
        cdef FetchJob job
        cdef list plain = [], others = []
        for job in jobs:
            (plain if self._is_plain(job, now_ns) else others).append(job)
        return plain, others

    cdef bint _is_plain(self, FetchJob job, long long now_ns) except -1:
        cdef Py_ssize_t host = job.host_id
        cdef unsigned int ip
        cdef unsigned char packed[4]
        if job.failed or host < 0 or host >= len(self._ipv4) or host >= len(self._expires_s):
            return False
        if job.kind is SITEMAP:
            return False
        ip = self._ipv4.data.as_uints[host]
        if ip == 0 or now_ns // SECOND_NS >= self._expires_s.data.as_uints[host]:
            return False
        if self._private and job.host_id in self._private:
            return False
        if self._troubles and job.host in self._troubles:
            return False
        if self._most_same and not self._shows_more(job):
            return False
        if not (self._is_open or self._is_allowed(job, now_ns)):
            return False
        packed[0], packed[1] = ip >> 24, ip >> 16 & 255
        packed[2], packed[3] = ip >> 8 & 255, ip & 255
        job.ip = packed[:4]
        return True

    cdef bint _shows_more(self, FetchJob job) except -1:
        """Whether a host that has shown something says new things; then it is known what to
        watch."""
        cdef host_contents *contents = self._same.known(job.host_id)
        if contents == NULL or not contents.is_met or contents.has_crowd:
            return False
        if contents.in_a_row >= self._most_same:
            return False
        job.watch = contents_watch(contents, self._watch_after, self._most_same)
        return True

    cdef bint _is_allowed(self, FetchJob job, long long now_ns) except -1:
        known = self._origins.get(job.origin)
        return known is not None and known.fresh_ns > now_ns and known.allows(job.path)


@cython.final
cdef class PlainEnds:
    """Tells results of requests that have ended as they should.

    Args:
        troubles: hosts that are not well.
        slow_ns: a request that took so long says that its host is not.
        most_bytes: of headers and body; longer ones do not go into a frame.
    """

    cdef dict _troubles
    cdef unsigned long long _slow_us
    cdef Py_ssize_t _most_bytes

    def __cinit__(
        self, dict troubles not None, unsigned long long slow_ns, Py_ssize_t most_bytes
    ):
        self._troubles = troubles
        self._slow_us = slow_ns // 1000
        self._most_bytes = most_bytes

    def sort(self, list results not None):
        """Good results of hosts that are well, and the others.

        Returns:
            What is plain, its jobs, bytes read and bytes written; then the other results.
        """
        cdef FetchResult result
        cdef list plain = [], jobs = [], others = []
        cdef unsigned long long read = 0, written = 0
        for result in results:
            if not self._is_plain(result, result.job):
                others.append(result)
                continue
            plain.append(result)
            jobs.append(result.job)
            read += result.bytes_read
            written += result.bytes_written
        return plain, jobs, read, written, others

    cdef bint _is_plain(self, FetchResult result, FetchJob job) except -1:
        if result.outcome is not SUCCESS or job.kind is not PAGE or job.id & WITHOUT_ENQ:
            return False
        if result.status == 0 or result.duration_us >= self._slow_us:
            return False
        if PyBytes_GET_SIZE(result.headers) + PyBytes_GET_SIZE(result.body) > self._most_bytes:
            return False
        return not (self._troubles and job.host in self._troubles)
