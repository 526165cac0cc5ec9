"""What a page costs a parser process, frames from and to its shard included.

Workload: pages of the synthetic web of ``larbinpy bench web A`` (7.6 kB, 30 links, 1,000 hosts,
robots.txt allowed), in PAGE frames as a shard makes them, 16 pages at a time, no output. Most links
of a page were written before, as in the middle of a crawl; one is new. The shard lives in the same
process and its time is not counted: only turns of the parser's loop are, by the CPU time of this
thread, system calls included.

Each round is 2,000 pages, and the quickest and the median round are printed. To compare two
versions, run this in turns from both checkouts: the speed of a machine drifts.

Command: python -m tests.bench.micro_parser
"""

from __future__ import annotations

import gc
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from larbinpy._native.heldpages import encode
from larbinpy.child import GC_THRESHOLD
from larbinpy.frames import FrameType
from larbinpy.parser.loop import Parser
from larbinpy.records import FetchJob, FetchResult, Outcome
from larbinpy.shared import NEAR_BYTES, CrawlMemory
from larbinpy.testing.web import SyntheticWeb, WebSpec
from tests.starts import control, start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.frames import Channel

ROUNDS: Final = 12
PAGES: Final = 2000
FRAME_PAGES: Final = 8
"""As many as make a frame of 64 KiB."""
TURN_PAGES: Final = 2 * FRAME_PAGES
HEADERS: Final = (
    b"HTTP/1.1 200 OK\r\nServer: web.test\r\nContent-Type: text/html; charset=utf-8\r\n"
    b"Content-Length:      %d\r\n\r\n"
)


def results() -> list[FetchResult]:
    """What a shard has fetched, in an order that a crawl could have."""
    web = SyntheticWeb(WebSpec.plain(hosts=1000, roots=1000, pages=100, port=8000))
    places = random.Random(1).sample([(h, p) for h in range(1000) for p in range(100)], PAGES)
    return [_result(web, number, *place) for number, place in enumerate(places, 1)]


def _result(web: SyntheticWeb, number: int, host: int, index: int) -> FetchResult:
    page = web.page(host, index)
    via = web.page(host, index // 3).url
    job = FetchJob(
        number, page.url, web.host(host).name, 8000, https=False, ip=b"\x7f\0\0\1", depth=3, left=5,
        via=via,
    )  # fmt: skip
    return FetchResult(
        job, Outcome.SUCCESS, 200, HEADERS % len(page.body), page.body,
        start_us=1_700_000_000_000_000 + number * 90, duration_us=700,
    )  # fmt: skip


def frames_of(pages: list[FetchResult], label: bytes) -> Iterator[bytes]:
    """Payloads of PAGE frames; each page has a link that no other round has."""
    for at in range(0, len(pages), FRAME_PAGES):
        entries = []
        for page in pages[at : at + FRAME_PAGES]:
            page.body += b'<a href="/new/%b">new</a>' % label
            entries.append(encode(page, 1))
            page.body = page.body[: page.body.rindex(b"<a")]
        yield b"".join(entries)


class Bench:
    """A parser, its shard, and the time that the parser took."""

    def __init__(self, parser: Parser, shard: Channel) -> None:
        self._parser = parser
        self._shard = shard
        self.seconds = 0.0

    def turn(self) -> None:
        """Let the parser work."""
        began = time.thread_time()
        self._parser.turn()
        self.seconds += time.thread_time() - began

    def give(self, payloads: list[bytes]) -> None:
        """Hand over some frames, and answer until their pages are done."""
        for payload in payloads:
            self._shard.send(FrameType.PAGE, payload, count=FRAME_PAGES)
        self._shard.flush()
        missing = FRAME_PAGES * len(payloads)
        while missing:
            self._shard.flush()
            self.turn()
            for frame in self._shard.receive():
                if frame.type == FrameType.PARSED:
                    missing -= frame.count
                else:
                    self._shard.send(FrameType.WRITTEN, seq=frame.seq)


def measure(bench: Bench, pages: list[FetchResult], label: bytes) -> float:
    """Microseconds of CPU for each page of one round."""
    payloads = list(frames_of(pages, label))
    bench.seconds = 0.0
    for at in range(0, len(payloads), TURN_PAGES // FRAME_PAGES):
        bench.give(payloads[at : at + TURN_PAGES // FRAME_PAGES])
    return bench.seconds / len(pages) * 1e6


def main() -> None:
    """Print the figures."""
    pages = results()
    with tempfile.TemporaryDirectory() as name, control() as (child, boss):
        memory = CrawlMemory.create(1, 1, page_bytes=NEAR_BYTES)
        settings = start(Path(name), get_cgi=True, depth_in_site=1000)
        parser = Parser(child, settings, memory.fd)
        bench = Bench(parser, boss.join("shard", 0))
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD)
        parser.turn()
        measure(bench, pages, b"warm")
        times = [measure(bench, pages, b"%d" % number) for number in range(ROUNDS)]
    size = sum(len(page.body) for page in pages) / len(pages) / 1000
    print(
        f"{len(pages)} pages of {size:.1f} kB, {ROUNDS} rounds:"
        f" {min(times):.1f} us a page, median {statistics.median(times):.1f}"
    )


if __name__ == "__main__":
    main()
