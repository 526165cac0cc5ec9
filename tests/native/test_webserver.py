"""The compiled web server on real sockets: HTTP/1.1 as clients may speak it, order, log.

There is no reference implementation: the pages are held to an independent crawl in
``tests/testing/test_web.py``, the server to what a raw socket sees here.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.webserver import SHARES, Server, agent_hash
from larbinpy.testing.web import Kind, Place, Request, SyntheticWeb, WebSpec, read_log
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENT = b"tester/1.0"


@dataclass
class Running:
    """A server in a thread, and the sockets of its clients."""

    web: SyntheticWeb
    server: Server
    port: int

    def connect(self, address: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection((address, self.port), timeout=PATIENCE_S)


@contextmanager
def serving(**changes: object) -> Iterator[Running]:
    """Serve a plain web of hosts that are called by address."""
    with socket.create_server(("", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        web = SyntheticWeb(WebSpec.plain(**{"hosts": 50, "named": 0.0, "port": port, **changes}))
        server = Server(web.native, listener.fileno())
        readable, writable = os.pipe()
        thread = threading.Thread(target=server.serve, args=([readable],))
        thread.start()
        try:
            yield Running(web, server, port)
        finally:
            os.close(writable)  # the end of the pipe can be read
            thread.join()
            os.close(readable)


@pytest.fixture(scope="module")
def plain() -> Iterator[Running]:
    """A server without latency for all tests that only ask it."""
    with serving() as running:
        yield running


def request(
    path: str = "/", *, method: str = "GET", host: str = "127.0.0.1", more: str = ""
) -> bytes:
    """The bytes of one request."""
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}:80\r\nUser-Agent: {AGENT.decode()}\r\n"
    return (head + more + "\r\n").encode()


def read_response(
    client: socket.socket, pending: bytearray, *, is_head: bool = False
) -> tuple[int, bytes]:
    """Status and body of the next response; what follows it stays in ``pending``."""
    while b"\r\n\r\n" not in pending:
        data = client.recv(65536)
        assert data, "closed within a response"
        pending += data
    head, _, _ = bytes(pending).partition(b"\r\n\r\n")
    length = int(head.partition(b"Content-Length:")[2].split()[0])
    end = len(head) + 4 + (0 if is_head else length)
    while len(pending) < end:
        data = client.recv(65536)
        assert data, "closed within a body"
        pending += data
    body = bytes(pending[len(head) + 4 : end])
    del pending[:end]
    return int(head.split()[1]), body


def log_of(running: Running, path: Path) -> list[Request]:
    """The access log; call it when the server has ended, for it notes an end when it is sent."""
    running.server.write_log(os.fsencode(path))
    return list(read_log(path))


def body_of(running: Running, index: int, host: int = 0) -> bytes:
    """What the model says that the server sends."""
    return running.web.page(host, index).body


def path_of(running: Running, index: int, host: int = 0) -> str:
    """The path of a page."""
    return "/" + running.web.url(Place(host, Kind.PAGE, index)).decode().split("/", 3)[3]


def test_shares_are_fields_of_the_spec() -> None:
    """Each native share has a field of the same name, a share by its type."""
    spec = WebSpec()
    assert all(isinstance(getattr(spec, name), float) for name in SHARES)


def test_one_connection_serves_many_requests(plain: Running) -> None:
    """A connection is kept for as long as the client likes."""
    pending = bytearray()
    with plain.connect() as client:
        for index in range(20):
            client.sendall(request(path_of(plain, index)))
            assert read_response(client, pending) == (200, body_of(plain, index))
    assert not pending


def test_pipelined_requests_are_answered_in_order(plain: Running) -> None:
    """Requests sent at once are answered one after the other."""
    pending = bytearray()
    with plain.connect() as client:
        client.sendall(b"".join(request(path_of(plain, index)) for index in range(90)))
        got = [read_response(client, pending)[1] for _ in range(90)]
    assert got == [body_of(plain, index) for index in range(90)]


def test_requests_may_arrive_in_pieces(plain: Running) -> None:
    """Every cut of a request into two is put together again."""
    whole = request(path_of(plain, 3))
    pending = bytearray()
    with plain.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for cut in range(1, len(whole)):
            client.sendall(whole[:cut])
            client.sendall(whole[cut:])
            assert read_response(client, pending)[0] == 200


def test_head_has_no_body(plain: Running) -> None:
    """The answer to HEAD tells the length of the body of GET, and the next response follows it."""
    pending = bytearray()
    with plain.connect() as client:
        client.sendall(request(method="HEAD") + request())
        assert read_response(client, pending, is_head=True) == (200, b"")
        assert read_response(client, pending) == (200, body_of(plain, 0))


@pytest.mark.parametrize(
    "data",
    [
        request(more="Connection: close\r\n"),
        request(more="connection:  Close \r\n"),
        b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
def test_the_connection_closes_when_the_client_wants_it(plain: Running, data: bytes) -> None:
    """``Connection: close`` and HTTP/1.0 end a connection behind the response."""
    with plain.connect() as client:
        client.sendall(data)
        assert read_response(client, bytearray()) == (200, body_of(plain, 0))
        assert client.recv(1) == b""


def test_keep_alive_can_be_refused() -> None:
    """With ``keep_alive`` off each response ends its connection and says so."""
    with serving(keep_alive=False) as running, running.connect() as client:
        client.sendall(request())
        data = b"".join(iter(lambda: client.recv(65536), b""))
        assert b"\r\nConnection: close\r\n" in data
        assert data.endswith(body_of(running, 0))


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (request("/s0/p99999.html"), 404),
        (request(method="POST"), 405),
        (request(host="127.0.0.2"), 421),
        (request(host="nobody.test"), 421),
        (b"GET / HTTP/1.1\r\n\r\n", 421),
        (b"nonsense\r\n\r\n", 400),
        (b"GET  HTTP/1.1\r\n\r\n", 400),
        (request(more="X: " + "x" * 8192 + "\r\n"), 431),
    ],
)
def test_what_cannot_be_served_gets_its_status(plain: Running, data: bytes, status: int) -> None:
    """Unknown paths and hosts, other methods, bad and too large requests are refused."""
    with plain.connect() as client:
        client.sendall(data)
        assert read_response(client, bytearray())[0] == status


def test_an_absolute_target_names_the_host(plain: Running) -> None:
    """A proxy's form of request counts its target, not its Host header."""
    with plain.connect("127.0.0.3") as client:
        client.sendall(request("http://127.0.0.3:80/", host="other.test"))
        assert read_response(client, bytearray()) == (200, body_of(plain, 0, host=2))


