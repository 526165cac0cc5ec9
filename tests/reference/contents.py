"""The latest contents of a host, with a queue."""

from __future__ import annotations

from collections import deque


class Contents:
    """As ``ext/contents.pyx``."""

    def __init__(self) -> None:
        self._latest: deque[bytes] = deque(maxlen=4)
        self.in_a_row = 0

    def add(self, digest: bytes, *, is_near: bool = False) -> None:
        if is_near or digest in self._latest:
            self.in_a_row += 1
        else:
            self.in_a_row = 0
            self._latest.append(digest)
