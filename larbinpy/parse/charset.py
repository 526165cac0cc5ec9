"""In which encoding a page is written, and the page in UTF-8; by the HTML and Encoding standards.

The first that is known counts: byte order mark, header, meta in the first 1024 bytes, meta behind
them, XML declaration; then what the bytes look like, and at last windows-1252.
UTF-16 without any of these is seen, as Firefox does, where the first 1024 bytes are ASCII written
so; other texts in it are not, for the standard asks for no guess and guesses can be provoked.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final

from chardetng_py import EncodingDetector

from larbinpy._native import linkscan
from larbinpy.parse.headers import content_type as split_content_type
from larbinpy.parse.labels import CODECS, LABELS, TABLES

DEFAULT: Final = "windows-1252"
PRESCAN_BYTES: Final = 1024
DETECTED_BYTES: Final = 32 << 10
"""Bytes that a guess is made from, from the first that is not ASCII on; some 2 ms."""

WIDE_BYTES: Final = 30
"""Bytes that UTF-16 is seen by at least."""

_BOMS: Final = (
    (codecs.BOM_UTF8, "UTF-8"),
    (codecs.BOM_UTF16_BE, "UTF-16BE"),
    (codecs.BOM_UTF16_LE, "UTF-16LE"),
)
_WS: Final = rb"\t\n\f\r "
_TAG: Final = re.compile(rb"</?[A-Za-z]")
_META: Final = re.compile(rb"<meta[%b/]" % _WS, re.IGNORECASE)
_NAME_END: Final = re.compile(rb"[%b>]" % _WS)
_SEPARATORS: Final = re.compile(rb"[%b/]*" % _WS)
# "Get an attribute": name, then perhaps a value in quotes, in apostrophes, or bare.
_ATTRIBUTE: Final = re.compile(
    rb"(=?[^%(ws)b/>=]*)[%(ws)b]*"
    rb"(?:=[%(ws)b]*(?:\"([^\"]*)(\"?)|'([^']*)('?)|([^%(ws)b>]*)))?" % {b"ws": _WS}
)
_CHARSET: Final = re.compile(rb"charset[%b]*=[%b]*" % (_WS, _WS), re.IGNORECASE)
_CHARSET_VALUE: Final = re.compile(
    rb"\"([^\"]*)\"|'([^']*)'|([^\"'%(ws)b;][^%(ws)b;]*)" % {b"ws": _WS}
)
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")
_XML: Final = re.compile(rb"encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\"]*)\"|'([^']*)')")

_NOT_SHIFT_JIS: Final = "\uf8f0\uf8f1\uf8f2\uf8f3"
"""What Python makes of the single bytes A0, FD, FE and FF, which the standard does not know."""


def _euro(error: UnicodeError) -> tuple[str, int]:
    """Decode a lone 0x80, which in the standard's GBK is the euro sign; replace anything else."""
    if isinstance(error, UnicodeDecodeError) and error.object[error.start] == 0x80:
        return "\u20ac", error.start + 1
    character, end = codecs.replace_errors(error)
    return str(character), end


codecs.register_error("larbinpy.euro", _euro)


def find_encoding(content_type: bytes, body: bytes) -> tuple[str, str]:
    """Tell in which encoding a page is.

    Args:
        content_type: value of the header field, empty when there is none.
        body: the page, content encodings removed.

    Returns:
        the standard's name of the encoding, and where it was found: ``bom``, ``header``, ``meta``,
        ``meta-late``, ``xml``, ``detected`` or ``none``.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return encoding, "bom"
    if found := header_encoding(content_type):
        return found, "header"
    if found := _prescan(body[:PRESCAN_BYTES]):
        return found, "meta"
    if found := _of_late_meta(body):
        return found, "meta-late"
    if found := _of_xml(body[:PRESCAN_BYTES]):
        return found, "xml"
    found = _wide(body[:PRESCAN_BYTES]) or _detect(body)
    return (DEFAULT, "none") if found == DEFAULT else (found, "detected")


def find_xml_encoding(content_type: bytes, body: bytes) -> str:
    """The encoding of an XML document or a text: one that says nothing is in UTF-8."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return encoding
    return header_encoding(content_type) or _of_xml(body[:PRESCAN_BYTES]) or "UTF-8"


def to_utf8(body: bytes, encoding: str) -> bytes:
    """Give the page in UTF-8, without a byte order mark; what cannot be decoded becomes U+FFFD.

    A page in UTF-8 is given as it is: the scanner replaces invalid bytes where it meets them.
    An unknown encoding is taken for windows-1252.
    """
    for bom, owner in _BOMS:
        if encoding == owner and body.startswith(bom):
            body = body[len(bom) :]
    if encoding == "UTF-8":
        return body
    if encoding == "replacement":
        return "\ufffd".encode() if body else b""
    codec = CODECS.get(encoding)
    if codec is None:
        if body.isascii():
            return body
        table = TABLES.get(encoding, TABLES[DEFAULT])
        return codecs.charmap_decode(body, "replace", table)[0].encode()
    text = body.decode(codec, "larbinpy.euro" if codec == "gb18030" else "replace")
    if encoding == "Shift_JIS":
        for extra in _NOT_SHIFT_JIS:
            text = text.replace(extra, "\ufffd")
    return text.encode()


