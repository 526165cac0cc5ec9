"""The fetcher on real sockets: well-behaved peers, and what is ours to decide."""

from __future__ import annotations

import gzip
import os
import resource
import socket
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.proxy import Proxy
from larbinpy.records import FetchResult, Outcome
from larbinpy.testing.scripts import answer, answer_and_close, answer_and_stall, response
from larbinpy.testing.servers import Connection, Server
from tests.fetch.conftest import LOOPBACK, SCALES, Client, job_for
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("way")

PAGE = response(b"<p>hello")


def summary(result: FetchResult) -> tuple[Outcome, int, bytes]:
    return result.outcome, result.status, result.body


def test_page_arrives_whole(client: Client) -> None:
    """A result has status, header block, body, sizes and times of its request."""
    before_us = time.time_ns() // 1000
    with Server(answer(PAGE)) as server:
        result = client.get(server, b"/a?b=c")
    assert summary(result) == (Outcome.SUCCESS, 200, b"<p>hello")
    assert result.headers == (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\n"
    )
    assert result.bytes_read == len(PAGE)
    assert result.bytes_written == len(server.requests[0]) + len(b"\r\n\r\n")
    assert before_us <= result.start_us <= time.time_ns() // 1000
    assert 0 <= result.duration_us < 60_000_000


@pytest.mark.parametrize("headers", [{}, {b"http://other.test:80": (b"Accept-Encoding: x",)}])
def test_request_line_and_fields(headers: dict[bytes, tuple[bytes, ...]]) -> None:
    """The URL goes out as it is, with our identity and the codings we can undo.

    That other origins get other fields changes nothing.
    """
    client = Client(sender=b"me@a.test", headers=headers)
    with Server(answer(PAGE)) as server:
        client.get(server, b"/a/../b%2E?x=%20")
    client.close()
    line, *fields = server.requests[0].split(b"\r\n")
    assert line == b"GET /a/../b%2E?x=%20 HTTP/1.1"
    assert sorted(fields) == [
        b"Accept-Encoding: gzip, br, zstd, deflate",
        b"Accept: */*",
        b"From: me@a.test",
        b"Host: a.test:%d" % server.port,
        b"User-Agent: larbin-test",
    ]


def test_connection_is_used_again(client: Client) -> None:
    """Many requests to a host go over one connection."""
    with Server(answer(PAGE)) as server:
        results = [client.get(server) for _ in range(50)]
    assert {result.outcome for result in results} == {Outcome.SUCCESS}
    assert (server.connections, len(server.requests)) == (1, 50)


def test_connection_is_not_kept_when_told_so(client: Client) -> None:
    """Without ``keep`` each request has its own connection, and keeping works again after."""
    with Server(answer(PAGE)) as server:
        for keep in (False, False, True, True):
            client.submit(job_for(server.port), keep=keep)
            client.wait(1)
    assert (server.connections, len(server.requests)) == (3, 4)


def test_addresses_in_urls_are_asked_whatever_was_asked_before(client: Client) -> None:
    """One handle, in turns for a name at one address and for a URL that says another."""
    with Server(answer(PAGE), address="0.0.0.0") as server:
        for last in (1, 2, 1):
            said = b"127.0.0.%d" % last
            client.submit(job_for(server.port, host=b"a.test", ip=bytes((127, 0, 0, 9))))
            client.wait(1)
            client.submit(job_for(server.port, host=said, ip=bytes((127, 0, 0, last))))
            client.wait(1)
    hosts = [head.partition(b"Host: ")[2].partition(b":")[0] for head in server.requests]
    assert hosts == [b"a.test", b"127.0.0.1", b"a.test", b"127.0.0.2", b"a.test", b"127.0.0.1"]
    assert server.connections == 3


def test_connection_belongs_to_its_address(client: Client) -> None:
    """The same host at another address gets another connection."""
    with Server(answer(PAGE), address="0.0.0.0") as server:
        for last in (1, 2, 1, 2):
            client.get(server, ip=bytes((127, 0, 0, last)))
    assert server.connections == 2


