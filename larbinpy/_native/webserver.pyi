from collections.abc import Sequence
from typing import Self

SHARES: tuple[str, ...]
TRAPS: tuple[str, ...]

class Web:
    def __new__(
        cls,
        *,
        seed: int,
        hosts: int,
        pages: int,
        roots: int,
        notes: int,
        chain: int,
        links: int,
        branch: int,
        port: int,
        layered: bool,
        keep_alive: bool,
        names_per_address: int,
        page_bytes: int,
        page_spread: int,
        large_bytes: int,
        latency_ms: int,
        latency_spread_ms: int,
        traps: int,
        shares: Sequence[float],
    ) -> Self: ...
    def host(self, host: int) -> tuple[bytes, bytes, bool, int]: ...
    def trap(self, host: int) -> bytes: ...
    def url(self, host: int, kind: int, index: int) -> bytes: ...
    def find(self, host: bytes, path: bytes) -> tuple[int, int, int] | None: ...
    def facts(
        self, host: int, kind: int, index: int
    ) -> tuple[int, int, int, bool, tuple[tuple[int, int, int], bytes] | None]: ...
    def edges(self, host: int, kind: int, index: int) -> list[tuple[int, int, int, int]]: ...
    def texts(self, host: int, kind: int, index: int) -> list[bytes]: ...
    def body(self, host: int, kind: int, index: int) -> bytes: ...

class Server:
    def __new__(cls, web: Web, listener: int) -> Self: ...
    @property
    def requests(self) -> int: ...
    @property
    def refused(self) -> int: ...
    def serve(self, control: Sequence[int]) -> int: ...
    def write_log(self, path: bytes) -> int: ...

def agent_hash(agent: bytes) -> int: ...
