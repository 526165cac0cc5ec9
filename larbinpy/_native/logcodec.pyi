SCAN_END: int
SCAN_SEALED: int
SCAN_SHORT: int
SCAN_LENGTH: int
SCAN_TYPE: int
SCAN_CRC: int
SCAN_LSN: int

class ScanResult:
    @property
    def stop(self) -> int: ...
    @property
    def reason(self) -> int: ...
    @property
    def first_lsn(self) -> int: ...
    @property
    def next_lsn(self) -> int: ...
    @property
    def types(self) -> bytes: ...
    @property
    def offsets(self) -> bytes: ...
    def __len__(self) -> int: ...

class Codec:
    def __init__(self, uuid: bytes, segment: int) -> None: ...
    @property
    def records(self) -> int: ...
    @property
    def chain(self) -> int: ...
    def encode_links(self, groups: bytes, mask: bytes, first_lsn: int) -> tuple[bytes, bytes]: ...
    def encode(self, kind: int, payload: bytes, lsn: int) -> bytes: ...
    def scan(
        self, data: bytes | bytearray | memoryview, start: int, next_lsn: int
    ) -> ScanResult: ...
    def resync(self, data: bytes | bytearray | memoryview, start: int, next_lsn: int) -> int: ...
    def record(
        self, data: bytes | bytearray | memoryview, offset: int
    ) -> tuple[int, int, bytes]: ...
    def decode_urls(
        self, data: bytes | bytearray | memoryview, offsets: bytes
    ) -> list[
        tuple[
            int,
            int,
            bytes,
            bytes,
            bytes,
            bytes,
            int,
            bool,
            int,
            int,
            int,
            int,
            int,
            int,
            int,
            float,
            float,
        ]
    ]: ...
    def read_urls(
        self, fd: int, offsets: bytes
    ) -> list[
        tuple[
            int,
            int,
            bytes,
            bytes,
            bytes,
            bytes,
            int,
            bool,
            int,
            int,
            int,
            int,
            int,
            int,
            int,
            float,
            float,
        ]
    ]: ...

def positions(offsets: bytes, base: int) -> bytes: ...
def window(
    data: bytes | bytearray | memoryview, base: int, places: memoryview, start: int
) -> bytes: ...
