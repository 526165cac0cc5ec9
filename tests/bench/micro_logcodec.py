"""Codec and log: encode, check, decode, put, get, recover.

Run: python -m tests.bench.micro_logcodec [URLS]

Workloads: batches of 1,000 links of about 60 bytes, 30 to a page with its via;
encode (LINKS to records), scan (crc and lsn), decode (records to tuples), page digests
out of DONE records, each against tests/reference; crc32c at 16 B to 1 MiB with and without
SSE4.2; put and get of PersistentFifo in batches of 1,000 with write(), durability process; opening
a log of N URLs (argument, default 1,000,000), half of them done, and handing out what waits.
Kernel and reference alternate six times; the median ratio is printed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from larbinpy._native import logcodec, logdone
from larbinpy._native.crc32c import crc32c
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.settings import Settings
from tests.reference import logcodec as reference
from tests.reference import logdone as slowdone

if TYPE_CHECKING:
    from collections.abc import Callable

UUID = bytes(range(16))
SETTINGS = Settings(64 << 20)
BATCH = 1000
PAGE = 30
PAIRS = 6


def links(start: int, count: int) -> bytes:
    """A LINKS payload of ``count`` links from pages of ``PAGE``."""
    payload = []
    for page in range(start, start + count, PAGE):
        numbers = range(page, min(page + PAGE, start + count))
        via = b"http://www.host%d.example/section/page%d.html" % (page % 997, page)
        urls = [b"http://www.host%d.example/section/page%d.html" % (n % 997, n) for n in numbers]
        bare = b"".join(
            reference.LINK.pack(
                (start + i + 1) * 0x9E3779B97F4A7C15 % 2**64,
                len(url), 2, 3, 80, 7, url.index(b"/", 7) - 7, 0, 0, 0, 0, 0, 0.5, 0.5,
            ) + url
            for i, url in enumerate(urls)
        )  # fmt: skip
        payload.append(reference.GROUP.pack(len(via), 0, len(urls), len(bare)) + via + bare)
    return b"".join(payload)


def seconds(work: Callable[[], object], least_s: float = 0.05) -> float:
    """Seconds of one call, by repeating it for a while."""
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < least_s:
        work()
        count += 1
    return (time.perf_counter() - start) / count


def compare(name: str, kernel: Callable[[], object], oracle: Callable[[], object], n: int) -> None:
    """Print rate and ratio of a kernel over ``n`` records and the reference over a tenth."""
    pairs = [(seconds(kernel) / n, seconds(oracle, 0.01) / (n // 10)) for _ in range(PAIRS)]
    best = min(fast for fast, _ in pairs)
    ratio = statistics.median(slow / fast for fast, slow in pairs)
    print(f"{name:28}{1 / best / 1e6:8.2f} M records/s {ratio:8.0f} x the reference")


def codec_rates() -> None:
    """Encode, scan, decode."""
    payload, tenth = links(0, BATCH), links(0, BATCH // 10)
    codec, oracle = logcodec.Codec(UUID, 1), reference.Codec(UUID, 1)
    mask = b"\1" * BATCH
    data, offsets = codec.encode_links(payload, mask, 1)
    few, few_offsets = codec.encode_links(tenth, mask[: BATCH // 10], 1)
    compare(
        "encode_links",
        lambda: codec.encode_links(payload, mask, 1),
        lambda: reference.Codec(UUID, 1).encode_links(tenth, mask[: BATCH // 10], 1),
        BATCH,
    )
    compare("scan", lambda: codec.scan(data, 0, 1), lambda: oracle.scan(few, 0, 1), BATCH)
    compare(
        "decode_urls",
        lambda: codec.decode_urls(data, offsets),
        lambda: oracle.decode_urls(few, few_offsets),
        BATCH,
    )
    print(f"bytes a record: {len(data) / BATCH:.0f}")


def digest_rates() -> None:
    """Digests of pages out of DONE records of 100 entries."""
    entry = reference.DONE.pack(1, 0, 0, 200, 7600, 30, 20, b"d" * 16)
    record = logcodec.Codec(UUID, 1).encode(reference.DONE_TYPE, entry * 100, 1)
    records = BATCH // 100
    offsets = array("I", range(0, records * len(record), len(record))).tobytes()
    compare(
        "digests (entries)",
        lambda: logdone.digests(record * records, b"\2" * records, offsets, 1 << 32),
        lambda: slowdone.digests(record, b"\2", offsets[:4], 1 << 32),
        BATCH,
    )


def crc_rates() -> None:
    """crc32c at several sizes."""
    for size in (16, 128, 1024, 1 << 20):
        data = bytes(size)
        fast = seconds(lambda data=data: crc32c(data))  # type: ignore[misc]
        slow = seconds(lambda data=data: crc32c(data, portable=True))  # type: ignore[misc]
        print(f"crc32c {size:8} B {size / fast / 1e9:8.2f} GB/s, portable {size / slow / 1e9:.2f}")


def fifo_rates(directory: Path, count: int) -> None:
    """put, get, done, open."""
    fifo, found = PersistentFifo.open(directory, uuid=UUID, settings=SETTINGS)
    payloads = [links(start, BATCH) for start in range(0, min(count, 100 * BATCH), BATCH)]
    mask = b"\1" * BATCH
    spent = 0.0
    kept: list[int] = []
    for start in range(0, count, BATCH):
        payload = payloads[start // BATCH % len(payloads)]
        begun = time.perf_counter()
        put = fifo.put(payload, mask)
        fifo.flush()
        spent += time.perf_counter() - begun
        if start < count // 2:
            kept += memoryview(put.positions).cast("Q")
    print(f"{'put + write()':28}{count / spent / 1e6:8.2f} M URLs/s")
    reader = fifo.reader(found)
    begun, got = time.perf_counter(), 0
    while urls := reader.get(BATCH):
        got += len(urls)
    print(f"{'get (decoded)':28}{got / (time.perf_counter() - begun) / 1e6:8.2f} M URLs/s")
    finish(fifo, kept)
    fifo.close()
    begun = time.perf_counter()
    fifo, found = PersistentFifo.open(directory, uuid=UUID, settings=SETTINGS)
    opened = time.perf_counter()
    handed = sum(len(batch.offsets) // 4 for batch in found.batches())
    prints = sum(len(part) // 8 for part in found.fingerprints())
    ended = time.perf_counter()
    size = sum(path.stat().st_size for path in directory.glob("*.seg")) / 1e9
    print(
        f"open: {count} URLs, {handed} wait, {size:.2f} GB: {opened - begun:.2f} s, then"
        f" {ended - opened:.2f} s to hand out {handed} records and {prints} fingerprints"
    )
    fifo.close()


def finish(fifo: PersistentFifo, places: list[int]) -> None:
    """Finish URLs, 1,000 to a record."""
    for start in range(0, len(places), BATCH):
        some = places[start : start + BATCH]
        entries = b"".join(
            reference.DONE.pack(url[0], 0, 0, 200, 7600, 30, 20, bytes(16))
            for url in fifo.read(some)
        )
        fifo.done(entries, some)


def main() -> None:
    """All workloads."""
    codec_rates()
    digest_rates()
    crc_rates()
    with tempfile.TemporaryDirectory() as directory:
        fifo_rates(Path(directory), int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)


if __name__ == "__main__":
    main()
