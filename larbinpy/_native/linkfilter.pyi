from collections.abc import Callable, Iterable
from typing import final

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
    @property
    def verdicts(self) -> bytes | None: ...

@final
class LinkFilter:
    def __new__(
        cls,
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
    ) -> LinkFilter: ...
    @property
    def links_per_page(self) -> int: ...
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
        other_host: bytes | None = None,
        nofollow: bool = False,
        choose: Callable[[list[bytes], list[int]], bytes] | None = None,
        has_verdicts: bool = False,
    ) -> LinkBatch: ...
    def judge(self, urls: list[tuple[bytes, bytes, bytes, int, int]]) -> bytes: ...
