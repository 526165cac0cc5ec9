"""Small scripted servers on loopback: each connection runs a script in a thread of its own."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import socket
import struct
import sys
import termios
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    Script = Callable[["Connection"], None]


EVERY_ADDRESS = "::"
"""Of both families."""
_NOTHING = "00000000"
"""The length of an empty queue, in ``/proc/net/tcp``."""
_NO_BYTES = bytes(4)
"""The same, as ioctl has it."""


class Connection:
    """What a script sees of one connection."""

    def __init__(self, peer: socket.socket, requests: list[bytes]) -> None:
        self.peer = peer
        self._requests = requests
        self._buffer = b""

    def peek_request(self) -> bytes:
        """Return the next request's head without taking it, empty when the client has closed."""
        while b"\r\n\r\n" not in self._buffer:
            data = self.peer.recv(65536)
            if not data:
                return b""
            self._buffer += data
        return self._buffer.partition(b"\r\n\r\n")[0]

    def read_request(self) -> bytes:
        """Return the next request's head, empty when the client has closed."""
        head = self.peek_request()
        if head:
            self._buffer = self._buffer[len(head) + 4 :]
            self._requests.append(head)
        return head

    def send(self, data: bytes) -> None:
        """Send all of it."""
        self.peer.sendall(data)

    def wait_read(self) -> None:
        """Wait until the client has taken all that was sent, which a reset would overtake."""
        while not _is_read(self.peer):
            time.sleep(0.001)

    def reset(self) -> None:
        """Close with a reset."""
        linger = struct.pack("ii", 1, 0)
        self.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.peer.close()

    def wait_closed(self) -> None:
        """Read until the client closes."""
        while self.peer.recv(65536):
            pass


class Server:
    """Runs a script for every connection; usable as a context manager.

    Args:
        address: to listen on; EVERY_ADDRESS takes connections over IPv4 too.
    """

    def __init__(
        self,
        script: Script,
        *,
        address: str = "127.0.0.1",
        backlog: int = 128,
    ) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self._script = script
        is_ipv6 = ":" in address
        self._listener = socket.create_server(
            (address, 0),
            backlog=backlog,
            family=socket.AF_INET6 if is_ipv6 else socket.AF_INET,
            dualstack_ipv6=address == EVERY_ADDRESS,
        )
        self.port: int = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._peers: list[socket.socket] = []
        self._acceptor = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._acceptor.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        for peer in self._peers:
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE):
                    return
                time.sleep(0.01)  # this process has no descriptor left just now
                continue
            self.connections += 1
            self._peers.append(peer)
            thread = threading.Thread(target=self._run, args=(peer,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _run(self, peer: socket.socket) -> None:
        with contextlib.suppress(OSError), peer:
            self._script(Connection(peer, self.requests))


def _is_read(peer: socket.socket) -> bool:
    """Whether all has arrived and has left the client's socket, if that is still there."""
    if fcntl.ioctl(peer, termios.TIOCOUTQ, _NO_BYTES) != _NO_BYTES:
        return False
    ours, theirs = _end(*peer.getsockname()[:2]), _end(*peer.getpeername()[:2])
    queues: dict[tuple[str, str], str] = {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, remote, _, sizes, *_ = line.split()
            queues[local[-len(ours) :], remote[-len(ours) :]] = sizes
    return queues.get((theirs, ours), _NOTHING).endswith(_NOTHING)


def _end(host: str, port: int) -> str:
    """An address as the kernel lists it, without what IPv6 has before an IPv4 address."""
    packed = socket.inet_aton(host.rpartition(":")[2])
    return f"{int.from_bytes(packed, sys.byteorder):08X}:{port:04X}"


class Silent:
    """A port that is bound, so that nobody else gets it, and refuses every connection."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
