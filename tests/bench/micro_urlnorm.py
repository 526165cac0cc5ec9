"""Resolve the links of one page: the kernel beside its reference and what a user would pick.

Workload: 30 links of 40 to 60 bytes as pages have them (absolute on the own and on other hosts,
root-relative, relative with dots, with queries and fragments), resolved against one base.
Six pairs A B A B; the figure is the median of the ratios.

    python -m tests.bench.micro_urlnorm
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import ada_url
from w3lib.url import canonicalize_url

from larbinpy import url
from larbinpy._native import urlnorm
from tests.reference import urlnorm as reference
from tests.reference.linkbuffers import FOUND_HEAD

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS = 6
BASE = b"https://www.example.org/articles/2024/page-17.html?from=index"
KINDS = [
    b"https://www.example.org/articles/2024/page-%d.html",
    b"https://cdn-%d.example.net/assets/images/header-logo.png",
    b"http://forum.example.com:8080/threads/topic-%d?page=2&s=new",
    b"/articles/archive/2023/december/index-%d.html",
    b"/search/results?q=web+crawler&lang=en&page=%d",
    b"/community/tags/item-%d/latest/#comments",
    b"the-long-title-of-an-article-page-%d.html",
    b"../2023/the-title-of-another-page-%d.html#section-2",
    b"images/gallery/summer/thumbnails/photo_%d.jpg",
    b"?from=page-%d&utm_source=newsletter&utm_medium=mail",
]
LINKS = [kind % i for i in range(3) for kind in KINDS]
ITEMS = b"".join(FOUND_HEAD.pack(1, 1, 0, 0, len(link)) + link for link in LINKS)
TEXTS = [link.decode() for link in LINKS]


def kernel() -> None:
    KERNEL_BASE.resolve(ITEMS)


def kernel_larbin() -> None:
    LARBIN_BASE.resolve(ITEMS)


def kernel_with_base() -> None:
    urlnorm.Base(BASE).resolve(ITEMS)


def python_path() -> None:
    url.resolve(KERNEL_BASE, ITEMS)


def plain_reference() -> None:
    REFERENCE_BASE.resolve(ITEMS)


def ada() -> None:
    for text in TEXTS:
        ada_url.join_url(BASE_TEXT, text)


def urllib_join() -> None:
    for text in TEXTS:
        urljoin(BASE_TEXT, text)


def w3lib_canonicalize() -> None:
    for text in TEXTS:
        canonicalize_url(urljoin(BASE_TEXT, text))


KERNEL_BASE = urlnorm.Base(BASE)
LARBIN_BASE = urlnorm.LarbinBase(b"http" + BASE.removeprefix(b"https"))
REFERENCE_BASE = reference.Base(BASE)
BASE_TEXT = BASE.decode()


def page_us(run: Callable[[], None], rounds: int) -> float:
    """Microseconds of one page."""
    start = time.perf_counter()
    for _ in range(rounds):
        run()
    return (time.perf_counter() - start) / rounds * 1e6


def compare(other: Callable[[], None], rounds: int) -> None:
    pairs = [(page_us(kernel, 5000), page_us(other, rounds)) for _ in range(PAIRS)]
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{other.__name__:20} {theirs:9.2f} us   kernel {ours:6.2f} us   x{ratio:.1f}")


def main() -> None:
    print(f"{len(LINKS)} links, {sum(map(len, LINKS)) / len(LINKS):.0f} bytes each")
    for other, rounds in [
        (kernel_larbin, 5000),
        (kernel_with_base, 5000),
        (python_path, 5000),
        (plain_reference, 10),
        (ada, 500),
        (urllib_join, 200),
        (w3lib_canonicalize, 100),
    ]:
        compare(other, rounds)


if __name__ == "__main__":
    main()
