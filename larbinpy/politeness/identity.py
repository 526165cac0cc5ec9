"""Who asks?  A crawler that nobody can reach may ask its own machine only.  Pure."""

from __future__ import annotations

import re
from typing import Final

PLACEHOLDERS: Final = ("@unspecified.mail", "@localhost", "@example.com", "@example.org")
"""Ends of addresses that reach nobody; the first is larbin's."""
REFUSAL: Final = (
    "no contact: set From to your mail address, or put a URL into UserAgent (or allowAnonymous)"
)
_MAIL: Final = re.compile(r"[^\s@<>]+@[^\s@<>]+\.[^\s@<>.]+")
_URL: Final = re.compile(r"https?://[^\s;)]+")
_MAPPED: Final = bytes(10) + b"\xff\xff\x7f"
_LOOPBACK6: Final = bytes(15) + b"\x01"


def is_anonymous(sender: str, user_agent: str) -> bool:
    """Whether neither ``From`` nor ``UserAgent`` says how to reach the operator."""
    return not (_URL.search(user_agent) or any(map(_is_real, _MAIL.findall(sender))))


def _is_real(mail: str) -> bool:
    return not mail.lower().endswith(PLACEHOLDERS)


def is_loopback(ip: bytes) -> bool:
    """Whether an address of 4 or 16 bytes is this machine."""
    if len(ip) == 4:
        return ip[0] == 127
    return ip == _LOOPBACK6 or ip.startswith(_MAPPED)
