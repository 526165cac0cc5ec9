# Fields of ``ext/contents.pyx``, for the kernels that use it.

from libc.stdint cimport uint32_t


cdef extern from "contents.h" nogil:
    ctypedef struct host_contents:
        uint32_t shown
        uint32_t in_a_row
        uint32_t is_met
        uint32_t is_left
        uint32_t has_crowd
    void contents_note(host_contents *c, uint32_t digest, int is_near, int leads_on, int watched)
    int contents_watch(const host_contents *c, uint32_t after, uint32_t most)

cdef extern from "slabs.h" nogil:
    ctypedef struct slab_list:
        char **at
        uint32_t count
    char *slabs_add(slab_list *slabs, size_t size)
    void slabs_free(slab_list *slabs)


cdef class Contents:
    cdef host_contents _all


cdef class HostContents:
    cdef slab_list _slabs
    cdef dict _crowds
    cdef host_contents *known(self, Py_ssize_t host_id) noexcept
    cdef host_contents *_made(self, Py_ssize_t host_id) except NULL
    cdef int note(
        self, Py_ssize_t host_id, const unsigned char *digest, bint is_near, bint leads_on,
        int watched,
    ) except -1
