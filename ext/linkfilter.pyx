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

The rules stand in ``linkrules.pxd`` and are filled by ``linksettings.pxd``; the links of a page in
``linkpage.pxd``, what Python is asked about them in ``linkask.pxd``, the entries in
``linkshards.pxd``; the cache in ``written.h``.

Cost: O(bytes of the page's links), about 2 us for 30 links of 50 bytes.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from checks cimport checked_key, checked_shards
from layout cimport KIND_SITEMAP, LINK_HTTPS, LINK_SEED
from linkask cimport ask_domains, choose_again, drop_unchosen, has_domain_in
from linkpage cimport (
    drop_known, drop_outside, free_links, look_up_domains, reserve_links,
    take_allowed, written_add, written_forget, written_free, written_init,
)
from linkrules cimport (
    ACCEPTED, OUT_SITE, REASONS, hosts_free, hosts_init, link_limits, link_rules, page_facts,
    queued_url, set_depth, still,
)
from linksettings cimport checked_u16, fill_places, fill_suffixes, free_rules, limit_of
from linkshards cimport count_entries, make_buffers, write_entries


cdef extern from "resolved.h" nogil:
    int64_t count_resolved(const uint8_t *data, size_t size)

cdef enum:
    MAX_HOSTS = 16_777_216
    MAX_CACHE_BITS = 32


@cython.final
@cython.no_gc  # no cycle can lead through it
@cython.freelist(64)
cdef class LinkBatch:
    """The links of one page, sorted out.

    ``entries`` has a buffer per shard of link entries with their URLs back to back
    (``docs/protocol.md`` 4.2), ``counts`` their numbers and ``fingerprints`` their u64s.
    ``filtered`` maps ``records.Filtered`` to the number of links refused for it.
    ``verdicts``, if asked for, has a byte for each link in its order: ``records.Filtered``,
    DUPLICATE or ACCEPTED.

    Invariant: ``found == sum(counts) + duplicates + sum(filtered.values())``.
    """


@cython.final
cdef class LinkFilter:
    """Turns the resolved links of pages into LINKS entries; the defaults are larbin's.

    Args:
        key: the crawl's hash key, 16 bytes.
        shards: number of shards, 1 to 256.
        domain_of: answers the registered domain of a host; asked once per host and cache filling.
        cgi: follow URLs with ``?``, ``=`` or ``*``.
        external: follow links to other hosts than the page's.
        depth_by_site: a link to another host starts again with ``depth_in_site``.
        depth_in_site: links that may follow a seed.
        images: follow ``img`` and ``source``.
        forms: follow the action of ``form``.
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

    def __cinit__(self, *, bytes key not None, unsigned long shards, domain_of,
                  bint cgi=False, bint external=True, bint depth_by_site=False,
                  long depth_in_site=5, bint images=False, bint rels=True, forbidden=(),
                  priority=(), domains=(), sites=None, int64_t links_per_page=50_000,
                  bint reverse=False, site_domains=None, prefixes=None, choose=None,
                  uint32_t path_segments=0, uint32_t segment_repeats=0,
                  uint32_t query_parameters=0, uint32_t query_bytes=0, bint forms=False,
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
        self._rules.forms = forms
        self._rules.depth_by_site, self._rules.rels = depth_by_site, rels
        self._rules.depth_in_site = checked_u16("depth_in_site", depth_in_site)
        self._rules.key = self._sip_key
        self._rules.limits = link_limits(
            limit_of(path_segments), limit_of(segment_repeats), limit_of(query_parameters),
            limit_of(query_bytes),
        )
        self.set_suffixes(forbidden, priority, domains)
        self.set_places(sites, site_domains, prefixes)
        if hosts_init(&self._hosts, known_hosts) < 0:
            raise MemoryError
        if written_init(&self._written, cache_bits) < 0:
            raise MemoryError

    def __dealloc__(self):
        free_links(&self._page)
        hosts_free(&self._hosts)
        free_rules(&self._rules)
        written_free(&self._written)

    cdef int set_suffixes(self, forbidden, priority, domains) except -1:
        self._texts = [
            fill_suffixes(&self._rules.forbidden, forbidden),
            fill_suffixes(&self._rules.never_forbidden, (b".html", b".htm", b"/")),
            fill_suffixes(&self._rules.priority, priority),
            fill_suffixes(&self._rules.domains, domains),
        ]
        return 0

    cdef int set_places(self, sites, site_domains, prefixes) except -1:
        cdef link_rules *rules = &self._rules
        rules.has_sites = sites is not None
        rules.has_site_domains = site_domains is not None
        rules.has_prefixes = prefixes is not None
        fill_places(&rules.sites, [site.lower() for site in sites or ()], self._sip_key)
        fill_places(&rules.site_domains, site_domains, self._sip_key)
        fill_places(&rules.prefixes, prefixes, self._sip_key)
        rules.longest_prefix = max(map(len, prefixes or ()), default=0)
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
        return self.sort_out(data, size, &page, choose, has_verdicts)

    cdef LinkBatch sort_out(
        self, const uint8_t *data, size_t size, const page_facts *page, choose, bint has_verdicts
    ):
        """What ``run`` does with a page whose facts are known."""
        cdef int64_t count, missing
        cdef int64_t found = self.check_and_reserve(data, size)
        cdef LinkBatch batch = LinkBatch.__new__(LinkBatch)
        self.make_verdicts(batch, found, has_verdicts)
        with nogil:
            count = take_allowed(&self._page, data, found, self.links_per_page, &self._rules,
                                 page)
            missing = look_up_domains(&self._page, count, &self._hosts, self._sip_key)
        if missing:
            ask_domains(&self._page, count, &self._hosts, self._sip_key, self._domain_of)
        with nogil:
            if self._rules.has_site_domains and not page.flags & LINK_SEED:
                count = drop_outside(&self._page, count, &self._rules.site_domains)
            batch.duplicates = drop_known(&self._page, &count, &self._written,
                                          self._sip_key, page.flags)
        for judge in (self._choose, choose):
            if judge is not None and count and page.kind != KIND_SITEMAP:
                if not page.flags & LINK_SEED:
                    count = drop_unchosen(&self._page, count, judge)
        with nogil:
            count_entries(&self._page, count, &self._out)
        batch.entries, batch.counts, batch.fingerprints = [], [], []
        make_buffers(&self._out, batch.entries, batch.counts, batch.fingerprints)
        with nogil:
            write_entries(&self._out, &self._page, count, page, self._reverse)
        batch.found = found
        batch.filtered = {
            i: self._page.refused[i] for i in range(REASONS) if self._page.refused[i]
        }
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
                if out[i] == ACCEPTED and not has_domain_in(
                        &self._rules.site_domains, host, self._sip_key, self._domain_of):
                    out[i] = OUT_SITE
        if self._choose is not None:
            choose_again(urls, out, self._choose)
        return verdicts

    cdef int64_t check_and_reserve(self, const uint8_t *data, size_t size) except -1:
        """Count the records, and make room for them."""
        cdef int64_t found = count_resolved(data, size)
        if found < 0:
            raise ValueError("resolved links do not fill their buffer")
        if not reserve_links(&self._page, found):
            raise MemoryError
        return found

    cdef int make_verdicts(self, LinkBatch batch, int64_t found, bint is_wanted) except -1:
        """All links are accepted until something else is found."""
        self._page.verdicts = NULL
        if is_wanted:
            batch.verdicts = PyBytes_FromStringAndSize(NULL, found)
            self._page.verdicts = <uint8_t *>PyBytes_AS_STRING(batch.verdicts)
            memset(self._page.verdicts, ACCEPTED, found)
        return 0