def test_each_host_has_its_own_pages(plain: Running) -> None:
    """The same path on another address is another page."""
    bodies = set()
    for number in range(1, 11):
        with plain.connect(f"127.0.0.{number}") as client:
            client.sendall(request(host=f"127.0.0.{number}"))
            bodies.add(read_response(client, bytearray())[1])
    assert len(bodies) == 10


def test_large_pages_arrive_whole() -> None:
    """What the socket does not take at once is sent when it does."""
    with serving(large=1.0, large_bytes=6_000_000) as running, running.connect() as client:
        client.sendall(request() + request())
        pending = bytearray()
        for _ in range(2):
            status, body = read_response(client, pending)
            assert (status, len(body)) == (200, 6_000_000)
            assert body == body_of(running, 0)


def test_idle_and_broken_connections_hurt_nobody(plain: Running) -> None:
    """Others are served while connections idle, break off in a request or go away unread."""
    idle = [plain.connect() for _ in range(100)]
    for client in idle[:50]:
        client.sendall(b"GET / HT")
    for client in idle[50:70]:
        client.sendall(request() * 5)
        client.close()
    with plain.connect() as client:
        client.sendall(request())
        assert read_response(client, bytearray())[0] == 200
    for client in idle:
        client.close()


def test_latency_delays_each_response(tmp_path: Path) -> None:
    """A response leaves no sooner than ``latency_ms`` after its request, for all at once."""
    with serving(latency_ms=200) as running:
        clients = [running.connect() for _ in range(200)]
        for client in clients:
            client.sendall(request())
        for client in clients:
            assert read_response(client, bytearray())[0] == 200
            client.close()
    log = log_of(running, tmp_path / "log")
    assert min(r.end_ns - r.start_ns for r in log) >= 200_000_000
    assert log[-1].end_ns - log[0].start_ns < 200 * 200_000_000 / 2


