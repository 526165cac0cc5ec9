# Fields of ``ext/contents.pyx``, for the kernels that use it.

from libc.stdint cimport uint64_t


cdef class Contents:
    cdef uint64_t latest[4]
    cdef unsigned char kept
    cdef unsigned char next
    cdef public bint is_left
    cdef public unsigned int in_a_row
    cdef readonly unsigned int shown
    cdef public Contents crowd
    cpdef int watch(self, unsigned int after, unsigned int most) except -1
    cdef int note(
        self, const unsigned char *digest, bint is_near, bint leads_on, int watched
    ) except -1
