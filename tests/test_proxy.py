"""How a proxy is written."""

from __future__ import annotations

import pytest

from larbinpy.proxy import Proxy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("www 8080", Proxy("http", "www", 8080)),
        ("http://www:8080", Proxy("http", "www", 8080)),
        ("http://www:8080/", Proxy("http", "www", 8080)),
        ("socks5://[::1]:1080", Proxy("socks5", "::1", 1080)),
        ("http://u:p%40%3a@www:1", Proxy("http", "www", 1, b"u", b"p@:")),
        ("http://u@www:1", Proxy("http", "www", 1, b"u")),
    ],
)
def test_forms(text: str, expected: Proxy) -> None:
    """larbin's two words, and URLs."""
    assert Proxy.parse(text) == expected


def test_the_address_of_a_proxy_is_looked_up() -> None:
    """Once, before anything else."""
    assert Proxy("http", "127.0.0.1", 80).address() == "127.0.0.1"
    with pytest.raises(OSError, match=r"."):
        Proxy("http", "no.such.name.invalid.", 80).address()
