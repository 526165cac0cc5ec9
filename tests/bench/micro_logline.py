"""Lines of ``crawl.log``: the kernel beside the specification in Python.

Workload: a batch of 16 pages as those of the synthetic web, all different.

Command: python -m tests.bench.micro_logline
"""

from __future__ import annotations

from larbinpy._native.logline import LineMaker
from larbinpy.records import Outcome, ParsedPage, Reading
from tests.bench.measure import compare
from tests.records import page
from tests.reference import logline as reference

PAGES = 16


def _reading(number: int) -> Reading:
    url = b"http://h%d.web.test:8000/page/%d.html" % (number % 7, number)
    got = page(url, via=b"http://h1.web.test:8000/", start_us=1_700_000_000_000_000 + number)
    return Reading(got, ParsedPage(1, 1, Outcome.SUCCESS, digest=b"x" * 16), b"text/html")


def main() -> None:
    """Print a table."""
    readings = [_reading(number) for number in range(PAGES)]
    maker = LineMaker()
    compare(
        f"{PAGES} lines of {len(maker.lines(readings)) // PAGES} bytes",
        {
            "kernel": lambda: maker.lines(readings),
            "specification": lambda: [reference.line(one, "xxh3-128") for one in readings],
        },
        items=PAGES,
    )


if __name__ == "__main__":
    main()
