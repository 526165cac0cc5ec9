"""The simhash of a page, said plainly."""

from __future__ import annotations

import re

from tests.reference.mix import WORD, mix64

SHINGLE = 3
FEWEST_SHINGLES = 16
RECALLED = 1024

NOT_TEXT = re.compile(
    rb"<!--.*?(?:-->|$)"
    rb"|<(?i:(script|style))(?![a-zA-Z]).*?(?:</(?i:\1)(?=[^a-zA-Z])[^>]*(?:>|$)|$)"
    rb"|<[a-zA-Z/!?][^>]*(?:>|$)"
    rb"|<$",
    re.DOTALL,
)
WORDS = re.compile(rb"[\xe3-\xef][\x80-\xbf]{0,2}|[a-z0-9\x80-\xe2\xf0-\xff]+")


def hash_of_word(word: bytes) -> int:
    """FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in word:
        value = (value ^ byte) * 0x100000001B3 & WORD
    return value


def words_of(html: bytes) -> list[bytes]:
    """The words of the text, in lower case; no word goes over a tag."""
    texts = NOT_TEXT.sub(b"<", html).split(b"<")
    return [word for text in texts for word in WORDS.findall(text.lower())]


def hash_of_shingle(hashes: list[int]) -> int:
    """Of the words of a shingle, the oldest first."""
    value = 0
    for one in hashes:
        value = (value * 0x9E3779B97F4A7C15 + one) & WORD
    return mix64(value)


def different(shingles: list[int]) -> list[int]:
    """Without those that stood there before, as far as 1,024 slots tell."""
    slots: dict[int, int] = {}
    found = []
    for shingle in shingles:
        slot = shingle * RECALLED >> 64
        if slots.get(slot, 0) != shingle:
            slots[slot] = shingle
            found.append(shingle)
    return found


def simhash(html: bytes) -> int:
    """Each bit is what most different shingles say; 0 for fewer than 16 of them."""
    hashes = [hash_of_word(word) for word in words_of(html)]
    shingles = different(
        [hash_of_shingle(hashes[at : at + SHINGLE]) for at in range(len(hashes) - SHINGLE + 1)]
    )
    if len(shingles) < FEWEST_SHINGLES:
        return 0
    votes = [sum(shingle >> bit & 1 for shingle in shingles) for bit in range(64)]
    return sum(1 << bit for bit in range(64) if 2 * votes[bit] > len(shingles))
