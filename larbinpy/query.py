"""Queries in a document's own encoding, as forms and links of old pages still send them.

The URL standard encodes the query of a link in the encoding of its document; a character that this
encoding lacks becomes a decimal character reference, itself escaped (``%26%238224%3B``).
"""

from __future__ import annotations

import codecs
from typing import Final
from unicodedata import normalize

_CODECS: Final = {
    "big5": "cp950",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "gb18030": "gb18030",
    "gbk": "gbk",
    "ibm866": "cp866",
    "iso-2022-jp": "iso2022_jp",
    "iso-8859-8-i": "iso8859-8",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "macintosh": "mac_roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-user-defined": "ascii",
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-125{n}": f"cp125{n}" for n in range(9)},
}
"""Name in the encoding standard, in lower case -> codec; every other name is UTF-8."""

# Half of the web's Japanese converters write the fullwidth forms where the codecs want the others.
_JAPANESE: Final = str.maketrans("\uff0d\uff5e\u2225\uffe0\uffe1\uffe2", "\u2212\u301c\u2016¢£¬")

# ISO-2022-JP has no halfwidth katakana.
_HALFWIDTH: Final = {code: normalize("NFKC", chr(code)) for code in range(0xFF61, 0xFF9E)} | {
    0xFF9E: "\u309b",
    0xFF9F: "\u309c",
}

# What the standard's encoders do otherwise than the codecs.
_TRANSLATIONS: Final[dict[str, dict[int, int | str]]] = {
    "euc-jp": {**_JAPANESE, 0xA5: "\\", 0x203E: "~"},
    "gb18030": {0xE5E5: "%26%2358853%3B"},
    "gbk": {0x20AC: "%80"},
    "iso-2022-jp": {
        **_JAPANESE,
        **_HALFWIDTH,
        **dict.fromkeys((0x0E, 0x0F, 0x1B), "%26%2365533%3B"),
    },
    "shift_jis": {0x2212: "\uff0d", 0xA5: "\\", 0x203E: "~"},
}

_ESCAPED: Final = [
    b"%%%02X" % byte if byte <= 0x20 or byte >= 0x7F or byte in b"\"#<>'" else bytes([byte])
    for byte in range(256)
]
"""The special-query percent-encode set of the URL standard."""


def _escape_reference(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(char)}%3B" for char in missing), error.end


_ERRORS: Final = "larbinpy.query"
codecs.register_error(_ERRORS, _escape_reference)


def is_utf8(encoding: str) -> bool:
    """Whether URLs of a document in this encoding (the standard's name) are written in UTF-8."""
    return encoding.lower() not in _CODECS


def encode_query(query: str, encoding: str) -> bytes:
    """Encode and escape a query, without its question mark."""
    name = encoding.lower()
    text = query.translate(_TRANSLATIONS.get(name, {}))
    encoded = text.encode(_CODECS.get(name, "utf-8"), _ERRORS)
    return b"".join([_ESCAPED[byte] for byte in encoded])
