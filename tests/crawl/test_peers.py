"""What each key of the fetching side is for: pages that cannot be had without it, of real peers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.scripts import response
from larbinpy.testing.servers import Connection, Server
from tests.crawl.crawls import Crawl, Line, crawl
from tests.crawl.peers import (
    Nginx,
    free_port,
    make_certificates,
    microsocks,
    running,
    tinyproxy,
    tool,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def outcomes(lines: list[Line]) -> list[str]:
    return [line["outcome"] for line in lines]


def test_a_file_of_certificates(tmp_path: Path) -> None:
    """A server that only the operator's authority vouches for."""
    ca = make_certificates(tmp_path, "a.test")
    with Nginx(tmp_path, "", listen="ssl").running() as nginx:
        url = f"https://a.test:{nginx.port}/"
        without = crawl(tmp_path, url, ignoreRobots="yes")
        lines = crawl(tmp_path, url, caFile=f'"{ca}"')
        other = crawl(tmp_path, f"https://b.test:{nginx.port}/", caFile=f'"{ca}"', ignoreRobots="")
    assert (outcomes(without), outcomes(lines)) == (["tlsError"], ["success"])
    assert outcomes(other) == ["tlsError"]
    assert [("name=a.test" in line, " 200 " in line) for line in nginx.requests] == [(True, True)]


def test_a_server_of_old(tmp_path: Path) -> None:
    """OpenSSL's own server, told to speak TLS 1.0 alone: its page wants tlsOld, and the log says
    why it was not had without."""
    ca = make_certificates(tmp_path, "a.test")
    port = free_port()
    words = f"{tool('openssl')} s_server -accept {port} -www -quiet -tls1"
    keys = f"-cert {tmp_path}/server.pem -key {tmp_path}/server.key -cipher DEFAULT:@SECLEVEL=0"
    url = f"https://a.test:{port}/"
    with running([*words.split(), *keys.split()], port, tmp_path / "log"):
        without = crawl(tmp_path, url, caFile=f'"{ca}"', ignoreRobots="")
        lines = crawl(tmp_path, url, caFile=f'"{ca}"', ignoreRobots="", tlsOld="")
    assert (outcomes(without), outcomes(lines)) == (["tlsError"], ["success"])
    assert "protocol version" in without[0]["reason"]


@pytest.mark.parametrize(
    ("content", "message"),
    [("-", "No such file or directory"), ("text", "no certificates (PEM) in it")],
)
def test_a_bad_file_of_certificates_is_a_clear_error(
    tmp_path: Path, content: str, message: str
) -> None:
    """Before anything is deleted, made or fetched."""
    path = tmp_path / "my.pem"
    if content != "-":
        path.write_text(content)
    run = Crawl(tmp_path / "run", {"caFile": f'"{path}"'})
    assert run.run("http://127.0.0.1:1/") == 2
    assert not run.state.exists()
    assert f"caFile: {path}: {message}" in run.output.replace("\n", " ")


def test_a_bad_certificate_recorded(tmp_path: Path) -> None:
    """The page comes, its line says why it is not to be trusted, and no secret was sent."""
    make_certificates(tmp_path, "other.test")
    with Nginx(tmp_path, 'add_header Set-Cookie "c=d";', listen="ssl").running() as nginx:
        origin = f"https://a.test:{nginx.port}"
        secrets = {"auth": f"{origin} u:p", "header": f'{origin} "X-Key: sesame"'}
        lines = crawl(tmp_path, f"{origin}/", tlsVerify="record", useCookies="", **secrets)
    assert outcomes(lines) == ["success"]
    assert lines[0]["reason"].startswith("unverified: SSL")
    (request,) = nginx.requests
    assert 'user=- cookie="-" key="-"' in request


def test_user_and_password_of_an_origin(tmp_path: Path) -> None:
    """They go to it alone: not to another port of the host, not to another host."""
    (tmp_path / "users").write_text("u:{PLAIN}p ss\n")
    rules = f'auth_basic "x"; auth_basic_user_file {tmp_path}/users;'
    other = Nginx(tmp_path, "", name="other")
    links = f"""
        {rules} try_files /none @links;
    }}
    location @links {{
        return 200 '<a href="http://b.test:{other.port}/">x</a>
            <a href="http://a.test:{other.port}/">x</a>';
    """
    with other.running(), Nginx(tmp_path, links).running() as nginx:
        url = f"http://a.test:{nginx.port}/"
        without = crawl(tmp_path, url, depthInSite="0")
        secret = f'http://a.test:{nginx.port} "u:p ss"'
        lines = crawl(tmp_path, url, auth=secret, allowPrivateAddresses="")
    assert (outcomes(without), outcomes(lines)) == (["err40X"], ["success"] * 3)
    assert ["user=u" in request for request in nginx.requests] == [False, True]
    assert ["user=-" in request for request in other.requests] == [True, True]


def test_a_header_of_an_origin(tmp_path: Path) -> None:
    """A key that only this server gets."""
    with Nginx(tmp_path, 'if ($http_x_key != "open sesame") { return 403; }').running() as nginx:
        url = f"http://a.test:{nginx.port}/"
        without = crawl(tmp_path, url)
        lines = crawl(tmp_path, url, header=f'http://a.test:{nginx.port} "X-Key: open sesame"')
    assert (outcomes(without), outcomes(lines)) == (["err40X"], ["success"])
    assert ['key="open sesame"' in request for request in nginx.requests] == [False, True]


