from array import array
from collections.abc import Callable
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
    def __init__(
        self,
        release: Callable[[int, int, int], None],
        give: Callable[[FetchResult], None],
        troubles: dict[bytes, Any],
        slow_ns: int,
    ) -> None: ...
    def take(
        self, results: list[FetchResult], now_ns: int
    ) -> tuple[list[FetchJob], int, int, list[FetchResult]]: ...
