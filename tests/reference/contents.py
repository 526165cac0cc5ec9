"""The latest contents of a host, with a queue."""

from __future__ import annotations

from collections import deque


class Contents:
    """As ``ext/contents.pyx``."""

    def __init__(self) -> None:
        self._latest: deque[bytes] = deque(maxlen=4)
        self.in_a_row = 0
        self.shown = 0
        self.is_left = False
        self.crowd: Contents | None = None

    def add(
        self, digest: bytes, *, is_near: bool = False, leads_on: bool = True, watched: int = 1
    ) -> None:
        if self.crowd:
            self.crowd.add(digest, is_near=is_near, leads_on=leads_on, watched=watched)
            self.crowd = None
        self.shown += 1
        if digest in self._latest:
            self.in_a_row += 1
        elif is_near:
            self.in_a_row += leads_on
        else:
            self.in_a_row = 0 if watched else self.in_a_row
            self._latest.append(digest)

    def watch(self, after: int, most: int) -> int:
        if self.crowd:
            return 2
        if after == 0:
            return 4
        is_close = self.in_a_row >= min(32, most // 2)
        return int(self.shown >= after and (is_close or self.shown % 16 == 0))
