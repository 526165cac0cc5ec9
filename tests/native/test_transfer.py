from __future__ import annotations

import os
import socket
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import transfer as native
from tests.reference import transfer as reference

TYPES = (b"text/html", b"image/")

LINES = st.one_of(
    st.sampled_from(
        [
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.0  404\n",
            b"HTTP/2 103 \r\n",
            b"http/1.1 301 x\r\n",
            b"HTTP/1.1 20x\r\n",
            b"HTTP/1.1\r\n",
            b"\r\n",
            b"\n",
            b"Content-Type: Text/HTML; charset=x\r\n",
            b"content-type:\t image/png\r\n",
            b"Content-Type: video/mp4\r\n",
            b"Content-Type:  \r\n",
            b"CONTENT-LENGTH: 50\r\n",
            b"Content-Length: 9999999999999999999999\r\n",
            b"Content-Length: 5x\r\n",
            b"Location: /a\r\n",
            b"Set-Cookie: a=b\r\n",
            b"transfer-encoding: chunked\r\n",
            b"Location\r\n",
            b"X: " + b"y" * 30_000 + b"\r\n",
        ]
    ),
    st.binary(min_size=1, max_size=40),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("header"), LINES),
        st.tuples(st.just("write"), st.binary(min_size=1, max_size=60)),
        st.tuples(st.just("before_request"), st.just(("127.0.0.1", "127.0.0.1", 80, 9))),
        st.tuples(st.just("reset"), st.tuples(st.integers(0, 100), st.booleans(), st.booleans())),
    ),
    max_size=30,
)


def state(transfer: Any) -> tuple[Any, ...]:
    return (
        transfer.headers,
        transfer.body,
        transfer.bytes_read,
        transfer.status,
        bool(transfer.is_complete),
        bool(transfer.has_location),
        bool(transfer.has_cookies),
        bool(transfer.is_chunked),
        transfer.is_ambiguous,
        transfer.abort,
    )


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_same_as_reference(steps: list[tuple[str, Any]]) -> None:
    """Whatever libcurl delivers, both keep and judge the same, until the first abort."""
    pair = [module.Transfer(lambda _: None, TYPES) for module in (native, reference)]
    for transfer in pair:
        transfer.reset(b"", 0, 100, True, True)
    for verb, value in steps:
        if verb == "reset":
            for transfer in pair:
                transfer.reset(b"", 0, *value)
            continue
        if pair[1].abort:
            continue
        arguments = value if verb == "before_request" else (value,)
        taken = [getattr(transfer, verb)(*arguments) for transfer in pair]
        assert taken[0] == taken[1]
        assert state(pair[0]) == state(pair[1])


def fresh(limit: int = 1000) -> native.Transfer:
    transfer = native.Transfer(lambda _: None, TYPES)
    transfer.reset(bytes([127, 0, 0, 1]), 80, limit, True, True)
    return transfer


def test_a_transfer_is_one_request() -> None:
    """libcurl may not send it a second time; after a reset it is another one."""
    transfer = fresh()
    where = ("127.0.0.1", "127.0.0.1", 80, 9)
    assert [transfer.before_request(*where) for _ in range(3)] == [0, 1, 1]
    assert transfer.abort == native.ABORT_REPEATED
    transfer.reset(bytes([127, 0, 0, 1]), 80, 1000, True, True)
    assert transfer.before_request(*where) == transfer.abort == 0


@pytest.mark.parametrize(
    "lines",
    [
        [b"HTTP/1.1 200 OK\r\n"] + [b"X: 1\r\n"] * 201,
        [b"HTTP/1.1 200 OK\r\n"] + [b"X: %b\r\n" % (b"y" * 1000)] * 70,
        [b"HTTP/1.1 103 Wait\r\n", b"X: 1\r\n", b"\r\n"] * 3000,
        [b"HTTP/1.1 200 OK\r\n", b"\r\n"] + [b"Late: 1\r\n"] * 10_000,
    ],
)
def test_headers_are_bounded(lines: list[bytes]) -> None:
    """Fields are counted per block; bytes over all responses and trailers."""
    transfer = fresh()
    assert 0 in [transfer.header(line) for line in lines]
    assert transfer.abort == native.ABORT_HEADERS
    assert len(transfer.headers) <= 65536


def test_body_in_many_pieces() -> None:
    """Pieces are put together in order, and a reset forgets them."""
    transfer = fresh()
    for n in range(100):
        assert transfer.write(b"%d," % n) == len(b"%d," % n)
    assert transfer.body == b"".join(b"%d," % n for n in range(100))
    transfer.reset(bytes([127, 0, 0, 1]), 80, 10, True, True)
    assert (transfer.body, transfer.headers, transfer.bytes_read) == (b"", b"", 0)


def test_times_of_the_response() -> None:
    """The first and the last byte have their times."""
    transfer = fresh()
    assert (transfer.first_ns, transfer.last_ns) == (0, 0)
    transfer.header(b"HTTP/1.1 200 OK\r\n")
    transfer.header(b"\r\n")
    transfer.write(b"x")
    assert 0 < transfer.first_ns <= transfer.last_ns


@pytest.mark.parametrize(
    ("address", "is_fine"),
    [(("127.0.0.1", 80), True), (("127.0.0.2", 80), False), (("127.0.0.1", 81), False)],
)
def test_socket_for_the_expected_address_only(address: tuple[str, int], is_fine: bool) -> None:
    """A socket is made for one address, non-blocking and closed at exec; its maker is told."""
    told: list[int] = []
    transfer = native.Transfer(told.append, TYPES)
    transfer.reset(bytes([127, 0, 0, 1]), 80, 0, True, True)
    number = transfer.open_socket(0, (socket.AF_INET, socket.SOCK_STREAM, 0, address))
    if not is_fine:
        assert (number, told, transfer.abort) == (-1, [], native.ABORT_ADDRESS)
        return
    assert told == [number]
    assert (os.get_blocking(number), os.get_inheritable(number)) == (False, False)
    os.close(number)


def test_impossible_socket() -> None:
    """A kind of socket that the machine lacks is no lack of descriptors."""
    transfer = fresh()
    assert transfer.open_socket(0, (12345, socket.SOCK_STREAM, 0, ("127.0.0.1", 80))) == -1
    assert transfer.abort == native.ABORT_SOCKET


def test_arguments_are_checked() -> None:
    """Wrong types are faults at once."""
    with pytest.raises(TypeError):
        native.Transfer(print, ("text/html",))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        fresh().write(None)  # type: ignore[arg-type]
