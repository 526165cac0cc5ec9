"""The robots matcher, plainly: every rule is tried, the strongest that matches decides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

UNRESERVED: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
READ_AS_THEY_ARE: Final = b"*$"
STAR: Final = 256
END: Final = 257
ENCODED: Final = re.compile(rb"%([0-9A-Fa-f]{2})|([\x80-\xff])", re.DOTALL)


def normal(text: bytes) -> bytes:
    """Hex digits upper, unreserved characters (and * and $) decoded, bytes over 127 encoded."""

    def one(match: re.Match[bytes]) -> bytes:
        byte = bytes.fromhex(match[1].decode()) if match[1] else match[2]
        return byte if byte in UNRESERVED + READ_AS_THEY_ARE else b"%%%02X" % byte[0]

    return ENCODED.sub(one, text)


def tokens(pattern: bytes) -> list[int]:
    """The bytes of a pattern, with STAR and END for what is special."""
    body, end = (pattern[:-1], [END]) if pattern.endswith(b"$") else (pattern, [])
    first, *others = (list(normal(part)) for part in body.split(b"*"))
    return first + [token for part in others for token in (STAR, *part)] + end


def matches(pattern: list[int], path: bytes) -> bool:
    """Whether a pattern matches: the places in the path that its beginning can reach."""
    places = {0}
    for token in pattern:
        if token == STAR:
            places = {after for place in places for after in range(place, len(path) + 1)}
        elif token == END:
            places = places & {len(path)}
        else:
            places = {place + 1 for place in places if path[place : place + 1] == bytes([token])}
    return bool(places)


class Matcher:
    """The rules of one group."""

    def __init__(self, rules: Iterable[tuple[bytes, bool, int]]) -> None:
        self._rules = [(tokens(pattern), allow, line) for pattern, allow, line in rules if pattern]

    def match(self, path: bytes) -> tuple[bool, int]:
        """Return whether a path is allowed, and the line that says so (0 = none)."""
        if path == b"/robots.txt":
            return True, 0
        path = normal(path)
        deciding = [
            (-len(pattern), not allow, line)
            for pattern, allow, line in self._rules
            if matches(pattern, path)
        ]
        if not deciding:
            return True, 0
        _, is_disallow, line = min(deciding)
        return not is_disallow, line

    def allows(self, path: bytes) -> bool:
        """Return whether a path is allowed."""
        return self.match(path)[0]

    def allows_many(self, paths: Iterable[bytes]) -> bytes:
        """Return one byte for each path."""
        return bytes(map(self.allows, paths))
