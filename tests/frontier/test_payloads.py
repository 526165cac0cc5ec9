"""The small records of a log, packed and read back."""

from __future__ import annotations

from larbinpy.frontier.payloads import (
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
