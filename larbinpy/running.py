"""From a configuration to a crawl that has ended: what the command ``larbinpy`` does."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from larbinpy import certificates, state
from larbinpy.errors import ConfigError
from larbinpy.scratch import delete_state
from larbinpy.seeds.sources import STANDARD_INPUT
from larbinpy.supervisor.loop import Supervisor
from larbinpy.supervisor.parts import SupervisorParts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from larbinpy.config import Config


def crawl(
    config: Config,
    *,
    scratch: bool = False,
    reload: bool = False,
    command: str = "",
    reread: Callable[[], Config] | None = None,
) -> int:
    """Run a crawl to its end; returns the exit code (``ending.EXIT_CODES``).

    Args:
        scratch: delete an existing state first.
        reload: an existing state is required.
        command: what the user typed, for the report.
        reread: reads the configuration again, when SIGHUP asks for it.

    Raises:
        LarbinError: it could not begin.
    """
    _check_readable("seedFile", config.seed_file)
    _check_readable("hostsFile", config.hosts_file)
    if config.ca_file:
        certificates.read(config.ca_file)
    if scratch:
        for path in delete_state(config.state_dir, keep=config.output_dir):
            sys.stderr.write(f"deleted {path}\n")
    directory = state.StateDirectory(config.state_dir)
    try:
        manifest = state.begin(directory, config, reload=reload)
        parts = SupervisorParts.make(config, directory, manifest, reread=reread)
        return Supervisor(parts).run()
    finally:
        directory.close()


def _check_readable(key: str, path: Path | None) -> None:
    """Refuse a file that cannot be read; it is not opened, for it may be a pipe.

    Raises:
        ConfigError: it is not there, a directory, or forbidden.
    """
    if path is None or str(path) == STANDARD_INPUT:
        return
    if path.is_dir():
        raise ConfigError(f"{key}: {path}: is a directory")
    try:
        path.stat()
    except OSError as error:
        raise ConfigError(f"{key}: {path}: {error.strerror}") from error
    if not os.access(path, os.R_OK):
        raise ConfigError(f"{key}: {path}: may not be read")
