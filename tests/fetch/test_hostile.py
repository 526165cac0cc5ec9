"""The fetcher against peers that mean no good: the right outcome, in bounded time and memory."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.records import Kind, Outcome
from larbinpy.testing.scripts import (
    answer,
    answer_and_close,
    answer_and_reset,
    answer_and_stall,
    answer_for_ever,
    response,
)
from larbinpy.testing.servers import Connection, Server
from tests.fetch.conftest import SCALES, Client, job_for

if TYPE_CHECKING:
    from larbinpy.testing.servers import Script

pytestmark = pytest.mark.usefixtures("way")

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HTML + b"Transfer-Encoding: chunked\r\n\r\n"
LIMIT = 10_000
LATE_S = 15.0
"""A busy machine may notice so late that a time is over."""


@pytest.mark.parametrize(
    ("script", "outcome", "status"),
    [
        (answer_and_close(HTML + b"Content-Length: 50\r\n\r\nhello"), Outcome.TRUNCATED, 200),
        (answer_and_close(CHUNKED + b"5\r\nhello\r\n"), Outcome.TRUNCATED, 200),
        (answer_and_close(CHUNKED + b"zz\r\nhello\r\n"), Outcome.PROTOCOL_ERROR, 200),
        (answer(HTML + b"Content-Length: 3\r\n\r\nhello"), Outcome.SUCCESS, 200),
        (
            answer(HTML + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
            Outcome.PROTOCOL_ERROR,
            200,
        ),
        (answer(HTML + b"Content-Length: -5\r\n\r\nhello"), Outcome.PROTOCOL_ERROR, 200),
        (answer(HTML + b"Content-Length: 99999999999999999999\r\n\r\n"), Outcome.TOO_BIG, 200),
        (answer_and_close(b"\x00\x01garbage\n" * 9), Outcome.PROTOCOL_ERROR, 0),
        (answer_and_close(b"<p>no header at all"), Outcome.PROTOCOL_ERROR, 0),
        (answer_and_close(b""), Outcome.PROTOCOL_ERROR, 0),
        (answer_and_close(b"HTTP/1.1 101 Switching\r\n\r\nhello"), Outcome.PROTOCOL_ERROR, 101),
        (answer(response(b"hello", status=b"999 No")), Outcome.ERR_40X, 999),
        (answer(response(b"hello", status=b"206 Part")), Outcome.TRUNCATED, 206),
        (answer(b"HTTP/1.1 304 Not Modified\r\n\r\n"), Outcome.ERR_30X, 304),
        (answer(response(status=b"302 Found")), Outcome.ERR_30X, 302),
        (answer(b"HTTP/1.1 204 No Content\r\n\r\n"), Outcome.SUCCESS, 204),
        (answer_and_close(HTML + b"X: a\x00b\r\n\r\n"), Outcome.PROTOCOL_ERROR, 200),
        (answer_for_ever(HTML, b"X-%s: 1\r\n" % (b"y" * 1000)), Outcome.PROTOCOL_ERROR, 200),
        (answer_for_ever(HTML + b"X: ", b"y" * 10_000), Outcome.PROTOCOL_ERROR, 200),
        (answer_for_ever(HTML, b"X: 1\r\n"), Outcome.PROTOCOL_ERROR, 200),
        (answer_for_ever(b"", b"HTTP/1.1 103 Wait\r\nX: 1\r\n\r\n"), Outcome.PROTOCOL_ERROR, 103),
        (
            answer_for_ever(CHUNKED + b"1\r\na\r\n0\r\n", b"X-Late: 1\r\n"),
            Outcome.PROTOCOL_ERROR,
            200,
        ),
        (answer_for_ever(HTML + b"\r\n", b"x" * 1000), Outcome.TOO_BIG, 200),
        (answer_for_ever(CHUNKED, b"1\r\nx\r\n" * 100), Outcome.TOO_BIG, 200),
        (
            answer_for_ever(b"HTTP/1.1 301 Go\r\nLocation: /a\r\n\r\n", b"x" * 1000),
            Outcome.ERR_30X,
            301,
        ),
        (answer_and_reset(), Outcome.PROTOCOL_ERROR, 0),
        (answer_and_reset(HTML + b"Content-Length: 100\r\n\r\nabc"), Outcome.PROTOCOL_ERROR, 200),
    ],
)
def test_broken_responses(script: Script, outcome: Outcome, status: int) -> None:
    """Each way of breaking HTTP has its outcome, and no more than the limit is held."""
    client = Client(page_bytes=LIMIT, first_byte_timeout_s=60.0)
    with Server(script) as server:
        result = client.get(server)
        client.close()
    assert (result.outcome, result.status) == (outcome, status), result.reason
    assert len(result.body) <= LIMIT
    assert result.bytes_read < 200_000


def test_truncated_body_is_kept(client: Client) -> None:
    """webrecorder/browsertrix-crawler#831: what arrived of a page stays readable, and is marked."""
    with Server(answer_and_close(HTML + b"Content-Length: 50\r\n\r\nhello")) as server:
        result = client.get(server)
    assert (result.body, result.is_truncated) == (b"hello", True)


