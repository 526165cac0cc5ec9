"""Records of the URL log the slow way; docs/format-queue.md and docs/protocol.md 4.2 in code."""

from __future__ import annotations

import struct
from typing import Final

from tests.reference.crc32c import crc32c

HEAD: Final = struct.Struct("<IIBBHQ")
GROUP: Final = struct.Struct("<HHII")
LINK: Final = struct.Struct("<QHHHHBBBBBBHff")
ENQ: Final = struct.Struct("<QHHHBBBBBBB3xffHHHH")
DONE: Final = struct.Struct("<QBBHIII16s")
MAX_PAYLOAD: Final = 65536
SCAN_END, SCAN_SEALED, SCAN_SHORT, SCAN_LENGTH, SCAN_TYPE, SCAN_CRC, SCAN_LSN = range(7)

ENQ_TYPE: Final = 1
DONE_TYPE: Final = 2
MOVE_TYPE: Final = 4
SEAL_TYPE: Final = 8
Url = tuple[
    int, int, bytes, bytes, bytes, bytes, int, bool,
    int, int, int, int, int, int, int, float, float,
]  # fmt: skip


def padded(size: int) -> int:
    """Bytes of a record whose payload has ``size``."""
    return -(-(HEAD.size + size) // 8) * 8


def groups_of(groups: bytes) -> list[tuple[bytes, bytes, list[tuple[tuple[int, ...], bytes]]]]:
    """Via, tag and links (fields, URL) of each group; ValueError when they do not fit exactly."""
    found, at = [], 0
    while at < len(groups):
        try:
            via_len, tag_len, count, size = GROUP.unpack_from(groups, at)
        except struct.error:
            raise ValueError("short group head") from None
        at += GROUP.size
        via, tag = groups[at : at + via_len], groups[at + via_len : at + via_len + tag_len]
        at += via_len + tag_len
        if at + size > len(groups) or via_len > 2083:
            raise ValueError("short group")
        found.append((via, tag, links_of(groups[at : at + size], count, len(via + tag))))
        at += size
    return found


def links_of(data: bytes, count: int, extra: int) -> list[tuple[tuple[int, ...], bytes]]:
    """``count`` links that fill ``data``."""
    links, at = [], 0
    for _ in range(count):
        if at + LINK.size > len(data):
            raise ValueError("short link")
        fields = LINK.unpack_from(data, at)
        at += LINK.size
        url = data[at : at + fields[1]]
        if len(url) < fields[1] or len(url) > 2083 or fields[5] + fields[6] > len(url):
            raise ValueError("bad URL")
        if ENQ.size + len(url) + extra > MAX_PAYLOAD:
            raise ValueError("too long")
        at += len(url)
        links.append((fields, url))
    if at != len(data):
        raise ValueError("links left over")
    return links


class Codec:
    """The records of one segment."""

    def __init__(self, uuid: bytes, segment: int) -> None:
        self.salt = uuid + segment.to_bytes(8, "little")
        self.records = 0
        self.crcs = b""

    @property
    def chain(self) -> int:
        """Inverted crc over the crc fields."""
        return crc32c(self.crcs) ^ 0xFFFFFFFF

    def crc(self, record: bytes) -> int:
        """What the crc field of a record without padding must hold."""
        return crc32c(self.salt + record[4:])

    def encode(self, kind: int, payload: bytes, lsn: int) -> bytes:
        """One record."""
        if len(payload) > MAX_PAYLOAD or kind == 0:
            raise ValueError("no such record")
        record = HEAD.pack(0, len(payload), kind, 0, 0, lsn) + payload
        crc = self.crc(record).to_bytes(4, "little")
        self.records += 1
        self.crcs += crc
        return (crc + record[4:]).ljust(padded(len(payload)), b"\0")

    def encode_links(self, groups: bytes, mask: bytes, first_lsn: int) -> tuple[bytes, bytes]:
        """ENQ records of the wanted links, and their offsets."""
        payloads = [
            enq_payload(fields, url, via, tag)
            for via, tag, links in groups_of(groups)
            for fields, url in links
        ]
        if len(mask) != len(payloads):
            raise ValueError("mask")
        records, offsets = b"", b""
        for payload, wanted in zip(payloads, mask, strict=True):
            if wanted == 1:
                offsets += len(records).to_bytes(4, "little")
                records += self.encode(1, payload, first_lsn + len(offsets) // 4 - 1)
        return records, offsets

    def check(self, data: bytes, at: int) -> int:
        """Reason why no good record stands at ``at``, 0 when one does."""
        if len(data) - at < HEAD.size:
            return SCAN_SHORT
        crc, size, kind, *_ = HEAD.unpack_from(data, at)
        if size > MAX_PAYLOAD:
            return SCAN_LENGTH
        if kind == 0:
            return SCAN_TYPE
        if len(data) - at < padded(size):
            return SCAN_SHORT
        return 0 if self.crc(data[at : at + HEAD.size + size]) == crc else SCAN_CRC

    def scan(self, data: bytes, start: int, next_lsn: int) -> tuple[int, int, int, list[int]]:
        """Where good records end, why, the next lsn, and the offsets of the records."""
        offsets: list[int] = []
        while start != len(data):
            reason = self.check(data, start)
            if reason:
                return start, reason, next_lsn, offsets
            _, size, kind, _, _, lsn = HEAD.unpack_from(data, start)
            if next_lsn not in (0, lsn):
                return start, SCAN_LSN, next_lsn, offsets
            offsets.append(start)
            start, next_lsn = start + padded(size), lsn + 1
            if kind == SEAL_TYPE:
                return start, SCAN_SEALED, next_lsn, offsets
        return start, SCAN_END, next_lsn, offsets

    def resync(self, data: bytes, start: int, next_lsn: int) -> int:
        """Offset of the next good record with that lsn or a higher one, or -1."""
        for at in range(-(-start // 8) * 8, len(data) - HEAD.size + 1, 8):
            _, _, _, flags, reserved, lsn = HEAD.unpack_from(data, at)
            if flags == reserved == 0 and lsn >= next_lsn and self.check(data, at) == 0:
                return at
        return -1

    def decode_urls(self, data: bytes, offsets: bytes) -> list[Url]:
        """The URLs of ENQ and MOVE records."""
        urls = []
        for (at,) in struct.iter_unpack("<I", offsets):
            if self.check(data, at):
                raise ValueError("bad record")
            _, size, kind, _, _, lsn = HEAD.unpack_from(data, at)
            payload = data[at + HEAD.size : at + HEAD.size + size]
            if kind == MOVE_TYPE:
                lsn, payload = int.from_bytes(payload[:8], "little"), payload[8:]
            elif kind != ENQ_TYPE:
                raise ValueError("no URL")
            urls.append(decode_enq(lsn, payload))
        return urls


def enq_payload(fields: tuple[int, ...], url: bytes, via: bytes, tag: bytes) -> bytes:
    """Payload of ENQ for a link."""
    fp, _, depth, left, port, start, size, level, kind, hops, flags, _, score, relevance = fields
    shared = 0
    while shared < min(len(url), len(via)) and url[shared] == via[shared]:
        shared += 1
    rest = via[shared:]
    head = ENQ.pack(
        fp, depth, left, port, start, size, level, kind, hops, 0, flags, score, relevance,
        len(url), shared, len(rest), len(tag),
    )  # fmt: skip
    return head + url + rest + tag


def decode_enq(id_lsn: int, payload: bytes) -> Url:
    """The URL in a payload of ENQ."""
    (
        fp, depth, left, port, start, size, level, kind, hops, attempts, flags, score, relevance,
        url_len, shared, rest_len, tag_len,
    ) = ENQ.unpack_from(payload)  # fmt: skip
    at = ENQ.size
    url, at = payload[at : at + url_len], at + url_len
    rest, at = payload[at : at + rest_len], at + rest_len
    return (
        id_lsn, fp, url, url[:shared] + rest, payload[at : at + tag_len],
        url[start : start + size], port, bool(flags & 1), depth, left, level, kind, hops,
        attempts, flags, score, relevance,
    )  # fmt: skip


def positions(offsets: bytes, base: int) -> bytes:
    """``base`` plus each offset."""
    return b"".join((base + o).to_bytes(8, "little") for (o,) in struct.iter_unpack("<I", offsets))


def window(data: bytes, base: int, places: list[int], start: int) -> list[int]:
    """Offsets of the places that lie in order as whole records in ``data``."""
    offsets: list[int] = []
    for place in places[start:]:
        at = place - base
        if at < 0 or (offsets and at <= offsets[-1]) or len(data) - at < HEAD.size:
            break
        if len(data) - at < padded(HEAD.unpack_from(data, at)[1]):
            break
        offsets.append(at)
    return offsets
