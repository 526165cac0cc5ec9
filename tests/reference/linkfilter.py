"""The stateless link filter, said plainly."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from larbinpy.records import MAX_URL_BYTES, Filtered
from tests.reference.linkbuffers import FORCE, Link, Resolved, read_resolved, resolved
from tests.reference.linkentry import fingerprint_of
from tests.reference.linkentry import shard as shard_of
from tests.reference.mix import WORD, mix64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HTTPS, SEED, REDIRECT = 1, 2, 4
SITEMAP = 2
DUPLICATE, ACCEPTED = 254, 255
NOFOLLOW_RELS = 7
REFUSED_BY_KERNEL = {2: Filtered.SCHEME, 4: Filtered.EMPTY, 5: Filtered.TOO_LONG}
"""What links are refused for by the status that the URL kernel gave them."""
FOLLOWED = {1, 2, 3, 5, 6, 10, 11, 12}
IMAGES = {7, 9}
FORM = 18


class WrittenCache:
    def __init__(self, bits: int = 20) -> None:
        self._bits = bits
        self._slots: dict[int, int] = {}

    def _slot(self, fp: int) -> int:
        return mix64(fp) >> (64 - self._bits)

    def has(self, fp: int) -> bool:
        return fp != 0 and self._slots.get(self._slot(fp)) == fp

    def add_many(self, fps: bytes) -> None:
        for (fp,) in struct.iter_unpack("<Q", fps):
            self._slots[self._slot(fp)] = fp

    def clear_range(self, shard: int, shards: int) -> None:
        self._slots = {
            slot: fp for slot, fp in self._slots.items() if shard_of(fp, shards) != shard
        }


@dataclass(slots=True)
class LinkBatch:
    entries: list[bytes]
    counts: list[int]
    fingerprints: list[bytes]
    found: int
    duplicates: int
    filtered: dict[int, int]
    verdicts: bytes | None


class LinkFilter:
    def __init__(
        self,
        *,
        key: bytes,
        shards: int,
        domain_of: Callable[[bytes], bytes],
        cgi: bool = False,
        external: bool = True,
        depth_by_site: bool = False,
        depth_in_site: int = 5,
        images: bool = False,
        rels: bool = True,
        forbidden: Iterable[bytes] = (),
        priority: Iterable[bytes] = (),
        domains: Iterable[bytes] = (),
        sites: Iterable[bytes] | None = None,
        links_per_page: int = 50_000,
        reverse: bool = False,
        site_domains: Iterable[bytes] | None = None,
        prefixes: Iterable[bytes] | None = None,
        choose: Callable[[list[bytes], list[int]], bytes] | None = None,
        path_segments: int = 0,
        segment_repeats: int = 0,
        query_parameters: int = 0,
        query_bytes: int = 0,
        forms: bool = False,
        cache_bits: int = 20,
        known_hosts: int = 65_536,
    ) -> None:
        self._key, self._shards, self._domain_of = key, shards, domain_of
        self._cgi, self._external = cgi, external
        self._followed = FOLLOWED | (IMAGES if images else set()) | ({FORM} if forms else set())
        self._depth_by_site, self._depth_in_site = depth_by_site, depth_in_site
        self._rels = rels
        self._forbidden = tuple(text.lower() for text in forbidden)
        self._priority = tuple(text.lower() for text in priority)
        self._domains = tuple(text.lower() for text in domains)
        self._sites = None if sites is None else {site.lower() for site in sites}
        self._site_domains = None if site_domains is None else set(site_domains)
        self._choose = choose
        self._prefixes = None if prefixes is None else tuple(prefixes)
        self._links_per_page, self._reverse = links_per_page, reverse
        self._most_segments, self._most_repeats = path_segments or WORD, segment_repeats or WORD
        self._most_parameters, self._most_bytes = query_parameters or WORD, query_bytes or WORD
        self._cache = WrittenCache(cache_bits)

    def written(self, fingerprints: bytes) -> None:
        self._cache.add_many(fingerprints)

    def forget(self, shard: int) -> None:
        self._cache.clear_range(shard, self._shards)

    def run(
        self,
        resolved: bytes,
        *,
        host: bytes,
        depth: int,
        left: int,
        hops: int = 0,
        kind: int = 0,
        flags: int = 0,
        other_host: bytes | None = None,
        nofollow: bool = False,
        choose: Callable[[list[bytes], list[int]], bytes] | None = None,
        has_verdicts: bool = False,
    ) -> LinkBatch:
        links = read_resolved(resolved)
        accepted: dict[int, Link] = {}
        places: dict[int, int] = {}
        filtered: Counter[int] = Counter()
        verdicts = bytearray([ACCEPTED]) * len(links)
        for index, found in enumerate(links):
            new_left = self._left(found.host != host, left, flags)
            reason = self._refusal(found, found.host != host, new_left, flags, kind, nofollow)
            is_strange = other_host is not None and found.host not in (host, other_host)
            if is_strange and not flags & SEED and reason in (Filtered.TOO_DEEP, None):
                reason = Filtered.OUT_SITE
            if reason is None and not flags & SEED and not self._has_domain(found):
                reason = Filtered.OUT_SITE
            if index >= self._links_per_page:
                reason = Filtered.LINKS_PER_PAGE
            if reason is not None:
                filtered[reason] += 1
                verdicts[index] = reason
                continue
            fp = fingerprint_of(self._key, self._domain_of(found.host), found.url)
            if fp in accepted or (self._cache.has(fp) and not flags & FORCE):
                verdicts[index] = DUPLICATE
                continue
            accepted[fp] = Link(
                found.url, fp, self._depth(depth, flags), new_left, found.port,
                found.host_start, found.host_len, self._level(found.file),
                kind, hops, flags & ~HTTPS | found.https,
            )  # fmt: skip
            places[fp] = index
        for judge in (self._choose, choose):
            if judge and accepted and not flags & SEED and kind != SITEMAP:
                urls = [link.url for link in accepted.values()]
                answers = judge(urls, [places[fp] for fp in accepted])
                for fp, answer in zip(list(accepted), answers, strict=True):
                    verdicts[places[fp]] = answer
                refused = [fp for fp in accepted if verdicts[places[fp]] != ACCEPTED]
                filtered.update(verdicts[places[fp]] for fp in refused)
                accepted = {fp: link for fp, link in accepted.items() if fp not in refused}
        batch = self._batch(list(accepted.values()), len(links), dict(filtered))
        batch.verdicts = bytes(verdicts) if has_verdicts else None
        return batch

    def judge(self, urls: list[tuple[bytes, bytes, bytes, int, int]]) -> bytes:
        verdicts = [self._still(*url) for url in urls]
        if self._choose:
            for place, (url, _, _, flags, kind) in enumerate(urls):
                if verdicts[place] == ACCEPTED and not flags & SEED and kind != SITEMAP:
                    verdicts[place] = self._choose([url], [place])[0]
        return bytes(verdicts)

    def _still(self, url: bytes, host: bytes, via: bytes, flags: int, kind: int) -> int:
        found = resolved(url)
        is_outside = via != b"" and resolved(via).host != host
        reason = self._refusal(found, is_outside, 0, flags, kind, False)
        if reason is None and not flags & SEED and not self._has_domain(found):
            reason = Filtered.OUT_SITE
        return 255 if reason is None else int(reason)

    def _has_domain(self, found: Resolved) -> bool:
        return self._site_domains is None or self._domain_of(found.host) in self._site_domains

    def _depth(self, depth: int, flags: int) -> int:
        if flags & REDIRECT:
            return depth
        return 0 if flags & SEED else min(depth + 1, 65_535)

    def _left(self, is_outside: bool, left: int, flags: int) -> int:
        if flags & REDIRECT:
            return left
        if flags & SEED or (is_outside and self._depth_by_site):
            return self._depth_in_site
        return left - 1

    def _level(self, file: bytes) -> int:
        return 0 if file.split(b"?")[0].lower().endswith(self._priority) else 1

    def _refusal(
        self, found: Resolved, is_outside: bool, left: int, flags: int, kind: int, nofollow: bool
    ) -> Filtered | None:
        path = found.file.split(b"?")[0].lower()
        status = REFUSED_BY_KERNEL.get(found.status, Filtered.INVALID)
        has_query = any(byte in found.file for byte in b"?=*")
        is_spared = path.endswith((b".html", b".htm", b"/"))
        is_away = is_outside and not self._external and not flags & REDIRECT
        is_foreign = bool(self._domains) and not found.host.lower().endswith(self._domains)
        is_unwanted = nofollow or (self._rels and found.rel & NOFOLLOW_RELS)
        from_host = found.url[found.host_start :].partition(b"?")[0]
        is_below = self._prefixes is None or kind == SITEMAP or from_host.startswith(self._prefixes)
        is_unlisted = self._sites is not None and found.host not in self._sites
        rules = [
            (found.status != 0, status),
            (len(found.url) > MAX_URL_BYTES, Filtered.TOO_LONG),
            (found.element not in self._followed, Filtered.ELEMENT),
            (bool(flags & SEED), None),
            (bool(is_unwanted and not flags & REDIRECT), Filtered.NOFOLLOW),
            (kind != SITEMAP and has_query and not self._cgi, Filtered.CGI),
            (
                kind != SITEMAP and path.endswith(self._forbidden) and not is_spared,
                Filtered.EXTENSION,
            ),
            (path.count(b"/") > self._most_segments, Filtered.PATH_SEGMENTS),
            (_repeats(found.file) > self._most_repeats, Filtered.SEGMENT_REPEATS),
            (self._is_long_query(found.file), Filtered.QUERY),
            (is_away or is_foreign or is_unlisted or not is_below, Filtered.OUT_SITE),
            (left < 0, Filtered.TOO_DEEP),
        ]
        return next((reason for applies, reason in rules if applies), None)

    def _is_long_query(self, file: bytes) -> bool:
        query = file.partition(b"?")[2]
        count = len(query.split(b"&")) if query else 0
        return count > self._most_parameters or len(query) > self._most_bytes

    def _batch(self, links: list[Link], found: int, filtered: dict[int, int]) -> LinkBatch:
        if self._reverse:
            links.reverse()
        groups: list[list[Link]] = [[] for _ in range(self._shards)]
        for link in links:
            groups[shard_of(link.fingerprint, self._shards)].append(link)
        entries = [b"".join(link.pack() for link in group) for group in groups]
        return LinkBatch(
            entries=entries,
            counts=[len(group) for group in groups],
            fingerprints=[
                b"".join(struct.pack("<Q", link.fingerprint) for link in group) for group in groups
            ],
            found=found,
            duplicates=found - len(links) - sum(filtered.values()),
            filtered=filtered,
            verdicts=None,
        )


def _repeats(file: bytes) -> int:
    """How often the path holds the segment that it holds most often."""
    segments = file.partition(b"?")[0].split(b"/")
    return max(Counter(filter(None, segments)).values(), default=0)