def test_responses_come_in_the_order_of_their_latency(tmp_path: Path) -> None:
    """With spread latency a later request may be answered first, on its own connection."""
    with serving(latency_spread_ms=150) as running:
        clients = [running.connect() for _ in range(30)]
        for index, client in enumerate(clients):
            client.sendall(request(path_of(running, index)))
        for index, client in enumerate(clients):
            assert read_response(client, bytearray())[1] == body_of(running, index)
            client.close()
    log = log_of(running, tmp_path / "log")
    ends = [r.end_ns for r in log]
    assert ends != sorted(ends)
    assert all(r.start_ns < r.end_ns for r in log)


def test_a_client_that_leaves_during_the_latency_is_forgotten(tmp_path: Path) -> None:
    """Its timer does not answer the next connection with its descriptor."""
    with serving(latency_ms=40) as running:
        for _ in range(5):
            with running.connect() as client:
                client.sendall(request())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            with running.connect() as client:
                client.sendall(request(path_of(running, 1)))
                assert read_response(client, bytearray())[1] == body_of(running, 1)
    log = log_of(running, tmp_path / "log")
    assert sum(r.end_ns > 0 for r in log if r.path != b"/") == 5


def test_the_log_tells_each_request(tmp_path: Path) -> None:
    """One line a request with all columns, in the order of the starts; unknown paths as sent."""
    with serving() as running:
        with running.connect("127.0.0.2") as client:
            pending = bytearray()
            for path in ("/", "/no such\tplace?x", "/robots.txt"):
                client.sendall(request(path, host="127.0.0.2"))
                read_response(client, pending)
        with running.connect() as client:
            client.sendall(request(method="HEAD", host="x.test"))
            read_response(client, bytearray(), is_head=True)
    log = log_of(running, tmp_path / "log")
    assert running.server.requests == len(log) == 4
    assert [(r.host, r.path, r.status, r.method) for r in log] == [
        (1, b"/", 200, b"GET"),
        (1, b"/no?such?place?x", 404, b"GET"),
        (1, b"/robots.txt", 404, b"GET"),
        (-1, b"/", 421, b"HEAD"),
    ]
    assert [r.address for r in log] == [b"127.0.0.2"] * 3 + [b"127.0.0.1"]
    assert [r.connection for r in log] == [0, 0, 0, 1]
    assert {r.agent for r in log} == {agent_hash(AGENT)}
    assert [r.start_ns for r in log] == sorted(r.start_ns for r in log)


def test_a_log_that_cannot_be_written_is_a_fault(plain: Running, tmp_path: Path) -> None:
    """A missing directory and a full disk raise, and say which file."""
    for path in (tmp_path / "none" / "log", Path("/dev/full")):
        with plain.connect() as client:
            client.sendall(request())
            read_response(client, bytearray())
        with pytest.raises(OSError, match=str(path)):
            plain.server.write_log(os.fsencode(path))


def test_connections_to_other_addresses_are_closed_unread() -> None:
    """A connection that came to an address outside 127.0.0.0/8 gets nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: asks the routes for the own address
        except OSError:
            pytest.skip("no address but loopback here")
        own = probe.getsockname()[0]
    with serving() as running, running.connect(own) as client:
        try:
            client.sendall(request())
            answer = client.recv(100)
        except ConnectionError:
            answer = b""
        assert answer == b""
        assert (running.server.refused, running.server.requests) == (1, 0)


def test_the_model_refuses_places_that_are_not_served() -> None:
    """Hosts and kinds out of range raise IndexError."""
    web = SyntheticWeb(WebSpec(hosts=4))
    for place in (
        Place(4, Kind.PAGE, 0),
        Place(0, Kind.OFF_SCOPE, 0),
        Place(0, Kind.PAGE, 1 << 50),
    ):
        with pytest.raises(IndexError):
            web.page(place.host, place.number, place.kind)
