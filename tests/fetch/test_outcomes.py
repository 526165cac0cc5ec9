from __future__ import annotations

import errno

import pycurl
import pytest

from larbinpy._native import transfer
from larbinpy.fetch.outcomes import Abort, Verdict, classify, is_unsent, printable
from larbinpy.records import Outcome


def test_abort_numbers_are_those_of_the_compiled_part() -> None:
    """The two lists of reasons agree."""
    names = {name for name in dir(transfer) if name.startswith("ABORT_")}
    assert {name: int(Abort[name.removeprefix("ABORT_")]) for name in names} == {
        name: getattr(transfer, name) for name in names
    }
    assert len(names) == len(Abort) - 3  # all but NONE, FIRST_BYTE and FRAMING


@pytest.mark.parametrize(
    ("status", "has_location", "outcome"),
    [
        (0, False, Outcome.PROTOCOL_ERROR),
        (100, False, Outcome.PROTOCOL_ERROR),
        (101, False, Outcome.PROTOCOL_ERROR),
        (200, False, Outcome.SUCCESS),
        (200, True, Outcome.SUCCESS),
        (204, False, Outcome.SUCCESS),
        (206, False, Outcome.TRUNCATED),
        (299, False, Outcome.SUCCESS),
        (300, False, Outcome.ERR_30X),
        (301, True, Outcome.ERR_30X),
        (302, False, Outcome.ERR_30X),
        (304, False, Outcome.ERR_30X),
        (304, True, Outcome.ERR_30X),
        (399, True, Outcome.ERR_30X),
        (400, False, Outcome.ERR_40X),
        (404, True, Outcome.ERR_40X),
        (503, False, Outcome.ERR_40X),
        (999, False, Outcome.ERR_40X),
    ],
)
def test_status(status: int, has_location: bool, outcome: Outcome) -> None:
    """A response that arrived whole is judged by its status."""
    verdict = classify(0, status=status, is_complete=True, has_location=has_location)
    assert verdict.outcome is outcome


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (pycurl.E_COULDNT_CONNECT, Outcome.NO_CONNECTION),
        (pycurl.E_COULDNT_RESOLVE_HOST, Outcome.NO_CONNECTION),
        (pycurl.E_OPERATION_TIMEDOUT, Outcome.TIMEOUT),
        (pycurl.E_SSL_CONNECT_ERROR, Outcome.TLS_ERROR),
        (pycurl.E_SSL_CERTPROBLEM, Outcome.TLS_ERROR),
        (pycurl.E_PEER_FAILED_VERIFICATION, Outcome.TLS_ERROR),
        (pycurl.E_PARTIAL_FILE, Outcome.TRUNCATED),
        (pycurl.E_FILESIZE_EXCEEDED, Outcome.TOO_BIG),
        (pycurl.E_UNSUPPORTED_PROTOCOL, Outcome.PROTOCOL_ERROR),
        (pycurl.E_RECV_ERROR, Outcome.PROTOCOL_ERROR),
        (pycurl.E_GOT_NOTHING, Outcome.PROTOCOL_ERROR),
        (pycurl.E_OUT_OF_MEMORY, Outcome.PROTOCOL_ERROR),
        (pycurl.E_WRITE_ERROR, Outcome.PROTOCOL_ERROR),
        (8, Outcome.PROTOCOL_ERROR),
        (100, Outcome.PROTOCOL_ERROR),
        (12345, Outcome.PROTOCOL_ERROR),
    ],
)
def test_code(code: int, outcome: Outcome) -> None:
    """A failure of libcurl has one outcome, and a reason even without words."""
    verdict = classify(code, status=200, is_complete=True)
    assert (verdict.outcome, verdict.reason) == (outcome, f"libcurl error {code}") or (
        outcome is Outcome.TRUNCATED and verdict == Verdict(outcome, "", is_truncated=True)
    )


@pytest.mark.parametrize(
    ("abort", "outcome"),
    [
        (Abort.TOO_BIG, Outcome.TOO_BIG),
        (Abort.TYPE, Outcome.BAD_TYPE),
        (Abort.HEADERS, Outcome.PROTOCOL_ERROR),
        (Abort.ADDRESS, Outcome.FORBIDDEN_ADDRESS),
        (Abort.DESCRIPTORS, Outcome.NO_CONNECTION),
        (Abort.SOCKET, Outcome.NO_CONNECTION),
        (Abort.FIRST_BYTE, Outcome.TIMEOUT),
    ],
)
def test_abort(abort: Abort, outcome: Outcome) -> None:
    """Our own reason counts, not libcurl's code for it."""
    verdict = classify(pycurl.E_WRITE_ERROR, abort=abort)
    assert verdict.outcome is outcome
    assert verdict.reason


def test_connect_timeout_is_no_connection() -> None:
    """Time that ran out before a connection stood is larbin's noConnection."""
    verdict = classify(pycurl.E_OPERATION_TIMEDOUT, is_connected=False)
    assert verdict.outcome is Outcome.NO_CONNECTION


@pytest.mark.parametrize("code", [pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, 28])
def test_body_of_an_error_does_not_matter(code: int) -> None:
    """A redirection or error whose headers came is one, whatever happened then."""
    moved = classify(code, status=301, is_complete=True, has_location=True)
    gone = classify(pycurl.E_WRITE_ERROR, status=404, is_complete=True, abort=Abort.TOO_BIG)
    cut = classify(code, status=301, is_complete=False, has_location=True)
    assert (moved.outcome, gone.outcome) == (Outcome.ERR_30X, Outcome.ERR_40X)
    assert cut.outcome is not Outcome.ERR_30X


def test_words_of_libcurl_are_made_harmless() -> None:
    """They may hold bytes from the web: one line, ASCII, short."""
    assert printable("a\nb\x1b[0m\udc80é") == "a?b?[0m??"
    assert len(printable("x" * 1000)) == 200


@pytest.mark.parametrize(
    ("code", "os_error", "has_proxy", "expected"),
    [
        (pycurl.E_COULDNT_CONNECT, errno.ENETUNREACH, False, True),
        (pycurl.E_COULDNT_CONNECT, errno.EHOSTUNREACH, False, True),
        (pycurl.E_COULDNT_CONNECT, errno.ECONNREFUSED, False, False),
        (pycurl.E_OPERATION_TIMEDOUT, 0, False, False),
        (pycurl.E_OK, errno.ENETUNREACH, False, False),
        (pycurl.E_COULDNT_CONNECT, errno.ECONNREFUSED, True, True),
        (pycurl.E_COULDNT_RESOLVE_PROXY, 0, True, True),
        (97, 0, True, False),
    ],
)
def test_what_found_no_way_out(
    code: int, os_error: int, *, has_proxy: bool, expected: bool
) -> None:
    """No network, no router, no proxy; a host that refuses has been reached, and a proxy that could
    not reach it, too."""
    assert is_unsent(code, os_error, has_proxy=has_proxy) == expected
