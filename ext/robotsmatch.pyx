"""The robots matcher: which rule of an agent's group decides a path, by RFC 9309, section 2.2.

Idea: patterns are compiled once, in Python, to a layout in one buffer that is asked without it
(``robotsrules.pxd``).

1. Ranks are unique: rules are ordered by length of the normalised pattern, then Allow before
   Disallow, then the earlier before the later; the strongest rule that matches decides.
2. Patterns and paths are normalised by the same function and then compared byte by byte: hex
   digits become upper case, unreserved characters are decoded, bytes over 127 encoded. Reserved
   characters stay as they are: %2F is not /. But %2A and %24 are read as * and $, which is how a
   rule says these literally.
3. No rule decides /robots.txt itself (section 2.2.2).

Cost: about 0.1 us a path. Memory: the patterns, 8 bytes for each rule and 12 for each prefix, in
one buffer of just that size, and 32 for the object. May be subclassed.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

from robotsrules cimport (
    ALLOW, ANCHORED, LAST, LINE_SHIFT, NO_NODE, ROBOTS_GROWTH, decide, node, robots_normalise,
    robots_pairs, rule, rule_set,
)


cdef enum:
    MAX_RULES = 65_535          # indices and ranks have 16 bits
    MAX_LINE = 536_870_911      # 29 bits
    MAX_PART_BYTES = 65_535     # a prefix, or the tail of a pattern; 16 bits
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
    cdef size_t tail  # bytes

    def __cinit__(self, bytes pattern not None, bint allow, uint32_t line):
        cdef bytes last
        if line > MAX_LINE:
            raise ValueError(f"line {line} is over {MAX_LINE}")
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
        self.tail = sum([sizeof(uint16_t) + <size_t>len(part) for part in self.segments])
        if self.segments:
            self.tail += sizeof(uint64_t)
        if len(self.prefix) > MAX_PART_BYTES or self.tail > MAX_PART_BYTES:
            raise ValueError(f"a pattern of {len(pattern)} bytes, over {MAX_PART_BYTES} as kept")

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


cdef uint32_t put(const rule_set *rules, uint32_t at, const void *data, size_t size) noexcept:
    """Write bytes at an offset of the text; return where they end."""
    memcpy(rules.text + at, data, size)
    return at + <uint32_t>size


cdef uint32_t put_rule(const rule_set *rules, rule *out, _Compiled one, uint32_t at):
    """Write a rule, and its tail from ``at`` on; return where that ends."""
    cdef bytes segment
    cdef uint16_t size
    cdef uint64_t pairs = 0
    out.shape = one.line << LINE_SHIFT | (ALLOW if one.allow else 0)
    out.shape |= (ANCHORED if one.anchored else 0)
    out.tail = <uint16_t>one.tail
    if not one.segments:
        return at
    for segment in one.segments:
        pairs |= robots_pairs(segment, len(segment))
    at = put(rules, at, &pairs, sizeof(pairs))
    for segment in one.segments:
        size = <uint16_t>len(segment)
        at = put(rules, at, &size, sizeof(size))
        at = put(rules, at, PyBytes_AS_STRING(segment), size)
    return at


cdef bint begins_with(bytes prefix, const rule_set *rules, const node *other):
    """Whether a prefix begins with that of a node."""
    cdef size_t size = len(prefix)
    return other.size <= size and memcmp(
        PyBytes_AS_STRING(prefix), rules.text + other.text, other.size) == 0


cdef uint16_t parent_of(bytes prefix, const rule_set *rules, size_t at):
    """The longest prefix that this one, which will be that of node ``at``, begins with."""
    cdef uint16_t parent = <uint16_t>(at - 1) if at else <uint16_t>NO_NODE
    while parent != NO_NODE and not begins_with(prefix, rules, &rules.nodes[parent]):
        parent = rules.nodes[parent].parent
    return parent


cdef int fill(const rule_set *rules, dict by_prefix) except -1:
    """Lay out the nodes in the order of their prefixes, with their rules and texts."""
    cdef uint32_t used = 0, rank
    cdef size_t at, count = 0
    cdef node *here
    cdef bytes prefix
    cdef _Compiled one
    for at, prefix in enumerate(sorted(by_prefix)):
        here = &rules.nodes[at]
        here.text, here.size = used, <uint16_t>len(prefix)
        here.parent, here.first = parent_of(prefix, rules, at), <uint16_t>count
        used = put(rules, used, PyBytes_AS_STRING(prefix), here.size)
        for rank, one in by_prefix[prefix]:
            rules.rules[count].rank = <uint16_t>rank
            used = put_rule(rules, &rules.rules[count], one, used)
            count += 1
        rules.rules[count - 1].shape |= LAST
        here.rank_up = rules.rules[here.first].rank
        if here.parent != NO_NODE and rules.nodes[here.parent].rank_up > here.rank_up:
            here.rank_up = rules.nodes[here.parent].rank_up
    return 0


cdef class Matcher:
    """The rules of one group, ready to be asked.

    Args:
        rules: (pattern, whether it is an Allow, line) of each rule. A pattern is the value of the
            line as it stands in the file; an empty one is no rule. Lines count from 1.

    Raises:
        ValueError: more than 65,535 rules, a line over 2**29 - 1, or a pattern that has more than
            65,535 bytes before its first star or behind it, as they are kept. No robots.txt within
            the limits of ``larbinpy.politeness.robots`` comes to any of these.

    Cost: O(n log n) to build, about 2 us a rule.
    """

    cdef uint8_t *_buffer  # nodes, rules, text
    cdef uint32_t _nodes
    cdef uint32_t _rules

    def __cinit__(self, rules):
        cdef list ranked = _ranked(rules)
        cdef dict by_prefix = {}
        cdef _Compiled one
        cdef size_t text = 0
        cdef uint32_t rank = <uint32_t>len(ranked)
        cdef rule_set laid_out
        if rank > MAX_RULES:
            raise ValueError(f"{rank} rules, more than {MAX_RULES}")
        for one in ranked:
            by_prefix.setdefault(one.prefix, []).append((rank, one))
            text += one.tail
            rank -= 1
        text += sum(map(len, by_prefix))
        self._nodes, self._rules = <uint32_t>len(by_prefix), <uint32_t>len(ranked)
        self._buffer = <uint8_t *>malloc(
            self._nodes * sizeof(node) + self._rules * sizeof(rule) + text + 1)
        if self._buffer is NULL:
            raise MemoryError
        laid_out = rules_of(self)
        fill(&laid_out, by_prefix)

    def __dealloc__(self):
        free(self._buffer)

    def match(self, bytes path not None):
        """Return whether a path is allowed, and the line that says so.

        Args:
            path: path and query as a URL holds them.

        Returns:
            (allowed, line); the line is 0 when no rule decides, and the path is then allowed.
        """
        cdef const rule *one = decide_one(self, path)
        if one is NULL:
            return True, 0
        return (one.shape & ALLOW) != 0, one.shape >> LINE_SHIFT

    def allows(self, bytes path not None):
        """Return whether a path is allowed."""
        cdef const rule *one = decide_one(self, path)
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
        cdef rule_set rules = rules_of(self)
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
                    one = decided(&rules, views[i].data, views[i].size, room)
                    out[i] = one is NULL or (one.shape & ALLOW) != 0
        finally:
            free(views)
            free(room)
        return verdicts


cdef inline rule_set rules_of(Matcher matcher):
    """Where the parts of a matcher's buffer are."""
    cdef rule_set found
    found.count = matcher._nodes
    found.nodes = <node *>matcher._buffer
    found.rules = <rule *>(found.nodes + matcher._nodes)
    found.text = <uint8_t *>(found.rules + matcher._rules)
    return found


cdef const rule *decided(
    const rule_set *rules, const uint8_t *path, size_t size, uint8_t *room
) noexcept nogil:
    """``decide`` on its own: compiled into both its callers it is a quarter slower."""
    return decide(rules, path, size, room)


cdef const rule *decide_one(Matcher matcher, bytes path) except? NULL:
    """The same, with room on the stack for a path of usual size."""
    cdef uint8_t small[SMALL_ROOM]
    cdef uint8_t *room = small
    cdef size_t size = len(path)
    cdef rule_set rules = rules_of(matcher)
    cdef const rule *one
    if size > SMALL_PATH:
        room = <uint8_t *>malloc(size * ROBOTS_GROWTH)
        if room is NULL:
            raise MemoryError
    one = decided(&rules, <const uint8_t *>PyBytes_AS_STRING(path), size, room)
    if room is not small:
        free(room)
    return one
