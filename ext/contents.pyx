"""The latest contents of a host: how a trap that shows the same again and again is told.

Idea: eight bytes of four digests and a few numbers, in one object of 80 bytes, for there is one for
each host that was asked.  To compare texts costs more than all else that a parser does with a page,
so the shard says of which pages it wants to know (``watch``): of none while the host is small, then
of one in ``EVERY``, and of all while the last ``CLOSE`` said nothing new.

Invariants:
1. ``in_a_row`` counts pages that said nothing new since the last one that is known to have done so.
2. Between ``CLOSE`` and the limit all pages are judged, but for those that were on their way.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

cdef enum:
    DIGEST_BYTES = 8
    KEPT = 4
    EVERY = 16
    CLOSE = 32


@cython.final
@cython.no_gc
cdef class Contents:
    """What a host has shown last, oldest first out.

    Attributes:
        in_a_row: pages in a row that said nothing new.
        shown: good pages.
        is_left: free for its owner.
        crowd: the same of its registered domain, which takes the first page of each of its hosts.
    """

    def add(self, bytes digest not None, *, bint is_near=False, bint leads_on=True, int watched=1):
        """A page was shown.

        Args:
            digest: of its body; its first eight bytes count, what is missing counts as zeros.
            is_near: it is a near-duplicate of an earlier page of its host; it counts when it
                leads on, and else neither way.
            leads_on: it has links that nobody had followed.
            watched: what ``watch`` said of it; of 0 it is not known whether it is a near-duplicate.
        """
        cdef uint64_t first = 0
        memcpy(&first, PyBytes_AS_STRING(digest), min(PyBytes_GET_SIZE(digest), DIGEST_BYTES))
        self.note(<const unsigned char *>&first, is_near, leads_on, watched)

    cpdef int watch(self, unsigned int after, unsigned int most) except -1:
        """Whether the next page is to be compared with earlier ones.

        Args:
            after: pages of a host that are not; 0 = every page is judged.
            most: pages in a row that say nothing new, after which the host is left.

        Returns:
            0 no, 1 with those of its host, 2 with the first pages of the hosts of its domain; 4:
            nobody has to ask for it, it is judged anyhow.
        """
        if self.crowd is not None:
            return 2
        if after == 0:
            return 4
        if self.shown < after:
            return 0
        return self.in_a_row >= min(<unsigned int>CLOSE, most // 2) or self.shown % EVERY == 0

    cdef int note(
        self, const unsigned char *digest, bint is_near, bint leads_on, int watched
    ) except -1:
        cdef uint64_t first
        cdef int at
        memcpy(&first, digest, DIGEST_BYTES)
        if self.crowd is not None:
            self.crowd.note(digest, is_near, leads_on, watched)
            self.crowd = None
        self.shown += 1
        for at in range(<int>self.kept):
            if self.latest[at] == first:
                self.in_a_row += 1
                return 0
        if is_near:
            self.in_a_row += leads_on
            return 0
        if watched:
            self.in_a_row = 0
        self.latest[self.next] = first
        self.next = (self.next + 1) % KEPT
        self.kept = min(self.kept + 1, KEPT)
        return 0
