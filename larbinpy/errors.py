"""Faults of ours or of the machine; what the web does to us is an ``Outcome``, never one of these.

Every fault carries the exit code of the command that it ends.
"""

from __future__ import annotations

from typing import ClassVar


class LarbinError(Exception):
    """Root of all faults; its text is one line for the user: what, where, what to do."""

    exit_code: ClassVar[int] = 1


class ConfigError(LarbinError):
    """A command line or configuration that cannot be used."""

    exit_code = 2


class FormatError(LarbinError):
    """Bytes on disk or on a socket that do not follow their format document."""


class StorageError(LarbinError):
    """The disk, or the operating system in its name, refused a read or write."""
