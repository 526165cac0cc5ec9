"""One table: libcurl's code, the HTTP status and our own reason make an ``Outcome``. Pure."""

from __future__ import annotations

import errno
from enum import IntEnum
from typing import Final, NamedTuple

from larbinpy.records import Outcome


class Abort(IntEnum):
    """Why we ended a transfer ourselves; 1 to 6 and 9 are the ``ABORT_*`` of the compiled part."""

    NONE = 0
    TOO_BIG = 1
    TYPE = 2
    HEADERS = 3
    ADDRESS = 4
    DESCRIPTORS = 5
    SOCKET = 6
    FIRST_BYTE = 7
    FRAMING = 8
    REPEATED = 9


class Verdict(NamedTuple):
    """What is to be said about a transfer that ended."""

    outcome: Outcome
    reason: str = ""
    is_truncated: bool = False


OK: Final = 0
BAD_CERTIFICATE: Final = 60
_PARTIAL: Final = 18
_TIMED_OUT: Final = 28
_REFUSED: Final = 7
_NO_PROXY: Final = frozenset({5, _REFUSED})
_NO_CONNECTION: Final = frozenset({*_NO_PROXY, 6, 45, 89, 97})
_NO_WAY_OUT: Final = frozenset(
    {errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH}
)
_TLS: Final = frozenset({35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98})
_TOO_BIG: Final = 63

_ABORTS: Final = {
    Abort.TOO_BIG: Verdict(Outcome.TOO_BIG, "body over the limit", is_truncated=True),
    Abort.TYPE: Verdict(Outcome.BAD_TYPE, "content type not wanted"),
    Abort.HEADERS: Verdict(Outcome.PROTOCOL_ERROR, "headers over the limit"),
    Abort.ADDRESS: Verdict(Outcome.FORBIDDEN_ADDRESS, "not the address that was looked up"),
    Abort.DESCRIPTORS: Verdict(Outcome.NO_CONNECTION, "no file descriptor left"),
    Abort.SOCKET: Verdict(Outcome.NO_CONNECTION, "no socket for this kind of address"),
    Abort.FRAMING: Verdict(Outcome.PROTOCOL_ERROR, "more framing of chunks than body"),
    Abort.REPEATED: Verdict(Outcome.PROTOCOL_ERROR, "the kept connection was closed under it"),
    Abort.FIRST_BYTE: Verdict(Outcome.TIMEOUT, "no first byte in time"),
}


def classify(
    code: int,
    *,
    status: int = 0,
    abort: int = Abort.NONE,
    is_complete: bool = False,
    has_location: bool = False,
    is_connected: bool = True,
    text: str = "",
) -> Verdict:
    """Say what came of a transfer.

    Args:
        code: libcurl's result.
        status: of the last response, 0 when none came.
        abort: our own reason to end it.
        is_complete: the header block of that response had ended.
        has_location: it had a Location field.
        is_connected: a connection stood.
        text: libcurl's words, which may hold bytes from the web.
    """
    if is_complete and status >= 300 and abort in (Abort.NONE, Abort.TOO_BIG):
        return _by_status(status, has_location)  # whatever then happened to its body
    if abort:
        return _ABORTS[Abort(abort)]
    if code == OK:
        return _by_status(status, has_location)
    return _by_code(code, is_connected=is_connected, text=printable(text))


def _by_status(status: int, has_location: bool) -> Verdict:
    if 200 <= status < 300:
        if status == 206:
            return Verdict(Outcome.TRUNCATED, "a part that was not asked for", is_truncated=True)
        return Verdict(Outcome.SUCCESS)
    if status < 200:
        return Verdict(Outcome.PROTOCOL_ERROR, f"final status {status}")
    if status >= 400:
        return Verdict(Outcome.ERR_40X)
    if has_location and status != 304:
        return Verdict(Outcome.ERR_30X)
    return Verdict(Outcome.ERR_30X, "" if status == 304 else "no Location")


def _by_code(code: int, *, is_connected: bool, text: str) -> Verdict:
    if code == _PARTIAL:
        return Verdict(Outcome.TRUNCATED, text, is_truncated=True)
    if code == _TIMED_OUT:
        outcome = Outcome.TIMEOUT if is_connected else Outcome.NO_CONNECTION
    elif code in _NO_CONNECTION:
        outcome = Outcome.NO_CONNECTION
    elif code in _TLS:
        outcome = Outcome.TLS_ERROR
    elif code == _TOO_BIG:
        outcome = Outcome.TOO_BIG
    else:
        outcome = Outcome.PROTOCOL_ERROR
    return Verdict(outcome, text or f"libcurl error {code}")


def is_unsent(code: int, os_error: int, *, has_proxy: bool) -> bool:
    """Whether a request found no way out of this machine, or none to its proxy.

    Args:
        code: libcurl's result.
        os_error: why the system made no connection.
    """
    return code in _NO_PROXY if has_proxy else code == _REFUSED and os_error in _NO_WAY_OUT


def printable(text: str) -> str:
    """Return libcurl's words in one line of at most 200 visible ASCII characters."""
    return "".join(char if " " <= char <= "~" else "?" for char in text[:200])
