"""What a server that means no good does with a connection, where no honest one does the like."""

from __future__ import annotations

import gzip
import time
import zlib
from functools import cache
from typing import TYPE_CHECKING, Final

import brotli
import zstandard

from larbinpy.testing.scripts import answer, response

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.testing.servers import Connection, Script

PAGE: Final = b"<p>hello"
HTML: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED: Final = HTML + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB_BYTES: Final = 64 << 20
BOMBS: Final = (b"gzip", b"br", b"zstd")
REDIRECTS: Final = 11


def encoded(coding: bytes) -> bytes:
    """Fields of a page with a Content-Encoding."""
    return b"Content-Type: text/html\r\nContent-Encoding: %b\r\n" % coding


def gzip_page(data: bytes) -> Script:
    """A page whose body is said to be packed by gzip."""
    return answer(response(data, fields=encoded(b"gzip")))


@cache
def bomb(coding: bytes) -> bytes:
    """So many zero bytes, packed."""
    pack: dict[bytes, Callable[[bytes], bytes]] = {
        b"gzip": gzip.compress,
        b"br": lambda data: brotli.compress(data, quality=1),
        b"zstd": zstandard.compress,
    }
    return pack[coding](bytes(BOMB_BYTES))


def bombing(coding: bytes) -> Script:
    """A script that answers with a ``bomb``, and waits for the client to have enough."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(response(bomb(coding), fields=encoded(coding)))
        connection.wait_closed()

    return script


def raw_deflate(data: bytes) -> bytes:
    """The bytes without the header of zlib that ``deflate`` has."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def six_times(data: bytes) -> bytes:
    """Packed as often as no reader unpacks."""
    for _ in range(6):
        data = gzip.compress(data)
    return data


def slowly(head: bytes, piece: bytes) -> Script:
    """A piece a second."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(head)
        while True:
            time.sleep(1)
            connection.send(piece)

    return script


def slow_header(connection: Connection) -> None:
    """A byte of a header a second."""
    connection.read_request()
    for byte in HTML * 10:
        connection.send(bytes((byte,)))
        time.sleep(1)


def flood(connection: Connection) -> None:
    """Chunk extensions, as fast as they are taken without keeping a core busy."""
    connection.read_request()
    connection.send(CHUNKED + b"1;")
    while True:
        connection.send(b"x" * 50_000)
        time.sleep(0.02)


def moved(location: bytes, more: bytes = b"") -> bytes:
    """A redirection, with more fields."""
    return response(status=b"302 Found", fields=b"Location: %b\r\n%b" % (location, more))


def redirect_chain(connection: Connection) -> None:
    """``/`` to ``/1``, that to ``/2`` and so on, more often than is followed."""
    while head := connection.read_request():
        number = int(head.split()[1].strip(b"/") or b"0") + 1
        connection.send(moved(b"/%d" % number) if number <= REDIRECTS else response(PAGE))


def smuggled_location(connection: Connection) -> None:
    """A target that would be two header lines, if it were taken as it reads decoded."""
    while head := connection.read_request():
        if head.split()[1] == b"/":
            connection.send(moved(b"/a%0d%0aX-Evil:%201"))
        elif b"x-evil:" in head.lower().partition(b"\r\n")[2]:
            connection.send(response(status=b"500 Smuggled"))
        else:
            connection.send(response(PAGE))
