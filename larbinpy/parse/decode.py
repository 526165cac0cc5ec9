"""Content decoding: what a body is without its gzip, deflate, br or zstd.

Servers lie, cut and append; whatever can be read is kept and flagged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from isal import isal_zlib

from larbinpy.parse.inflate import Brotli, Inflate, Run, Stream, Zstd, run

if TYPE_CHECKING:
    from collections.abc import Callable

DEF_LIMIT_BYTES: Final = 20 << 20
MAX_LAYERS: Final = 2
MAX_MEMBERS: Final = 10_000
"""Members (gzip) or frames (zstd) of one body; no page has them, a bomb has more."""

_SHOWN_BYTES: Final = 60
"""Of a Content-Encoding that nobody knows."""
_GZIP_MAGIC: Final = b"\x1f\x8b\x08"
_GZIP_HEAD_BYTES: Final = 10
_GZIP_TAIL_BYTES: Final = 8
_FHCRC, _FEXTRA, _FNAME, _FCOMMENT = 2, 4, 8, 16
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE: Final = b"\x2a\x4d\x18"
"""Behind a first byte of 0x50 to 0x5f."""


@dataclass(slots=True)
class Decoded:
    """A body without its content encodings."""

    body: bytes
    is_truncated: bool = False
    """The compressed body was cut, broken, or its check sum is wrong; this is what it gave."""
    is_too_big: bool = False
    """There is more than the limit; the body ends there."""
    is_opaque: bool = False
    """The encoding is unknown, or there are too many: the body is as received, not to be parsed."""

    def fault(self, encodings: bytes) -> bytes:
        """What is wrong with a body of these encodings, for humans; empty when nothing is."""
        if self.is_opaque:
            return b"cannot be decoded: Content-Encoding " + encodings[:_SHOWN_BYTES]
        if self.is_too_big:
            return b"decoded body over the limit"
        return b"compressed body cut or broken" if self.is_truncated else b""


def decode(body: bytes | memoryview, encodings: bytes, limit: int = DEF_LIMIT_BYTES) -> Decoded:
    """Remove the content encodings of a body.

    Args:
        body: as received.
        encodings: value of Content-Encoding, in the order in which they were applied.
        limit: bytes of output at most, for each layer.

    Cost: O(received + output); never more than twice the limit in memory.
    """
    body = bytes(body)
    if not encodings:
        is_too_big = len(body) > limit
        return Decoded(body[:limit] if is_too_big else body, is_too_big=is_too_big)
    names = [name.strip() for name in encodings.lower().split(b",")]
    names = [name for name in names if name not in (b"", b"identity")]
    if len(names) > MAX_LAYERS or any(name not in _CODERS for name in names):
        return Decoded(body, is_opaque=True)
    if not names:
        return decode(body, b"", limit)
    result = Decoded(body)
    for name in reversed(names):
        layer = _CODERS[name](result.body, limit)
        layer.is_truncated |= result.is_truncated
        layer.is_too_big |= result.is_too_big
        result = layer
        if result.is_opaque:
            break
    return result


def _plain(body: bytes, limit: int) -> Decoded:
    """The body of a server that says it compresses and does not."""
    return Decoded(body[:limit], is_too_big=len(body) > limit)


def _looks_plain(body: bytes) -> bool:
    return body.lstrip()[:1] in (b"<", b"{", b"[")


def _members(
    body: bytes,
    limit: int,
    head: Callable[[bytes, int], int | None],
    make: Callable[[], Stream],
    tail: Callable[[bytes, Run], int | None],
) -> Decoded:
    """Decode one stream after the other.

    Args:
        head: gives where the stream of the member at a position begins; None: no member.
        tail: gives the end of the member; None: its check sum is wrong or missing.
    """
    parts: list[bytes] = []
    result = Decoded(b"")
    room = limit
    at: int | None = 0
    for _ in range(MAX_MEMBERS):
        start = None if at is None else head(body, at)
        if start is None:
            break
        found = run(make, body, start, room)
        parts.append(found.body)
        room -= len(found.body)
        at = tail(body, found) if found.is_done else None
        result.is_too_big = found.is_too_big
        result.is_truncated = at is None and not found.is_too_big
    else:
        result.is_truncated = True
    result.body = b"".join(parts)
    return result


# --- gzip and deflate -------------------------------------------------------------------------
def _gunzip(body: bytes, limit: int) -> Decoded:
    if not body.startswith(_GZIP_MAGIC):
        return _plain(body, limit)
    return _members(body, limit, _gzip_start, Inflate, _gzip_end)


def _gzip_start(body: bytes, at: int) -> int | None:
    """Where the deflate stream of a member begins; the end of the body if that ends in the head."""
    if not body.startswith(_GZIP_MAGIC, at):
        return None
    flags = body[at + 3] if at + 3 < len(body) else 0
    at += _GZIP_HEAD_BYTES
    if flags & _FEXTRA:
        at += 2 + int.from_bytes(body[at : at + 2], "little")
    for flag in (_FNAME, _FCOMMENT):
        if flags & flag:
            at = (body.find(b"\0", at) + 1) or len(body)
    return min(at + 2 * bool(flags & _FHCRC), len(body))


def _gzip_end(body: bytes, found: Run) -> int | None:
    crc = isal_zlib.crc32(found.body).to_bytes(4, "little")
    size = (len(found.body) & 0xFFFFFFFF).to_bytes(4, "little")
    end = found.end + _GZIP_TAIL_BYTES
    return end if body[found.end : end] == crc + size else None


def _inflate(body: bytes, limit: int) -> Decoded:
    """Deflate, which the RFC means with zlib's head and some servers send without."""
    if len(body) >= 2 and body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0:
        found = run(Inflate, body, 2, limit)
        if found.is_done or found.body:
            adler = isal_zlib.adler32(found.body).to_bytes(4, "big")
            is_whole = found.is_done and body[found.end : found.end + 4] == adler
            return Decoded(found.body, not (is_whole or found.is_too_big), found.is_too_big)
    found = run(Inflate, body, 0, limit)
    if not found.is_done and (not found.body or _looks_plain(body)):
        return _plain(body, limit)
    return Decoded(found.body, not (found.is_done or found.is_too_big), found.is_too_big)


# --- brotli and zstandard ---------------------------------------------------------------------
def _unbrotli(body: bytes, limit: int) -> Decoded:
    found = run(Brotli, body, 0, limit)
    if not found.is_done and not found.is_too_big and _looks_plain(body):
        return _plain(body, limit)
    return Decoded(found.body, not (found.is_done or found.is_too_big), found.is_too_big)


def _unzstd(body: bytes, limit: int) -> Decoded:
    if _zstd_start(body, 0) is None:
        return _plain(body, limit)
    return _members(body, limit, _zstd_start, Zstd, lambda _, found: found.end)


def _zstd_start(body: bytes, at: int) -> int | None:
    while body.startswith(_ZSTD_SKIPPABLE, at + 1) and body[at] >> 4 == 5:
        at += 8 + int.from_bytes(body[at + 4 : at + 8], "little")
    return at if body.startswith(_ZSTD_MAGIC, at) else None


_CODERS: Final[dict[bytes, Callable[[bytes, int], Decoded]]] = {
    b"gzip": _gunzip,
    b"x-gzip": _gunzip,
    b"deflate": _inflate,
    b"br": _unbrotli,
    b"zstd": _unzstd,
}
