"""The oracle of ``linkscan.scan_css``: the tokens of CSS that matter, as regular expressions."""

from __future__ import annotations

import re
from typing import Final

SPACES: Final = r"[ \t\n\f]*"
STRING: Final = r"(?P<quote>[\"'])(?P<string>(?:(?!(?P=quote))[^\\\n]|\\.)*\\?)(?P=quote)?"
TOKEN: Final = re.compile(
    rf"(?P<none>[ \t\n\f]+|/\*.*?(?:\*/|\Z))|{STRING}"
    r"|(?P<word>[@#]?(?:[\w\-\x80-\U0010ffff]|\\[^\n])+|[@#])|.",
    re.DOTALL | re.ASCII,
)
QUOTED_URL: Final = re.compile(rf"\({SPACES}{STRING}", re.DOTALL)
BARE_URL: Final = re.compile(rf"\({SPACES}(?P<url>(?:[^)\\]|\\.|\\\Z)*)\)?", re.DOTALL)
GOOD_URL: Final = re.compile(rf"((?:[^\x00-\x20\x7f\"'()\\]|\\[^\n]|\\\Z)*){SPACES}", re.DOTALL)
ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\f]?|(.)|\Z)", re.DOTALL)


def css_urls(text: str) -> list[str]:
    """The URLs of a style sheet whose line ends are LF."""
    urls, at, after_import = [], 0, False
    while at < len(text):
        token = TOKEN.match(text, at)
        assert token is not None
        at = token.end()
        if token["none"]:
            continue
        word = (token["word"] or "").lower()
        if after_import and token["quote"] and is_whole(text, token):
            urls.append(unescaped(token["string"]))
        after_import = word == "@import"
        if word == "url" and text.startswith("(", at):
            found, at = url_at(text, at)
            urls += [] if found is None else [unescaped(found)]
    return urls


def url_at(text: str, at: int) -> tuple[str | None, int]:
    """The URL in the parentheses at a place, None for a bad one; and where it ends."""
    quoted = QUOTED_URL.match(text, at)
    if quoted is not None:
        return quoted["string"] if is_whole(text, quoted) else None, quoted.end()
    bare = BARE_URL.match(text, at)
    assert bare is not None
    good = GOOD_URL.fullmatch(bare["url"])
    return good[1] if good else None, bare.end()


def is_whole(text: str, match: re.Match[str]) -> bool:
    """Whether a string ended with its quote, or the style sheet did in it."""
    end = match.end("string")
    return end == len(text) or text[end] == match["quote"]


def unescaped(text: str) -> str:
    """What a value with escapes means."""
    return ESCAPE.sub(_meaning, text)


def _meaning(escape: re.Match[str]) -> str:
    if escape[1]:
        code = int(escape[1], 16)
        is_character = 0 < code < 0x110000 and not 0xD800 <= code <= 0xDFFF
        return chr(code) if is_character else "\ufffd"
    return "" if escape[2] in (None, "\n") else escape[2]
