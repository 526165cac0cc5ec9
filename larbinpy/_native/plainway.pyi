from array import array
from typing import Any, final

from larbinpy._native.contents import HostContents
from larbinpy._native.jobs import FetchJob, FetchResult

@final
class PlainStarts:
    def __init__(
        self,
        origins: dict[bytes, Any],
        is_open: bool,
        ipv4: array[int],
        expires_s: array[int],
        private: set[int],
        troubles: dict[bytes, Any],
        same: HostContents,
        most_same: int,
        watch_after: int,
    ) -> None: ...
    def sort(self, jobs: list[FetchJob], now_ns: int) -> tuple[list[FetchJob], list[FetchJob]]: ...

@final
class PlainEnds:
    def __init__(self, troubles: dict[bytes, Any], slow_ns: int, most_bytes: int) -> None: ...
    def sort(
        self, results: list[FetchResult]
    ) -> tuple[list[FetchResult], list[FetchJob], int, int, list[FetchResult]]: ...
