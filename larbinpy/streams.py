"""Standard input, output and error, as the shell left them to us."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Final

_STANDARD: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed() -> None:
    """Give those that are closed (``>&-``) an empty file, for children too.

    The next file or socket that is opened would get their number else, and receive whatever is
    written to them: a traceback could end up in the state.
    """
    for number, (name, mode) in enumerate(_STANDARD):
        try:
            os.fstat(number)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def drop_output() -> None:
    """What is still to be written to standard output is not written, now that it cannot be."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  (until the process ends)
