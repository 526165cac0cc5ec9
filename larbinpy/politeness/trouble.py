"""What a result says of its host: whether it is in trouble, and what it asks for.  Pure."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from larbinpy.records import Outcome

if TYPE_CHECKING:
    from larbinpy.records import FetchResult

_PERMANENT: Final = frozenset({501, 505})
_BUSY: Final = frozenset({429, 503})


class Trouble(IntEnum):
    """What a result says of its host; stored, so never renumbered."""

    NONE = 0
    BROKEN = 1
    """This request failed, another one may do well: 5xx, a body cut short, no end in time."""
    BUSY = 2
    """429 or 503: we ask too much."""
    RULES = 3
    """Its robots.txt cannot be read, so nothing may be asked."""
    UNREACHABLE = 4
    """Nobody answers."""
    INSECURE = 5
    """Its robots.txt cannot be read because its certificate, or its TLS, is no good."""
    SILENT = 6
    """It took the request and said nothing in time: it may be this page that takes long."""


UNHEARD: Final = frozenset({Trouble.UNREACHABLE, Trouble.SILENT})
"""Troubles that may be those of our own line."""


def trouble_of(result: FetchResult) -> Trouble:
    """What a result means for its host; everything but ``NONE`` is worth another try."""
    outcome, status = result.outcome, result.status
    if outcome is Outcome.SUCCESS:
        return Trouble.NONE
    if outcome is Outcome.NO_CONNECTION:
        return Trouble.UNREACHABLE
    if outcome is Outcome.TIMEOUT:
        return Trouble.BROKEN if result.bytes_read else Trouble.SILENT
    if status in _BUSY:
        return Trouble.BUSY
    if status == 408 or (status >= 500 and status not in _PERMANENT):
        return Trouble.BROKEN
    is_cut = outcome is Outcome.TRUNCATED and status != 206
    is_empty = outcome is Outcome.PROTOCOL_ERROR and not (status or result.bytes_read)
    return Trouble.BROKEN if is_cut or is_empty else Trouble.NONE


def retry_after_s(value: bytes, wall_us: int) -> float:
    """Seconds that a Retry-After field asks for, from now; 0 = none, or nothing that can be read.

    Args:
        value: a number of seconds or an HTTP date.
        wall_us: microseconds since 1970.
    """
    text = value.strip()
    if text.isdigit():
        return float(text[:12])
    try:
        moment = parsedate_to_datetime(text.decode("ascii"))
        if moment.tzinfo is None:  # the oldest form of a date has no zone; it is GMT all the same
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, moment.timestamp() - wall_us / 1e6)
    except (ValueError, TypeError, OverflowError):
        return 0.0
