# Fields of ``ext/easyslots.pyx``, for the kernel that begins and ends plain transfers.

from libc.stdint cimport int64_t, uint64_t

from larbinpy._native.jobs cimport FetchJob, FetchResult
from larbinpy._native.transfer cimport Transfer


cdef class Slot:
    cdef readonly object easy
    cdef readonly Transfer transfer
    cdef readonly FetchJob job
    cdef readonly bint is_kept
    cdef public bint is_verified
    cdef public str unverified
    cdef public object headers
    cdef public bytes cookie
    cdef public int64_t received
    cdef public uint64_t framing_bytes
    cdef readonly int64_t since_ns
    cdef readonly int64_t start_ns
    cdef readonly uint64_t start_us
    cdef object _setopt
    cdef object _getinfo
    cdef bytes _ip
    cdef int _port
    cdef Slot _older
    cdef Slot _newer

    cpdef object keep(self, bint is_kept)
    cpdef object aim(self, FetchJob job)
    cdef int _aim_nowhere(self) except -1
    cpdef FetchResult result(
        self, FetchJob job, object outcome, bint keeps_body, bint is_truncated, str reason,
        int64_t end_ns,
    )


cdef class Running:
    cdef Slot _oldest
    cdef Slot _newest
    cdef Slot _unasked
    cdef Py_ssize_t _count

    cpdef object begin(self, Slot slot, FetchJob job, int64_t since_ns)
    cpdef FetchJob end(self, Slot slot)
