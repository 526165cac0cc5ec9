from collections.abc import Callable
from typing import Any, Self, final

ABORT_TOO_BIG: int
ABORT_TYPE: int
ABORT_HEADERS: int
ABORT_ADDRESS: int
ABORT_DESCRIPTORS: int
ABORT_SOCKET: int
ABORT_REPEATED: int

@final
class Transfer:
    status: int
    abort: int
    is_complete: bool
    has_location: bool
    has_cookies: bool
    is_chunked: bool
    sent_ns: int
    first_ns: int
    last_ns: int
    def __new__(cls, opened: Callable[[int], None], types: tuple[bytes, ...]) -> Self: ...
    def reset(
        self, ip: bytes, port: int, limit: int, check_type: bool, check_length: bool
    ) -> None: ...
    @property
    def headers(self) -> bytes: ...
    @property
    def body(self) -> bytes: ...
    @property
    def is_ambiguous(self) -> bool: ...
    @property
    def bytes_read(self) -> int: ...
    def open_socket(self, purpose: int, address: tuple[int, int, int, tuple[Any, ...]]) -> int: ...
    def before_request(self, ip: str, local_ip: str, port: int, local_port: int) -> int: ...
    def write(self, data: bytes) -> int: ...
    def header(self, line: bytes) -> int: ...
