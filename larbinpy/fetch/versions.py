"""The libraries that fetch: which they are, and which are too old."""

from __future__ import annotations

import platform
import re
from typing import Final

import pycares
import pycurl

from larbinpy import __version__
from larbinpy.errors import ConfigError

LEAST_LIBCURL: Final = (7, 84, 0)
"""The first libcurl whose global initialisation is safe with threads."""


def check(version: str = pycurl.version) -> None:
    """Refuse libraries that are too old.

    Raises:
        ConfigError: libcurl is; the text says which one is needed.
    """
    match = re.search(r"libcurl/(\d+)\.(\d+)\.(\d+)", version)
    if match is None or tuple(map(int, match.groups())) < LEAST_LIBCURL:
        least = ".".join(map(str, LEAST_LIBCURL))
        raise ConfigError(f"libcurl {least} or later is needed, this is {version}")


def described() -> str:
    """Everything that decides how we fetch, in one line."""
    return (
        f"larbinpy {__version__}, Python {platform.python_version()}, {pycurl.version},"
        f" c-ares/{pycares.ARES_VERSION}"
    )