def test_declared_size_over_the_limit_is_not_read() -> None:
    """A page that says it is too big is left at its headers."""
    client = Client(page_bytes=LIMIT)
    with Server(answer_and_stall(response(length=LIMIT + 1))) as server:
        result = client.get(server)
        client.close()
    assert (result.outcome, result.body) == (Outcome.TOO_BIG, b"")


def test_size_at_the_limit_is_fine() -> None:
    """The limit itself is allowed."""
    client = Client(page_bytes=LIMIT)
    with Server(answer(response(b"x" * LIMIT))) as server:
        result = client.get(server)
        client.close()
    assert (result.outcome, len(result.body)) == (Outcome.SUCCESS, LIMIT)


@pytest.mark.parametrize("head", [b"Content-Length: 5000\r\n", b"Connection: close\r\n"])
@pytest.mark.parametrize("kind", [Kind.ROBOTS, Kind.SITEMAP])
def test_what_lists_rules_or_links_is_cut(kind: Kind, head: bytes) -> None:
    """The first bytes of a robots.txt count (RFC 9309), and those of a sitemap, however long."""
    client = Client(robots_bytes=1000, page_bytes=1000)
    with Server(answer(b"HTTP/1.1 200 OK\r\n%b\r\n%b" % (head, b"x" * 5000))) as server:
        result = client.get(server, b"/list", kind=kind)
        client.close()
    assert (result.outcome, result.body, result.is_truncated, result.reason) == (
        Outcome.SUCCESS,
        b"x" * 1000,
        True,
        "cut",
    )


def trickle(head: bytes) -> Script:
    """A byte every 50 ms after the head, which is sent at once."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(head)
        while True:
            connection.send(b"x")
            time.sleep(0.05)

    return script


@pytest.mark.parametrize(
    ("script", "changes"),
    [
        (answer_and_stall(), {"first_byte_timeout_s": 0.2}),
        (answer_and_stall(HTML), {"total_timeout_s": 0.3}),
        pytest.param(
            answer_and_stall(HTML + b"Content-Length: 9\r\n\r\nabc"),
            {"stall_s": 1},
            marks=pytest.mark.slow,  # libcurl looks at the speed of the last five seconds
        ),
        (trickle(HTML + b"Content-Length: 999\r\n\r\n"), {"total_timeout_s": 0.3}),
        (trickle(HTML), {"total_timeout_s": 0.3}),
        (answer_for_ever(CHUNKED + b"1;", b"x" * 100), {"total_timeout_s": 0.3}),
    ],
)
def test_slow_peers_run_out_of_time(script: Script, changes: dict[str, float]) -> None:
    """Each kind of slowness has a limit of its own."""
    ((name, limit_s),) = changes.items()
    assert Outcome.TIMEOUT in (ended(script, name, limit_s * scale) for scale in SCALES)


def ended(script: Script, name: str, limit_s: float) -> Outcome:
    """How a transfer ends when the limit of this name is over."""
    changes: dict[str, Any] = {name: limit_s}  # a field of several
    client = Client(**changes)
    with Server(script) as server:
        begin = time.monotonic()
        result = client.get(server)
        waited_s = time.monotonic() - begin
        client.close()
    assert result.reason
    assert limit_s * 0.9 < waited_s < limit_s + LATE_S
    assert result.duration_us < (limit_s + LATE_S) * 1e6
    return result.outcome


def test_first_byte_limit_spares_who_answered() -> None:
    """Only transfers without a byte end by that limit; a page begun in time may take longer."""

    def outcome(scale: int) -> Outcome:
        client = Client(first_byte_timeout_s=1.0 * scale)
        with Server(trickle(HTML + b"Content-Length: %d\r\n\r\n" % (25 * scale))) as server:
            result = client.get(server)
            client.close()
        return result.outcome

    assert Outcome.SUCCESS in map(outcome, SCALES)


def test_a_stall_on_a_connection_used_before_is_no_failure_to_connect() -> None:
    """libcurl has no time of connecting for a connection that stood already."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(response(b"fine"))
        connection.read_request()
        connection.send(HTML + b"Content-Length: 9\r\n\r\nabc")
        connection.wait_closed()

    def outcomes(scale: int) -> list[Outcome]:
        client = Client(total_timeout_s=1.5 * scale)
        with Server(script) as server:
            results = [client.get(server) for _ in range(2)]
            client.close()
        return [result.outcome for result in results]

    assert [Outcome.SUCCESS, Outcome.TIMEOUT] in map(outcomes, SCALES)


