"""What a server does with a connection: answers, whole or in part, and what comes after them."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from larbinpy.testing.servers import Connection, Script


def response(
    body: bytes = b"",
    *,
    status: bytes = b"200 OK",
    fields: bytes = b"Content-Type: text/html\r\n",
    length: int | None = None,
) -> bytes:
    """A response with Content-Length."""
    size = len(body) if length is None else length
    return b"HTTP/1.1 %b\r\n%bContent-Length: %d\r\n\r\n%b" % (status, fields, size, body)


def answer(*data: bytes) -> Script:
    """A script that answers each request with the same bytes and keeps the connection."""

    def script(connection: Connection) -> None:
        while connection.read_request():
            for piece in data:
                connection.send(piece)

    return script


def answer_and_close(*data: bytes) -> Script:
    """A script that answers one request and closes."""

    def script(connection: Connection) -> None:
        _answer_one(connection, data)
        connection.peer.shutdown(socket.SHUT_WR)
        connection.wait_closed()

    return script


def answer_and_stall(*data: bytes) -> Script:
    """A script that answers one request and then says nothing more."""

    def script(connection: Connection) -> None:
        _answer_one(connection, data)
        connection.wait_closed()

    return script


def answer_and_reset(*data: bytes) -> Script:
    """A script that answers one request, lets the answer arrive, and resets the connection."""

    def script(connection: Connection) -> None:
        _answer_one(connection, data)
        if data:
            connection.wait_read()
        connection.reset()

    return script


def answer_for_ever(head: bytes, piece: bytes) -> Script:
    """A script that never stops sending."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.send(head)
        while True:
            connection.send(piece)

    return script


def _answer_one(connection: Connection, data: tuple[bytes, ...]) -> None:
    connection.read_request()
    for piece in data:
        connection.send(piece)
