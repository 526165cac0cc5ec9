"""The operator's certificates, which vouch for servers beside the usual ones."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from larbinpy.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> bytes:
    """Read ``caFile``.

    Raises:
        ConfigError: it cannot be read, or no certificate is in it.
    """
    try:
        ssl.create_default_context(cafile=path)
        return path.read_bytes()
    except OSError as error:
        is_text = isinstance(error, ssl.SSLError)
        reason = "no certificates (PEM) in it" if is_text else error.strerror
        raise ConfigError(f"caFile: {path}: {reason}") from error
