"""When a crawl is over, and under which name."""

from __future__ import annotations

import pytest

from larbinpy.supervisor import ending
from larbinpy.supervisor.ending import Limits, Reading, verdict

BUSY = Reading(outstanding=3, success=10, bytes_read=1000, seconds=5.0, is_open=False)
DONE = Reading(outstanding=0, success=10, bytes_read=1000, seconds=5.0, is_open=False)
OPEN = Reading(outstanding=0, success=0, bytes_read=0, seconds=0.0, is_open=True)


@pytest.mark.parametrize(
    ("reading", "limits", "expected"),
    [
        (BUSY, Limits(), None),
        (DONE, Limits(), ending.FINISHED),
        (OPEN, Limits(), None),
        (BUSY, Limits(pages=11), None),
        (BUSY, Limits(pages=10), ending.PAGE_LIMIT),
        (BUSY, Limits(bytes=1001), None),
        (BUSY, Limits(bytes=1000), ending.SIZE_LIMIT),
        (BUSY, Limits(seconds=5.1), None),
        (BUSY, Limits(seconds=5.0), ending.TIME_LIMIT),
        (DONE, Limits(pages=10), ending.PAGE_LIMIT),
        (BUSY, Limits(pages=1, bytes=1, seconds=1.0), ending.PAGE_LIMIT),
    ],
)
def test_verdict(reading: Reading, limits: Limits, expected: str | None) -> None:
    """Limits count from the value itself on, also while seeds are read; 0 is no limit."""
    assert verdict(reading, limits) == expected


def test_every_ending_has_an_exit_code() -> None:
    """And every limit the key that the user set."""
    names = {
        value for name, value in vars(ending).items() if name.isupper() and isinstance(value, str)
    }
    assert set(ending.EXIT_CODES) == names
    limits = {name for name, code in ending.EXIT_CODES.items() if code == 3}
    assert set(ending.LIMIT_KEYS) == limits
