"""Which transfers of a shard are going on, where its supervisor can read it when it is dead.

Idea: each transfer has a word of shared memory with the id of the URL that it is for, and one word
counts them all.  A process that is killed between two stores leaves at most one transfer too many.

Invariant: a word of the slots is 0 exactly when no transfer has it.

Cost: some 100 ns a transfer.
"""

cimport cython
from libc.stdint cimport uint64_t

from larbinpy._native.jobs cimport FetchJob
from larbinpy._native.shared cimport Words

cdef extern from "atomics.h" nogil:
    void atomic_set(uint64_t *at, uint64_t value)


@cython.final
cdef class Slots:
    """The transfers of one shard; what finds no free slot is only counted.

    Args:
        slots: a word for each transfer; all become 0.
        words, index: the word that counts.
    """

    cdef Words _slots
    cdef Words _words
    cdef Py_ssize_t _index
    cdef list _free
    cdef dict _places               # id of the request -> its slot, -1 = none was free

    def __init__(self, Words slots not None, Words words not None, Py_ssize_t index):
        cdef Py_ssize_t i
        words.load(index)           # it must be there
        self._slots, self._words, self._index = slots, words, index
        self._free = list(range(slots._count))
        self._places = {}
        self._show()
        for i in range(slots._count):
            atomic_set(slots._words + i, 0)

    def __len__(self):
        """Transfers that are going on."""
        return len(self._places)

    def begin(self, request_id, uint64_t page_id):
        """A transfer begins.

        Args:
            request_id: until ``end``.
            page_id: the URL that is to blame for it: the one that wants to know a robots.txt.
        """
        self._begin(request_id, page_id)
        self._show()

    def begin_all(self, list jobs not None):
        """A transfer begins for each of these pages."""
        cdef FetchJob job
        for job in jobs:
            self._begin(job.id, job.id)
        self._show()

    def end(self, request_id):
        """A transfer has ended, and its result was taken; nothing happens when it is not known."""
        self._end(request_id)
        self._show()

    def end_all(self, list jobs not None):
        """The transfers of these jobs have ended."""
        cdef FetchJob job
        for job in jobs:
            self._end(job.id)
        self._show()

    cdef int _begin(self, object request_id, uint64_t page_id) except -1:
        cdef Py_ssize_t place = self._free.pop() if self._free else -1
        self._places[request_id] = place
        if place >= 0:
            atomic_set(self._slots._words + place, page_id)
        return 0

    cdef int _end(self, object request_id) except -1:
        cdef Py_ssize_t place = self._places.pop(request_id, -1)
        if place >= 0:
            atomic_set(self._slots._words + place, 0)
            self._free.append(place)
        return 0

    cdef void _show(self):
        atomic_set(self._words._words + self._index, len(self._places))
