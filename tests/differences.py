"""How two multisets differ, in few lines: thousands of URLs side by side tell nobody anything."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST: Final = 10
"""Lines at most for what is missing, and for what is too much."""


def differences(
    got: Iterable[object] | Mapping[object, int], want: Iterable[object] | Mapping[object, int]
) -> list[str]:
    """What is missing and what is too much, with how often; empty when there is nothing.

    Both may be counted already: a mapping says how often each thing is there.
    """
    have, need = Counter(got), Counter(want)
    return [*_named("missing", need - have), *_named("too much", have - need)]


def _named(what: str, things: Counter[object]) -> list[str]:
    lines = [f"{what}: {thing!r}" + f" x {n}" * (n > 1) for thing, n in things.most_common(MOST)]
    more = len(things) - len(lines)
    return [*lines, f"{what}: {more} others"] if more else lines
