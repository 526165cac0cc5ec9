from typing import final

from typing_extensions import Buffer

@final
class NearTable:
    def __new__(cls, buffer: Buffer, key: bytes, bits: int) -> NearTable: ...
    def near(self, host: bytes, simhash: int, page_id: int) -> int: ...
