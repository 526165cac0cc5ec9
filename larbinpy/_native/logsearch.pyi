from collections.abc import Iterable
from typing import final

STOP_END: int
STOP_SEALED: int
STOP_DAMAGED: int

def find_prints(data: bytes | bytearray | memoryview, wanted: int, start: int) -> list[int]: ...

@final
class Search:
    def __new__(cls, fingerprint: int, host: bytes, ids: Iterable[int] = ()) -> Search: ...
    @property
    def ids(self) -> list[int]: ...
    def ahead(self, id_lsn: int, level: int, newest_first: bool) -> int: ...
    def run(
        self, data: bytes | bytearray | memoryview, start: int, dones_before: int
    ) -> tuple[list[tuple[int, int]], int, int]: ...
