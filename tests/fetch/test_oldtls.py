"""Servers whose TLS is older than OpenSSL 3 likes: a clear outcome, and what ``tlsOld`` changes.

scrapy/scrapy#5491, scrapy/scrapy#2717.
"""

from __future__ import annotations

import os
import ssl
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from larbinpy.records import FetchResult, Outcome
from larbinpy.testing.scripts import answer, response
from larbinpy.testing.servers import Connection, Server
from tests.crawl.peers import free_port, running
from tests.fetch.conftest import Client, job_for, self_signed

if TYPE_CHECKING:
    from pathlib import Path

PAGE = answer(response(b"old"))
ANY_STRENGTH = "@SECLEVEL=0"
HANDSHAKE, SERVER_HELLO, TLS_1_2 = b"\x16", b"\x02", b"\x03\x03"
ECDHE_RSA_AES128_GCM = b"\xc0\x2f"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed RSA certificate for a.test, with its key in the same file."""
    return self_signed(tmp_path_factory.mktemp("tls"), "rsa:2048")


def openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def get(port: int, certificate: Path, *, is_tls_old: bool) -> FetchResult:
    """One page of a server that this certificate vouches for."""
    client = Client(ca_file=str(certificate), is_tls_old=is_tls_old)
    job = job_for(port)
    client.submit(replace(job, https=True, url=job.url.replace(b"http", b"https")))
    (result,) = client.wait(1)
    client.close()
    return result


@pytest.mark.parametrize("is_tls_old", [False, True])
def test_nothing_newer_than_tls_1(certificate: Path, tmp_path: Path, is_tls_old: bool) -> None:
    """A real server that was told to speak TLS 1.0 alone."""
    port = free_port()
    words = f"openssl s_server -accept {port} -cert {certificate} -www -quiet -tls1 -cipher"
    with running([*words.split(), f"DEFAULT:{ANY_STRENGTH}"], port, tmp_path / "log"):
        result = get(port, certificate, is_tls_old=is_tls_old)
    if is_tls_old:
        assert (result.outcome, result.status) == (Outcome.SUCCESS, 200), result.reason
    else:
        assert result.outcome is Outcome.TLS_ERROR
        assert "protocol version" in result.reason


@pytest.mark.parametrize("is_tls_old", [False, True])
def test_weak_keys(certificate: Path, tmp_path: Path, is_tls_old: bool) -> None:
    """A Diffie-Hellman group of 1,536 bits."""
    group = tmp_path / "group"
    openssl("genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:modp_1536",
            "-out", str(group))  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_ciphers(f"DHE-RSA-AES128-SHA:{ANY_STRENGTH}")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_dh_params(str(group))

    def script(connection: Connection) -> None:
        with context.wrap_socket(connection.peer, server_side=True) as connection.peer:
            PAGE(connection)

    with Server(script) as server:
        result = get(server.port, certificate, is_tls_old=is_tls_old)
    if is_tls_old:
        assert (result.outcome, result.body) == (Outcome.SUCCESS, b"old"), result.reason
    else:
        assert result.outcome is Outcome.TLS_ERROR
        assert "dh key too small" in result.reason


@pytest.mark.parametrize("is_tls_old", [False, True])
def test_no_secure_renegotiation(certificate: Path, is_tls_old: bool) -> None:
    """A server of before RFC 5746: its hello, of which no OpenSSL of today makes one, has no
    extension for it. Nothing makes the library go on."""
    hello = TLS_1_2 + os.urandom(32) + b"\0" + ECDHE_RSA_AES128_GCM + b"\0"
    message = SERVER_HELLO + len(hello).to_bytes(3, "big") + hello

    def script(connection: Connection) -> None:
        connection.peer.recv(65536)
        connection.send(HANDSHAKE + TLS_1_2 + len(message).to_bytes(2, "big") + message)
        connection.wait_closed()

    with Server(script) as server:
        result = get(server.port, certificate, is_tls_old=is_tls_old)
    assert result.outcome is Outcome.TLS_ERROR
    assert "unsafe legacy renegotiation disabled" in result.reason
