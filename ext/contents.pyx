"""The latest contents of hosts: how a trap that shows the same again and again is told.

Idea: 20 bits of four digests and a few numbers for each host that was asked (``contents.h``).
To compare texts costs more than all else that a parser does with a page, so the shard says of which
pages it wants to know (``watch``): of none while the host is small, then of one in 16, and of all
while the last 32 said nothing new.

Invariants:
1. ``in_a_row`` counts pages that said nothing new since the last one that is known to have done so.
2. Between 32 in a row and the limit all pages are judged, but for those that were on their way.
3. A crowd is told of the first page of each host that was met in it, and of no other.

Memory: 16 bytes a host, in slabs that never move.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

cdef enum:
    SLAB_SHIFT = 10                 # hosts of a slab
    SLAB_HOSTS = 1 << SLAB_SHIFT


cdef inline uint32_t first_of(const unsigned char *digest) noexcept:
    cdef uint32_t first
    memcpy(&first, digest, sizeof(first))
    return first


cdef uint32_t filled_up(bytes digest):
    cdef uint32_t first = 0
    memcpy(
        &first, PyBytes_AS_STRING(digest),
        min(PyBytes_GET_SIZE(digest), <Py_ssize_t>sizeof(first)),
    )
    return first


@cython.final
@cython.no_gc
cdef class Contents:
    """What the hosts of a crowded domain have shown first.

    Attributes:
        is_left: free for its owner.
    """

    def add(self, bytes digest not None, *, bint is_near=False, bint leads_on=True, int watched=1):
        """A page was shown; see ``HostContents.add``."""
        contents_note(&self._all, filled_up(digest), is_near, leads_on, watched)

    @property
    def in_a_row(self):
        """Pages in a row that said nothing new, at most 65,535."""
        return self._all.in_a_row

    @property
    def shown(self):
        """Good pages."""
        return self._all.shown

    @property
    def is_left(self):
        return bool(self._all.is_left)

    @is_left.setter
    def is_left(self, bint is_left):
        self._all.is_left = is_left


@cython.final
cdef class HostContents:
    """What each host has shown last, by its number in the shard's table.

    A host is met before it is asked about; of one that was not, everything is 0.
    """

    def __cinit__(self):
        self._crowds = {}

    def __dealloc__(self):
        slabs_free(&self._slabs)

    def meet(self, Py_ssize_t host_id, Contents crowd=None):
        """A host is asked for the first time.

        Args:
            crowd: of its registered domain, which takes the first page of each of its hosts.

        Raises:
            ValueError: no host has such a number.
            MemoryError: there is no memory for it.
        """
        cdef host_contents *contents = self._made(host_id)
        contents.is_met = True
        contents.has_crowd = crowd is not None
        if crowd is not None:
            self._crowds[host_id] = crowd

    def is_met(self, Py_ssize_t host_id):
        """Whether ``meet`` was told of it."""
        cdef host_contents *contents = self.known(host_id)
        return contents != NULL and contents.is_met != 0

    def crowd(self, Py_ssize_t host_id):
        """The crowd that waits for the host's first page, or None."""
        return self._crowds.get(host_id)

    def in_a_row(self, Py_ssize_t host_id):
        """Pages in a row that said nothing new, at most 65,535."""
        cdef host_contents *contents = self.known(host_id)
        return 0 if contents == NULL else contents.in_a_row

    def shown(self, Py_ssize_t host_id):
        """Good pages."""
        cdef host_contents *contents = self.known(host_id)
        return 0 if contents == NULL else contents.shown

    def leave(self, Py_ssize_t host_id):
        """The host is left; returns whether it was not yet."""
        cdef host_contents *contents = self._made(host_id)
        cdef bint was_left = contents.is_left
        contents.is_left = True
        return not was_left

    def watch(self, Py_ssize_t host_id, uint32_t after, uint32_t most):
        """Whether the next page of a host is to be compared with earlier ones.

        Args:
            after: pages of a host that are not; 0 = every page is judged.
            most: pages in a row that say nothing new, after which the host is left.

        Returns:
            0 no, 1 with those of its host, 2 with the first pages of the hosts of its domain; 4:
            nobody has to ask for it, it is judged anyhow.
        """
        cdef host_contents *contents = self.known(host_id)
        if contents == NULL or not contents.is_met:
            return 0
        return 2 if contents.has_crowd else contents_watch(contents, after, most)

    def add(
        self, Py_ssize_t host_id, bytes digest not None, *, bint is_near=False,
        bint leads_on=True, int watched=1,
    ):
        """A page was shown.

        Args:
            digest: of its body; its first 20 bits count, what is missing counts as zeros.
            is_near: it is a near-duplicate of an earlier page of its host; it counts when it
                leads on, and else neither way.
            leads_on: it has links that nobody had followed.
            watched: what ``watch`` said of it; of 0 it is not known whether it is a near-duplicate.

        Raises:
            ValueError: no host has such a number.
            MemoryError: there is no memory for it.
        """
        cdef uint32_t first = filled_up(digest)
        self.note(host_id, <const unsigned char *>&first, is_near, leads_on, watched)

    cdef int note(
        self, Py_ssize_t host_id, const unsigned char *digest, bint is_near, bint leads_on,
        int watched,
    ) except -1:
        cdef host_contents *contents = self._made(host_id)
        cdef Contents crowd
        contents.is_met = True
        if contents.has_crowd:
            crowd = self._crowds.pop(host_id)
            contents.has_crowd = False
            contents_note(&crowd._all, first_of(digest), is_near, leads_on, watched)
        contents_note(contents, first_of(digest), is_near, leads_on, watched)
        return 0

    cdef host_contents *known(self, Py_ssize_t host_id) noexcept:
        """NULL: nothing is known of it."""
        if host_id < 0 or host_id >> SLAB_SHIFT >= self._slabs.count:
            return NULL
        return <host_contents *>self._slabs.at[host_id >> SLAB_SHIFT] + host_id % SLAB_HOSTS

    cdef host_contents *_made(self, Py_ssize_t host_id) except NULL:
        if not 0 <= host_id < 1 << 31:
            raise ValueError(f"no host has the number {host_id}")
        while host_id >> SLAB_SHIFT >= self._slabs.count:
            if slabs_add(&self._slabs, SLAB_HOSTS * sizeof(host_contents)) == NULL:
                raise MemoryError
        return self.known(host_id)
