"""Signals that a crawl hears, from its begin to the end of its process."""

from __future__ import annotations

import subprocess
import sys

LIFE = """
import os, signal
from larbinpy.supervisor.signals import Signals

heard = []
with Signals({signal.SIGTERM: lambda: heard.append("TERM")}) as signals:
    os.kill(os.getpid(), signal.SIGTERM)
    assert heard == ["TERM"]
os.kill(os.getpid(), signal.SIGTERM)
assert heard == ["TERM"]
raise SystemExit(42)
"""


def test_a_signal_of_the_last_moment_does_not_hide_how_a_crawl_ended() -> None:
    """It is heard while the crawl runs, and ignored when the process is about to end."""
    assert subprocess.run([sys.executable, "-c", LIFE], check=False).returncode == 42
