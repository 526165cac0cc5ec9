# What each parser has to do, header only: bytes that it was sent and has not answered.
#
# Invariant: parsers are known by number, and there is a load for each number below `parsers`.

from libc.stdint cimport uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memset


cdef enum:
    PARSER_LOAD = 8 << 20  # what one parser may have unanswered
    NO_PARSER = -1


cdef struct parser_loads:
    uint64_t *bytes  # the owner frees it
    int parsers


cdef inline int loads_join(parser_loads *loads, int parser) except -1:
    """Make room for a parser; the loads of the others stay."""
    cdef uint64_t *grown
    if parser < 0:
        raise ValueError(f"no parser {parser}")
    if parser >= loads.parsers:
        grown = <uint64_t *>realloc(loads.bytes, (parser + 1) * sizeof(uint64_t))
        if grown is NULL:
            raise MemoryError
        memset(grown + loads.parsers, 0, (parser + 1 - loads.parsers) * sizeof(uint64_t))
        loads.bytes, loads.parsers = grown, parser + 1
    return 0


cdef inline void loads_leave(parser_loads *loads, int parser) noexcept:
    """A parser is gone, and with it what it had."""
    if 0 <= parser < loads.parsers:
        loads.bytes[parser] = 0


cdef inline int least_loaded(const parser_loads *loads, dict parsers) except -2:
    """The one of these that has the least to do; NO_PARSER when all have enough."""
    cdef int best = NO_PARSER
    cdef uint64_t least = PARSER_LOAD
    for index in parsers:
        if loads.bytes[<int>index] < least:
            best, least = index, loads.bytes[<int>index]
    return best
