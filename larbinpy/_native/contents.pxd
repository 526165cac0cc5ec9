# Fields of ``ext/contents.pyx``, for the kernels that use it.


cdef class Contents:
    cdef unsigned char latest[64]
    cdef unsigned char kept
    cdef unsigned char next
    cdef public unsigned int in_a_row
    cdef int note(self, const unsigned char *digest, bint is_near) except -1
