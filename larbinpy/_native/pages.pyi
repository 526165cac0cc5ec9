from dataclasses import dataclass
from typing import final

from larbinpy._native.linkfilter import LinkBatch
from larbinpy.codes import Directive, Filtered, Outcome

@final
@dataclass
class Page:
    id: int
    epoch: int
    attempt: int
    kind: int
    outcome: int
    flags: int
    status: int
    depth: int
    left: int
    level: int
    hops: int
    score: float
    relevance: float
    start_us: int
    duration_us: int
    ip: bytes
    url: bytes
    via: bytes
    tag: bytes
    reason: bytes
    headers: bytes
    body: bytes

@final
@dataclass
class ParsedPage:
    id: int
    epoch: int
    outcome: Outcome
    status: int = ...
    body_bytes: int = ...
    links: int = ...
    duplicates: int = ...
    digest: bytes = ...
    filtered: dict[int, int] = ...
    near: int = ...
    simhash: int = ...
    directives: Directive = ...
    canonical: bytes = ...

@final
@dataclass
class Reading:
    page: Page
    parsed: ParsedPage
    mime: bytes = ...
    body: bytes = ...
    links: LinkBatch | None = ...
    via: bytes = ...
    @property
    def is_good(self) -> bool: ...
    def take(self, batch: LinkBatch, dropped: int = 0) -> None: ...
    def refuse(self, count: int, reason: Filtered) -> None: ...

def decode_pages(payload: bytes, count: int) -> list[Page]: ...
def encode_parsed(page: ParsedPage) -> bytes: ...
