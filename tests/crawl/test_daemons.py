"""The servers that most of the web runs: what they say of our requests in their own logs."""

from __future__ import annotations

import http.client
import sys
from typing import TYPE_CHECKING

import pytest
import xxhash

from larbinpy.store.validators import Validators
from tests.crawl.crawls import crawl
from tests.crawl.daemons import Apache, open_directory, squid
from tests.crawl.peers import Nginx, free_port, make_certificates, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGE = "<title>p</title>" + "<p>some text that can be packed" * 200
LINKS = "".join(f'<a href="/{n}.html">x</a>' for n in range(5))


@pytest.fixture
def site() -> Iterator[Path]:
    """A directory that servers of other users may read."""
    with open_directory() as directory:
        yield directory


@pytest.mark.parametrize(
    ("rules", "coding"),
    [("SetOutputFilter DEFLATE", "gzip"), ("SetOutputFilter BROTLI_COMPRESS", "br"), ("", "-")],
)
def test_apache_packs_what_we_ask_for(tmp_path: Path, site: Path, rules: str, coding: str) -> None:
    """The page that is stored is the file, however it travelled."""
    apache = Apache(site, rules)
    (apache.pages / "index.html").write_text(PAGE)
    with apache.running():
        (line,) = crawl(tmp_path, f"http://a.test:{apache.port}/")
    assert line["digest"] == f"xxh3-128:{xxhash.xxh3_128_hexdigest(PAGE.encode())}"
    assert line["bytes"] == len(PAGE)
    assert f"coding={coding} " in apache.requests[-1]


def test_apache_sees_one_connection_and_who_asks(tmp_path: Path, site: Path) -> None:
    """The connection of robots.txt serves the pages too; each request names the operator."""
    apache = Apache(site, "")
    (apache.pages / "index.html").write_text(LINKS)
    for n in range(5):
        (apache.pages / f"{n}.html").write_text(f"<p>{n}")
    with apache.running():
        lines = crawl(tmp_path, f"http://a.test:{apache.port}/")
    assert [line["outcome"] for line in lines] == ["success"] * 6
    numbers = [request.partition("on=")[2].split()[0] for request in apache.requests]
    assert numbers == [str(n) for n in range(7)]
    assert all('from=me@a.test agent="larbin"' in request for request in apache.requests)


def test_apache_knows_the_version_that_was_logged(tmp_path: Path, site: Path) -> None:
    """Asked with what its page said of itself, it answers that nothing has changed."""
    apache = Apache(site, "")
    (apache.pages / "index.html").write_text(PAGE)
    with apache.running():
        (line,) = crawl(tmp_path, f"http://a.test:{apache.port}/")
        version = Validators(line["etag"].encode(), line["modified"].encode())
        fields = [condition.decode().split(": ") for condition in version.conditions()]
        connection = http.client.HTTPConnection("127.0.0.1", apache.port)
        for given in (fields, fields[:1], fields[1:]):
            connection.request("GET", "/", headers=dict(given))
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (304, b"")
        connection.close()
    assert len(fields) == 2


def test_apache_over_tls(tmp_path: Path, site: Path) -> None:
    """With a certificate of an authority of ours, by HTTP/2 where it is asked for."""
    ca = make_certificates(tmp_path, "a.test")
    apache = Apache(site, "Protocols h2 http/1.1", certificates=tmp_path)
    (apache.pages / "index.html").write_text(PAGE)
    url = f"https://a.test:{apache.port}/"
    with apache.running():
        refused = crawl(tmp_path, url, ignoreRobots="")
        old = crawl(tmp_path, url, caFile=f'"{ca}"', ignoreRobots="")
        new = crawl(tmp_path, url, caFile=f'"{ca}"', ignoreRobots="", httpVersion="auto")
    assert [line["outcome"] for line in refused + old + new] == ["tlsError", "success", "success"]
    assert [request.split()[2] for request in apache.requests] == ["HTTP/1.1", "HTTP/2.0"]


@pytest.mark.parametrize("is_tls", [False, True])
def test_squid_with_credentials(tmp_path: Path, site: Path, is_tls: bool) -> None:
    """Plain pages by asking the proxy, TLS by CONNECT; its log has user, verb and target."""
    ca = make_certificates(tmp_path, "localhost")
    server = Nginx(tmp_path, "", listen="ssl" if is_tls else "")
    with server.running(), squid(site, user="u", password="pw") as (port, log):
        url = f"http{'s' if is_tls else ''}://localhost:{server.port}/"
        keys = {"caFile": f'"{ca}"', "ignoreRobots": ""}
        wrong = crawl(tmp_path, url, proxy=f"http://u:no@localhost:{port}", **keys)
        right = crawl(tmp_path, url, proxy=f"http://u:pw@localhost:{port}", **keys)
    assert [line["outcome"] for line in wrong + right] == ["noConnection", "success"]
    target = f"CONNECT localhost:{server.port}" if is_tls else f"GET {url}"
    requests = log.read_text().splitlines()
    assert [line for line in requests if line.startswith("200")] == [f"200 u {target}"]
    assert len([line for line in requests if line.startswith("407")]) >= 3
    assert len(server.requests) == 1


def test_the_server_of_python(tmp_path: Path) -> None:
    """HTTP/1.0, a connection a request, pages without an end that anybody announced."""
    pages, port, log = tmp_path / "pages", free_port(), tmp_path / "log"
    pages.mkdir()
    (pages / "index.html").write_text(LINKS)
    for n in range(5):
        (pages / f"{n}.html").write_text(f"<p>{n}")
    words = [sys.executable, "-u", "-m", "http.server", "-b", "127.0.0.1", "-d", str(pages)]
    with running([*words, str(port)], port, log):
        lines = crawl(tmp_path, f"http://a.test:{port}/")
    assert [line["outcome"] for line in lines] == ["success"] * 6
    asked = [line.split('"')[1] for line in log.read_text().splitlines() if '"GET ' in line]
    files = ["/robots.txt", "/", *(f"/{n}.html" for n in range(5))]
    assert asked == [f"GET {file} HTTP/1.1" for file in files]
