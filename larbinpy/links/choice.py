"""Choosing from the links that no compiled rule refuses: the operator's patterns.

In: the new URLs of a page. Out: a byte for each, ``ACCEPTED`` or why it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.records import Filtered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from larbinpy.patterns import Patterns

    Choose = Callable[[list[bytes], list[int]], bytes]
    """Called with URLs and their places among all links of their page."""

ACCEPTED: Final = 255


def by_patterns(include: Patterns | None, exclude: Patterns | None) -> Choose | None:
    """Choose what one of ``include`` matches (None = everything) and none of ``exclude`` does."""
    if include is None and exclude is None:
        return None

    def choose(urls: list[bytes], _places: Sequence[int]) -> bytes:
        verdicts = bytearray([ACCEPTED]) * len(urls)
        if include is not None:
            verdicts = bytearray([Filtered.NOT_INCLUDED]) * len(urls)
            for place in include.matched(urls):
                verdicts[place] = ACCEPTED
        if exclude is not None:
            for place in exclude.matched(urls):
                verdicts[place] = Filtered.EXCLUDED
        return bytes(verdicts)

    return choose
