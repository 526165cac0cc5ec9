"""What belongs to one origin never reaches another, however the crawl gets there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.testing.scripts import response
from larbinpy.testing.servers import EVERY_ADDRESS, Connection, Server
from tests.crawl.crawls import Crawl

if TYPE_CHECKING:
    from pathlib import Path

SECRETS = (b"cookie", b"authorization", b"x-key")


def field(head: bytes, name: bytes) -> bytes:
    """A field of a request, empty when it has none."""
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return next((value.strip() for key, _, value in lines if key.strip().lower() == name), b"")


def test_a_redirect_to_another_origin_carries_nothing(tmp_path: Path) -> None:
    """gocolly/colly#916: another host, or another port of the same, sees no secret."""

    def serve(connection: Connection) -> None:
        while head := connection.read_request():
            host = field(head, b"host").partition(b":")[0]
            cookie = b"Content-Type: text/html\r\nSet-Cookie: s=1; Path=/\r\n"
            links = b'<a href="/again">x</a><a href="/away">x</a>'
            if host == b"a.test" and head.split()[1] == b"/away":
                place = b"Location: http://b.test:%d/from-a\r\n" % made.port
                connection.send(response(status=b"302 Found", fields=cookie + place))
            elif host == b"a.test":
                connection.send(response(links + head.split()[1], fields=cookie))
            else:
                connection.send(response(b"<p>b"))

    (tmp_path / "hosts").write_text("127.0.6.1 a.test\n127.0.6.2 b.test\n")
    with Server(serve, address=EVERY_ADDRESS) as made:
        origin = f"http://a.test:{made.port}"
        keys = {
            "hostsFile": f'"{tmp_path / "hosts"}"', "allowPrivateAddresses": "", "ignoreRobots": "",
            "useCookies": "", "auth": f'{origin} "u:p"', "header": f'{origin} "X-Key: sesame"',
        }  # fmt: skip
        run = Crawl(tmp_path, keys)
        assert run.run(f"{origin}/") == 0, run.output
        heads = list(made.requests)
    assert run.outcomes()[f"http://b.test:{made.port}/from-a"] == "success"
    of_a = [head for head in heads if field(head, b"host").startswith(b"a.test")]
    of_b = [head for head in heads if field(head, b"host").startswith(b"b.test")]
    assert len(of_b) == 1
    assert not [name for name in SECRETS for head in of_b if field(head, name)]
    for head in of_a[1:]:
        assert [bool(field(head, name)) for name in SECRETS] == [True, True, True]
