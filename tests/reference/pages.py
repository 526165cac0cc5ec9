"""Specification of ``larbinpy._native.pages``: entries of PAGE and PARSED, field by field."""

from __future__ import annotations

import struct
from typing import Final

from larbinpy.errors import FormatError
from larbinpy.records import PAGE_BODY_IN_FILE, Page, ParsedPage

_PAGE: Final = struct.Struct("<QIBBBBHHHBBffQIB16sHHHHII")
_SIZE: Final = struct.Struct("<I")
_PLACE: Final = struct.Struct("<Q")
_PARSED: Final = struct.Struct("<QIBBHIII16sQ")
_FILTER: Final = struct.Struct("<BI")
BODY_IN_MEMORY: Final = 16


def decode_pages(payload: bytes, count: int, memory: bytes = b"") -> list[Page]:
    """The pages of a PAGE frame of a shard with that memory."""
    pages = []
    at = 0
    try:
        for _ in range(count):
            page, at = _decode_page(payload, at, memory)
            pages.append(page)
    except struct.error as error:
        raise FormatError("PAGE entry cut short") from error
    if at != len(payload):
        raise FormatError("PAGE entries do not fill their frame")
    return pages


def _decode_page(payload: bytes, at: int, memory: bytes) -> tuple[Page, int]:
    (size,) = _SIZE.unpack_from(payload, at)
    at += _SIZE.size
    end = at + size
    values = list(_PAGE.unpack_from(payload, at))
    family, ip, *lengths = values[15:]
    body_len = lengths[-1]
    at += _PAGE.size
    in_memory, values[5] = values[5] & BODY_IN_MEMORY, values[5] & ~BODY_IN_MEMORY
    if in_memory:
        lengths[-1] = _PLACE.size
    elif values[5] & PAGE_BODY_IN_FILE:
        lengths[-1] = 0
    if at + sum(lengths) != end:
        raise FormatError("PAGE entry with wrong lengths")
    texts = []
    for length in lengths:
        texts.append(payload[at : at + length])
        at += length
    if in_memory:
        (place,) = _PLACE.unpack(texts[-1])
        texts[-1] = _body_at(place, body_len, memory)
    address = b"" if not family else ip[:4] if family == 4 else ip
    fields = [*values[:15], address, *texts]
    return Page(*fields), end


def _body_at(place: int, length: int, memory: bytes) -> bytes:
    if place + length > len(memory):
        raise FormatError("PAGE entry with a body outside the memory")
    return memory[place : place + length]


def encode_parsed(page: ParsedPage) -> bytes:
    """A PARSED entry."""
    fixed = _PARSED.pack(
        page.id, page.epoch, page.outcome, len(page.filtered), page.status, page.body_bytes,
        page.links, page.duplicates, page.digest, page.near,
    )  # fmt: skip
    return fixed + b"".join(_FILTER.pack(*entry) for entry in page.filtered.items())
