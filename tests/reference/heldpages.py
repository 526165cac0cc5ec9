"""What is sent of a page and what its answer becomes, field by field."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from larbinpy.records import PAGE_BODY_IN_FILE, PAGE_TRUNCATED

if TYPE_CHECKING:
    from larbinpy.records import FetchResult

_PAGE = struct.Struct("<QIBBBBHHHBBffQIB16sHHHHII")
_PARSED = struct.Struct("<QIBBHIII16sQ")
_DONE = struct.Struct("<QBBHIII16s")
_FAMILIES = {0: 0, 4: 4, 16: 6}
LSN = (1 << 56) - 1


def encode(result: FetchResult, epoch: int, attempt: int, *, is_body_in_file: bool) -> bytes:
    """A PAGE entry; docs/protocol.md, 4.1."""
    job = result.job
    reason = result.reason.encode("utf-8", "replace")[:500]
    body = b"" if is_body_in_file else result.body
    texts = b"".join((job.url, job.via, job.tag, reason, result.headers, body))
    flags = (PAGE_TRUNCATED if result.is_truncated else 0) | (
        PAGE_BODY_IN_FILE if is_body_in_file else 0
    )
    flags |= (job.watch & 3) << 2
    fixed = _PAGE.pack(
        job.id, epoch, attempt, job.kind, result.outcome, flags, result.status, job.depth,
        job.left, job.level, job.hops, job.score, job.relevance, result.start_us,
        min(result.duration_us, (1 << 32) - 1), _FAMILIES[len(job.ip)], job.ip, len(job.url),
        len(job.via), len(job.tag), len(reason), len(result.headers), len(result.body),
    )  # fmt: skip
    return struct.pack("<I", len(fixed) + len(texts)) + fixed + texts


def done_of(parsed: bytes) -> bytes:
    """The DONE entry of one PARSED entry: docs/format-queue.md of docs/protocol.md, 4.3."""
    number, _epoch, *rest, _near = _PARSED.unpack_from(parsed)
    return _DONE.pack(number & LSN, *rest) + parsed[_PARSED.size :]
