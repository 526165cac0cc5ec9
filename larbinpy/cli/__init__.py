"""The command line: arguments become a ``Config`` for the supervisor, faults become exit codes.

``dispatch`` finds the command; each command is one module, imported when it is asked for, so that
commands which only look start fast.
Exit codes: 0 finished, 1 fault, 2 usage or configuration, 3 limit reached and resumable, 130
stopped by the operator.
"""

from larbinpy.cli.dispatch import main

__all__ = ["main"]
