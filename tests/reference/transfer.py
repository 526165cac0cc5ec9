"""What a transfer keeps of a response, in plain Python; see ``ext/transfer.pyx``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ABORT_TOO_BIG = 1
ABORT_TYPE = 2
ABORT_HEADERS = 3


class Transfer:
    """Same names as the compiled one; sockets and times are left out."""

    def __init__(self, opened: Callable[[int], None], types: tuple[bytes, ...]) -> None:
        self._types = types

    def reset(self, ip: bytes, port: int, limit: int, check_type: bool, check_length: bool) -> None:
        self._limit = limit
        self._check_type = check_type
        self._check_length = check_length
        self._lines: list[bytes] = []
        self.body = b""
        self.bytes_read = 0
        self.requests = 0
        self._header_bytes = 0
        self.is_complete = False
        self.abort = 0

    @property
    def headers(self) -> bytes:
        return b"".join(line + b"\r\n" for line in self._lines)

    @property
    def status(self) -> int:
        match = re.match(rb"[^ ]* +([0-9]{3})", self._lines[0] if self._lines else b"")
        return int(match[1]) if match else 0

    @property
    def has_location(self) -> bool:
        return self._field(b"location") is not None

    @property
    def has_cookies(self) -> bool:
        return self._field(b"set-cookie") is not None

    @property
    def is_chunked(self) -> bool:
        return self._field(b"transfer-encoding") is not None

    @property
    def is_ambiguous(self) -> bool:
        return self.is_chunked and self._field(b"content-length") is not None

    def _field(self, name: bytes) -> bytes | None:
        found = None
        for line in self._lines[1:]:
            if line.lower().startswith(name + b":"):
                found = line[len(name) + 1 :].strip(b" \t").lower()
        return found

    def open_socket(self, purpose: int, address: tuple[Any, ...]) -> int:
        raise NotImplementedError

    def before_request(self, ip: str, local_ip: bytes, port: int, local_port: int) -> int:
        self.requests += 1
        if self.requests > 1:
            self.abort = 9
        return int(self.requests > 1)

    def write(self, data: bytes) -> int:
        taken = data[: self._limit - len(self.body)]
        self.body += taken
        self.bytes_read += len(taken)
        if len(taken) < len(data):
            self.abort = ABORT_TOO_BIG
            return 0
        return len(data)

    def header(self, line: bytes) -> int:
        self.bytes_read += len(line)
        self._header_bytes += len(line)
        text = line.rstrip(b"\r\n")
        is_new = self.is_complete and not self.body and text.lower().startswith(b"http/")
        if self._header_bytes > 64 * 1024:
            self.abort = ABORT_HEADERS
        elif self.is_complete and not is_new:
            return len(line)
        elif not text:
            self._end()
        else:
            if is_new:
                self._lines = []
                self.is_complete = False
            if len(self._lines) > 200:
                self.abort = ABORT_HEADERS
            else:
                self._lines.append(text)
        return 0 if self.abort else len(line)

    def _end(self) -> None:
        self.is_complete = True
        length = re.match(rb"[0-9]{0,18}", self._field(b"content-length") or b"")
        if self.status >= 300:
            self._limit = min(self._limit, 64 * 1024)
        elif self.status >= 200:
            kind = self._field(b"content-type") or self._types[0]
            if self._check_type and not kind.startswith(self._types):
                self.abort = ABORT_TYPE
            elif self._check_length and length and int(length[0] or b"0") > self._limit:
                self.abort = ABORT_TOO_BIG
