"""ETag and Last-Modified are kept for recrawls, over runs and whatever a server says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.manifest import parse_manifest
from larbinpy.store.validators import Validators, latest
from larbinpy.testing.scripts import response
from larbinpy.testing.servers import Connection, Server
from tests.crawl.crawls import Crawl

if TYPE_CHECKING:
    from pathlib import Path

DATE = b"Sun, 06 Nov 1994 08:49:37 GMT"
FIELDS = {
    b"/good": b'ETag: W/"v1"\r\nLast-Modified: %b\r\n' % DATE,
    b"/long": b'ETag: "%b"\r\nLast-Modified: %b\r\n' % (b"x" * 60_000, DATE),
    b"/bytes": b'ETag: "\xc3\xa9\xff"\r\nLast-Modified: %b\r\n' % DATE,
    b"/cr": b'ETag: "a\rX-Evil: b"\r\n',
    b"/folded": b'ETag: "a"\r\n X-Evil: b\r\n',
    b"/json": b'ETag: ","modified":"\\u0041","url":"x\r\n',
    b"/nothing": b"",
}
LATER = b'ETag: W/"v2"\r\n'


def serve(connection: Connection) -> None:
    """Each page with its fields; one that is not known was asked for unconditionally."""
    while head := connection.read_request():
        path = head.split()[1].partition(b"?")[0]
        if path == b"/unasked":
            connection.send(b'HTTP/1.1 304 Not Modified\r\nETag: "no"\r\n\r\n')
            continue
        fields = LATER if path == b"/later" else FIELDS.get(path, b"")
        status = b"200 OK" if path in FIELDS or path == b"/later" else b"404 Not Found"
        html = b"Content-Type: text/html\r\n"
        connection.send(response(b"<p>" + path, status=status, fields=html + fields))


def test_versions_are_kept_over_runs(tmp_path: Path) -> None:
    """What can be sent back is, exactly; all else is as if it had not been said. A 304 that nobody
    asked for is no page, and says nothing of a version."""
    with Server(serve) as server:
        site = f"http://127.0.0.1:{server.port}"
        crawl = Crawl(tmp_path, {})
        first = [site + path for path in ("/good", "/bytes", "/json", "/unasked")]
        assert crawl.run(*first, scratch=False) == 0, crawl.output
        rest = [site + path for path in ("/long", "/cr", "/folded", "/nothing", "/later")]
        assert crawl.run(*rest, scratch=False) == 0, crawl.output
        outcomes = {line["url"].rpartition("/")[2]: line["outcome"] for line in crawl.lines()}
    log = crawl.state / "crawl.log"
    manifest = crawl.state / "MANIFEST"
    key = parse_manifest(manifest.read_bytes(), manifest).key

    def kept(path: str) -> Validators:
        return latest(log, key, f"{site}{path}".encode())

    assert outcomes.pop("unasked") == "err30X"
    assert outcomes.pop("cr") == "protocolError"  # a bare CR in a field
    assert set(outcomes.values()) == {"success"}, outcomes
    assert kept("/good") == Validators(b'W/"v1"', DATE)
    assert kept("/later") == Validators(b'W/"v2"')
    assert kept("/bytes") == kept("/long") == Validators(b"", DATE)
    assert kept("/json") == Validators(b'","modified":"\\u0041","url":"x')
    assert kept("/folded") == Validators(b'"a" X-Evil: b')  # unfolded, as RFC 9112 says
    assert kept("/cr") == kept("/unasked") == kept("/nothing") == Validators()
