"""The simhash of a page: 64 bits of which few differ between pages that differ in few words.

Idea and text rules stand in ``simhash.h``. One pass over the bytes, constant memory, no Python
inside; the page is the batch.

Never change how it is made: it stands in ``crawl.log``.

Cost: O(bytes); see tests/bench/micro_simhash.py.
"""

from libc.stdint cimport uint8_t, uint64_t


cdef extern from "simhash.h" nogil:
    uint64_t simhash_of(const uint8_t *text, size_t size)


def simhash(bytes html not None):
    """Return the simhash of an HTML page, 0 when it has fewer than 16 different
    runs of three words.

    Args:
        html: UTF-8, or anything that agrees with ASCII. Tags, comments, scripts and styles are
            left out; words are runs of letters, digits and bytes that are not ASCII, in lower case.
    """
    cdef const uint8_t *text = <const uint8_t *><const char *>html
    cdef size_t size = len(html)
    cdef uint64_t found
    with nogil:
        found = simhash_of(text, size)
    return found
