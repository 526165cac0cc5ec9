"""The stateless filter: from the resolved links of a page to LINKS entries for each shard.

Idea: a page has some thirty links, most of which were queued before. One call refuses what the
rules refuse, drops what is known to be written, and lays out the rest as they travel.

A call has three passes without the GIL, and Python only between them:
  1. walk the records, check them, apply the rules, look up the registered domain of each host;
     Python then asks ``domain_of`` for the hosts that are not in the cache (seldom any);
  2. fingerprints; drop those already written, and those that stood on the page before;
     Python then makes one bytes object for each shard, of the exact size;
  3. write the entries.

1. links found = accepted + duplicates + filtered, for every call.
2. The fingerprint decides the shard and lies in the log: never change how it is made.
3. A link is refused for the first rule that applies, in the order of ``verdict``.
4. The cache of written fingerprints holds whole fingerprints: it may forget, it never errs.
5. Hosts are known by a keyed 64-bit hash alone (host cache, ``sites``): two of 2**16 hosts are
   confused with a chance of 2**-32.

Cost: O(bytes of the page's links), about 2 us for 30 links of 50 bytes.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

from layout cimport (
    ELEMENT_A, ELEMENT_AREA, ELEMENT_FRAME, ELEMENT_IFRAME, ELEMENT_IMG, ELEMENT_LINK,
    ELEMENT_META, ELEMENT_REDIRECT, ELEMENT_SEED, ELEMENT_SOURCE,
    LINK_FORCE, LINK_HTTPS, LINK_REDIRECT, LINK_SEED,
    RESOLVED_EMPTY, RESOLVED_OK, RESOLVED_SCHEME,
    fingerprint, link_entry, resolved_link, shard_of, siphash13,
)


cdef extern from "links.h" nogil:
    int64_t count_links(const uint8_t *data, size_t size)
    size_t file_start(const uint8_t *url, size_t url_len, size_t host_end)

cdef extern from "mix.h" nogil:
    uint64_t mix64(uint64_t key)
    void PREFETCH_READ(const void *address)

cdef extern from "resolved.h" nogil:
    const uint8_t *url_of(const resolved_link *link)
    const uint8_t *host_of(const resolved_link *link)
    bint is_host(const resolved_link *link, const uint8_t *host, size_t host_len)
    int64_t count_resolved(const uint8_t *data, size_t size)
    bint has_query(const uint8_t *text, size_t size)
    size_t length_of_path(const uint8_t *text, size_t size)

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
    host_domain *hosts_find(const host_table *hosts, uint64_t host)
    void hosts_put(host_table *hosts, uint64_t host, uint64_t domain)

cdef enum:
    MAX_URL_BYTES = 2083
    MAX_SHARDS = 256
    MAX_U16 = 65_535
    MAX_HOSTS = 16_777_216
    KEY_BYTES = 16

    # records.Filtered, and ACCEPTED behind its last member
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
    REASONS = 11
    ACCEPTED = 255


cdef struct candidate:
    const resolved_link *link
    uint64_t fp
    uint64_t host
    uint64_t domain
    uint32_t shard
    uint16_t left
    uint8_t level
    bint has_domain


cdef int64_t checked(bytes fingerprints) except -1:
    if len(fingerprints) % sizeof(uint64_t):
        raise ValueError(f"fingerprints have 8 bytes each; got {len(fingerprints)} bytes")
    return len(fingerprints) // sizeof(uint64_t)


cdef const uint8_t *checked_key(bytes key) except NULL:
    if len(key) != KEY_BYTES:
        raise ValueError(f"a hash key has {KEY_BYTES} bytes, not {len(key)}")
    return <const uint8_t *>PyBytes_AS_STRING(key)


cdef uint32_t checked_shards(unsigned long shards) except 0:
    if not 1 <= shards <= MAX_SHARDS:
        raise ValueError(f"a crawl has 1 to {MAX_SHARDS} shards, not {shards}")
    return <uint32_t>shards


cdef uint16_t checked_u16(str name, long value) except? MAX_U16:
    if not 0 <= value <= MAX_U16:
        raise ValueError(f"{name} is {value}, not within 0 to {MAX_U16}")
    return <uint16_t>value


def fingerprint_of(bytes key not None, bytes domain not None, bytes url not None):
    """Return the fingerprint of a URL: 16 bits of its registered domain, 48 of the URL.

    Args:
        key: the crawl's hash key, 16 bytes.
        domain: registered domain of the URL's host.
        url: normalised URL.
    """
    cdef const uint8_t *sip_key = checked_key(key)
    return fingerprint(siphash13(sip_key, domain, len(domain)), siphash13(sip_key, url, len(url)))


def shard(uint64_t fp, unsigned long shards):
    """Return the shard of a fingerprint, from 0 to ``shards - 1``."""
    return shard_of(fp, checked_shards(shards))


def link_fingerprints(bytes group_links not None):
    """Return the fingerprints of link entries: a little-endian u64 per link.

    Args:
        group_links: the links of a group (``docs/protocol.md`` 4.2), without its head.

    Raises:
        ValueError: the records do not fill the buffer.
    """
    cdef const uint8_t *data = group_links
    cdef int64_t i, count = count_links(data, len(group_links))
    if count < 0:
        raise ValueError("link entries do not fill their buffer")
    cdef bytes fingerprints = PyBytes_FromStringAndSize(NULL, count * sizeof(uint64_t))
    cdef uint64_t *out = <uint64_t *>PyBytes_AS_STRING(fingerprints)
    with nogil:
        for i in range(count):
            out[i] = (<const link_entry *>data).fingerprint
            data += sizeof(link_entry) + (<const link_entry *>data).url_len
    return fingerprints


def with_forced(bytes group_links not None, bytes mask not None):
    """Return the mask with 1 for every link that is to be queued even if seen.

    Args:
        group_links: the links of a group, without its head.
        mask: one byte per link.

    Raises:
        ValueError: the records do not fill the buffer, or the mask has another length.
    """
    cdef const uint8_t *data = group_links
    cdef int64_t i, count = count_links(data, len(group_links))
    if count < 0:
        raise ValueError("link entries do not fill their buffer")
    if count != len(mask):
        raise ValueError(f"{count} links, but a mask of {len(mask)} bytes")
    # Made empty, then copied: of one given byte CPython hands out the object that all share.
    cdef bytes forced = PyBytes_FromStringAndSize(NULL, count)
    cdef const char *plain = PyBytes_AS_STRING(mask)
    cdef char *out = PyBytes_AS_STRING(forced)
    with nogil:
        memcpy(out, plain, count)
        for i in range(count):
            if (<const link_entry *>data).flags & LINK_FORCE:
                out[i] = 1
            data += sizeof(link_entry) + (<const link_entry *>data).url_len
    return forced


@cython.final
cdef class WrittenCache:
    """A direct-mapped cache of fingerprints that shards have answered "written".

    Args:
        bits: the cache has 2**bits slots of 8 bytes.

    Invariant: what it says it contains was added; what was added it may forget.
    """

    cdef uint64_t *_slots
    cdef int _shift
    cdef uint64_t _size

    def __cinit__(self, int bits=20):
        if not 1 <= bits <= 32:
            raise ValueError(f"a cache has 2**1 to 2**32 slots, not 2**{bits}")
        self._size = <uint64_t>1 << bits
        self._shift = 64 - bits
        self._slots = <uint64_t *>calloc(self._size, sizeof(uint64_t))
        if self._slots is NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self._slots)

    cdef inline uint64_t *slot(self, uint64_t fp) noexcept nogil:
        return &self._slots[mix64(fp) >> self._shift]

    cdef inline bint has(self, uint64_t fp) noexcept nogil:
        """Whether fp is cached; 0, which marks an empty slot, never is."""
        return fp != 0 and self.slot(fp)[0] == fp

    def add_many(self, bytes fps not None):
        """Remember fingerprints, a little-endian u64 each, in place of what their slots held."""
        cdef int64_t i, count = checked(fps)
        cdef const uint64_t *values = <const uint64_t *>PyBytes_AS_STRING(fps)
        with nogil:
            for i in range(count):
                self.slot(values[i])[0] = values[i]

    def contains_many(self, bytes fps not None):
        """Tell which fingerprints are remembered: one byte each."""
        cdef int64_t i, count = checked(fps)
        cdef const uint64_t *values = <const uint64_t *>PyBytes_AS_STRING(fps)
        cdef bytes mask = PyBytes_FromStringAndSize(NULL, count)
        cdef char *answers = PyBytes_AS_STRING(mask)
        with nogil:
            for i in range(count):
                answers[i] = self.has(values[i])
        return mask

    def clear_range(self, uint32_t shard, unsigned long shards):
        """Forget the fingerprints of one shard.

        Cost: one look at every slot.
        """
        cdef uint64_t i
        cdef uint32_t all_shards = checked_shards(shards)
        with nogil:
            for i in range(self._size):
                if shard_of(self._slots[i], all_shards) == shard:
                    self._slots[i] = 0

    def clear(self):
        """Forget all."""
        memset(self._slots, 0, self._size * sizeof(uint64_t))


@cython.final
cdef class _Suffixes:
    """Owns a set of suffixes and the texts that it points to."""

    cdef tuple _texts
    cdef suffix_set _set

    def __cinit__(self, texts):
        cdef bytes text
        self._texts = tuple(text.lower() for text in texts)
        cdef suffix *entries = <suffix *>calloc(max(len(self._texts), 1), sizeof(suffix))
        if entries is NULL:
            raise MemoryError
        suffixes_init(&self._set, entries)
        for text in self._texts:
            if not text:
                raise ValueError("an empty suffix would match everything")
            suffixes_add(&self._set, text, len(text))

    def __dealloc__(self):
        free(self._set.entries)

    cdef inline bint match(self, const uint8_t *text, size_t size) noexcept nogil:
        return suffixes_match(&self._set, text, size)


@cython.final
cdef class LinkBatch:
    """The links of one page, sorted out.

    ``entries`` has a buffer per shard of link entries with their URLs back to back
    (``docs/protocol.md`` 4.2), ``counts`` their numbers and ``fingerprints`` their u64s.
    ``filtered`` maps ``records.Filtered`` to the number of links refused for it.

    Invariant: ``found == sum(counts) + duplicates + sum(filtered.values())``.
    """

    cdef readonly list entries
    cdef readonly list counts
    cdef readonly list fingerprints
    cdef readonly int64_t found
    cdef readonly int64_t duplicates
    cdef readonly dict filtered


cdef struct page_facts:
    const uint8_t *host
    size_t host_len
    uint16_t depth  # of the links
    int32_t left    # of links to this host; negative = too deep
    int32_t left_outside
    uint8_t hops
    uint8_t kind
    uint8_t flags


@cython.final
cdef class LinkFilter:
    """Turns the resolved links of pages into LINKS entries.

    Args:
        key: the crawl's hash key, 16 bytes.
        shards: number of shards, 1 to 256.
        domain_of: answers the registered domain of a host; asked once per host and cache filling.
        cgi: follow URLs with ``?``, ``=`` or ``*``.
        external: follow links to other hosts than the page's.
        depth_by_site: a link to another host starts again with ``depth_in_site``.
        depth_in_site: links that may follow a seed.
        images: follow ``img`` and ``source``.
        forbidden: suffixes of paths never followed; ``.html``, ``.htm`` and ``/`` always are.
        priority: suffixes of paths that get level 0; all others get level 1.
        domains: suffixes one of which a host must have; none = any host.
        sites: hosts that may be asked; None = all.
        links_per_page: links of a page that are looked at.
        reverse: emit a page's links last first.
        cache_bits: 2**cache_bits written fingerprints are remembered.
        known_hosts: hosts whose domain is remembered.

    Process/thread: belongs to one thread of a parser.
    """

    cdef bytes _key
    cdef const uint8_t *_sip_key
    cdef uint32_t _shards
    cdef object _domain_of
    cdef bint _cgi, _external, _depth_by_site, _images, _reverse, _has_sites
    cdef uint16_t _depth_in_site
    cdef int64_t _links_per_page
    cdef _Suffixes _forbidden, _never_forbidden, _priority, _domains
    cdef host_table _hosts, _sites
    cdef WrittenCache _written

    # Scratch of one call.
    cdef candidate *_links
    cdef int64_t _links_room
    cdef uint32_t *_on_page  # open addressing: 1 + index of a candidate, 0 = empty
    cdef uint64_t _on_page_room
    cdef int64_t _refused[REASONS]
    cdef int64_t _counts[MAX_SHARDS]
    cdef int64_t _sizes[MAX_SHARDS]
    cdef uint8_t *_entry_at[MAX_SHARDS]
    cdef uint64_t *_fp_at[MAX_SHARDS]

    def __cinit__(self, *, bytes key not None, unsigned long shards, domain_of,
                  bint cgi, bint external, bint depth_by_site, long depth_in_site, bint images,
                  forbidden, priority, domains, sites, int64_t links_per_page, bint reverse,
                  int cache_bits=20, uint64_t known_hosts=65_536):
        if links_per_page < 0:
            raise ValueError(f"links_per_page is {links_per_page}, not a count")
        if not 1 <= known_hosts <= MAX_HOSTS:
            raise ValueError(f"known_hosts is {known_hosts}, not within 1 to {MAX_HOSTS}")
        self._key = key
        self._sip_key = checked_key(key)
        self._shards = checked_shards(shards)
        self._domain_of = domain_of
        self._cgi = cgi
        self._external = external
        self._depth_by_site = depth_by_site
        self._depth_in_site = checked_u16("depth_in_site", depth_in_site)
        self._images = images
        self._links_per_page = links_per_page
        self._reverse = reverse
        self._forbidden = _Suffixes(forbidden)
        self._never_forbidden = _Suffixes((b".html", b".htm", b"/"))
        self._priority = _Suffixes(priority)
        self._domains = _Suffixes(domains)
        self._has_sites = sites is not None
        if hosts_init(&self._hosts, known_hosts) < 0:
            raise MemoryError
        self.set_sites(() if sites is None else tuple(sites))
        self._written = WrittenCache(cache_bits)

    def __dealloc__(self):
        free(self._links)
        free(self._on_page)
        free(self._hosts.slots)
        free(self._sites.slots)

    cdef int set_sites(self, tuple sites) except -1:
        cdef bytes site
        if hosts_init(&self._sites, len(sites) + 1) < 0:
            raise MemoryError
        for site in sites:
            site = site.lower()
            hosts_put(&self._sites, hash_of_host(self._sip_key, site, len(site)), 0)
        return 0

    def written(self, bytes fingerprints not None):
        """Note fingerprints (u64 each) whose records a shard has written."""
        self._written.add_many(fingerprints)

    def forget(self, uint32_t shard):
        """Forget the written fingerprints of a shard that was started again."""
        self._written.clear_range(shard, self._shards)

    def run(self, bytes resolved not None, *, bytes host not None, long depth, long left,
            long hops=0, long kind=0, long flags=0):
        """Sort out the links of one page.

        Args:
            resolved: ``resolved_link`` records with their URLs (``docs/protocol.md`` 6).
            host: of the page.
            depth: of the page, links followed from its seed.
            left: links that may follow the page.
            hops, kind: copied to the entries.
            flags: ``LINK_*`` bits, copied to the entries. LINK_REDIRECT: ``depth`` and ``left``
                are those of the entries too. LINK_SEED: depth 0, left ``depth_in_site``.

        Raises:
            ValueError: the records do not fill the buffer, or a number is out of range.
        """
        cdef page_facts page
        cdef const uint8_t *data = resolved
        cdef size_t size = len(resolved)
        cdef int64_t missing
        page.host = host
        page.host_len = len(host)
        self.set_depth(&page, checked_u16("depth", depth), checked_u16("left", left), flags)
        if not (0 <= hops < 256 and 0 <= kind < 256 and 0 <= flags < 256):
            raise ValueError("hops, kind and flags are bytes")
        page.hops = hops
        page.kind = kind
        page.flags = flags & ~LINK_HTTPS

        cdef int64_t found = self.check_and_reserve(data, size)
        cdef int64_t count
        cdef LinkBatch batch = LinkBatch.__new__(LinkBatch)
        with nogil:
            count = self.sort_out(data, found, &page, &missing)
        if missing:
            self.ask_domains(count)
        with nogil:
            batch.duplicates = self.drop_known(&count, page.flags)
        self.make_buffers(batch)
        with nogil:
            self.write_entries(count, &page)
        batch.found = found
        batch.filtered = {i: self._refused[i] for i in range(REASONS) if self._refused[i]}
        return batch

    cdef void set_depth(self, page_facts *page, uint16_t depth, uint16_t left,
                        long flags) noexcept:
        if flags & LINK_REDIRECT:
            page.depth = depth
            page.left = page.left_outside = left
        elif flags & LINK_SEED:
            page.depth = 0
            page.left = page.left_outside = self._depth_in_site
        else:
            page.depth = min(depth + 1, <int>MAX_U16)
            page.left = left - 1
            page.left_outside = self._depth_in_site if self._depth_by_site else left - 1

    cdef int64_t check_and_reserve(self, const uint8_t *data, size_t size) except -1:
        """Count the records, and make room for them."""
        cdef int64_t found = count_resolved(data, size)
        cdef void *grown
        cdef uint64_t slots = 16
        if found < 0:
            raise ValueError("resolved links do not fill their buffer")
        if found > self._links_room:
            grown = realloc(self._links, found * sizeof(candidate))
            if grown is NULL:
                raise MemoryError
            self._links = <candidate *>grown
            self._links_room = found
        while slots < 2 * <uint64_t>found:
            slots *= 2
        if slots > self._on_page_room:
            grown = realloc(self._on_page, slots * sizeof(uint32_t))
            if grown is NULL:
                raise MemoryError
            self._on_page = <uint32_t *>grown
            self._on_page_room = slots
        return found

    cdef int64_t sort_out(self, const uint8_t *data, int64_t found, const page_facts *page,
                          int64_t *missing) noexcept nogil:
        """Pass 1: apply the rules and look up domains; return how many candidates are left."""
        cdef int64_t i, count = 0
        cdef int reason
        memset(self._refused, 0, sizeof(self._refused))
        for i in range(found):
            reason = LINKS_PER_PAGE
            if i < self._links_per_page:
                self._links[count].link = <const resolved_link *>data
                reason = self.verdict(&self._links[count], page)
            if reason == ACCEPTED:
                count += 1
            else:
                self._refused[reason] += 1
            data += sizeof(resolved_link) + (<const resolved_link *>data).url_len
        missing[0] = self.look_up_domains(count)
        return count

    cdef int verdict(self, candidate *found, const page_facts *page) noexcept nogil:
        """The first rule that refuses a link, or ACCEPTED with its left and level filled in."""
        cdef const resolved_link *link = found.link
        cdef const uint8_t *url = url_of(link)
        cdef bint is_outside
        cdef size_t file, path_len
        if link.status != RESOLVED_OK:
            if link.status == RESOLVED_SCHEME:
                return SCHEME
            return EMPTY if link.status == RESOLVED_EMPTY else INVALID
        if link.url_len > MAX_URL_BYTES:
            return TOO_LONG
        if not self.follows(link.element):
            return ELEMENT
        file = file_start(url, link.url_len, link.host_start + link.host_len)
        path_len = length_of_path(url + file, link.url_len - file)
        found.level = not self._priority.match(url + file, path_len)
        if page.flags & LINK_SEED:  # asked for by the operator: no taste, no scope
            found.left = <uint16_t>page.left
            return ACCEPTED
        if not self._cgi and has_query(url + file, link.url_len - file):
            return CGI
        if self.is_forbidden(url + file, path_len):
            return EXTENSION
        is_outside = not is_host(link, page.host, page.host_len)
        if is_outside and not self._external and not page.flags & LINK_REDIRECT:
            return OUT_SITE
        if not self.is_in_scope(host_of(link), link.host_len):
            return OUT_SITE
        if (page.left_outside if is_outside else page.left) < 0:
            return TOO_DEEP
        found.left = <uint16_t>(page.left_outside if is_outside else page.left)
        return ACCEPTED

    cdef inline bint follows(self, uint8_t element) noexcept nogil:
        if element == ELEMENT_IMG or element == ELEMENT_SOURCE:
            return self._images
        return (element == ELEMENT_A or element == ELEMENT_AREA or element == ELEMENT_LINK
                or element == ELEMENT_FRAME or element == ELEMENT_IFRAME
                or element == ELEMENT_META or element == ELEMENT_REDIRECT
                or element == ELEMENT_SEED)

    cdef inline bint is_forbidden(self, const uint8_t *path, size_t size) noexcept nogil:
        return self._forbidden.match(path, size) and not self._never_forbidden.match(path, size)

    cdef inline bint is_in_scope(self, const uint8_t *host, size_t size) noexcept nogil:
        if self._domains._set.used and not self._domains.match(host, size):
            return False
        if not self._has_sites:
            return True
        return hosts_find(&self._sites, hash_of_host(self._sip_key, host, size)).host != 0

    cdef int64_t look_up_domains(self, int64_t count) noexcept nogil:
        """Fill in the domains that are cached; return how many are not.

        Neighbours mostly share their host, so it is hashed only when it changes.
        """
        cdef int64_t i, missing = 0
        cdef candidate *found
        cdef const resolved_link *before = NULL
        cdef host_domain *slot
        for i in range(count):
            found = &self._links[i]
            if before is not NULL and is_host(found.link, host_of(before), before.host_len):
                found.host = self._links[i - 1].host
                found.domain = self._links[i - 1].domain
                found.has_domain = self._links[i - 1].has_domain
            else:
                found.host = hash_of_host(self._sip_key, host_of(found.link),
                                          found.link.host_len)
                slot = hosts_find(&self._hosts, found.host)
                found.domain = slot.domain
                found.has_domain = slot.host != 0
            missing += not found.has_domain
            before = found.link
        return missing

    cdef int ask_domains(self, int64_t count) except -1:
        """Ask for the domains of hosts that are not cached; each host once."""
        cdef int64_t i
        cdef candidate *found
        cdef host_domain *slot
        cdef bytes domain
        for i in range(count):
            found = &self._links[i]
            if found.has_domain:
                continue
            slot = hosts_find(&self._hosts, found.host)
            if slot.host == 0:
                domain = self._domain_of(
                    PyBytes_FromStringAndSize(<const char *>host_of(found.link),
                                              found.link.host_len))
                found.domain = siphash13(self._sip_key, domain, len(domain))
                hosts_put(&self._hosts, found.host, found.domain)
            else:
                found.domain = slot.domain
        return 0

    cdef int64_t drop_known(self, int64_t *count, uint8_t flags) noexcept nogil:
        """Pass 2: fingerprints; keep the new ones in front; return the number dropped."""
        cdef int64_t i, kept = 0
        cdef candidate *found
        memset(self._counts, 0, self._shards * sizeof(int64_t))
        memset(self._sizes, 0, self._shards * sizeof(int64_t))
        for i in range(count[0]):
            found = &self._links[i]
            found.fp = fingerprint(found.domain,
                                   siphash13(self._sip_key, url_of(found.link),
                                             found.link.url_len))
            PREFETCH_READ(self._written.slot(found.fp))
        cdef uint64_t slots = self.clear_page(count[0])
        for i in range(count[0]):
            found = &self._links[i]
            # A forced link is queued though it is written; the shard decides.
            if not flags & LINK_FORCE and self._written.has(found.fp):
                continue
            if not self.is_first_on_page(found.fp, kept, slots):
                continue
            found.shard = shard_of(found.fp, self._shards)
            self._counts[found.shard] += 1
            self._sizes[found.shard] += sizeof(link_entry) + found.link.url_len
            self._links[kept] = found[0]
            kept += 1
        cdef int64_t dropped = count[0] - kept
        count[0] = kept
        return dropped

    cdef uint64_t clear_page(self, int64_t count) noexcept nogil:
        """Empty the table of this page; return its size, a power of 2 twice the links."""
        cdef uint64_t slots = 16
        while slots < 2 * <uint64_t>count:
            slots *= 2
        memset(self._on_page, 0, slots * sizeof(uint32_t))
        return slots

    cdef inline bint is_first_on_page(self, uint64_t fp, int64_t index,
                                      uint64_t slots) noexcept nogil:
        """Whether no kept candidate has this fingerprint; notes it for `index` if so."""
        cdef uint64_t slot = mix64(fp) & (slots - 1)
        while self._on_page[slot] != 0:
            if self._links[self._on_page[slot] - 1].fp == fp:
                return False
            slot = (slot + 1) & (slots - 1)
        self._on_page[slot] = <uint32_t>index + 1
        return True

    cdef int make_buffers(self, LinkBatch batch) except -1:
        cdef uint32_t i
        cdef bytes entries, fingerprints
        batch.entries = []
        batch.fingerprints = []
        batch.counts = []
        for i in range(self._shards):
            entries = PyBytes_FromStringAndSize(NULL, self._sizes[i])
            fingerprints = PyBytes_FromStringAndSize(NULL, self._counts[i] * sizeof(uint64_t))
            self._entry_at[i] = <uint8_t *>PyBytes_AS_STRING(entries)
            self._fp_at[i] = <uint64_t *>PyBytes_AS_STRING(fingerprints)
            batch.entries.append(entries)
            batch.fingerprints.append(fingerprints)
            batch.counts.append(self._counts[i])
        return 0

    cdef void write_entries(self, int64_t count, const page_facts *page) noexcept nogil:
        """Pass 3: lay the kept links out, each at the end of its shard's buffer."""
        cdef int64_t i
        cdef candidate *found
        for i in range(count):
            found = &self._links[count - 1 - i if self._reverse else i]
            self._entry_at[found.shard] += write_entry(self._entry_at[found.shard], found, page)
            self._fp_at[found.shard][0] = found.fp
            self._fp_at[found.shard] += 1


cdef inline size_t write_entry(uint8_t *out, const candidate *found,
                               const page_facts *page) noexcept nogil:
    """Write one link entry with its URL; return its size."""
    cdef const resolved_link *link = found.link
    cdef link_entry *entry = <link_entry *>out
    entry.fingerprint = found.fp
    entry.url_len = <uint16_t>link.url_len
    entry.depth = page.depth
    entry.left = found.left
    entry.port = link.port
    entry.host_start = link.host_start
    entry.host_len = link.host_len
    entry.level = found.level
    entry.kind = page.kind
    entry.hops = page.hops
    entry.flags = page.flags | (LINK_HTTPS if link.https else 0)
    entry.reserved = 0
    entry.score = 0
    entry.relevance = 0
    memcpy(out + sizeof(link_entry), url_of(link), link.url_len)
    return sizeof(link_entry) + link.url_len
