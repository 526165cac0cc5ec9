"""How many descriptors this process has open: what a test that must leave none compares."""

from __future__ import annotations

import gc
from pathlib import Path


def open_descriptors() -> int:
    """Those that are still in use: what other tests have left behind is closed first.

    Compare with ``<=``: a thread that another test has left may end, and close its own.
    """
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))
