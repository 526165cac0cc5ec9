# Which links of a page are followed, header only: a link, its page and the settings are enough to
# tell, so nothing is remembered here and nothing is written.
#
# Invariant: a link is refused for the first rule that applies, in the order of `verdict`.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from layout cimport (
    ELEMENT_A, ELEMENT_AREA, ELEMENT_FORM, ELEMENT_FRAME, ELEMENT_IFRAME, ELEMENT_IMG, ELEMENT_LINK,
    ELEMENT_META, ELEMENT_REDIRECT, ELEMENT_SEED, ELEMENT_SOURCE,
    KIND_SITEMAP,
    LINK_REDIRECT, LINK_SEED, REL_NOFOLLOW, REL_SPONSORED, REL_UGC,
    RESOLVED_EMPTY, RESOLVED_OK, RESOLVED_SCHEME, RESOLVED_TOO_LONG,
    resolved_link,
)


cdef extern from "links.h" nogil:
    size_t file_start(const uint8_t *url, size_t url_len, size_t host_end)

cdef extern from "resolved.h" nogil:
    const uint8_t *url_of(const resolved_link *link)
    const uint8_t *host_of(const resolved_link *link)
    bint is_host(const resolved_link *link, const uint8_t *host, size_t host_len)
    bint has_query(const uint8_t *text, size_t size)
    size_t length_of_path(const uint8_t *text, size_t size)
    size_t host_at(const uint8_t *url, size_t size)
    bint is_at_host(const uint8_t *url, size_t size, const uint8_t *host, size_t host_len)

cdef extern from "suffixes.h" nogil:
    ctypedef struct suffix:
        pass
    ctypedef struct suffix_set:
        suffix *entries
        int32_t used
    void suffixes_init(suffix_set *set, suffix *entries)
    void suffixes_add(suffix_set *set, const uint8_t *text, size_t size)
    bint suffixes_match(const suffix_set *set, const uint8_t *text, size_t size)

cdef extern from "hosttable.h" nogil:
    ctypedef struct host_domain:
        uint64_t host
        uint64_t domain
    ctypedef struct host_table:
        host_domain *slots
    uint64_t hash_of_host(const uint8_t *key, const uint8_t *host, size_t size)
    int hosts_init(host_table *hosts, uint64_t limit)
    void hosts_free(host_table *hosts)
    host_domain *hosts_slot(const host_table *hosts, uint64_t host)
    host_domain *hosts_find(const host_table *hosts, uint64_t host)
    void hosts_put(host_table *hosts, uint64_t host, uint64_t domain)

cdef extern from "linklimits.h" nogil:
    enum:
        WITHIN_LIMITS, OVER_SEGMENTS, OVER_REPEATS
    ctypedef struct link_limits:
        uint32_t segments
        uint32_t repeats
        uint32_t parameters
        uint32_t query_bytes
    int over_limits(const link_limits *limits, const uint8_t *path, size_t size,
                    const uint8_t *query, size_t query_size, const uint8_t *key)

cdef enum:
    MAX_URL_BYTES = 2083
    MAX_U16 = 65_535

    # records.Filtered, and what else may become of a link
    SCHEME = 0
    INVALID = 1
    TOO_LONG = 2
    TOO_DEEP = 3
    OUT_SITE = 4
    EXTENSION = 5
    CGI = 6
    ELEMENT = 7
    EMPTY = 8
    LINKS_PER_PAGE = 9
    PATH_SEGMENTS = 11
    SEGMENT_REPEATS = 12
    QUERY = 13
    NOFOLLOW = 14
    REASONS = 32  # places kept for them
    DUPLICATE = 254
    ACCEPTED = 255

    NOFOLLOW_RELS = REL_NOFOLLOW | REL_UGC | REL_SPONSORED


cdef struct link_rules:
    bint cgi
    bint external
    bint images
    bint forms
    bint has_sites
    bint has_site_domains
    bint has_prefixes
    bint depth_by_site
    bint rels  # a link's rel is obeyed
    uint16_t depth_in_site
    const uint8_t *key  # of the hashes of hosts and segments
    link_limits limits
    suffix_set forbidden
    suffix_set never_forbidden
    suffix_set priority
    suffix_set domains  # empty = any host
    host_table sites
    host_table site_domains  # by hashes of domains
    host_table prefixes      # by hashes of host, port and directory
    size_t longest_prefix


