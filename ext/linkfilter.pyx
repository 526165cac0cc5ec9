"""The stateless filter: from the resolved links of a page to LINKS entries for each shard.

Idea: a page has some thirty links, most of which were queued before. One call refuses what the
rules refuse, drops what is known to be written, and lays out the rest as they travel.

A call has three passes without the GIL, and Python only between them:
  1. walk the records, check them, apply the rules, look up the registered domain of each host;
     Python then asks ``domain_of`` for the hosts that are not in the cache (seldom any);
  2. fingerprints; drop those already written, and those that stood on the page before;
     Python then asks ``choose``, if it was given, and makes one bytes object for each shard, of
     the exact size;
  3. write the entries.

1. links found = accepted + duplicates + filtered, for every call.
2. The fingerprint decides the shard and lies in the log: never change how it is made.
3. The cache of written fingerprints holds whole fingerprints: it may forget, it never errs.
4. Hosts are known by a keyed 64-bit hash alone (host cache, ``sites``): two of 2**16 hosts are
   confused with a chance of 2**-32.

The rules stand in ``linkrules.pxd``, what is done with the links that pass in ``linkpage.pxd``,
the cache in ``written.h``.

Cost: O(bytes of the page's links), about 2 us for 30 links of 50 bytes.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport UINT32_MAX, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from checks cimport checked_key, checked_shards
from layout cimport KIND_SITEMAP, LINK_HTTPS, LINK_SEED, resolved_link, siphash13
from linkpage cimport (
    count_entries, drop_known, drop_outside, free_links, look_up_domains, page_links,
    reserve_links, shard_buffers, write_one, written_add, written_cache, written_forget,
    written_init,
)
from linkrules cimport (
    ACCEPTED, LINKS_PER_PAGE, MAX_U16, OUT_SITE, REASONS, candidate, hash_of_host, host_domain,
    host_of, host_table, hosts_find, hosts_init, hosts_put, link_limits, link_rules, page_facts,
    queued_url, set_depth, still, suffix, suffix_set, suffixes_add, suffixes_init, url_of, verdict,
)


cdef extern from "resolved.h" nogil:
    int64_t count_resolved(const uint8_t *data, size_t size)

cdef enum:
    MAX_HOSTS = 16_777_216
    MAX_CACHE_BITS = 32


cdef uint16_t checked_u16(str name, long value) except? MAX_U16:
    if not 0 <= value <= MAX_U16:
        raise ValueError(f"{name} is {value}, not within 0 to {MAX_U16}")
    return <uint16_t>value


cdef uint32_t limit_of(uint32_t most) noexcept:
    """A limit as ``linklimits.h`` has it, where 0 means none."""
    return most if most else UINT32_MAX


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


@cython.final
cdef class LinkBatch:
    """The links of one page, sorted out.

    ``entries`` has a buffer per shard of link entries with their URLs back to back
    (``docs/protocol.md`` 4.2), ``counts`` their numbers and ``fingerprints`` their u64s.
    ``filtered`` maps ``records.Filtered`` to the number of links refused for it.
    ``verdicts``, if asked for, has a byte for each link in its order: ``records.Filtered``,
    DUPLICATE or ACCEPTED.

    Invariant: ``found == sum(counts) + duplicates + sum(filtered.values())``.
    """

    cdef readonly list entries
    cdef readonly list counts
    cdef readonly list fingerprints
    cdef readonly int64_t found
    cdef readonly int64_t duplicates
    cdef readonly dict filtered
    cdef readonly bytes verdicts


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
        rels: do not follow links whose rel says nofollow, ugc or sponsored.
        forbidden: suffixes of paths never followed; ``.html``, ``.htm`` and ``/`` always are.
        priority: suffixes of paths that get level 0; all others get level 1.
        domains: suffixes one of which a host must have; none = any host.
        sites: hosts that may be asked; None = all.
        site_domains: registered domains that may be asked; None = all.
        prefixes: host, port (if the URL has one) and directory, such as ``a.org/docs/``; what is
            not below one of them is refused; None = nothing is.
        choose: asked about the links of a page that are left, the new ones: called with their
            URLs and their places among all links; answers a byte for each, ACCEPTED or
            ``records.Filtered``. It may not call this filter, and is not asked about seeds, nor
            about sitemaps, which are no pages.
        links_per_page: links of a page that are looked at.
        path_segments, segment_repeats, query_parameters, query_bytes: how many a URL may have, 0 =
            no limit; see ``linklimits.h``.
        reverse: emit a page's links last first.
        cache_bits: 2**cache_bits written fingerprints are remembered.
        known_hosts: hosts whose domain is remembered.

    Process/thread: belongs to one thread of a parser.
    """

    cdef bytes _key
    cdef const uint8_t *_sip_key
    cdef object _domain_of, _choose
    cdef bint _reverse
    cdef readonly int64_t links_per_page
    cdef _Suffixes _forbidden, _never_forbidden, _priority, _domains
    cdef link_rules _rules
    cdef host_table _hosts
    cdef written_cache _written

    # Scratch of one call.
    cdef page_links _page
    cdef shard_buffers _out
    cdef int64_t _refused[REASONS]
    cdef uint8_t *_verdicts  # of the links in their order, NULL = not asked for

    def __cinit__(self, *, bytes key not None, unsigned long shards, domain_of,
                  bint cgi, bint external, bint depth_by_site, long depth_in_site, bint images,
                  bint rels, forbidden, priority, domains, sites, int64_t links_per_page,
                  bint reverse, site_domains=None, prefixes=None, choose=None,
                  uint32_t path_segments=0, uint32_t segment_repeats=0,
                  uint32_t query_parameters=0, uint32_t query_bytes=0,
                  int cache_bits=20, uint64_t known_hosts=65_536):
        if links_per_page < 0:
            raise ValueError(f"links_per_page is {links_per_page}, not a count")
        if not 1 <= known_hosts <= MAX_HOSTS:
            raise ValueError(f"known_hosts is {known_hosts}, not within 1 to {MAX_HOSTS}")
        if not 1 <= cache_bits <= MAX_CACHE_BITS:
            raise ValueError(f"a cache has 2**1 to 2**{MAX_CACHE_BITS} slots, not 2**{cache_bits}")
        self._key = key
        self._sip_key = checked_key(key)
        self._out.shards = checked_shards(shards)
        self._domain_of, self._choose = domain_of, choose
        self.links_per_page = links_per_page
        self._reverse = reverse
        self._rules.cgi, self._rules.external, self._rules.images = cgi, external, images
        self._rules.depth_by_site, self._rules.rels = depth_by_site, rels
        self._rules.depth_in_site = checked_u16("depth_in_site", depth_in_site)
        self._rules.key = self._sip_key
        self._rules.limits = link_limits(
            limit_of(path_segments), limit_of(segment_repeats), limit_of(query_parameters),
            limit_of(query_bytes),
        )
        self.set_suffixes(forbidden, priority, domains)
        self._rules.has_sites = sites is not None
        self._rules.has_site_domains = site_domains is not None
        self._rules.has_prefixes = prefixes is not None
        self.set_places(&self._rules.sites, [site.lower() for site in sites or ()])
        self.set_places(&self._rules.site_domains, site_domains)
        self.set_places(&self._rules.prefixes, prefixes)
        self._rules.longest_prefix = max(map(len, prefixes or ()), default=0)
        if hosts_init(&self._hosts, known_hosts) < 0:
            raise MemoryError
        if written_init(&self._written, cache_bits) < 0:
            raise MemoryError

    def __dealloc__(self):
        free_links(&self._page)
        free(self._hosts.slots)
        free(self._rules.sites.slots)
        free(self._rules.site_domains.slots)
        free(self._rules.prefixes.slots)
        free(self._written.slots)

    cdef int set_suffixes(self, forbidden, priority, domains) except -1:
        self._forbidden = _Suffixes(forbidden)
        self._never_forbidden = _Suffixes((b".html", b".htm", b"/"))
        self._priority = _Suffixes(priority)
        self._domains = _Suffixes(domains)
        self._rules.forbidden = &self._forbidden._set
        self._rules.never_forbidden = &self._never_forbidden._set
        self._rules.priority = &self._priority._set
        self._rules.domains = &self._domains._set
        return 0

    cdef int set_places(self, host_table *known, places) except -1:
        """Fill a table; nothing of the texts is kept."""
        cdef bytes place
        places = tuple(places or ())
        if hosts_init(known, len(places) + 1) < 0:
            raise MemoryError
        for place in places:
            hosts_put(known, hash_of_host(self._sip_key, place, len(place)), 0)
        return 0

    def written(self, bytes fingerprints not None):
        """Note fingerprints (u64 each) whose records a shard has written."""
        cdef size_t size = len(fingerprints)
        if size % sizeof(uint64_t):
            raise ValueError(f"fingerprints have 8 bytes each; got {size} bytes")
        cdef const uint64_t *fps = <const uint64_t *>PyBytes_AS_STRING(fingerprints)
        with nogil:
            written_add(&self._written, fps, size // sizeof(uint64_t))

    def forget(self, uint32_t shard):
        """Forget the written fingerprints of a shard that was started again.

        Cost: one look at every slot of the cache.
        """
        with nogil:
            written_forget(&self._written, shard, self._out.shards)

    def run(self, bytes resolved not None, *, bytes host not None, long depth, long left,
            long hops=0, long kind=0, long flags=0, bytes other_host=None, bint nofollow=False,
            choose=None, bint has_verdicts=False):
        """Sort out the links of one page.

        Args:
            resolved: ``resolved_link`` records with their URLs (``docs/protocol.md`` 6).
            host: of the page.
            depth: of the page, links followed from its seed.
            left: links that may follow the page.
            hops, kind: copied to the entries. KIND_SITEMAP: neither ``cgi`` nor ``forbidden``
                are asked, for what the links lead to is no page.
            flags: ``LINK_*`` bits, copied to the entries. LINK_REDIRECT: ``depth`` and ``left``
                are those of the entries too. LINK_SEED: depth 0, left ``depth_in_site``.
            other_host: links may only lead to ``host`` and to this one; None = anywhere.
            nofollow: the page asks that its links be not followed.
            choose: asked as the filter's own, and after that.
            has_verdicts: fill in ``verdicts``.

        Raises:
            ValueError: the records do not fill the buffer, or a number is out of range.
        """
        cdef page_facts page
        cdef const uint8_t *data = resolved
        cdef size_t size = len(resolved)
        cdef int64_t missing
        page.host = host
        page.host_len = len(host)
        page.other_host = NULL
        page.other_host_len = 0
        if other_host is not None:
            page.other_host = other_host
            page.other_host_len = len(other_host)
        depth, left = checked_u16("depth", depth), checked_u16("left", left)
        if not (0 <= hops < 256 and 0 <= kind < 256 and 0 <= flags < 256):
            raise ValueError("hops, kind and flags are bytes")
        page.hops = hops
        page.kind = kind
        page.nofollow = nofollow
        page.flags = flags & ~LINK_HTTPS
        set_depth(&page, &self._rules, <uint16_t>depth, <uint16_t>left)

        cdef int64_t found = self.check_and_reserve(data, size)
        cdef int64_t count
        cdef LinkBatch batch = LinkBatch.__new__(LinkBatch)
        self.make_verdicts(batch, found, has_verdicts)
        with nogil:
            count = self.sort_out(data, found, &page, &missing)
        if missing:
            self.ask_domains(count)
        with nogil:
            if self._rules.has_site_domains and not page.flags & LINK_SEED:
                missing = count
                count = drop_outside(&self._page, count, &self._rules.site_domains,
                                     self._verdicts)
                self._refused[OUT_SITE] += missing - count
            batch.duplicates = drop_known(&self._page, &count, &self._written,
                                          self._sip_key, page.flags, self._verdicts)
        for judge in (self._choose, choose):
            if judge is not None and count and page.kind != KIND_SITEMAP:
                if not page.flags & LINK_SEED:
                    count = self.drop_unchosen(count, judge)
        with nogil:
            count_entries(&self._page, count, &self._out)
        self.make_buffers(batch)
        with nogil:
            self.write_entries(count, &page)
        batch.found = found
        batch.filtered = {i: self._refused[i] for i in range(REASONS) if self._refused[i]}
        return batch

    def judge(self, list urls not None):
        """Apply the rules again to URLs that were queued before, maybe under other rules.

        Args:
            urls: tuples of URL (normalised), its host, the page it was found on (empty: unknown),
                ``LINK_*`` bits and kind.

        Returns:
            A byte for each: ``records.Filtered``, or 255 for a URL that is still accepted.  Depth
            and element are not asked for.

        Cost: that of the rules; no URL is copied.
        """
        cdef queued_url queued
        cdef bytes url, host, via
        cdef Py_ssize_t i
        cdef bytes verdicts = PyBytes_FromStringAndSize(NULL, len(urls))
        cdef uint8_t *out = <uint8_t *>PyBytes_AS_STRING(verdicts)
        for i in range(len(urls)):
            url, host, via, queued.flags, queued.kind = urls[i]
            queued.url, queued.url_len = url, len(url)
            queued.host, queued.host_len = host, len(host)
            queued.via, queued.via_len = via, len(via)
            out[i] = <uint8_t>still(&self._rules, &queued)
            if self._rules.has_site_domains and not queued.flags & LINK_SEED:
                if out[i] == ACCEPTED and not self.has_site_domain(host):
                    out[i] = OUT_SITE
        if self._choose is not None:
            self.choose_again(urls, out)
        return verdicts

    cdef bint has_site_domain(self, bytes host) except -1:
        cdef bytes domain = self._domain_of(host)
        return hosts_find(&self._rules.site_domains,
                          hash_of_host(self._sip_key, domain, len(domain))).host != 0

    cdef int choose_again(self, list urls, uint8_t *out) except -1:
        """Ask ``choose`` about what the rules accept, but for seeds and sitemaps."""
        cdef Py_ssize_t i
        places = [
            i for i in range(len(urls))
            if out[i] == ACCEPTED and not urls[i][3] & LINK_SEED and urls[i][4] != KIND_SITEMAP
        ]
        if places:
            answers = self._choose([urls[i][0] for i in places], places)
            for i, reason in zip(places, answers, strict=True):
                out[i] = reason
        return 0

    cdef int64_t check_and_reserve(self, const uint8_t *data, size_t size) except -1:
        """Count the records, and make room for them."""
        cdef int64_t found = count_resolved(data, size)
        if found < 0:
            raise ValueError("resolved links do not fill their buffer")
        if not reserve_links(&self._page, found):
            raise MemoryError
        return found

    cdef int64_t sort_out(self, const uint8_t *data, int64_t found, const page_facts *page,
                          int64_t *missing) noexcept nogil:
        """Pass 1: apply the rules and look up domains; return how many candidates are left."""
        cdef int64_t i, count = 0
        cdef int reason
        memset(self._refused, 0, sizeof(self._refused))
        for i in range(found):
            reason = LINKS_PER_PAGE
            if i < self.links_per_page:
                self._page.found[count].link = <const resolved_link *>data
                self._page.found[count].index = i
                reason = verdict(&self._rules, &self._page.found[count], page)
            if reason == ACCEPTED:
                count += 1
            else:
                self._refused[reason] += 1
                if self._verdicts is not NULL:
                    self._verdicts[i] = <uint8_t>reason
            data += sizeof(resolved_link) + (<const resolved_link *>data).url_len
        missing[0] = look_up_domains(&self._page, count, &self._hosts, self._sip_key)
        return count

    cdef int ask_domains(self, int64_t count) except -1:
        """Ask for the domains of hosts that are not cached; each host once."""
        cdef int64_t i
        cdef candidate *found
        cdef host_domain *slot
        cdef bytes domain
        for i in range(count):
            found = &self._page.found[i]
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

    cdef int64_t drop_unchosen(self, int64_t count, choose) except -1:
        """Keep what ``choose`` accepts in front; return the number of links."""
        cdef int64_t i, kept = 0
        cdef candidate *found
        cdef uint8_t reason
        urls = []
        places = []
        for i in range(count):
            found = &self._page.found[i]
            urls.append(PyBytes_FromStringAndSize(<const char *>url_of(found.link),
                                                  found.link.url_len))
            places.append(found.index)
        cdef bytes answers = choose(urls, places)
        if len(answers) != count:
            raise ValueError(f"{len(answers)} answers for {count} links")
        for i in range(count):
            reason = <uint8_t>answers[i]
            if reason == ACCEPTED:
                self._page.found[kept] = self._page.found[i]
                kept += 1
                continue
            if reason >= REASONS:
                raise ValueError(f"{reason} is no reason to refuse a link")
            self._refused[reason] += 1
            if self._verdicts is not NULL:
                self._verdicts[self._page.found[i].index] = reason
        return kept

    cdef int make_verdicts(self, LinkBatch batch, int64_t found, bint is_wanted) except -1:
        """All links are accepted until something else is found."""
        self._verdicts = NULL
        if is_wanted:
            batch.verdicts = PyBytes_FromStringAndSize(NULL, found)
            self._verdicts = <uint8_t *>PyBytes_AS_STRING(batch.verdicts)
            memset(self._verdicts, ACCEPTED, found)
        return 0

    cdef int make_buffers(self, LinkBatch batch) except -1:
        cdef uint32_t i
        cdef bytes entries, fingerprints
        batch.entries = []
        batch.fingerprints = []
        batch.counts = []
        for i in range(self._out.shards):
            entries = PyBytes_FromStringAndSize(NULL, self._out.sizes[i])
            fingerprints = PyBytes_FromStringAndSize(NULL, self._out.counts[i] * sizeof(uint64_t))
            self._out.entries[i] = <uint8_t *>PyBytes_AS_STRING(entries)
            self._out.fps[i] = <uint64_t *>PyBytes_AS_STRING(fingerprints)
            batch.entries.append(entries)
            batch.fingerprints.append(fingerprints)
            batch.counts.append(self._out.counts[i])
        return 0

    cdef void write_entries(self, int64_t count, const page_facts *page) noexcept nogil:
        """Pass 3: lay the kept links out, each at the end of its shard's buffer."""
        cdef int64_t i, at
        for i in range(count):
            at = count - 1 - i if self._reverse else i
            write_one(&self._out, &self._page.found[at], page)
