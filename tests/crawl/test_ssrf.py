"""Addresses that links must not reach, however they are spelt, and whoever brings them.

Every spelling leads to a listener on this machine that counts connections: none may come, and with
``allowPrivateAddresses`` exactly one each for those that can be connected to.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

import pytest

from larbinpy.testing.dns import AAAA, A, DnsServer, Record
from larbinpy.testing.scripts import response
from larbinpy.testing.servers import EVERY_ADDRESS, Connection, Server
from tests.crawl.crawls import Crawl

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from larbinpy.testing.servers import Script

LOOPBACK: Final = (
    "127.0.0.1", "127.1", "127.0.1", "0x7f000001", "0x7f.1", "2130706433", "0177.0.0.1",
    "017700000001", "127.0.0.1.", "127.0.0.2", "127.255.255.254", "%31%32%37.0.0.1",
    "127\u30020.0.1", "\uff11\uff12\uff17.0.0.1", "localhost",
    "LOCALHOST.", "a.localhost", "user@127.0.0.1", "0.0.0.0", "0",
)  # fmt: skip
LOOPBACK6: Final = (
    "[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
)  # fmt: skip
ELSEWHERE: Final = (
    "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "198.18.0.1",
    "224.0.0.1", "240.0.0.1", "255.255.255.255", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]", "[2001:0:7f00:1::1]", "[fc00::1]", "[fe80::1]", "[fec0::1]", "[ff02::1]",
)  # fmt: skip
"""Not of this machine: nobody would count, but no request may be tried either."""
ANSWERS: Final = (
    ("v4.rebind.test", Record(A, "127.0.0.1")),
    ("v4b.rebind.test", Record(A, "127.0.0.3")),
    ("v6.rebind.test", Record(AAAA, "::1")),
    ("mapped.rebind.test", Record(AAAA, "::ffff:127.0.0.1")),
)
KEYS: Final = {"ignoreRobots": "yes", "waitDurationIP": "0", "connectTimeout": "60s"}


class Target:
    """Counts who connects to a port, over IPv4 and IPv6, and answers with a page."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        server = self._stack.enter_context(Server(self._serve, address=EVERY_ADDRESS))
        self.port = server.port
        self._server = server
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def connections(self) -> int:
        """How many have connected."""
        return self._server.connections

    def _serve(self, connection: Connection) -> None:
        while head := connection.read_request():
            with self._lock:
                self.paths.append(head.split()[1].decode())
            connection.send(response(b"<p>secret"))


def urls_of(spellings: Iterable[str], port: int) -> list[str]:
    return [f"http://{host}:{port}/{n}" for n, host in enumerate(spellings)]


def giving(urls: Iterable[str], *, is_redirect: bool) -> Script:
    """A server that links to all of them from one page, or redirects to one from each page."""
    targets = [url.encode() for url in urls]

    def script(connection: Connection) -> None:
        while head := connection.read_request():
            path = head.split()[1].strip(b"/")
            if path:
                fields = b"Location: %b\r\n" % targets[int(path)]
                connection.send(response(status=b"302 Found", fields=fields))
            elif is_redirect:
                links = b"".join(b'<a href="/%d">x</a>' % n for n in range(len(targets)))
                connection.send(response(links))
            else:
                links = b"".join(b'<a href="%b">x</a>' % target for target in targets)
                fields = b"Content-Type: text/html; charset=utf-8\r\n"
                connection.send(response(links, fields=fields))

    return script


def crawl(directory: Path, urls: list[str], *, is_redirect: bool, **keys: str) -> Crawl:
    """Crawl a named private host that leads to the URLs."""
    hosts = directory / "hosts"
    hosts.write_text("127.0.0.1 named.test\n")
    with Server(giving(urls, is_redirect=is_redirect)) as server:
        run = Crawl(directory, {**KEYS, "hostsFile": f'"{hosts}"', **keys})
        assert run.run(f"http://named.test:{server.port}/") == 0, run.output
    return run


IMPOSSIBLE: Final = ("127.0.0.1.1", "0x7f00000001", "256.0.0.1", "127.0.0.08", "[::1", "[::1%25lo]")
"""What browsers refuse, and other parsers take for loopback."""

BROUGHT = pytest.mark.parametrize("is_redirect", [False, True], ids=["link", "redirect"])


