from typing import final

@final
class Contents:
    in_a_row: int
    is_left: bool
    crowd: Contents | None
    def __init__(self) -> None: ...
    @property
    def shown(self) -> int: ...
    def add(
        self, digest: bytes, *, is_near: bool = False, leads_on: bool = True, watched: int = 1
    ) -> None: ...
    def watch(self, after: int, most: int) -> int: ...
