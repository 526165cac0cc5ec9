"""Patterns of URLs as operators write them: regular expressions of RE2.

They take linear time whatever URL they meet; an engine that backtracks can be stopped for hours by
one URL that somebody made for it.

All URLs of a page are matched in one call, as the lines of a text: where few match, that takes half
the time of a call for each (``tests/bench/micro_linkchoice.py``). ``never_nl`` keeps a match within
its line, and what could still tell a line from a text is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import re2

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMORY_BYTES: Final = 64 << 20
"""Of the automata of all patterns together; beyond it matching is slower and still linear."""
_TOKEN: Final = re.compile(rb"\\.|\(\?[a-zA-Z]*-[a-zA-Z]*m|.", re.DOTALL)
_OF_TEXTS: Final = (rb"\A", rb"\z", rb"\C")


class Patterns:
    """Some patterns, one of which must match somewhere in a URL.

    Raises:
        ValueError: one of them is no pattern; the text says which, and what is wrong.
    """

    __slots__ = ("_lines",)

    def __init__(self, patterns: Sequence[bytes]) -> None:
        for pattern in patterns:
            _check(pattern)
        self._lines = _of_lines(patterns)

    def matched(self, urls: Sequence[bytes]) -> list[int]:
        """Places of the URLs that one of the patterns matches; URLs hold no line ends.

        Cost: O(bytes).
        """
        if not urls:
            return []
        starts: dict[int, int] = {}
        at = 0
        for place, url in enumerate(urls):
            starts[at] = place
            at += len(url) + 1
        return [starts[match.start()] for match in self._lines.finditer(b"\n".join(urls))]


def _check(pattern: bytes) -> None:
    """Refuse what is no pattern, alone or among others."""
    shown = pattern.decode("utf-8", "backslashreplace")
    for token in _TOKEN.findall(pattern):
        if token in _OF_TEXTS or token.startswith(b"(?"):
            raise ValueError(f"{shown!r}: {token.decode()} is not for URLs; use ^ and $")
    try:
        re2.compile(pattern, _options())
        _of_lines([pattern])
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"{shown!r} is no regular expression of RE2: {text}") from None


def _of_lines(patterns: Sequence[bytes]) -> re2._Regexp:
    """One expression that matches a whole line when one of the patterns matches in it."""
    one = b"|".join(b"(?:%b)" % pattern for pattern in patterns)
    return re2.compile(b"(?m)^.*(?:%b).*$" % one, _options())


def _options() -> re2.Options:
    options = re2.Options()
    options.never_capture = True
    options.never_nl = True
    options.log_errors = False
    options.max_mem = MEMORY_BYTES
    return options
