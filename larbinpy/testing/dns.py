"""A scripted DNS server on loopback: answers from a table, in pieces, wrongly, or not at all."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

A: Final = 1
CNAME: Final = 5
AAAA: Final = 28
_RESPONSE: Final = 0x8180  # response, recursion desired and available
_TRUNCATED: Final = 0x0200
_SERVFAIL: Final = 2
_NXDOMAIN: Final = 3
SPOOFED: Final = "192.0.2.66"
"""What an answer with a wrong id says."""


class _Everything(frozenset[str]):
    """Holds whatever is asked for."""

    def __contains__(self, _: object) -> bool:
        return True


EVERY_NAME: Final = _Everything()
"""For a server that says nothing, or nothing but SERVFAIL."""


class Record(NamedTuple):
    """One resource record; ``value`` is an address, or a name for a CNAME."""

    kind: int
    value: str
    ttl_s: int = 300
    name: str = ""
    """Owner; empty means the name that was asked for."""


class DnsServer:
    """Answers queries over UDP and TCP, in threads of its own.

    Args:
        table: name -> its records; a name that is not in it does not exist.  It may be changed.
        silent: names that get no answer.  It may be changed.
        broken: names that get SERVFAIL.  It may be changed.
        cut: names whose answer over UDP is cut, with the advice to ask over TCP.
        spoofed: names for which an answer with a wrong id, and the address 192.0.2.66, comes first.

    ``asked`` counts the queries by (name, type), ``asked_tcp`` those over TCP.
    """

    def __init__(
        self,
        table: dict[str, list[Record]],
        *,
        silent: frozenset[str] = frozenset(),
        broken: frozenset[str] = frozenset(),
        cut: frozenset[str] = frozenset(),
        spoofed: frozenset[str] = frozenset(),
    ) -> None:
        self.table = table
        self.silent = silent
        self.broken = broken
        self.cut = cut
        self.spoofed = spoofed
        self.asked: Counter[tuple[str, int]] = Counter()
        self.asked_tcp: Counter[tuple[str, int]] = Counter()
        self._socket, self._listener = _same_port()
        self._threads = [
            threading.Thread(target=target, daemon=True)
            for target in (self._serve, self._serve_tcp)
        ]

    @property
    def address(self) -> str:
        """``ADDRESS:PORT``, as in the ``nameServer`` key."""
        host, port = self._socket.getsockname()
        return f"{host}:{port}"

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self._socket.getsockname())
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._socket.close()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            query, peer = self._socket.recvfrom(4096)
            if not query:
                return
            for reply in self._replies(query):
                self._socket.sendto(reply, peer)

    def _serve_tcp(self) -> None:
        """One query a connection, one connection at a time; who asked may be gone before."""
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), peer, peer.makefile("rb") as queries:
                head = queries.read(2)
                if len(head) == 2:
                    query = queries.read(int.from_bytes(head, "big"))
                    self.asked_tcp[_question(query)[:2]] += 1
                    reply = self._reply(query)
                    peer.sendall(len(reply).to_bytes(2, "big") + reply)
                    peer.recv(1)

    def _replies(self, query: bytes) -> Iterator[bytes]:
        name, kind, _ = _question(query)
        self.asked[name, kind] += 1
        if name in self.silent:
            return
        if name in self.spoofed:
            wrong_id = (int.from_bytes(query[:2], "big") ^ 1).to_bytes(2, "big")
            yield self._reply(wrong_id + query[2:], [Record(A, SPOOFED)])
        yield self._reply(query, is_cut=name in self.cut)

    def _reply(
        self, query: bytes, records: list[Record] | None = None, *, is_cut: bool = False
    ) -> bytes:
        name, kind, end = _question(query)
        if records is None:
            records = self.table.get(name)
        code = _SERVFAIL if name in self.broken else _NXDOMAIN if records is None else 0
        chosen = [] if code else [r for r in records or () if r.kind in (kind, CNAME) or r.name]
        flags = _RESPONSE | code | (_TRUNCATED if is_cut else 0)
        chosen = chosen[:1] if is_cut else chosen
        answers = b"".join(_record(record) for record in chosen)
        counts = (1, len(chosen), 0, 0)
        header = struct.pack(">HHHHHH", int.from_bytes(query[:2], "big"), flags, *counts)
        return header + query[12:end] + answers


def _same_port() -> tuple[socket.socket, socket.socket]:
    """A datagram and a listening socket with the same number, as DNS wants it."""
    while True:
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("127.0.0.1", 0))
        try:
            return datagrams, socket.create_server(datagrams.getsockname())
        except OSError:
            datagrams.close()


def _question(query: bytes) -> tuple[str, int, int]:
    """Name and type that are asked for, and where the question ends."""
    name, end = _read_name(query, 12)
    (kind,) = struct.unpack_from(">H", query, end)
    return name, kind, end + 4


def _read_name(packet: bytes, offset: int) -> tuple[str, int]:
    labels = []
    while packet[offset]:
        size = packet[offset]
        labels.append(packet[offset + 1 : offset + 1 + size].decode("ascii"))
        offset += size + 1
    return ".".join(labels).lower(), offset + 1


def _name(text: str) -> bytes:
    labels = (label.encode("ascii") for label in text.split("."))
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\x00"


def _record(record: Record) -> bytes:
    owner = _name(record.name) if record.name else b"\xc0\x0c"  # a pointer to the question
    if record.kind == A:
        data = socket.inet_pton(socket.AF_INET, record.value)
    elif record.kind == AAAA:
        data = socket.inet_pton(socket.AF_INET6, record.value)
    else:
        data = _name(record.value)
    return owner + struct.pack(">HHIH", record.kind, 1, record.ttl_s, len(data)) + data
