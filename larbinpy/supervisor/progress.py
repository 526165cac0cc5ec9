"""What the terminal shows while a crawl runs.

A line that renews itself where stderr is a terminal; larbin's statistics every 8 seconds where
``printStats`` asks for them; else nothing until the end.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TextIO

from larbinpy import report

if TYPE_CHECKING:
    from larbinpy.report import Run, Totals

LINE_S: Final = 0.5
STATS_S: Final = 8.0


class Progress:
    """Writes progress to a stream."""

    __slots__ = ("_is_line_open", "_next_line_s", "_next_stats_s", "_stats", "_stream")

    def __init__(self, *, stats: bool, stream: TextIO | None = None) -> None:
        """``stats``: larbin's ``printStats``."""
        self._stream = stream or sys.stderr
        self._stats = stats
        self._next_line_s = 0.0
        self._next_stats_s = STATS_S
        self._is_line_open = False

    def show(self, run: Run, totals: Totals) -> None:
        """Show how far the crawl is; call it as often as you like."""
        if self._stats and run.seconds >= self._next_stats_s:
            self._next_stats_s = run.seconds + STATS_S
            self.say(_stats_line(run, totals))
        if self._stream.isatty() and run.seconds >= self._next_line_s:
            self._next_line_s = run.seconds + LINE_S
            self._write("\r\x1b[K" + report.progress_line(run, totals))
            self._is_line_open = True

    def say(self, text: str) -> None:
        """Write a line of its own, over the progress line."""
        if self._is_line_open:
            text = "\r\x1b[K" + text
            self._is_line_open = False
        self._write(text + "\n")

    def _write(self, text: str) -> None:
        """A terminal that has hung up, or a disk that is full, is no reason to end a crawl."""
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()


def _stats_line(run: Run, totals: Totals) -> str:
    counters, rates = totals.counters, run.rates
    return (
        f"{run.seconds:.0f} s: urls {counters['done']:,} ({rates.get('urls', 0.0):,.1f}/s),"
        f" pages {counters['pages']:,} ({rates.get('pages', 0.0):,.1f}/s),"
        f" success {counters['success']:,} ({rates.get('success', 0.0):,.1f}/s)"
    )
