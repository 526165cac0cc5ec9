"""How every child process begins and ends.

A child dies with its supervisor (``children`` asks for the signal, and here the control channel
ends); an error of ours is told to the supervisor as one line before the process ends.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from larbinpy.children import Control
from larbinpy.errors import LarbinError
from larbinpy.wiring import Start

if TYPE_CHECKING:
    from collections.abc import Callable

GC_THRESHOLD: Final = 100_000
"""Nothing per page makes cycles: looking for them at every 700th object cost 4 % of the time."""


class Root(Protocol):
    """The composition root of a process."""

    def run(self) -> None:
        """Work until the supervisor says stop."""
        ...


def main(make: Callable[[Control, Start, int], Root]) -> None:
    """Take the control channel from the command line, build the root, run it, exit.

    The interpreter is left by ``os._exit``: closing thousands of curl handles one by one would only
    cost time, and nothing that matters lives in destructors.
    """
    control = Control(int(sys.argv[1]))
    if control.is_orphan:  # it died before that: its successor may be at work on the same files
        os._exit(1)
    for number in (signal.SIGTERM, signal.SIGHUP):  # they are for the supervisor to hear
        signal.signal(number, signal.SIG_IGN)
    code = 1
    try:
        fields, descriptors = control.wait_start()
        root = make(control, Start.read(fields), descriptors[0])
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD)
        root.run()
        code = 0
    except LarbinError as error:
        control.tell("fault", text=str(error), code=error.exit_code)
    except Exception as error:  # noqa: BLE001  (the top of a process: the supervisor must hear it)
        traceback.print_exc()
        control.tell("notice", text=f"internal error: {error!r}")
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
