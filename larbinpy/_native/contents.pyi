from typing import final

@final
class Contents:
    in_a_row: int
    def __init__(self) -> None: ...
    def add(self, digest: bytes, *, is_near: bool = False) -> None: ...
