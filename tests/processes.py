"""Parts of tests that have a process of their own: what they change in it lasts to its end."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def in_own_process(function: Callable[..., None], *arguments: int | str) -> None:
    """Call a function of a test module there; fails with what it said when it fails."""
    module, name = function.__module__, function.__qualname__
    call = f"from {module} import {name}; {name}(*{arguments!r})"
    ended = subprocess.run(
        [sys.executable, "-c", call], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
