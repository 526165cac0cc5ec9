from collections.abc import Callable, Container
from typing import Any, final

from larbinpy._native.easyslots import Running, Slot
from larbinpy._native.jobs import FetchJob, FetchResult

@final
class PlainFetch:
    def __init__(
        self,
        multi: Any,
        running: Running,
        idle: list[Slot],
        slots: dict[Any, Slot],
        make: Callable[[], Slot],
        *,
        is_plain: bool,
        public: bytes,
        own_ports: frozenset[int],
        closers: Container[tuple[bytes, int]],
        limit: int,
        check_type: bool,
    ) -> None: ...
    def begin(self, jobs: list[FetchJob], room: int, keep: bool) -> list[FetchJob]: ...
    def ended(
        self,
    ) -> tuple[list[FetchResult], list[tuple[Slot, int, str]]]: ...