def test_stalled_tls_handshake() -> None:
    """A peer that accepts and says nothing holds a slot for the connect limit only."""
    client = Client(connect_timeout_s=1.0)
    with Server(answer_and_stall()) as server:
        job = job_for(server.port, https=True)
        job.url = job.url.replace(b"http:", b"https:")
        client.submit(job)
        (result,) = client.wait(1)
        client.close()
    assert result.outcome is Outcome.TIMEOUT


def test_tls_with_a_plain_peer(client: Client) -> None:
    """A peer that does not speak TLS is a TLS error."""
    with Server(lambda connection: connection.send(b"HTTP/1.1 400 Bad\r\n\r\n" * 9)) as server:
        job = job_for(server.port, https=True)
        job.url = job.url.replace(b"http:", b"https:")
        client.submit(job)
        (result,) = client.wait(1)
    assert result.outcome is Outcome.TLS_ERROR


def test_refused_connection(client: Client) -> None:
    """A closed port is no connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    client.submit(job_for(port))
    (result,) = client.wait(1)
    assert (result.outcome, result.status) == (Outcome.NO_CONNECTION, 0)


def test_good_hosts_beside_bad_ones() -> None:
    """Peers that stall do not slow others down."""
    client = Client(connections=60)
    with Server(answer_and_stall()) as bad, Server(answer(response(b"x"))) as good:
        for n in range(30):
            client.submit(job_for(bad.port, host=b"bad%d.test" % n))
        for n in range(30):
            client.submit(job_for(good.port, host=b"good%d.test" % n))
        results = client.wait(30)
        client.close()
    assert {result.job.port for result in results} == {good.port}


def test_a_body_framed_twice_ends_its_connection(client: Client) -> None:
    """Chunks and Content-Length together are a sign of smuggling: nothing more is asked there."""
    both = CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 99\r\n\r\n") + b"1\r\na\r\n0\r\n\r\n"
    with Server(answer(both)) as server:
        results = [client.get(server) for _ in range(4)]
    good = [result for result in results if not result.is_swallowed]
    assert [(result.outcome, result.body) for result in good] == [(Outcome.SUCCESS, b"a")] * 3
    assert len(server.requests) == 3
    assert server.connections == 4  # one was opened for the request that was not sent again


def test_a_longer_body_than_declared_ends_its_connection(client: Client) -> None:
    """What follows would be read as the next response."""
    with Server(answer(HTML + b"Content-Length: 3\r\n\r\nhello")) as server:
        results = [client.get(server) for _ in range(2)]
    assert [(result.outcome, result.body) for result in results] == [(Outcome.SUCCESS, b"hel")] * 2
    assert server.connections == 2


@pytest.mark.slow  # the third look, a second each, ends it
@pytest.mark.parametrize("used_before", [False, True])
def test_endless_framing_is_counted_and_ended(client: Client, used_before: bool) -> None:
    """Chunk extensions are no body, but they are bytes that came."""

    def script(connection: Connection) -> None:
        while b"/bad" not in connection.read_request():
            connection.send(response(b"fine" * 100_000))
        connection.send(CHUNKED + b"1;")
        while True:
            connection.send(b"x" * 50_000)
            time.sleep(0.02)

    with Server(script) as server:
        if used_before:
            client.get(server, b"/good")
        result = client.get(server, b"/bad")
    assert result.outcome is Outcome.PROTOCOL_ERROR
    assert result.reason == "more framing of chunks than body"
    assert result.bytes_read > 256 << 10
    assert result.duration_us < (3 + LATE_S) * 1e6


@pytest.mark.slow
def test_small_honest_chunks_are_not_taken_for_framing(client: Client) -> None:
    """A byte a chunk, for longer than the looks take."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(CHUNKED)
        for _ in range(350):
            connection.send(b"1\r\nx\r\n" * 500)
            time.sleep(0.01)
        connection.send(b"0\r\n\r\n")

    with Server(script) as server:
        result = client.get(server)
    assert (result.outcome, len(result.body)) == (Outcome.SUCCESS, 175_000)
