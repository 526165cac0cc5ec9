"""The robots matcher: which rule of an agent's group decides a path, by RFC 9309, section 2.2.

Idea: patterns are compiled once, in Python, to a layout in one buffer that is asked without it
(``robotsrules.pxd``).

1. Ranks are unique: rules are ordered by length of the normalised pattern, then Allow before
   Disallow, then the earlier before the later; the strongest rule that matches decides.
2. Patterns and paths are normalised by the same function and then compared byte by byte: hex
   digits become upper case, unreserved characters are decoded, bytes over 127 encoded. Reserved
   characters stay as they are: %2F is not /. But %2A and %24 are read as * and $, which is how a
   rule says these literally.

Cost: about 0.1 us a path. Memory: the patterns and 24 bytes for each rule and for each prefix, in
one buffer.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

from robotsrules cimport (
    ALLOW, ANCHORED, HAS_TAIL, ROBOTS_GROWTH, decide, node, robots_normalise, robots_pairs, rule,
    rule_set,
)


cdef enum:
    MAX_PATTERN_BYTES = 268_435_456  # of all rules together; offsets and ranks have 32 bits
    SMALL_PATH = 2083      # a longer path is normalised on the heap
    SMALL_ROOM = 6249      # SMALL_PATH * ROBOTS_GROWTH


cdef struct text_view:
    const uint8_t *data
    size_t size


cdef bytes normalised(bytes text):
    """Normal form of a part of a pattern."""
    cdef size_t size = len(text)
    cdef bytes room = PyBytes_FromStringAndSize(NULL, size * ROBOTS_GROWTH)
    return room[:robots_normalise(text, size, <uint8_t *>PyBytes_AS_STRING(room))]


cdef class _Compiled:
    """A pattern in parts; the order of ``_ranked`` and the key of repeated patterns."""

    cdef bytes prefix
    cdef list segments
    cdef bint anchored
    cdef bint allow
    cdef uint32_t line
    cdef size_t length

    def __cinit__(self, bytes pattern not None, bint allow, uint32_t line):
        cdef bytes last
        self.allow = allow
        self.line = line
        self.anchored = pattern.endswith(b"$")
        parts = pattern[:len(pattern) - self.anchored].split(b"*")
        self.length = len(parts) - 1 + self.anchored
        parts = [normalised(part) for part in parts]
        self.length += sum(map(len, parts))
        self.prefix, *parts = parts
        self.segments = []
        if parts:
            last = parts.pop()
            self.segments = [part for part in parts if part]
            if last:
                self.segments.append(last)
            else:  # the end of the path is whatever follows the last star, with or without "$"
                self.anchored = False

    cdef tuple order(self):
        """Sorts from the strongest rule to the weakest."""
        return -<object>self.length, not self.allow, self.line

    cdef tuple key(self):
        return self.prefix, tuple(self.segments), self.anchored


cdef list _ranked(rules):
    """The rules that can decide, from the strongest to the weakest."""
    compiled = [_Compiled(pattern, allow, line) for pattern, allow, line in rules if pattern != b""]
    compiled.sort(key=lambda one: (<_Compiled>one).order())
    strongest = {}
    for one in compiled:
        strongest.setdefault((<_Compiled>one).key(), one)
    return list(strongest.values())


cdef class Matcher:
    """The rules of one group, ready to be asked.

    Args:
        rules: (pattern, whether it is an Allow, line) of each rule. A pattern is the value of the
            line as it stands in the file; an empty one is no rule. Lines count from 1.

    Raises:
        ValueError: the patterns have more than 256 MiB.

    Cost: O(n log n) to build, about 2 us a rule.
    """

    cdef uint8_t *_buffer  # nodes, rules, text
    cdef rule_set _set     # points into it

    def __cinit__(self, rules):
        cdef list ranked = _ranked(rules)
        cdef dict by_prefix = {}
        cdef _Compiled one
        cdef size_t text = 0
        cdef uint32_t rank = <uint32_t>len(ranked)
        for one in ranked:
            by_prefix.setdefault(one.prefix, []).append((rank, one))
            text += sum([sizeof(uint32_t) + <size_t>len(part) for part in one.segments])
            rank -= 1
        text += sum(map(len, by_prefix))
        if text > MAX_PATTERN_BYTES:
            raise ValueError(f"patterns of {text} bytes, more than {MAX_PATTERN_BYTES}")
        self._set.count = len(by_prefix)
        self._buffer = <uint8_t *>malloc(
            self._set.count * sizeof(node) + len(ranked) * sizeof(rule) + text + 1)
        if self._buffer is NULL:
            raise MemoryError
        self._set.rules = <rule *>self._buffer
        self._set.nodes = <node *>(self._set.rules + len(ranked))
        self._set.text = <uint8_t *>(self._set.nodes + self._set.count)
        self._fill(by_prefix)

    def __dealloc__(self):
        free(self._buffer)

    cdef int _fill(self, dict by_prefix) except -1:
        """Lay out the nodes in the order of their prefixes, with their rules and texts."""
        cdef uint32_t used = 0, rules = 0, rank
        cdef int32_t at, parent
        cdef node *here
        cdef bytes prefix
        cdef _Compiled one
        for at, prefix in enumerate(sorted(by_prefix)):
            parent = at - 1
            while parent >= 0 and not self._begins_with(prefix, &self._set.nodes[parent]):
                parent = self._set.nodes[parent].parent
            here = &self._set.nodes[at]
            here.text, here.size, here.parent = used, <uint32_t>len(prefix), parent
            used = self._put(used, prefix)
            here.first = rules
            for rank, one in by_prefix[prefix]:
                self._set.rules[rules].rank = rank
                used = self._put_rule(&self._set.rules[rules], one, used)
                rules += 1
            here.end = rules
            here.rank_up = self._set.rules[here.first].rank
            if parent >= 0 and self._set.nodes[parent].rank_up > here.rank_up:
                here.rank_up = self._set.nodes[parent].rank_up
        return 0

    cdef bint _begins_with(self, bytes prefix, const node *other):
        cdef size_t size = len(prefix)
        return other.size <= size and memcmp(
            PyBytes_AS_STRING(prefix), self._set.text + other.text, other.size) == 0

    cdef uint32_t _put(self, uint32_t at, bytes text):
        memcpy(self._set.text + at, PyBytes_AS_STRING(text), len(text))
        return at + <uint32_t>len(text)

    cdef uint32_t _put_rule(self, rule *out, _Compiled one, uint32_t at):
        """Write a rule and its segments from ``at`` on; return where these end."""
        cdef bytes segment
        cdef uint32_t size
        out.line, out.tail, out.pairs = one.line, at, 0
        out.shape = <uint32_t>len(one.segments) << 3 | (ALLOW if one.allow else 0)
        out.shape |= (ANCHORED if one.anchored else 0)
        out.shape |= (HAS_TAIL if one.segments or one.anchored else 0)
        for segment in one.segments:
            size = <uint32_t>len(segment)
            memcpy(self._set.text + at, &size, sizeof(size))
            at = self._put(at + sizeof(size), segment)
            out.pairs |= robots_pairs(segment, size)
        return at

    cdef const rule *decided(self, const uint8_t *path, size_t size, uint8_t *room) noexcept nogil:
        """``decide`` as a method: compiled into both its callers it is a quarter slower."""
        return decide(&self._set, path, size, room)

    cdef const rule *decide_one(self, bytes path) except? NULL:
        """The same, with room on the stack for a path of usual size."""
        cdef uint8_t small[SMALL_ROOM]
        cdef uint8_t *room = small
        cdef size_t size = len(path)
        cdef const rule *one
        if size > SMALL_PATH:
            room = <uint8_t *>malloc(size * ROBOTS_GROWTH)
            if room is NULL:
                raise MemoryError
        one = self.decided(<const uint8_t *>PyBytes_AS_STRING(path), size, room)
        if room is not small:
            free(room)
        return one

    def match(self, bytes path not None):
        """Return whether a path is allowed, and the line that says so.

        Args:
            path: path and query as a URL holds them.

        Returns:
            (allowed, line); the line is 0 when no rule decides, and the path is then allowed.
        """
        cdef const rule *one = self.decide_one(path)
        if one is NULL:
            return True, 0
        return (one.shape & ALLOW) != 0, one.line

    def allows(self, bytes path not None):
        """Return whether a path is allowed."""
        cdef const rule *one = self.decide_one(path)
        return one is NULL or (one.shape & ALLOW) != 0

    def allows_many(self, paths):
        """Return one byte for each path: 1 if it is allowed, else 0.

        Args:
            paths: bytes objects, as for ``match``.
        """
        cdef tuple held = tuple(paths)
        cdef size_t i, count = len(held), longest = 0
        cdef bytes path
        cdef bytes verdicts = PyBytes_FromStringAndSize(NULL, count)
        cdef char *out = PyBytes_AS_STRING(verdicts)
        cdef text_view *views = <text_view *>malloc((count + 1) * sizeof(text_view))
        cdef uint8_t *room = NULL
        cdef const rule *one
        if views is NULL:
            raise MemoryError
        try:
            for i in range(count):
                path = held[i]
                if path is None:
                    raise TypeError("a path is bytes, not None")
                views[i].data, views[i].size = path, len(path)
                longest = max(longest, views[i].size)
            room = <uint8_t *>malloc(longest * ROBOTS_GROWTH + 1)
            if room is NULL:
                raise MemoryError
            with nogil:
                for i in range(count):
                    one = self.decided(views[i].data, views[i].size, room)
                    out[i] = one is NULL or (one.shape & ALLOW) != 0
        finally:
            free(views)
            free(room)
        return verdicts
