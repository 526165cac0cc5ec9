"""The small languages of attribute values: srcset, meta refresh, meta charset; see ``linkscan``."""

from __future__ import annotations

import re
from typing import Final

SPACES: Final = "\t\n\f\r "
FLOAT: Final = re.compile(r"-?([0-9]+|[0-9]*\.[0-9]+)([eE][-+]?[0-9]+)?")
NOT_ZERO: Final = re.compile(r"0*[1-9][0-9]*")


def srcset_urls(text: str) -> list[str]:
    """The URLs of the valid image candidates (4.8.4.2.2 of the HTML standard)."""
    urls: list[str] = []
    at = 0
    while True:
        while at < len(text) and text[at] in SPACES + ",":
            at += 1
        if at == len(text):
            return urls
        start = at
        while at < len(text) and text[at] not in SPACES:
            at += 1
        url = text[start:at]
        descriptors: list[str] = []
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            descriptors, at = _descriptors(text, at)
        if _are_valid(descriptors):
            urls.append(url)


def _descriptors(text: str, at: int) -> tuple[list[str], int]:
    """The descriptors up to a comma outside parentheses, and where the next candidate begins."""
    found = [""]
    in_parens = False
    while at < len(text):
        c = text[at]
        at += 1
        if c == "," and not in_parens:
            break
        if c in SPACES and not in_parens:
            found.append("")
            continue
        in_parens = c != ")" if in_parens else c == "("
        found[-1] += c
    return [word for word in found if word], at


def _are_valid(descriptors: list[str]) -> bool:
    kinds = "".join(sorted(word[-1] for word in descriptors))
    if kinds not in ("", "w", "x", "hw"):
        return False
    for word in descriptors:
        number = word[:-1]
        if word[-1] == "x":
            if not FLOAT.fullmatch(number) or re.match("-.*[1-9]", number.lower().split("e")[0]):
                return False
        elif not NOT_ZERO.fullmatch(number):
            return False
    return True


def refresh_url(text: str) -> str | None:
    """The URL part of a refresh (the shared declarative refresh steps); None: does not parse."""
    match = re.match(r"[\t\n\f\r ]*(?:[0-9]+[0-9.]*|\.[0-9.]*)", text)
    if not match:
        return None
    rest = text[match.end() :]
    if rest and rest[0] not in ";," + SPACES:
        return None
    rest = re.sub(r"^[\t\n\f\r ]*[;,]?[\t\n\f\r ]*", "", rest)
    key = re.match(r"[Uu][Rr][Ll][\t\n\f\r ]*=[\t\n\f\r ]*", rest)
    if key:
        rest = rest[key.end() :]
    elif rest[:1] in ("u", "U"):
        return rest
    if rest[:1] in ("'", '"'):
        return rest[1:].split(rest[0])[0]
    return rest


def is_bare_refresh(text: str) -> bool:
    """Whether a refresh that parses has no URL part at all: it is of the document itself."""
    return re.fullmatch(r"[\t\n\f\r ]*[0-9.]+[\t\n\f\r ]*[;,]?[\t\n\f\r ]*", text) is not None


def charset_in(text: str) -> str | None:
    """The label in a content type ("extracting a character encoding from a meta element")."""
    for match in re.finditer(r"(?i:charset)[\t\n\f\r ]*", text, re.ASCII):
        if text[match.end() : match.end() + 1] != "=":
            continue
        value = text[match.end() + 1 :].lstrip(SPACES)
        if not value:
            return None
        if value[0] in "'\"":
            return value[1:].split(value[0])[0] if value[0] in value[1:] else None
        return re.split(f"[;{SPACES}]", value)[0]
    return None
