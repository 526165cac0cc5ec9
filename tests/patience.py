"""Waiting for what must come: limits that end a hang, and say nothing of the machine's speed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S: Final = 300.0
"""Far longer than anything takes that a test waits for, on a slow machine that others use too."""


def wait_until(is_true: Callable[[], bool], *, timeout_s: float = PATIENCE_S) -> bool:
    """Look again and again; false when the time is up."""
    deadline_s = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.005)
    return True
