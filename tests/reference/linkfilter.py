"""The stateless link filter, said plainly."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from larbinpy.records import MAX_URL_BYTES, Filtered
from tests.reference.linkbuffers import Link, Resolved, read_links, read_resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WORD = 2**64 - 1
HTTPS, SEED, REDIRECT, FORCE = 1, 2, 4, 8
FOLLOWED = {1, 2, 3, 5, 6, 10, 11, 12}
IMAGES = {7, 9}


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & WORD


def _round(v: list[int]) -> None:
    v[0] = (v[0] + v[1]) & WORD
    v[2] = (v[2] + v[3]) & WORD
    v[1] = _rotate(v[1], 13) ^ v[0]
    v[3] = _rotate(v[3], 16) ^ v[2]
    v[0] = _rotate(v[0], 32)
    v[2] = (v[2] + v[1]) & WORD
    v[0] = (v[0] + v[3]) & WORD
    v[1] = _rotate(v[1], 17) ^ v[2]
    v[3] = _rotate(v[3], 21) ^ v[0]
    v[2] = _rotate(v[2], 32)


def siphash13(key: bytes, data: bytes) -> int:
    k0, k1 = struct.unpack("<QQ", key)
    v: list[int] = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D]
    v += [k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        _round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        _round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def fingerprint_of(key: bytes, domain: bytes, url: bytes) -> int:
    return (siphash13(key, domain) >> 48 << 48) | (siphash13(key, url) >> 16)


def shard(fp: int, shards: int) -> int:
    return (fp >> 48) * shards >> 16


def link_fingerprints(group_links: bytes) -> bytes:
    return b"".join(struct.pack("<Q", link.fingerprint) for link in read_links(group_links))


def with_forced(group_links: bytes, mask: bytes) -> bytes:
    links = read_links(group_links)
    return bytes(1 if link.flags & FORCE else new for link, new in zip(links, mask, strict=True))


def mix64(key: int) -> int:
    key ^= key >> 33
    key = key * 0xFF51AFD7ED558CCD & WORD
    key ^= key >> 33
    key = key * 0xC4CEB9FE1A85EC53 & WORD
    return key ^ key >> 33


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

    def contains_many(self, fps: bytes) -> bytes:
        return bytes(self.has(fp) for (fp,) in struct.iter_unpack("<Q", fps))

    def clear_range(self, shard: int, shards: int) -> None:
        self._slots = {
            slot: fp for slot, fp in self._slots.items() if (fp >> 48) * shards >> 16 != shard
        }

    def clear(self) -> None:
        self._slots = {}


@dataclass(slots=True)
class LinkBatch:
    entries: list[bytes]
    counts: list[int]
    fingerprints: list[bytes]
    found: int
    duplicates: int
    filtered: dict[int, int]


class LinkFilter:
    def __init__(
        self,
        *,
        key: bytes,
        shards: int,
        domain_of: Callable[[bytes], bytes],
        cgi: bool,
        external: bool,
        depth_by_site: bool,
        depth_in_site: int,
        images: bool,
        forbidden: Iterable[bytes],
        priority: Iterable[bytes],
        domains: Iterable[bytes],
        sites: Iterable[bytes] | None,
        links_per_page: int,
        reverse: bool,
        cache_bits: int = 20,
        known_hosts: int = 65_536,
    ) -> None:
        self._key, self._shards, self._domain_of = key, shards, domain_of
        self._cgi, self._external, self._images = cgi, external, images
        self._depth_by_site, self._depth_in_site = depth_by_site, depth_in_site
        self._forbidden = tuple(text.lower() for text in forbidden)
        self._priority = tuple(text.lower() for text in priority)
        self._domains = tuple(text.lower() for text in domains)
        self._sites = None if sites is None else {site.lower() for site in sites}
        self._links_per_page, self._reverse = links_per_page, reverse
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
    ) -> LinkBatch:
        links = read_resolved(resolved)
        accepted: dict[int, Link] = {}
        filtered: Counter[int] = Counter()
        for index, found in enumerate(links):
            new_left = self._left(found.host != host, left, flags)
            reason = self._refusal(found, found.host != host, new_left, flags)
            if index >= self._links_per_page:
                reason = Filtered.LINKS_PER_PAGE
            if reason is not None:
                filtered[reason] += 1
                continue
            fp = fingerprint_of(self._key, self._domain_of(found.host), found.url)
            if fp in accepted or (self._cache.has(fp) and not flags & FORCE):
                continue
            accepted[fp] = Link(
                found.url, fp, self._depth(depth, flags), new_left, found.port,
                found.host_start, found.host_len, self._level(found.file),
                kind, hops, flags & ~HTTPS | found.https,
            )  # fmt: skip
        return self._batch(list(accepted.values()), len(links), dict(filtered))

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

    def _refusal(self, found: Resolved, is_outside: bool, left: int, flags: int) -> Filtered | None:
        followed = FOLLOWED | IMAGES if self._images else FOLLOWED
        path = found.file.split(b"?")[0].lower()
        status = {2: Filtered.SCHEME, 4: Filtered.EMPTY}.get(found.status, Filtered.INVALID)
        has_query = any(byte in found.file for byte in b"?=*")
        is_spared = path.endswith((b".html", b".htm", b"/"))
        is_away = is_outside and not self._external and not flags & REDIRECT
        is_foreign = bool(self._domains) and not found.host.lower().endswith(self._domains)
        is_unlisted = self._sites is not None and found.host not in self._sites
        rules = [
            (found.status != 0, status),
            (len(found.url) > MAX_URL_BYTES, Filtered.TOO_LONG),
            (found.element not in followed, Filtered.ELEMENT),
            (bool(flags & SEED), None),
            (has_query and not self._cgi, Filtered.CGI),
            (path.endswith(self._forbidden) and not is_spared, Filtered.EXTENSION),
            (is_away or is_foreign or is_unlisted, Filtered.OUT_SITE),
            (left < 0, Filtered.TOO_DEEP),
        ]
        return next((reason for applies, reason in rules if applies), None)

    def _batch(self, links: list[Link], found: int, filtered: dict[int, int]) -> LinkBatch:
        if self._reverse:
            links.reverse()
        groups: list[list[Link]] = [[] for _ in range(self._shards)]
        for link in links:
            groups[shard(link.fingerprint, self._shards)].append(link)
        entries = [b"".join(link.pack() for link in group) for group in groups]
        return LinkBatch(
            entries=entries,
            counts=[len(group) for group in groups],
            fingerprints=[link_fingerprints(group) for group in entries],
            found=found,
            duplicates=found - len(links) - sum(filtered.values()),
            filtered=filtered,
        )