def test_cookies(tmp_path: Path) -> None:
    """scrapy/scrapy#1225, xroche/httrack#537: A page that redirects to itself until its cookie
    comes back."""
    rules = """if ($cookie_a != "b") {
        add_header Set-Cookie "a=b; Path=/"; return 302 http://$http_host$request_uri; }"""
    with Nginx(tmp_path, rules).running() as nginx:
        url = f"http://a.test:{nginx.port}/x?y"
        without = crawl(tmp_path, url, getCGI="")
        lines = crawl(tmp_path, url, getCGI="", useCookies="")
    assert (outcomes(without), outcomes(lines)) == (["err30X"], ["err30X", "success"])
    cookies = ['cookie="a=b"' in request for request in nginx.requests]
    assert cookies == [False, False, True]


def test_http_2_alone(tmp_path: Path) -> None:
    """A server that speaks nothing else, without TLS."""
    with Nginx(tmp_path, "", listen="http2").running() as nginx:
        url = f"http://a.test:{nginx.port}/"
        without = crawl(tmp_path, url, ignoreRobots="")
        lines = crawl(tmp_path, url, httpVersion="2")
    assert (outcomes(without), outcomes(lines)) == (["protocolError"], ["success"])
    assert ["HTTP/2.0" in request for request in nginx.requests][-1]


def test_http_2_where_a_server_offers_it(tmp_path: Path) -> None:
    """And 1.1 where it does not."""
    ca = make_certificates(tmp_path, "a.test")
    rules = 'if ($server_protocol != "HTTP/2.0") { return 426; }'
    modern = Nginx(tmp_path, rules, listen="ssl http2", name="modern")
    old = Nginx(tmp_path, "", listen="ssl", name="old")
    with modern.running(), old.running():
        keys = {"caFile": f'"{ca}"'}
        without = crawl(tmp_path, f"https://a.test:{modern.port}/", **keys)
        lines = crawl(tmp_path, f"https://a.test:{modern.port}/", httpVersion="auto", **keys)
        lines += crawl(tmp_path, f"https://a.test:{old.port}/", httpVersion="auto", **keys)
    assert (outcomes(without), outcomes(lines)) == (["err40X"], ["success"] * 2)
    protocols = [request.split()[2] for request in modern.requests + old.requests]
    assert protocols == ["HTTP/1.1", "HTTP/2.0", "HTTP/1.1"]


@pytest.mark.parametrize("is_tls", [False, True])
def test_an_http_proxy_with_credentials(tmp_path: Path, is_tls: bool) -> None:
    """Plain pages by asking the proxy, TLS by a tunnel."""
    ca = make_certificates(tmp_path, "localhost")
    rules = "" if is_tls else 'if ($http_via = "") { return 403; }'
    server = Nginx(tmp_path, rules, listen="ssl" if is_tls else "")
    with server.running(), tinyproxy(tmp_path, user="u", password="pw") as (port, log):
        url = f"http{'s' if is_tls else ''}://localhost:{server.port}/"
        keys = {"caFile": f'"{ca}"', "ignoreRobots": ""}
        direct = crawl(tmp_path, url, **keys)
        refused = crawl(tmp_path, url, proxy=f"127.0.0.1 {port}", **keys)
        lines = crawl(tmp_path, url, proxy=f"http://u:pw@localhost:{port}", **keys)
    assert outcomes(direct) == ["success" if is_tls else "err40X"]
    assert (outcomes(refused), outcomes(lines)) == (["noConnection"], ["success"])
    assert lines[0]["ip"] == "127.0.0.1"
    verb = "CONNECT" if is_tls else "GET"
    assert f"{verb} " in log.read_text()
    assert f"localhost:{server.port}" in log.read_text()


def test_a_socks5_proxy_with_credentials(tmp_path: Path) -> None:
    """A server that lets only the proxy in."""
    with (
        Nginx(tmp_path, "if ($remote_addr != 127.0.0.9) { return 403; }").running() as nginx,
        microsocks(tmp_path, user="u", password="pw") as (port, log),
    ):
        url = f"http://localhost:{nginx.port}/"
        direct = crawl(tmp_path, url, ignoreRobots="")
        refused = crawl(tmp_path, url, ignoreRobots="", proxy=f"socks5://u:no@127.0.0.1:{port}")
        lines = crawl(tmp_path, url, proxy=f"socks5://u:pw@127.0.0.1:{port}")
    assert (outcomes(direct), outcomes(refused)) == (["err40X"], ["noConnection"])
    assert outcomes(lines) == ["success"]
    assert nginx.requests[-1].endswith("from=127.0.0.9 name=-")
    assert f"connected to localhost:{nginx.port}" in log.read_text()


def test_a_proxy_looks_names_up(tmp_path: Path) -> None:
    """Names that nobody here knows can be fetched, addresses that are private cannot."""

    def script(connection: Connection) -> None:
        while head := connection.read_request():
            target = head.split()[1]
            links = b'<a href="http://[fd00::1]/">x</a><a href="http://2.test/">x</a>'
            is_first = target == b"http://1.test/"
            connection.send(response(links if is_first else b"<p>page"))

    with Server(script) as server:
        proxy = f"127.0.0.1 {server.port}"
        lines = crawl(tmp_path, "http://1.test/", ignoreRobots="", proxy=proxy)
        targets = sorted(request.split()[1] for request in server.requests)
    assert {line["url"]: (line["outcome"], line["ip"]) for line in lines} == {
        "http://1.test/": ("success", None),
        "http://2.test/": ("success", None),
        "http://[fd00::1]/": ("forbiddenAddress", None),
    }
    assert targets == [b"http://1.test/", b"http://2.test/"]


def test_a_proxy_without_an_address_is_a_clear_error(tmp_path: Path) -> None:
    """Before anything is fetched."""
    run = Crawl(tmp_path, {"proxy": "no.such.host.invalid. 80"})
    assert run.run("http://127.0.0.1:1/") == 2
    assert "proxy: no.such.host.invalid.: " in run.output
