from collections.abc import Callable, Iterable
from typing import final

def fingerprint_of(key: bytes, domain: bytes, url: bytes) -> int: ...
def shard(fp: int, shards: int) -> int: ...
def link_fingerprints(group_links: bytes) -> bytes: ...
def with_forced(group_links: bytes, mask: bytes) -> bytes: ...

@final
class WrittenCache:
    def __new__(cls, bits: int = 20) -> WrittenCache: ...
    def add_many(self, fps: bytes) -> None: ...
    def contains_many(self, fps: bytes) -> bytes: ...
    def clear_range(self, shard: int, shards: int) -> None: ...
    def clear(self) -> None: ...

@final
class LinkBatch:
    @property
    def entries(self) -> list[bytes]: ...
    @property
    def counts(self) -> list[int]: ...
    @property
    def fingerprints(self) -> list[bytes]: ...
    @property
    def found(self) -> int: ...
    @property
    def duplicates(self) -> int: ...
    @property
    def filtered(self) -> dict[int, int]: ...

@final
class LinkFilter:
    def __new__(
        cls,
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
    ) -> LinkFilter: ...
    def written(self, fingerprints: bytes) -> None: ...
    def forget(self, shard: int) -> None: ...
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
    ) -> LinkBatch: ...