cdef struct page_facts:
    const uint8_t *host
    size_t host_len
    const uint8_t *other_host  # NULL = any
    size_t other_host_len
    uint16_t depth  # of the links
    int32_t left    # of links to this host; negative = too deep
    int32_t left_outside
    uint8_t hops
    uint8_t kind
    uint8_t flags
    bint nofollow  # it asks that none of its links be followed


cdef struct queued_url:
    const uint8_t *url
    size_t url_len
    const uint8_t *host
    size_t host_len
    const uint8_t *via  # the page it was found on
    size_t via_len      # 0 = nobody knows
    uint8_t flags
    uint8_t kind


cdef struct candidate:
    const resolved_link *link
    int64_t index  # of all links of the page
    uint64_t fp
    uint64_t host
    uint64_t domain
    uint32_t shard
    uint16_t left
    uint8_t level
    bint has_domain


cdef inline void set_depth(page_facts *page, const link_rules *rules, uint16_t depth,
                           uint16_t left) noexcept nogil:
    """Fill in the depths of the links of a page with this depth and left, and these flags."""
    if page.flags & LINK_REDIRECT:
        page.depth = depth
        page.left = page.left_outside = left
    elif page.flags & LINK_SEED:
        page.depth = 0
        page.left = page.left_outside = rules.depth_in_site
    else:
        page.depth = min(depth + 1, <int>MAX_U16)
        page.left = left - 1
        page.left_outside = rules.depth_in_site if rules.depth_by_site else left - 1


cdef inline bint follows(const link_rules *rules, uint8_t element) noexcept nogil:
    if element == ELEMENT_IMG or element == ELEMENT_SOURCE:
        return rules.images
    if element == ELEMENT_FORM:
        return rules.forms
    return (element == ELEMENT_A or element == ELEMENT_AREA or element == ELEMENT_LINK
            or element == ELEMENT_FRAME or element == ELEMENT_IFRAME
            or element == ELEMENT_META or element == ELEMENT_REDIRECT
            or element == ELEMENT_SEED)


cdef inline bint is_nofollow(const link_rules *rules, const resolved_link *link,
                             const page_facts *page) noexcept nogil:
    """Whether the page, or the link, asks not to follow it; a redirection is none of its links."""
    if page.flags & LINK_REDIRECT:
        return False
    return page.nofollow or (rules.rels and (link.rel & NOFOLLOW_RELS) != 0)


cdef inline bint is_forbidden(const link_rules *rules, const uint8_t *path,
                              size_t size) noexcept nogil:
    return (suffixes_match(&rules.forbidden, path, size)
            and not suffixes_match(&rules.never_forbidden, path, size))


cdef inline bint is_in_scope(const link_rules *rules, const uint8_t *host,
                             size_t size) noexcept nogil:
    if rules.domains.used and not suffixes_match(&rules.domains, host, size):
        return False
    if not rules.has_sites:
        return True
    return hosts_find(&rules.sites, hash_of_host(rules.key, host, size)).host != 0


cdef inline bint is_below_prefix(const link_rules *rules, const uint8_t *from_host, size_t file,
                                 size_t path_len) noexcept nogil:
    """Whether host, port and one of the directories are a prefix; `file` is where the path begins.

    Cost: a hash for each directory that is no longer than the longest prefix.
    """
    cdef size_t at
    if not rules.has_prefixes:
        return True
    for at in range(file, min(file + path_len, rules.longest_prefix)):
        if from_host[at] == c'/' and hosts_find(
                &rules.prefixes, hash_of_host(rules.key, from_host, at + 1)).host != 0:
            return True
    return False