def test_many_hosts_at_once(client: Client) -> None:
    """Each host's answer reaches its own job."""

    def echo(connection: Connection) -> None:
        while request := connection.read_request():
            connection.send(response(request.split()[1]))

    with Server(echo) as server:
        for n in range(100):
            client.submit(job_for(server.port, b"/%d" % n, host=b"h%d.test" % n, id=n))
        bodies = {result.job.id: result.body for result in client.wait(100)}
    assert bodies == {n: b"/%d" % n for n in range(100)}


def test_ipv6(client: Client) -> None:
    """An IPv6 address is connected to."""
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    client.submit(job_for(listener.getsockname()[1], ip=bytes(15) + b"\x01"))
    client.fetcher.poll(0)
    client.fetcher.poll(0.1)
    peer, _ = listener.accept()
    with peer, listener:
        peer.recv(65536)
        peer.sendall(PAGE)
        (result,) = client.wait(1)
    assert result.outcome is Outcome.SUCCESS


def test_body_stays_encoded(client: Client) -> None:
    """Content codings are left to the parsers."""
    packed = gzip.compress(b"<p>hello")
    fields = b"Content-Type: text/html\r\nContent-Encoding: gzip\r\n"
    with Server(answer(response(packed, fields=fields))) as server:
        assert client.get(server).body == packed


def test_redirection_is_returned(client: Client) -> None:
    """A redirection is a result; nobody follows it here."""
    moved = response(b"", status=b"301 Moved", fields=b"Location: /b\r\n")
    with Server(answer(moved)) as server:
        result = client.get(server)
    assert summary(result) == (Outcome.ERR_30X, 301, b"")
    assert b"Location: /b\r\n" in result.headers
    assert len(server.requests) == 1


def test_chunked_body_and_trailers(client: Client) -> None:
    """Chunks are put together; trailers are counted but are not part of the header block."""
    data = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Late: 1\r\n\r\n"
    )
    with Server(answer(data)) as server:
        result = client.get(server)
    assert result.body == b"abcdefg"
    assert b"X-Late" not in result.headers


def test_interim_responses_leave_nothing(client: Client) -> None:
    """Only the final response's block is kept."""
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    with Server(answer(hints + hints + PAGE)) as server:
        result = client.get(server)
    assert result.headers.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Link" not in result.headers


def test_unwanted_type_stops_early(client: Client) -> None:
    """A page of another type is left right after its headers, and its connection is closed."""
    is_closed = threading.Event()

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(response(b"", fields=b"content-type: Video/MP4\r\n", length=10**6))
        connection.wait_closed()
        is_closed.set()

    with Server(script) as server:
        result = client.get(server)
        assert is_closed.wait(PATIENCE_S)
    assert (result.outcome, result.status) == (Outcome.BAD_TYPE, 200)


@pytest.mark.parametrize("kind", [b"TEXT/HTML; charset=x", b"application/xhtml+xml", b""])
def test_wanted_types(client: Client, kind: bytes) -> None:
    """Types are compared without case and parameters; no type at all is let through."""
    fields = b"Content-Type: %b\r\n" % kind if kind else b""
    with Server(answer(response(b"x", fields=fields))) as server:
        assert client.get(server).outcome is Outcome.SUCCESS


def test_type_of_an_error_does_not_matter(client: Client) -> None:
    """An error stays an error whatever its body is."""
    fields = b"Content-Type: image/png\r\n"
    with Server(answer(response(b"x", status=b"404 Gone", fields=fields))) as server:
        assert client.get(server).outcome is Outcome.ERR_40X


def test_any_type() -> None:
    """With any type allowed nothing is left early, and robots.txt is never judged by type."""
    video = response(b"x", fields=b"Content-Type: video/mp4\r\n")
    with Server(answer(video)) as server:
        outcomes = []
        for is_any_type in (True, False):
            client = Client(is_any_type=is_any_type)
            outcomes += [client.get(server).outcome, client.robots(server).outcome]
            client.close()
    assert outcomes == [Outcome.SUCCESS, Outcome.SUCCESS, Outcome.BAD_TYPE, Outcome.SUCCESS]


