"""What the commands share: running a click command inside ours, and finding the configuration."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from larbinpy.config import Loaded, load
from larbinpy.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_FILE: Final = Path("larbin.conf")


def invoke(command: click.Command, name: str, arguments: list[str]) -> int:
    """Run a click command whose function returns an exit code; the arguments are its object.

    Raises:
        ConfigError: the arguments cannot be used.
        KeyboardInterrupt: the operator stopped it.
    """
    try:
        code = command.main(arguments, prog_name=name, standalone_mode=False, obj=arguments)
    except click.ClickException as error:
        raise ConfigError(f"{error.format_message()} (see {name} --help)") from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return int(code or 0)


def configure(
    path: Path | None, overrides: Sequence[str] = (), urls: Sequence[bytes] = ()
) -> Loaded:
    """Load the configuration of a command and print its warnings.

    Args:
        path: the file of ``-c``; None means ``larbin.conf`` here, else the defaults.
    """
    if path is None and DEFAULT_FILE.exists():
        path = DEFAULT_FILE
    loaded = load(path, overrides, os.environ, urls)
    for warning in loaded.warnings:
        print(f"larbinpy: warning: {warning}", file=sys.stderr)
    return loaded
