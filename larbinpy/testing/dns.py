"""A scripted DNS server on loopback: answers from a table, or not at all."""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, Self

if TYPE_CHECKING:
    from types import TracebackType

A: Final = 1
CNAME: Final = 5
AAAA: Final = 28
_RESPONSE: Final = 0x8180  # response, recursion desired and available
_SERVFAIL: Final = 2
_NXDOMAIN: Final = 3


class Record(NamedTuple):
    """One resource record; ``value`` is an address, or a name for a CNAME."""

    kind: int
    value: str
    ttl_s: int = 300
    name: str = ""
    """Owner; empty means the name that was asked for."""


class DnsServer:
    """Answers UDP queries in a thread of its own.

    Args:
        table: name -> its records; a name that is not in it does not exist.
        silent: names that get no answer.
        broken: names that get SERVFAIL.

    ``asked`` counts the queries by (name, type).
    """

    def __init__(
        self,
        table: dict[str, list[Record]],
        *,
        silent: frozenset[str] = frozenset(),
        broken: frozenset[str] = frozenset(),
    ) -> None:
        self.table = table
        self.silent = silent
        self.broken = broken
        self.asked: Counter[tuple[str, int]] = Counter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        """``ADDRESS:PORT``, as in the ``nameServer`` key."""
        host, port = self._socket.getsockname()
        return f"{host}:{port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            query, peer = self._socket.recvfrom(4096)
            if not query:
                return
            reply = self._reply(query)
            if reply:
                self._socket.sendto(reply, peer)

    def _reply(self, query: bytes) -> bytes:
        name, end = _read_name(query, 12)
        (kind,) = struct.unpack_from(">H", query, end)
        question = query[12 : end + 4]
        self.asked[name, kind] += 1
        if name in self.silent:
            return b""
        records = self.table.get(name)
        code = _SERVFAIL if name in self.broken else _NXDOMAIN if records is None else 0
        chosen = [] if code else [r for r in records or () if r.kind in (kind, CNAME) or r.name]
        answers = b"".join(_record(record) for record in chosen)
        header = struct.pack(
            ">HHHHHH", *struct.unpack_from(">H", query), _RESPONSE | code, 1, len(chosen), 0, 0
        )
        return header + question + answers


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
