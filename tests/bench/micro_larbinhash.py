"""larbin's hash codes: kernel beside the reference.

Workloads: codes of 1,000 link entries with URLs of 50 bytes; page code of 7.6 kB and of 1 MiB;
100,000 test-and-sets on a table of 64 million bits, beside a plain set of ints.

Command: python -m tests.bench.micro_larbinhash
"""

from __future__ import annotations

import random

from larbinpy._native import larbinhash as native
from tests.bench.measure import compare
from tests.reference import larbinhash as plain
from tests.reference.linkbuffers import Link

WORDS = b"<p>The quick brown fox jumps over the lazy dog, 1234567890 times.</p>\n"


def add_to_set(seen: set[int], codes: memoryview) -> bytes:
    """What a user would write without the kernel."""
    answers = bytearray(len(codes))
    for i, code in enumerate(codes):
        if code not in seen:
            seen.add(code)
            answers[i] = 1
    return bytes(answers)


def main() -> None:
    """Print all comparisons."""
    links = b"".join(
        Link(b"http://www.example.org/dir%04d/page%06d.html?x=1" % (i % 90, i), 0, 0, 0, 80, 7, 15)
        .pack()
        for i in range(1000)
    )  # fmt: skip
    compare(
        "url_codes, 1,000 links",
        {"kernel": lambda: native.url_codes(links), "reference": lambda: plain.url_codes(links)},
        items=1000,
    )
    for size in (7_600, 1 << 20):
        page = (WORDS * (size // len(WORDS) + 1))[:size]
        compare(
            f"page_code, {size:,} bytes",
            {"kernel": lambda p=page: native.page_code(p),  # type: ignore[misc]
             "reference": lambda p=page: plain.page_code(p)},  # type: ignore[misc]
            items=1,
        )  # fmt: skip
    rng = random.Random(1)
    count = 100_000
    codes = b"".join(rng.randrange(64_000_000).to_bytes(4, "little") for _ in range(count))
    table, reference, plain_set = native.BitTable(), plain.BitTable(), set[int]()
    compare(
        "test-and-set, 100,000 codes, 64 million bits",
        {
            "kernel": lambda: table.add_many(codes),
            "reference": lambda: reference.add_many(codes),
            "plain set": lambda: add_to_set(plain_set, memoryview(codes).cast("I")),
        },
        items=count,
    )


if __name__ == "__main__":
    main()
