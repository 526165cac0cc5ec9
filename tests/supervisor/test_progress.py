"""What the terminal shows: a line that renews itself, or nothing that would fill a log file."""

from __future__ import annotations

import io

from larbinpy.report import Run
from larbinpy.supervisor.progress import LINE_S, STATS_S, Progress
from tests.test_report import totals

CLEAR = "\r\x1b[K"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, *seconds: float, stats: bool = False) -> str:
    progress = Progress(stats=stats, stream=stream)
    for now_s in seconds:
        progress.show(Run(started_us=0, seconds=now_s), totals(pages=1))
    return stream.getvalue()


def test_a_terminal_gets_one_line_that_renews_itself() -> None:
    """Twice a second at most, however often it is told; no line end."""
    text = shown(Terminal(), 0.0, 0.1, LINE_S - 0.01, LINE_S, LINE_S + 0.1)
    assert text.count(CLEAR) == 2
    assert "\n" not in text
    assert text.count("1 pages") == 2


def test_a_file_gets_nothing() -> None:
    """Until something has to be said."""
    assert shown(io.StringIO(), 0.0, 1.0, 100.0) == ""


def test_what_is_said_stands_on_its_own_line() -> None:
    """The line that renews itself is cleared first, once, and comes back below."""
    stream = Terminal()
    progress = Progress(stats=False, stream=stream)
    progress.say("first")
    assert stream.getvalue() == "first\n"
    progress.show(Run(started_us=0, seconds=1.0), totals())
    progress.say("second")
    progress.say("third")
    assert stream.getvalue().endswith(CLEAR + "second\nthird\n")


def test_larbins_statistics() -> None:
    """With ``printStats`` a line every 8 seconds, also into a file."""
    text = shown(io.StringIO(), 0.0, STATS_S - 0.1, STATS_S, STATS_S + 1, 2 * STATS_S, stats=True)
    lines = text.splitlines()
    assert len(lines) == 2
    assert lines[0] == "8 s: urls 0 (0.0/s), pages 1 (0.0/s), success 0 (0.0/s)"


def test_a_terminal_that_has_hung_up_is_not_written_to() -> None:
    """The crawl goes on without it."""

    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(5, "Input/output error")

    Progress(stats=False, stream=Gone()).say("hello")
