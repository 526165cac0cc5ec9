# Rules of robots.txt laid out for look-ups, header only: which of them decides a path.
#
# Idea: a rule is its literal prefix (up to the first `*`) and a tail (the rest). Only rules whose
# prefix begins the path can match, and these lie on one chain: with the distinct prefixes sorted,
# and each linked to the longest other prefix that it begins with, the greatest prefix that is not
# above the path leads to all of them. So a path costs one binary search, and a look at few rules.
#
# 1. A node's rules are ordered from the strongest; `rank_up` is the strongest rank here and further
#    up the chain. So the walk ends as soon as nothing stronger can follow.
# 2. A tail is matched segment by segment, each at its first place: of all places the first leaves
#    most of the path to the others, so nothing is ever tried again.
# 3. The text of a node is its prefix, then the tails of its rules in their order. A tail is the
#    robots_pairs of its segments (u64), which the path must have, then u16 size and bytes of each.
#    So neither tails nor segments need offsets: a rule takes 8 bytes, a node 12.
#
# Rejected: a trie (more memory than the rules, and slower to build), one regular expression (may
# backtrack, and does not tell the longest rule).
#
# Cost: O(log rules) comparisons of bytes, and for each rule with a tail on the chain one search of
# the path for each of its segments.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy


cdef extern from "Python.h":
    # string.h declares it since Python.h asks for GNU extensions
    void *memmem(const void *text, size_t size, const void *part, size_t part_size) nogil

cdef extern from "robotstext.h" nogil:
    const size_t ROBOTS_GROWTH
    const char *ROBOTS_PATH
    bint robots_is_plain(const uint8_t *text, size_t size)
    size_t robots_normalise(const uint8_t *text, size_t size, uint8_t *out)
    uint64_t robots_pairs(const uint8_t *text, size_t size)
    size_t robots_common(const uint8_t *one, const uint8_t *other, size_t size)

cdef enum:  # rule.shape
    ALLOW = 1
    ANCHORED = 2      # the pattern ends with $
    LAST = 4          # of its node
    LINE_SHIFT = 3

cdef enum:
    NO_NODE = 0xFFFF
    ROBOTS_PATH_BYTES = 11


cdef struct rule:
    uint32_t shape   # line << LINE_SHIFT | ALLOW | ANCHORED | LAST
    uint16_t rank    # 1 = weakest
    uint16_t tail    # bytes of its tail, 0 when it has no segments


cdef struct node:
    uint32_t text    # offset of the prefix
    uint16_t size
    uint16_t parent  # the longest other prefix that this one begins with, or NO_NODE
    uint16_t first   # index of its strongest rule
    uint16_t rank_up


cdef struct rule_set:
    node *nodes    # sorted by prefix
    rule *rules    # by node
    uint8_t *text  # prefixes and tails
    size_t count   # of nodes


cdef struct asked:
    const uint8_t *path
    size_t size
    uint64_t pairs   # robots_pairs of the path, 0 until a rule with a tail needs them


cdef inline ssize_t find(const rule_set *rules, const uint8_t *path, size_t size) noexcept nogil:
    """The last node whose prefix is not above the path, -1 if none."""
    cdef size_t low = 0, high = rules.count, middle, shorter
    cdef int order
    cdef const node *here
    while low < high:
        middle = (low + high) >> 1
        here = &rules.nodes[middle]
        shorter = here.size if here.size < size else size
        order = memcmp(rules.text + here.text, path, shorter)
        if order < 0 or (order == 0 and here.size <= size):
            low = middle + 1
        else:
            high = middle
    return <ssize_t>low - 1


cdef inline bint tail_matches(const rule *one, const uint8_t *tail, asked *what,
                              size_t at) noexcept nogil:
    """Whether what follows the prefix, from ``at`` on, is matched (invariant 2)."""
    cdef const uint8_t *stop = tail + one.tail
    cdef const uint8_t *end = what.path + what.size
    cdef const uint8_t *found = what.path + at
    cdef uint64_t pairs
    cdef uint16_t length
    if one.tail == 0:
        return not one.shape & ANCHORED or at == what.size
    if what.pairs == 0:
        what.pairs = robots_pairs(what.path, what.size)
    memcpy(&pairs, tail, sizeof(pairs))
    if pairs & ~what.pairs:
        return False
    tail += sizeof(pairs)
    while tail < stop:
        memcpy(&length, tail, sizeof(length))
        tail += sizeof(length)
        if one.shape & ANCHORED and tail + length == stop:
            return length <= <size_t>(end - found) and memcmp(end - length, tail, length) == 0
        found = <const uint8_t *>memmem(found, <size_t>(end - found), tail, length)
        if found is NULL:
            return False
        found += length
        tail += length
    return True


cdef inline const rule *strongest_at(const rule_set *rules, const node *here, asked *what,
                                     uint32_t rank) noexcept nogil:
    """The strongest rule of a prefix of the path that matches, NULL if none above ``rank``."""
    cdef const rule *one = &rules.rules[here.first]
    cdef const uint8_t *tail = rules.text + here.text + here.size
    while one.rank > rank:
        if tail_matches(one, tail, what, here.size):
            return one
        if one.shape & LAST:
            return NULL
        tail += one.tail
        one += 1
    return NULL


cdef inline const rule *strongest(
    const rule_set *rules, const uint8_t *path, size_t size
) noexcept nogil:
    """The rule that decides a normalised path, NULL if none matches."""
    cdef ssize_t at = find(rules, path, size)
    cdef size_t common
    cdef asked what
    cdef const node *here
    cdef const rule *one
    cdef const rule *best = NULL
    if at < 0:
        return NULL
    what.path, what.size, what.pairs = path, size, 0
    here = &rules.nodes[at]
    common = robots_common(rules.text + here.text, path, min(here.size, size))
    while at >= 0 and (best is NULL or rules.nodes[at].rank_up > best.rank):
        here = &rules.nodes[at]
        at = -1 if here.parent == NO_NODE else <ssize_t>here.parent
        if here.size <= common:
            one = strongest_at(rules, here, &what, 0 if best is NULL else best.rank)
            best = best if one is NULL else one
    return best


cdef inline const rule *decide(const rule_set *rules, const uint8_t *path, size_t size,
                               uint8_t *room) noexcept nogil:
    """The rule that decides a path, none for robots.txt itself (RFC 9309, section 2.2.2).

    ``room`` has ROBOTS_GROWTH * size bytes.
    """
    if size == ROBOTS_PATH_BYTES and memcmp(path, ROBOTS_PATH, size) == 0:
        return NULL
    if robots_is_plain(path, size):
        return strongest(rules, path, size)
    return strongest(rules, room, robots_normalise(path, size, room))
