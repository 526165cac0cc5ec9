from typing import Any, final

from larbinpy._native.jobs import FetchJob, FetchResult
from larbinpy._native.transfer import Transfer
from larbinpy.codes import Outcome

@final
class Slot:
    easy: Any
    transfer: Transfer
    job: FetchJob | None
    is_kept: bool
    is_verified: bool
    unverified: str
    headers: list[bytes] | None
    cookie: bytes
    received: int
    framing_bytes: int
    since_ns: int
    start_ns: int
    start_us: int
    def __init__(self, easy: Any, transfer: Transfer) -> None: ...
    def keep(self, is_kept: bool) -> None: ...
    def aim(self, job: FetchJob) -> None: ...
    def result(
        self,
        job: FetchJob,
        outcome: Outcome,
        keeps_body: bool,
        is_truncated: bool,
        reason: str,
        end_ns: int,
    ) -> FetchResult: ...

@final
class Running:
    def __len__(self) -> int: ...
    def begin(self, slot: Slot, job: FetchJob, since_ns: int) -> None: ...
    def end(self, slot: Slot) -> FetchJob: ...
    @property
    def unasked_ns(self) -> int: ...
    def late(self, before_ns: int) -> list[Slot]: ...
    def chunked(self, before_ns: int) -> list[Slot]: ...