def test_environment_proxy_is_ignored(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment would see our requests and defeat the guard."""
    with Server(answer(PAGE)) as server, Server(answer(PAGE)) as proxy:
        for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert client.get(server).outcome is Outcome.SUCCESS
    assert (server.connections, proxy.connections) == (1, 0)


def test_environment_leads_around_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who configures a proxy wants to be seen by nobody else."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("NO_PROXY", "a.test")
    with Server(answer(PAGE)) as server, Server(answer(PAGE)) as proxy:
        client = Client(proxy=Proxy("http", "127.0.0.1", proxy.port), proxy_ip="127.0.0.1")
        client.submit(job_for(server.port, ip=b""))
        (result,) = client.wait(1)
        client.close()
    assert result.outcome is Outcome.SUCCESS
    assert (server.connections, proxy.connections) == (0, 1)


def test_a_proxy_sees_of_a_tunnel_what_it_needs() -> None:
    """Where to, and who asks; the operator's address is for the server behind it."""
    refusal = response(b"", status=b"403 Forbidden")
    with Server(answer(refusal)) as proxy:
        client = Client(
            proxy=Proxy("http", "127.0.0.1", proxy.port), proxy_ip="127.0.0.1", sender=b"me@a.test"
        )
        client.submit(job_for(443, ip=b"", https=True, url=b"https://a.test/"))
        client.wait(1)
        client.close()
    (head,) = proxy.requests
    names = [line.partition(b":")[0] for line in head.split(b"\r\n")[1:]]
    assert (head.split()[0], sorted(names)) == (
        b"CONNECT",
        [b"Host", b"Proxy-Connection", b"User-Agent"],
    )


def test_private_addresses_are_refused() -> None:
    """Without leave no connection is made to this machine; a host the operator named has leave."""
    client = Client(allow_private=False)
    with Server(answer(PAGE)) as server:
        refused = client.get(server)
        client.submit(job_for(server.port), is_named=True)
        (named,) = client.wait(1)
    client.close()
    assert (refused.outcome, refused.reason) == (
        Outcome.FORBIDDEN_ADDRESS,
        "not a public address",
    )
    assert named.outcome is Outcome.SUCCESS
    assert server.connections == 1


def test_own_port_is_refused() -> None:
    """Our own listeners are never asked, even with private addresses allowed."""
    with Server(answer(PAGE)) as server:
        client = Client(own_ports=frozenset({server.port}))
        result = client.get(server)
        mapped = client.get(server, ip=bytes(10) + b"\xff\xff" + LOOPBACK)
        client.close()
    assert {result.outcome, mapped.outcome} == {Outcome.FORBIDDEN_ADDRESS}
    assert server.connections == 0


def test_only_the_expected_address_is_connected(client: Client) -> None:
    """The socket itself is compared with the address that was asked for."""
    with Server(answer(PAGE)) as server:
        job = job_for(server.port)
        client.submit(job)
        (slot,) = client.fetcher._slots.values()
        slot.transfer.reset(bytes([127, 0, 0, 2]), server.port, 100, True, True)
        (result,) = client.wait(1)
    assert result.outcome is Outcome.FORBIDDEN_ADDRESS
    assert server.connections == 0


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"ip": b""}, Outcome.NO_DNS),
        ({"ip": b"abc"}, Outcome.FORBIDDEN_ADDRESS),
        ({"url": b"http://a.test/\x00"}, Outcome.PROTOCOL_ERROR),
        ({"url": b"http://a.test/\r\nX: 1"}, Outcome.PROTOCOL_ERROR),
        ({"url": b"file:///etc/passwd"}, Outcome.PROTOCOL_ERROR),
        ({"url": b"http://"}, Outcome.PROTOCOL_ERROR),
        ({"url": b""}, Outcome.PROTOCOL_ERROR),
        ({"port": 0}, Outcome.FORBIDDEN_ADDRESS),
    ],
)
def test_impossible_jobs_are_results(
    client: Client, fields: dict[str, Any], outcome: Outcome
) -> None:
    """What cannot be requested is a result, and the fetcher goes on."""
    with Server(answer(PAGE)) as server:
        bad = client.get(server, **fields)
        assert client.get(server).outcome is Outcome.SUCCESS
    assert bad.outcome is outcome
    assert bad.reason


