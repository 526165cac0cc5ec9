"""``seen.bits``: larbin's table of URLs seen, whole, with the place in the log that it belongs to.

The first 8,000,000 bytes are the raw table, so that a real larbin reads the file as its
``hashtable.bin``; what follows is a trailer: magic, version u16, reserved u16, crc32c u32 of the
table, crawl uuid, segment u64, crc32c u32 of the trailer before it; little endian.

``segment`` was the newest of the log when the table was taken: all URLs of the segments before it
are in the table, those of the segment itself may be.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy._native.crc32c import crc32c
from larbinpy.errors import StorageError
from larbinpy.wholefile import write_whole

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

NAME: Final = "seen.bits"
LARBIN_NAME: Final = "larbin.bits"
"""The table of the larbin whose crawl is continued; it never changes."""
MAGIC: Final = b"\x8aLBBT\r\n\x1a"
VERSION: Final = 1

_TRAILER: Final = Struct("<8sHHI16sQ")
_CRC: Final = Struct("<I")


class BitsFile:
    """The saved table of one shard; it is replaced as a whole, in a helper thread.

    Process/thread: one process; not for several threads.
    """

    __slots__ = ("_job", "_next_segment", "_pool", "_uuid", "path", "segment")

    def __init__(self, directory: Path, uuid: bytes, *, name: str = NAME) -> None:
        self.path = directory / name
        self.segment = 0
        """Of the saved table; 0 = there is none."""
        self._uuid = uuid
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="seen-bits")
        self._job: Future[None] | None = None
        self._next_segment = 0

    @property
    def is_busy(self) -> bool:
        """Whether a table is being saved."""
        return self._job is not None

    def load(self) -> bytes:
        """The saved table; empty when there is none or it is damaged.

        Raises:
            StorageError: the file is there but cannot be read.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}") from error
        raw, tail = data[: -_TRAILER.size - _CRC.size], data[-_TRAILER.size - _CRC.size :]
        if len(tail) < _TRAILER.size + _CRC.size:
            return b""
        magic, version, _, crc, uuid, segment = _TRAILER.unpack_from(tail)
        if _CRC.unpack_from(tail, _TRAILER.size)[0] != crc32c(tail[: _TRAILER.size]):
            return b""
        if (magic, version, uuid, crc) != (MAGIC, VERSION, self._uuid, crc32c(raw)):
            return b""
        self.segment = segment
        return raw

    def save(self, raw: bytes, segment: int) -> None:
        """Begin to replace the file; ``settle`` tells when it is done."""
        self._next_segment = segment
        self._job = self._pool.submit(self._write, raw, segment)

    def settle(self, *, wait: bool = False) -> None:
        """See whether the table has been saved.

        Args:
            wait: until it has.

        Raises:
            StorageError: it could not be; the file is as it was before.
        """
        job = self._job
        if job is None or not (wait or job.done()):
            return
        self._job = None
        job.result()
        self.segment = self._next_segment

    def _write(self, raw: bytes, segment: int) -> None:
        trailer = _TRAILER.pack(MAGIC, VERSION, 0, crc32c(raw), self._uuid, segment)
        write_whole(self.path, raw + trailer + _CRC.pack(crc32c(trailer)))