cdef inline int shape(const link_rules *rules, const uint8_t *file, size_t size,
                      size_t path_len) noexcept nogil:
    """The reason why path and query look like a trap's, or ACCEPTED."""
    cdef int over = over_limits(&rules.limits, file, path_len, file + path_len, size - path_len,
                                rules.key)
    if over == WITHIN_LIMITS:
        return ACCEPTED
    if over == OVER_SEGMENTS:
        return PATH_SEGMENTS
    return SEGMENT_REPEATS if over == OVER_REPEATS else QUERY


cdef inline int taste(const link_rules *rules, const uint8_t *file, size_t size,
                      size_t path_len, uint8_t kind) noexcept nogil:
    """What path and query alone are refused for, or ACCEPTED."""
    if kind != KIND_SITEMAP:  # which is no page
        if not rules.cgi and has_query(file, size):
            return CGI
        if is_forbidden(rules, file, path_len):
            return EXTENSION
    return shape(rules, file, size, path_len)


cdef inline int still(const link_rules *rules, const queued_url *url) noexcept nogil:
    """The first rule that refuses a URL that was queued before, or ACCEPTED.

    What only its page could tell, depth and element, is not asked again.
    """
    cdef size_t start, file, size, path_len
    cdef int reason
    if url.flags & LINK_SEED:
        return ACCEPTED
    file = file_start(url.url, url.url_len, host_at(url.url, url.url_len) + url.host_len)
    if file > url.url_len:
        return INVALID
    size = url.url_len - file
    path_len = length_of_path(url.url + file, size)
    reason = taste(rules, url.url + file, size, path_len, url.kind)
    if reason != ACCEPTED:
        return reason
    if (not rules.external and url.via_len and not url.flags & LINK_REDIRECT
            and not is_at_host(url.via, url.via_len, url.host, url.host_len)):
        return OUT_SITE
    if not is_in_scope(rules, url.host, url.host_len):
        return OUT_SITE
    start = host_at(url.url, url.url_len)
    if (url.kind != KIND_SITEMAP
            and not is_below_prefix(rules, url.url + start, file - start, path_len)):
        return OUT_SITE
    return ACCEPTED


cdef inline int verdict(const link_rules *rules, candidate *found,
                        const page_facts *page) noexcept nogil:
    """The first rule that refuses a link, or ACCEPTED with its left and level filled in."""
    cdef const resolved_link *link = found.link
    cdef const uint8_t *url = url_of(link)
    cdef bint is_outside
    cdef int over
    cdef size_t file, path_len
    if link.status != RESOLVED_OK:
        if link.status == RESOLVED_SCHEME:
            return SCHEME
        if link.status == RESOLVED_TOO_LONG:
            return TOO_LONG
        return EMPTY if link.status == RESOLVED_EMPTY else INVALID
    if link.url_len > MAX_URL_BYTES:
        return TOO_LONG
    if not follows(rules, link.element):
        return ELEMENT
    file = file_start(url, link.url_len, link.host_start + link.host_len)
    path_len = length_of_path(url + file, link.url_len - file)
    found.level = not suffixes_match(&rules.priority, url + file, path_len)
    if page.flags & LINK_SEED:  # asked for by the operator: no taste, no scope
        found.left = <uint16_t>page.left
        return ACCEPTED
    if is_nofollow(rules, link, page):
        return NOFOLLOW
    over = taste(rules, url + file, link.url_len - file, path_len, page.kind)
    if over != ACCEPTED:
        return over
    is_outside = not is_host(link, page.host, page.host_len)
    if (is_outside and page.other_host != NULL
            and not is_host(link, page.other_host, page.other_host_len)):
        return OUT_SITE
    if is_outside and not rules.external and not page.flags & LINK_REDIRECT:
        return OUT_SITE
    if not is_in_scope(rules, host_of(link), link.host_len):
        return OUT_SITE
    # Sitemaps lie at the root, wherever the pages lie that they list.
    if (page.kind != KIND_SITEMAP
            and not is_below_prefix(rules, host_of(link), file - link.host_start, path_len)):
        return OUT_SITE
    if (page.left_outside if is_outside else page.left) < 0:
        return TOO_DEEP
    found.left = <uint16_t>(page.left_outside if is_outside else page.left)
    return ACCEPTED
