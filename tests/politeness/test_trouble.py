"""What results say of their hosts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from larbinpy.politeness.trouble import Trouble, retry_after_s, trouble_of
from larbinpy.records import FetchJob, FetchResult, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In a time zone that is seven hours ahead."""
    monkeypatch.setenv("TZ", "XYZ-7")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def result(outcome: Outcome, status: int = 0, read: int = 0) -> FetchResult:
    """What came of some request."""
    job = FetchJob(1, b"http://a.org/", b"a.org", 80, https=False)
    return FetchResult(job, outcome, status, bytes_read=read)


@pytest.mark.parametrize(
    ("outcome", "status", "read", "expected"),
    [
        (Outcome.SUCCESS, 200, 9, Trouble.NONE),
        (Outcome.ERR_30X, 301, 9, Trouble.NONE),
        (Outcome.ERR_40X, 404, 9, Trouble.NONE),
        (Outcome.ERR_40X, 408, 9, Trouble.BROKEN),
        (Outcome.ERR_40X, 429, 9, Trouble.BUSY),
        (Outcome.ERR_40X, 500, 9, Trouble.BROKEN),
        (Outcome.ERR_40X, 501, 9, Trouble.NONE),
        (Outcome.ERR_40X, 502, 9, Trouble.BROKEN),
        (Outcome.ERR_40X, 503, 9, Trouble.BUSY),
        (Outcome.ERR_40X, 505, 9, Trouble.NONE),
        (Outcome.ERR_40X, 599, 9, Trouble.BROKEN),
        (Outcome.NO_CONNECTION, 0, 0, Trouble.UNREACHABLE),
        (Outcome.TIMEOUT, 0, 0, Trouble.SILENT),
        (Outcome.TIMEOUT, 200, 9, Trouble.BROKEN),
        (Outcome.TRUNCATED, 200, 9, Trouble.BROKEN),
        (Outcome.TRUNCATED, 206, 9, Trouble.NONE),
        (Outcome.PROTOCOL_ERROR, 0, 0, Trouble.BROKEN),
        (Outcome.PROTOCOL_ERROR, 0, 9, Trouble.NONE),
        (Outcome.TLS_ERROR, 0, 0, Trouble.NONE),
        (Outcome.TOO_BIG, 200, 9, Trouble.NONE),
        (Outcome.BAD_TYPE, 200, 9, Trouble.NONE),
        (Outcome.FORBIDDEN_ADDRESS, 0, 0, Trouble.NONE),
        (Outcome.NO_DNS, 0, 0, Trouble.NONE),
    ],
)
def test_what_a_result_says_of_its_host(
    outcome: Outcome, status: int, read: int, expected: Trouble
) -> None:
    """What may be gone at the next try is trouble, what stays is not."""
    assert trouble_of(result(outcome, status, read)) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"5", 5.0),
        (b" 120 ", 120.0),
        (b"0", 0.0),
        (b"9" * 100, 999_999_999_999.0),
        (b"Thu, 01 Jan 1970 00:01:00 GMT", 30.0),
        (b"Thursday, 01-Jan-70 00:01:00 GMT", 30.0),
        (b"Thu Jan  1 00:01:00 1970", 30.0),
        (b"Thu, 01 Jan 1970 00:01:00", 30.0),
        (b"Thu, 01 Jan 1970 00:01:00 -0000", 30.0),
        (b"Thu, 01 Jan 1970 02:01:00 +0200", 30.0),
        (b"Thu, 01 Jan 1970 00:00:10 GMT", 0.0),
        (b"", 0.0),
        (b"-5", 0.0),
        (b"1.5", 0.0),
        (b"soon", 0.0),
        (b"\xff\xfe", 0.0),
        (b"Thu, 99 Jan 1970 00:01:00 GMT", 0.0),
        (b"Thu, 01 Jan 99999 00:01:00 GMT", 0.0),
    ],
)
@pytest.mark.usefixtures("elsewhere")
def test_retry_after_is_seconds_or_a_date(value: bytes, expected: float) -> None:
    """Anything else, and the past, is no delay; our own time zone plays no part."""
    assert retry_after_s(value, 30_000_000) == expected
