"""HTTPS with a certificate of our own."""

from __future__ import annotations

import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.domain import Domains
from larbinpy.fetch.cookies import CookieJar
from larbinpy.records import FetchResult, Outcome
from larbinpy.testing.scripts import answer, response
from larbinpy.testing.servers import Connection, Server
from tests.fetch.conftest import Client, job_for, self_signed

if TYPE_CHECKING:
    from pathlib import Path

ANSWER = answer(response(b"secret", fields=b"Content-Type: text/html\r\nSet-Cookie: a=b\r\n"))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for a.test, with its key in the same file."""
    kind = "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"
    return self_signed(tmp_path_factory.mktemp("tls"), *kind)


def get(
    certificate: Path,
    *,
    host: bytes = b"a.test",
    count: int = 1,
    connections_made: int = 1,
    is_dressed: bool = False,
    requests: list[bytes] | None = None,
    **changes: Any,
) -> list[FetchResult]:
    """Fetch from a TLS server, over one connection; ``is_dressed`` sends it secrets."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    def script(connection: Connection) -> None:
        with context.wrap_socket(connection.peer, server_side=True) as connection.peer:
            ANSWER(connection)

    results = []
    with Server(script) as server:
        if is_dressed:
            changes["headers"] = {b"https://%b:%d" % (host, server.port): (b"X-Key: 1",)}
            domains = Domains()
            changes["jar"] = CookieJar(domains.of, domains.is_suffix)
        client = Client(**changes)
        for _ in range(count):
            job = job_for(server.port, host=host)
            client.submit(replace(job, https=True, url=job.url.replace(b"http", b"https")))
            results += client.wait(1)
        client.close()
    assert server.connections == connections_made
    if requests is not None:
        requests += server.requests
    return results


def test_https_page(certificate: Path) -> None:
    """A page comes over TLS, several over one connection; SNI and names are those of the URL."""
    results = get(certificate, ca_file=str(certificate), count=3)
    assert [(r.outcome, r.body) for r in results] == [(Outcome.SUCCESS, b"secret")] * 3


def test_unknown_issuer(certificate: Path) -> None:
    """A certificate that nobody vouches for is a TLS error."""
    (result,) = get(certificate)
    assert (result.outcome, result.body) == (Outcome.TLS_ERROR, b"")
    assert "certificate" in result.reason


def test_certificate_for_another_name(certificate: Path) -> None:
    """The certificate must name the host, whatever the address is."""
    (result,) = get(certificate, host=b"b.test", ca_file=str(certificate))
    assert result.outcome is Outcome.TLS_ERROR


def test_a_bad_certificate_can_be_recorded(certificate: Path) -> None:
    """Reach over safety, when the operator says so: the result says why it was not verified."""
    results = get(certificate, host=b"b.test", count=2, is_tls_recorded=True, connections_made=2)
    assert [(r.outcome, r.body) for r in results] == [(Outcome.SUCCESS, b"secret")] * 2
    for result in results:
        assert result.reason.startswith("unverified: SSL")


@pytest.mark.parametrize("is_good", [True, False])
def test_secrets_never_reach_a_server_with_a_bad_certificate(
    certificate: Path, is_good: bool
) -> None:
    """Neither own headers nor cookies; and it cannot set any."""
    requests: list[bytes] = []
    get(
        certificate,
        count=3,
        connections_made=1 if is_good else 2,
        is_dressed=True,
        requests=requests,
        is_tls_recorded=True,
        ca_file=str(certificate) if is_good else "",
    )
    assert [b"X-Key: 1" in request for request in requests] == [is_good] * 3
    assert [b"Cookie: a=b" in request for request in requests] == [False, is_good, is_good]


def test_a_handle_that_sent_cookies_sends_none_to_the_next_host() -> None:
    """Not even a field without a value."""
    domains = Domains()
    client = Client(jar=CookieJar(domains.of, domains.is_suffix))
    with Server(ANSWER) as server:
        for host in (b"a.test", b"a.test", b"b.test"):
            client.get(server, host=host)
        client.close()
        assert [b"\r\nCookie:" in request for request in server.requests] == [False, True, False]
