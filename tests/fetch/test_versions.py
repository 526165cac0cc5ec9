"""The libraries are told, and refused when they are too old."""

from __future__ import annotations

import pytest

from larbinpy import __version__
from larbinpy.errors import ConfigError
from larbinpy.fetch import versions


@pytest.mark.parametrize("number", ["7.83.1", "7.9.0", "6.99.99"])
def test_an_old_libcurl_is_refused(number: str) -> None:
    """By number, not by text."""
    with pytest.raises(ConfigError, match=r"^libcurl 7\.84\.0 or later is needed, this is PycURL"):
        versions.check(f"PycURL/7.45.2 libcurl/{number} OpenSSL/3.0.11")


@pytest.mark.parametrize("number", ["7.84.0", "7.88.1", "8.0.0", "10.1.0-DEV"])
def test_later_ones_are_taken(number: str) -> None:
    """As is the one that is installed."""
    versions.check(f"PycURL/7.45.2 libcurl/{number} OpenSSL/3.0.11")
    versions.check()


def test_they_are_told_in_one_line() -> None:
    """Ours first."""
    text = versions.described()
    assert text.startswith(f"larbinpy {__version__}, Python 3.")
    assert all(name in text for name in ("PycURL/", "libcurl/", "OpenSSL/", "c-ares/"))
    assert "\n" not in text
