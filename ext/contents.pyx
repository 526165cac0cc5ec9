"""The latest contents of a host: how a trap that shows the same again and again is told.

Idea: four digests of 16 bytes and two numbers, in one object of 88 bytes, for there is one for each
host that has shown a page.

Invariant: ``in_a_row`` counts the pages since the last one whose contents were new.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.string cimport memcmp, memcpy, memset

cdef enum:
    DIGEST_BYTES = 16
    KEPT = 4


@cython.final
@cython.no_gc
cdef class Contents:
    """What a host has shown last, oldest first out."""

    def add(self, bytes digest not None, *, bint is_near=False):
        """A page was shown.

        Args:
            digest: of its body, 16 bytes; what is missing counts as zeros.
            is_near: it is a near-duplicate of an earlier page of its host.
        """
        cdef unsigned char whole[DIGEST_BYTES]
        memset(whole, 0, DIGEST_BYTES)
        memcpy(whole, PyBytes_AS_STRING(digest), min(PyBytes_GET_SIZE(digest), DIGEST_BYTES))
        self.note(whole, is_near)

    cdef int note(self, const unsigned char *digest, bint is_near) except -1:
        cdef int at
        cdef bint is_known = is_near
        for at in range(<int>self.kept):
            if memcmp(&self.latest[at * DIGEST_BYTES], digest, DIGEST_BYTES) == 0:
                is_known = True
        if is_known:
            self.in_a_row += 1
            return 0
        self.in_a_row = 0
        memcpy(&self.latest[self.next * DIGEST_BYTES], digest, DIGEST_BYTES)
        self.next = (self.next + 1) % KEPT
        self.kept = min(self.kept + 1, KEPT)
        return 0
