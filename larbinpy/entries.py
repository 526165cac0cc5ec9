"""Entries of the frames that Python reads and writes; ``docs/protocol.md``, section 4.

Both sides of PAGE and what is hot of PARSED are compiled: ``ext/heldpages.pyx`` in the shard,
``ext/pages.pyx`` in the parser.

Decoders trust nothing: entries that do not fill their frame raise ``FormatError``.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, Final, TypeVar

from larbinpy._native.linkgroups import groups_of, link_groups
from larbinpy._native.pages import answers_of, decode_pages, encode_parsed
from larbinpy.errors import FormatError
from larbinpy.records import ParsedPage

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "answers_of",
    "decode_control",
    "decode_pages",
    "decode_parsed",
    "decode_robots",
    "encode_control",
    "encode_parsed",
    "encode_robots",
    "groups_of",
    "hosts_of_links",
    "link_groups",
    "parsed_at",
]

_Entry = TypeVar("_Entry")


def _decode_all(
    name: str, payload: bytes, count: int, decode: Callable[[bytes, int], tuple[_Entry, int]]
) -> list[_Entry]:
    """Decode the entries of a frame; ``decode`` tells where an entry ends."""
    entries = []
    at = 0
    try:
        for _ in range(count):
            entry, at = decode(payload, at)
            entries.append(entry)
    except struct.error as error:
        raise FormatError(f"{name} entry cut short: {error}") from error
    if at != len(payload):
        raise FormatError(f"{name} entries do not fill their frame")
    return entries


# --- PARSED, ROBOTS ----------------------------------------------------------------------------

_PARSED: Final = struct.Struct("<QIBBHIII16sQ")
_FILTER: Final = struct.Struct("<BI")
_ROBOTS: Final = struct.Struct("<HHI")


def decode_parsed(payload: bytes, count: int) -> list[ParsedPage]:
    """Decode the entries of a PARSED frame.

    Raises:
        FormatError: the entries do not fill the payload.
    """
    return _decode_all("PARSED", payload, count, _decode_parsed)


def parsed_at(payload: bytes, at: int) -> ParsedPage:
    """Decode the entry that begins at an offset of a well-formed PARSED payload."""
    return _decode_parsed(payload, at)[0]


def _decode_parsed(payload: bytes, at: int) -> tuple[ParsedPage, int]:
    number, epoch, outcome, filters, *rest, near = _PARSED.unpack_from(payload, at)
    at += _PARSED.size
    filtered = dict(_FILTER.unpack_from(payload, at + i * _FILTER.size) for i in range(filters))
    fields = [number, epoch, outcome, *rest, filtered, near]
    return ParsedPage(*fields), at + filters * _FILTER.size


def encode_robots(origin: bytes, status: int, text: bytes) -> bytes:
    """Encode the one ROBOTS entry of a frame; ``text`` is at most 512 KiB."""
    return _ROBOTS.pack(len(origin), status, len(text)) + origin + text


def decode_robots(payload: bytes) -> tuple[bytes, int, bytes]:
    """Origin, HTTP status (0 = no answer) and decoded text of a ROBOTS frame."""
    if len(payload) < _ROBOTS.size:
        raise FormatError("ROBOTS entry cut short")
    origin_len, status, text_len = _ROBOTS.unpack_from(payload)
    text_at = _ROBOTS.size + origin_len
    if text_at + text_len != len(payload):
        raise FormatError("ROBOTS entry with wrong lengths")
    return payload[_ROBOTS.size : text_at], status, payload[text_at:]


# --- LINKS -----------------------------------------------------------------------------------

_GROUP: Final = struct.Struct("<HHII")
_LINK_BYTES: Final = 32
_LINK_HOST: Final = struct.Struct("<8xH6xBB")


def hosts_of_links(payload: bytes) -> list[bytes]:
    """The hosts of the links in a well-formed LINKS frame, each once a run of links.

    Cost: 0.5 us a link; for the few frames of the seeder.
    """
    found: list[bytes] = []
    at = 0
    while at < len(payload):
        via, tag, _, size = _GROUP.unpack_from(payload, at)
        at += _GROUP.size + via + tag
        end = at + size
        while at < end:
            length, host_start, host_length = _LINK_HOST.unpack_from(payload, at)
            start = at + _LINK_BYTES + host_start
            host = payload[start : start + host_length]
            if not found or found[-1] != host:
                found.append(host)
            at += _LINK_BYTES + length
    return found


# --- CONTROL ---------------------------------------------------------------------------------


def encode_control(verb: str, **fields: Any) -> bytes:  # Any: whatever JSON can say
    """Encode a CONTROL entry."""
    return json.dumps({"verb": verb, **fields}).encode()


def decode_control(payload: bytes) -> dict[str, Any]:
    """Decode a CONTROL entry; it always has a ``verb``."""
    try:
        message = json.loads(payload)
    except ValueError as error:
        raise FormatError(f"control message is not JSON: {error}") from error
    if not isinstance(message, dict) or "verb" not in message:
        raise FormatError("control message without a verb")
    return message
