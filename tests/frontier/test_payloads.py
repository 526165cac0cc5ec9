"""The small records of a log, packed and read back."""

from __future__ import annotations

from larbinpy.frontier.payloads import (
    MAX_CLOSED,
    HostState,
    Retry,
    pack_host,
    pack_retry,
    unpack_host,
    unpack_retry,
)


def test_small_payloads() -> None:
    """What follows the known fields is ignored."""
    retry, host = Retry(5, 2, 1 << 50), HostState(b"h" * 253, 9, 1, 2)
    assert unpack_retry(pack_retry(retry) + b"new") == retry
    assert unpack_host(pack_host(host) + b"new") == host


def test_origins_of_a_host() -> None:
    """Few have some that are closed; a hostile number of them still is a record."""
    closed = {b"https://a.test:443": 4, b"http://a.test:%b" % (b"8" * 300): 3}
    host = HostState(b"a.test", 9, 1, 2, closed, 10, 11)
    assert unpack_host(pack_host(host) + b"new") == host
    host.closed = {b"http://%b:%d" % (b"h" * 253, port): 4 for port in range(65_536)}
    payload = pack_host(host)
    assert len(payload) < 65_536
    assert len(unpack_host(payload).closed) == MAX_CLOSED