@BROUGHT
def test_no_spelling_reaches_a_private_address(tmp_path: Path, is_redirect: bool) -> None:
    """The host that brings them is private itself, but was named; those it leads to were not."""
    with Target() as target:
        urls = urls_of((*LOOPBACK, *LOOPBACK6, *ELSEWHERE), target.port)
        bad = urls_of(IMPOSSIBLE, target.port)
        run = crawl(tmp_path, urls + bad, is_redirect=is_redirect)
        assert target.connections == 0
    refused = [line for line in run.lines() if "named.test" not in line["url"]]
    assert {line["outcome"] for line in refused} == {"forbiddenAddress"}
    assert len(refused) == len(urls), "each spelling parses, and is judged by its address"


@pytest.mark.slow
@BROUGHT
def test_with_leave_each_spelling_connects_once(tmp_path: Path, is_redirect: bool) -> None:
    """The control: those that nobody was allowed to reach can be reached."""
    with Target() as target:
        urls = urls_of((*LOOPBACK, *LOOPBACK6), target.port)
        crawl(tmp_path, urls, is_redirect=is_redirect, allowPrivateAddresses="yes")
        assert sorted(target.paths, key=lambda path: int(path[1:])) == [
            f"/{n}" for n in range(len(urls))
        ]
        assert target.connections <= len(urls)


@pytest.mark.slow
@BROUGHT
@pytest.mark.parametrize("is_allowed", [False, True])
def test_dns_answers_are_judged_too(tmp_path: Path, is_redirect: bool, is_allowed: bool) -> None:
    """A public name with a private address is as private as the address."""
    with Target() as target, DnsServer({name: [record] for name, record in ANSWERS}) as dns:
        urls = urls_of([name for name, _ in ANSWERS], target.port)
        keys = {"nameServer": dns.address, "allowPrivateAddresses": "yes" if is_allowed else "no"}
        run = crawl(tmp_path, urls, is_redirect=is_redirect, **keys)
        assert target.connections == (len(urls) if is_allowed else 0)
    expected = "success" if is_allowed else "forbiddenAddress"
    outcomes = [line["outcome"] for line in run.lines() if "named.test" not in line["url"]]
    assert outcomes == [expected] * len(urls)


@pytest.mark.slow
def test_what_the_operator_names_may_be_private(tmp_path: Path) -> None:
    """Every spelling, as a URL of the command line and as a line of a seed file."""
    with Target() as target:
        urls = urls_of((*LOOPBACK, *LOOPBACK6), target.port)
        (tmp_path / "seeds").write_text("\n".join(urls[1::2]))
        run = Crawl(tmp_path, {**KEYS, "seedFile": f'"{tmp_path / "seeds"}"'})
        assert run.run(*urls[::2]) == 0, run.output
        assert len(target.paths) == len(urls)
    assert set(run.outcomes().values()) == {"success"}


@pytest.mark.slow
def test_a_named_host_is_remembered(tmp_path: Path) -> None:
    """A crawl that goes on without its seeds still asks it for the rest, and nobody else."""
    with Target() as target:

        def script(connection: Connection) -> None:
            while head := connection.read_request():
                number = int(head.split()[1].strip(b"/") or b"0")
                own = b'<a href="/%d">x</a>' % (number + 1)
                other = b'<a href="http://127.0.0.1:%d/%d">x</a>' % (target.port, number)
                connection.send(response(own + other if number < 9 else b"<p>end"))

        hosts = tmp_path / "hosts"
        hosts.write_text("127.0.0.1 named.test\n")
        with Server(script) as server:
            run = Crawl(tmp_path, {**KEYS, "hostsFile": f'"{hosts}"', "depthInSite": "20",
                                   "limitPage": "4"})  # fmt: skip
            assert run.run(f"http://named.test:{server.port}/") == 3, run.output
            run.set("limitPage", "0")
            assert run.run(scratch=False) == 0, run.output
            asked = [request.split()[1] for request in server.requests]
    assert (sorted(asked), target.connections) == ([b"/"] + [b"/%d" % n for n in range(1, 10)], 0)


@pytest.mark.slow
def test_our_own_ports_are_refused(tmp_path: Path) -> None:
    """Also where everything else is allowed, and also when the operator asks for them."""
    with Target() as target:
        urls = urls_of((*LOOPBACK, *LOOPBACK6), target.port)
        keys = {**KEYS, "allowPrivateAddresses": "yes", "inputPort": str(target.port)}
        run = Crawl(tmp_path, keys)
        assert run.run(*urls) == 0, run.output
        assert target.connections == 0
    assert set(run.outcomes().values()) == {"forbiddenAddress"}
