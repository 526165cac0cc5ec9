"""What the operator is told of hosts that want less of us: each once, and of few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.politeness.backoff import MAX_DELAY_NS

if TYPE_CHECKING:
    from collections.abc import Callable

NAMED: Final = 20
"""Hosts that are named for the same; the others are not."""
LONG_S: Final = MAX_DELAY_NS / 1e9
"""A host that wants to be left alone for longer than we would leave it of ourselves is named."""


class Remarks:
    """Says something of a host unless it has been said.

    Args of ``__init__``:
        say: tells the operator.
    """

    __slots__ = ("_pausing", "_say", "_shortened")

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._shortened: set[bytes] = set()
        self._pausing: set[bytes] = set()

    def shortened(self, host: bytes, delay_s: float, to_s: float) -> None:
        """A host's Crawl-delay is longer than we wait."""
        text = f"its Crawl-delay of {delay_s:g} s is shortened to {to_s:g} s (maxCrawlDelay)"
        self._once(self._shortened, host, text)

    def pause(self, host: bytes, asked_s: float, pause_ns: int) -> None:
        """For a host's Retry-After a crawl may have nothing to do, and would seem to stand.

        Args:
            pause_ns: what it gets.
        """
        if asked_s <= LONG_S:
            return
        text = f"asks for a pause of {_hours(asked_s)} (Retry-After)"
        pause_s = pause_ns / 1e9
        if asked_s > pause_s + 1:
            text = f"{text}, and gets {_hours(pause_s)} (deadHostRetry)"
        self._once(self._pausing, host, text)

    def _once(self, named: set[bytes], host: bytes, text: str) -> None:
        if host not in named and len(named) < NAMED:
            named.add(host)
            self._say(f"{host.decode('ascii', 'replace')}: {text}")


def _hours(span_s: float) -> str:
    return f"{span_s / 3600:.1f} h"
