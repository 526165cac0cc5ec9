"""Payloads of the records that are not written by the million; see ``docs/format-queue.md`` 4."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy.records import ID_LSN_MASK

if TYPE_CHECKING:
    from larbinpy.records import ParsedPage

_DONE: Final = Struct("<QBBHIII16s")
_FILTER: Final = Struct("<BI")
_RETRY: Final = Struct("<QB7xQ")
_HOST: Final = Struct("<QBBBB")
_CLOSED: Final = Struct("<QQ")
_ORIGIN: Final = Struct("<BH")
_SEAL: Final = Struct("<QQII")
_LSN: Final = Struct("<Q")
_LINK: Final = Struct("<QHHHHBBBBBBHff")
_MARK: Final = Struct("<QQ")

MAX_DONE_BYTES: Final = 65_536
"""Of the payload of one DONE record."""
MAX_DONE_ENTRY: Final = _DONE.size + 255 * _FILTER.size
MAX_CLOSED: Final = 100
"""Origins in a HOST record; so many always fit."""
ENQ_ATTEMPTS: Final = 19
"""Offset of ``attempts`` in an ENQ payload."""


class RecordType(IntEnum):
    """Types of log records; never renumbered."""

    ENQ = 1
    DONE = 2
    RETRY = 3
    MOVE = 4
    COUNTS = 5
    HOST = 6
    SYNCMARK = 7
    SEAL = 8


@dataclass(slots=True)
class Retry:
    """A URL that was tried and waits for its next attempt."""

    id_lsn: int
    attempt: int
    not_before_us: int
    """Microseconds since 1970."""


@dataclass(slots=True)
class HostState:
    """What a host's back-off has come to."""

    host: bytes
    until_us: int
    """Microseconds since 1970."""
    level: int
    failures: int
    closed: dict[bytes, int] = field(default_factory=dict)
    """Origins that it was given up for, and what is wrong with each."""
    closed_until_us: int = 0
    asked_until_us: int = 0
    """Until when it has asked to be left alone, whatever the origin."""


def done_entry(page: ParsedPage) -> bytes:
    """The DONE entry of an answered page."""
    filters = b"".join(_FILTER.pack(reason, count) for reason, count in page.filtered.items())
    return (
        _DONE.pack(
            page.id & ID_LSN_MASK,
            page.outcome,
            len(page.filtered),
            page.status,
            page.body_bytes,
            page.links,
            page.duplicates,
            page.digest,
        )
        + filters
    )


def pack_retry(retry: Retry) -> bytes:
    """The payload of RETRY."""
    return _RETRY.pack(retry.id_lsn, retry.attempt, retry.not_before_us)


def unpack_retry(payload: bytes) -> Retry:
    """Read a RETRY payload."""
    return Retry(*_RETRY.unpack_from(payload))


def pack_host(state: HostState) -> bytes:
    """The payload of HOST."""
    closed = [*state.closed.items()][:MAX_CLOSED]
    numbers = (state.level, state.failures, len(state.host), len(closed))
    parts = [_HOST.pack(state.until_us, *numbers), state.host]
    if closed:
        parts.append(_CLOSED.pack(state.closed_until_us, state.asked_until_us))
    for origin, trouble in closed:
        parts += _ORIGIN.pack(trouble, len(origin)), origin
    return b"".join(parts)


def unpack_host(payload: bytes) -> HostState:
    """Read a HOST payload."""
    until_us, level, failures, size, closed = _HOST.unpack_from(payload)
    at = _HOST.size + size
    state = HostState(payload[_HOST.size : at], until_us, level, failures)
    if closed:
        state.closed_until_us, state.asked_until_us = _CLOSED.unpack_from(payload, at)
        at += _CLOSED.size
    for _ in range(closed):
        trouble, size = _ORIGIN.unpack_from(payload, at)
        at += _ORIGIN.size + size
        state.closed[payload[at - size : at]] = trouble
    return state


def pack_move(id_lsn: int, enq: bytes, attempts: int | None = None) -> bytes:
    """The payload of MOVE.

    Args:
        enq: payload of the URL's ENQ.
        attempts: requests so far; None = as ``enq`` says.
    """
    if attempts is not None:
        enq = enq[:ENQ_ATTEMPTS] + bytes((attempts,)) + enq[ENQ_ATTEMPTS + 1 :]
    return _LSN.pack(id_lsn) + enq


def unpack_move(payload: bytes) -> tuple[int, bytes]:
    """Id and ENQ payload of a MOVE."""
    return int(_LSN.unpack_from(payload)[0]), payload[_LSN.size :]


def pack_mark(lsn: int, began_us: int) -> bytes:
    """The payload of SYNCMARK."""
    return _MARK.pack(lsn, began_us)


def unpack_mark(payload: bytes) -> tuple[int, int]:
    """Lsn and time of a SYNCMARK; the time is 0 where none was written."""
    lsn, began_us = _MARK.unpack(payload[: _MARK.size].ljust(_MARK.size, b"\0"))
    return lsn, began_us


def done_ids(entries: bytes) -> list[int]:
    """The ids in DONE entries."""
    ids, at = [], 0
    while at + _DONE.size <= len(entries):
        id_lsn, _, filters, *_ = _DONE.unpack_from(entries, at)
        ids.append(id_lsn)
        at += _DONE.size + filters * _FILTER.size
    return ids


def pack_seal(records: int, size: int, chain: int) -> bytes:
    """The payload of SEAL; ``chain`` is the inverted state that a codec keeps."""
    return _SEAL.pack(records, size, chain ^ 0xFFFFFFFF, 0)


def unpack_seal(payload: bytes) -> tuple[int, int, int]:
    """Records, bytes, and crc of all crcs of a SEAL."""
    records, size, chain, _ = _SEAL.unpack_from(payload)
    return records, size, chain


LoggedUrl = tuple[
    int,
    int,
    bytes,
    bytes,
    bytes,
    bytes,
    int,
    bool,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    float,
    float,
]
"""A URL as ``Codec.decode_urls`` reads it back: id_lsn, fingerprint, url, via, tag, host, port,
https, depth, left, level, kind, hops, attempts, flags, score, relevance."""


def link_entry(url: LoggedUrl) -> bytes:
    """The ``link_entry`` of ``docs/protocol.md`` 4.2 that a logged URL came from."""
    _, fingerprint, text, _, _, host, port, _, depth, left, level, kind, hops, _, flags, *scores = (
        url
    )
    start = text.index(host, len(b"http:/"))
    sizes = (len(text), depth, left, port, start, len(host), level, kind, hops, flags, 0)
    return _LINK.pack(fingerprint, *sizes, *scores) + text