def test_line_break_in_identity_is_refused() -> None:
    """libcurl would send it as another field."""
    with pytest.raises(ValueError, match="line break"):
        Client(sender=b"a\r\nCookie: x")


def test_kept_connections_can_be_given_up(client: Client) -> None:
    """For their descriptors; the next request opens a new one."""
    with Server(answer(PAGE)) as server:
        client.get(server)
        client.fetcher.shed()
        assert client.get(server).outcome is Outcome.SUCCESS
    assert (server.connections, len(server.requests)) == (2, 2)


def test_connections_in_use_are_not_given_up(client: Client) -> None:
    """Nothing happens while a request is running."""
    with Server(answer(PAGE)) as server:
        client.get(server)
        client.submit(job_for(server.port))
        client.fetcher.shed()
        client.wait(1)
    assert server.connections == 1


def test_the_number_of_connections_can_change() -> None:
    """From the next request on."""
    client = Client(connections=2)
    client.fetcher.allow(5)
    assert client.fetcher.free() == 5
    client.fetcher.allow(1)
    assert client.fetcher.free() == 1
    client.close()


def test_more_jobs_than_connections() -> None:
    """What is submitted beyond the limit waits its turn; ``free`` never goes below zero."""
    client = Client(connections=2)
    with Server(answer(PAGE)) as server:
        for n in range(5):
            client.submit(job_for(server.port, host=b"h%d.test" % n))
        assert client.fetcher.free() == 0
        results = client.wait(5)
    assert [result.outcome for result in results] == [Outcome.SUCCESS] * 5
    assert client.fetcher.free() == 2
    client.close()


def test_very_many_jobs_for_few_connections() -> None:
    """They wait here, for a libcurl that holds them tries all whenever one ends (curl/curl 18017);
    so no more connections are opened, and none of the transfers has waited in its own time."""
    client = Client(connections=6)
    with Server(answer(PAGE)) as server:
        for _ in range(500):
            client.submit(job_for(server.port))
        results = client.wait(500)
    assert {result.outcome for result in results} == {Outcome.SUCCESS}
    assert server.connections <= 6
    client.close()


def one_after_the_other(pause_s: float, limit_s: float) -> set[Outcome]:
    """What becomes of nine jobs with one connection, whose answers take so long each."""

    def slowly(connection: Connection) -> None:
        while connection.read_request():
            time.sleep(pause_s)
            connection.send(PAGE)

    client = Client(connections=1, total_timeout_s=limit_s, first_byte_timeout_s=limit_s)
    with Server(slowly) as server:
        for n in range(9):
            client.submit(job_for(server.port, host=b"h%d.test" % n))
        results = client.wait(9)
    client.close()
    return {result.outcome for result in results}


def test_waiting_for_a_connection_does_not_count() -> None:
    """curl/curl#21396: a job's time runs from its own start, not from that of those before it.

    All nine take longer than the limit of one.
    """
    assert any(one_after_the_other(0.2 * n, 1.5 * n) == {Outcome.SUCCESS} for n in SCALES)


@pytest.fixture
def descriptors() -> Iterator[int]:
    """Raises the soft limit as far as allowed, and puts it back."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_connections_than_select_can_count(descriptors: int) -> None:
    """curl/curl#7718: 1,100 transfers are open at the same time and all end well."""
    count = 1100
    if descriptors < 3 * count:
        pytest.skip("too few descriptors allowed")
    client = Client(connections=count)
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=count))
        for n in range(count):
            client.submit(job_for(listener.getsockname()[1], host=b"h%d.test" % n))
        peers: list[socket.socket] = []
        while len(peers) < count:
            assert client.fetcher.poll(0.01) == []
            listener.settimeout(0.0)
            while len(peers) < count:
                try:
                    peers.append(stack.enter_context(listener.accept()[0]))
                except BlockingIOError:
                    break
        for peer in peers:
            peer.sendall(PAGE)
        results = client.wait(count)
    client.close()
    assert {result.outcome for result in results} == {Outcome.SUCCESS}


