"""What libcurl does not tell of a connection, asked of its socket.

A chunked body can be all framing: bytes that libcurl counts nowhere and that never end.  So the
kernel's count of bytes received is read for those that take long.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from typing import TYPE_CHECKING, Any, Final

import pycurl

if TYPE_CHECKING:
    from collections.abc import Iterator

_TCP_INFO_BYTES: Final = 256
_RECEIVED: Final = struct.Struct("=Q")
_RECEIVED_AT: Final = 128
"""Offset of ``tcpi_bytes_received`` in ``struct tcp_info`` (Linux 4.1 and later)."""


def shut_down(easy: Any) -> None:  # a pycurl.Curl; pycurl has no types
    """End the connection that this handle used last, so that no request is sent on it again."""
    with _socket_of(easy) as connection, contextlib.suppress(OSError):
        if connection is not None:
            connection.shutdown(socket.SHUT_RDWR)


def received_bytes(easy: Any) -> int:  # a pycurl.Curl; pycurl has no types
    """Bytes received so far on this handle's connection; 0 when nobody knows."""
    with _socket_of(easy) as connection, contextlib.suppress(OSError):
        if connection is not None:
            info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
            if len(info) >= _RECEIVED_AT + _RECEIVED.size:
                return int(_RECEIVED.unpack_from(info, _RECEIVED_AT)[0])
    return 0


@contextlib.contextmanager
def _socket_of(easy: Any) -> Iterator[socket.socket | None]:
    """Our own descriptor of the connection; None when it is closed, or no descriptor is left."""
    descriptor = easy.getinfo(pycurl.ACTIVESOCKET)
    try:
        copy = os.dup(descriptor) if descriptor >= 0 else -1
    except OSError:
        copy = -1
    if copy < 0:
        yield None
        return
    with socket.socket(fileno=copy) as connection:
        yield connection