def encoding_of_label(label: bytes) -> str | None:
    """The encoding with this label, None for unknown ones ("get an encoding")."""
    return LABELS.get(label.strip(b"\t\n\f\r ").lower())


@lru_cache(maxsize=256)
def header_encoding(value: bytes) -> str | None:
    """The encoding that a Content-Type names; there are few different ones in a crawl."""
    return encoding_of_label(split_content_type(value)[1].get(b"charset", b""))


def _of_meta(label: bytes) -> str | None:
    """Like ``encoding_of_label``; a meta that could be read is not in UTF-16."""
    found = encoding_of_label(label)
    if found in ("UTF-16BE", "UTF-16LE"):
        return "UTF-8"
    return DEFAULT if found == "x-user-defined" else found


def _of_late_meta(body: bytes) -> str | None:
    declared = linkscan.scan(body, 0).charset or b""
    return next(filter(None, map(_of_meta, declared.split(b","))), None)


def _wide(head: bytes) -> str | None:
    """UTF-16 whose characters are all ASCII: every second byte is zero, and no other one."""
    if b"\0" not in head or len(head) < WIDE_BYTES:
        return None
    for high, low, encoding in ((1, 0, "UTF-16LE"), (0, 1, "UTF-16BE")):
        if not head[high::2].strip(b"\0") and head[low::2].isascii() and 0 not in head[low::2]:
            return encoding
    return None


def _detect(body: bytes) -> str:
    """What the encoding looks like: UTF-8 where it is valid, else a guess by frequencies."""
    first = _NOT_ASCII.search(body)
    if first is None:
        return DEFAULT
    try:
        body.decode()
    except UnicodeDecodeError:
        sample = body[first.start() : first.start() + DETECTED_BYTES]
        detector = EncodingDetector()
        detector.feed(sample, last=first.start() + len(sample) == len(body))
        guess = detector.guess(tld=None, allow_utf8=False)
        return encoding_of_label(guess.encode()) or DEFAULT
    return "UTF-8"


def _of_xml(head: bytes) -> str | None:
    if head.startswith(b"<\0?\0x\0"):
        return "UTF-16LE"
    if head.startswith(b"\0<\0?\0x"):
        return "UTF-16BE"
    if not head.startswith(b"<?xml"):
        return None
    match = _XML.search(head, 0, head.find(b">") + 1)
    return _of_meta(match[1] if match[1] is not None else match[2]) if match else None


# --- "prescan a byte stream to determine its encoding" ----------------------------------------
def _prescan(head: bytes) -> str | None:
    at = head.find(b"<")
    while at >= 0 and b"charset" in head[at:].lower():
        if head.startswith(b"<!--", at):
            end = head.find(b"-->", at + 2) + 3
            if end < 3:
                return None
        elif _TAG.match(head, at):
            attributes, end = _attributes(head, at)
            if end > len(head):
                return None
            found = _declared(attributes) if _META.match(head, at) else None
            if found:
                return found
        elif head.startswith((b"<!", b"</", b"<?"), at):
            end = head.find(b">", at) + 1
            if end < 1:
                return None
        else:
            end = at + 1
        at = head.find(b"<", end)
    return None


def _attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes of the tag at ``at``, and its end: beyond ``head`` if that ends in the tag."""
    found: dict[bytes, bytes] = {}
    beyond = len(head) + 1
    end_of_name = _META.match(head, at) or _NAME_END.search(head, at)
    if end_of_name is None:
        return found, beyond
    at = end_of_name.end() - 1
    while True:
        at = _SEPARATORS.match(head, at).end()  # type: ignore[union-attr]  # matches nothing too
        if at == len(head):
            return found, beyond
        if head[at] == ord(">"):
            return found, at + 1
        match = _ATTRIBUTE.match(head, at)
        assert match is not None  # its parts may all be empty
        at = match.end()
        if at == len(head):
            return found, beyond
        value = match[2] or match[4] or match[6] or b""
        found.setdefault(match[1].lower(), value)


def _declared(attributes: dict[bytes, bytes]) -> str | None:
    """The encoding that a meta with these attributes declares."""
    if b"charset" in attributes and b"content" not in attributes:
        return _of_meta(attributes[b"charset"])
    is_pragma = attributes.get(b"http-equiv", b"").lower() == b"content-type"
    found: str | None = None
    needs_pragma = False
    for name, value in attributes.items():
        if name == b"content" and found is None:
            found = _of_meta(_in_content(value))
            needs_pragma = found is not None or needs_pragma
        elif name == b"charset":
            found, needs_pragma = _of_meta(value), False
    return None if needs_pragma and not is_pragma else found


def _in_content(value: bytes) -> bytes:
    """The label in a meta's content."""
    key = _CHARSET.search(value)
    match = key and _CHARSET_VALUE.match(value, key.end())
    return next(filter(None, match.groups()), b"") if match else b""