def test_no_descriptor_left_is_back_pressure() -> None:
    """Jobs that find no descriptor wait for one, ``free`` shrinks, and none is lost."""
    with Server(answer(PAGE)) as server:
        client = Client(connections=20)
        client.get(server)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        held: list[int] = []
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            while len(held) < 256:
                held.append(os.dup(0))
        except OSError:
            pass
        try:
            for n in range(20):
                client.submit(job_for(server.port, host=b"h%d.test" % n))
            results = client.fetcher.poll(0) + client.fetcher.poll(0)
            allowed = client.fetcher._room.limit
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for descriptor in held:
                os.close(descriptor)
        results += client.wait(20 - len(results))
        client.close()
    assert allowed == 1
    assert {result.outcome for result in results} == {Outcome.SUCCESS}


def test_fault_of_the_multi_handle_ends_its_jobs(client: Client) -> None:
    """All running jobs end with a reason, and the next ones use a new handle."""
    with Server(answer_and_stall()) as stalled, Server(answer(PAGE)) as server:
        for n in range(3):
            client.submit(job_for(stalled.port, host=b"h%d.test" % n))
        client.fetcher.poll(0)
        client.loop.socket_changed(1, 10**6, None, None)  # no such descriptor: epoll_ctl fails
        results = client.wait(3)
        assert client.get(server).outcome is Outcome.SUCCESS
    assert [result.outcome for result in results] == [Outcome.PROTOCOL_ERROR] * 3
    assert all("internal error" in result.reason for result in results)


def test_idle_connection_closed_by_the_peer(client: Client) -> None:
    """It wakes the loop once, not for ever; libcurl may not see it before it is used again, nor may
    the end of the next one have come by then."""
    with Server(answer_and_close(PAGE)) as server:
        client.get(server)
        begin = time.process_time()
        assert client.fetcher.poll(0.3) == []
        assert client.fetcher.poll(0.3) == []
        assert time.process_time() - begin < 0.1
        results = [client.get(server) for _ in range(2)]
    good = [result.outcome for result in results if not result.is_swallowed]
    assert good in ([Outcome.SUCCESS], [Outcome.SUCCESS] * 2)


def test_a_request_is_sent_once(client: Client) -> None:
    """Not again when a kept connection swallows it: that too would have to wait its turn."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(PAGE)
        connection.read_request()

    with Server(script) as server:
        results = [client.get(server) for _ in range(3)]
    assert [result.outcome for result in results] == [
        Outcome.SUCCESS, Outcome.PROTOCOL_ERROR, Outcome.SUCCESS,
    ]  # fmt: skip
    assert results[1].reason == "the kept connection was closed under it"
    assert [result.is_swallowed for result in results] == [False, True, False]
    assert len(server.requests) == 3


def test_connections_of_a_server_that_closes_them_are_not_kept(client: Client) -> None:
    """It swallows one request, not every second one."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(PAGE)

    with Server(script) as server:
        results = [client.get(server) for _ in range(9)]
    assert sum(result.is_swallowed for result in results) <= 1


def test_close_with_transfers_running() -> None:
    """pycurl/pycurl#1058: closing drops what runs; nothing is left to use."""
    client = Client()
    with Server(answer_and_stall()) as server:
        client.submit(job_for(server.port))
        client.fetcher.poll(0)
        client.close()
    assert client.fetcher.free() == 0


def test_a_request_without_a_way_out_is_known(client: Client) -> None:
    """Linux has no TCP to an address that means many; one where nobody listens can be reached."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        for ip, is_unsent in ((b"\x7f\xff\xff\xff", True), (LOOPBACK, False)):
            client.submit(job_for(port, ip=ip))
            (result,) = client.wait(1)
            assert (result.outcome, result.is_unsent) == (Outcome.NO_CONNECTION, is_unsent)


def test_a_request_that_cannot_reach_its_proxy_has_no_way_out() -> None:
    """Whatever the proxy's port says."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        proxy = Proxy.parse("http://{}:{}".format(*nobody.getsockname()))
        client = Client(proxy=proxy, proxy_ip=proxy.address())
        client.submit(job_for(80))
        (result,) = client.wait(1)
        client.close()
    assert (result.outcome, result.is_unsent) == (Outcome.NO_CONNECTION, True)
