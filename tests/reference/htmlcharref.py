"""Character references by the HTML standard, 13.2.5.72 to 13.2.5.80; see ``htmltoken``."""

from __future__ import annotations

from html.entities import html5
from typing import Final

DIGITS: Final = "0123456789"
LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONGEST_NAME: Final = max(map(len, html5))
C1: Final = {
    c: bytes([c]).decode("cp1252") for c in range(0x80, 0xA0) if c not in b"\x81\x8d\x8f\x90\x9d"
}


def character_reference(text: str, at: int, *, in_attribute: bool) -> tuple[str, int]:
    """Decode what stands behind "&": its value (or a literal "&"), and where the text goes on."""
    if text.startswith("#", at):
        return _numeric(text, at)
    return _named(text, at, in_attribute=in_attribute)


def _named(text: str, at: int, *, in_attribute: bool) -> tuple[str, int]:
    for size in range(LONGEST_NAME, 0, -1):
        name = text[at : at + size]
        if len(name) == size and name in html5:
            behind = text[at + size : at + size + 1]
            is_open = name[-1] != ";" and behind != "" and behind in "=" + DIGITS + LETTERS
            if in_attribute and is_open:
                break
            return html5[name], at + size
    return "&", at


def _numeric(text: str, at: int) -> tuple[str, int]:
    base, start = (16, at + 2) if text[at + 1 : at + 2] in ("x", "X") else (10, at + 1)
    digits = DIGITS + "abcdefABCDEF" if base == 16 else DIGITS
    end = start
    while end < len(text) and text[end] in digits:
        end += 1
    if end == start:
        return "&", at
    # Leading zeros and absurd lengths are no reason to build huge numbers.
    number = int(text[start:end].lstrip("0")[:10] or "0", base)
    return _meaning(number), end + text.startswith(";", end)


def _meaning(number: int) -> str:
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return "\ufffd"
    return C1.get(number, chr(number))
