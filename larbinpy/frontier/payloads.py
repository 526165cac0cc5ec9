"""Payloads of the records that are not written by the million; see ``docs/format-queue.md`` 4."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy.records import ID_LSN_MASK

if TYPE_CHECKING:
    from larbinpy.records import ParsedPage

_DONE: Final = Struct("<QBBHIII16s")
_FILTER: Final = Struct("<BI")
_RETRY: Final = Struct("<QB7xQ")
_HOST: Final = Struct("<QBBBx")
_SEAL: Final = Struct("<QQII")
_LSN: Final = Struct("<Q")
_LINK: Final = Struct("<QHHHHBBBBBBHff")

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
    return _HOST.pack(state.until_us, state.level, state.failures, len(state.host)) + state.host


def unpack_host(payload: bytes) -> HostState:
    """Read a HOST payload."""
    until_us, level, failures, size = _HOST.unpack_from(payload)
    return HostState(payload[_HOST.size : _HOST.size + size], until_us, level, failures)


def pack_lsn(lsn: int) -> bytes:
    """The payload of SYNCMARK, and the head of MOVE."""
    return _LSN.pack(lsn)


def unpack_lsn(payload: bytes) -> int:
    """Read what ``pack_lsn`` wrote."""
    return int(_LSN.unpack_from(payload)[0])


def pack_seal(records: int, size: int, chain: int) -> bytes:
    """The payload of SEAL; ``chain`` is the inverted state that a codec keeps."""
    return _SEAL.pack(records, size, chain ^ 0xFFFFFFFF, 0)


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
