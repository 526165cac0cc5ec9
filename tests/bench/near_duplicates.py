"""Recall and precision of near-duplicates by simhash, on real pages whose words are changed.

A site is a folder of HTML pages, by default those of Debian packages with documentation. Of each
page copies are made in which 0, 2, 10 and 50 % of the words are exchanged for other words of the
site; every copy has other attributes in its tags, so that none has the same bytes.
Recall: the share of copies that are near to their page. Precision: of all pairs that are near
(page and copy, page and other page of its site), the share that has 90 % of its words in common.

Command: python -m tests.bench.near_duplicates [--seed N] [FOLDER...]
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from larbinpy._native.simhash import simhash
from tests.reference.simhash import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS = [
    Path("/usr/share/doc") / name
    for name in (
        "python3.11/html/library", "python3.11/html/c-api", "nodejs/api", "valgrind/html",
        "libxslt1-dev/html",
    )
]  # fmt: skip
SHARES = (0.0, 0.02, 0.1, 0.5)
DISTANCES = (3, 6, 8, 10)
MOST_PAGES = 150
SMALLEST = 1500
"""Bytes; smaller pages are redirections and frames."""
SAME = 0.9
"""Share of words that near-duplicates have in common."""
MARKUP = re.compile(rb"(<script.*?</script>|<style.*?</style>|<!--.*?-->|<[^>]*>)", re.S | re.I)
WORD = re.compile(rb"[A-Za-z0-9\x80-\xff]+")


def pages_of(folder: Path) -> list[bytes]:
    """The pages of a site that have a simhash."""
    files = (path for path in sorted(folder.rglob("*.html")) if path.stat().st_size >= SMALLEST)
    pages = [path.read_bytes() for path in files]
    return [page for page in pages if simhash(page)][:MOST_PAGES]


def changed(page: bytes, share: float, words: list[bytes], rng: random.Random) -> bytes:
    """A copy with a share of its words exchanged, and with other attributes."""

    def exchange(match: re.Match[bytes]) -> bytes:
        return rng.choice(words) if rng.random() < share else match[0]

    parts = MARKUP.split(page)
    parts[::2] = [WORD.sub(exchange, text) for text in parts[::2]]
    parts[1::2] = [tag.replace(b">", b" data-x=%d>" % rng.randrange(1000), 1) if tag[1:2].isalpha()
                   else tag for tag in parts[1::2]]  # fmt: skip
    return b"".join(parts)


def are_same(one: bytes, other: bytes) -> bool:
    """Whether two pages have most words in common, in whatever order."""
    counts = Counter(words_of(one)), Counter(words_of(other))
    common = (counts[0] & counts[1]).total()
    return common >= SAME * max(counts[0].total(), counts[1].total())


class Site:
    """The distances of all pairs of a site."""

    def __init__(self, pages: list[bytes], rng: random.Random) -> None:
        words = WORD.findall(b" ".join(b"".join(MARKUP.split(page)[::2]) for page in pages))
        self.pages = pages
        self._hashes = [simhash(page) for page in pages]
        self._copies = {
            share: [changed(page, share, words, rng) for page in pages] for share in SHARES
        }
        self.copies = {
            share: [self._distance(at, simhash(copy)) for at, copy in enumerate(copies)]
            for share, copies in self._copies.items()
        }

    def _distance(self, at: int, other: int) -> int:
        return (self._hashes[at] ^ other).bit_count()

    def recall(self, share: float, distance: int) -> float:
        """Of the copies with this share of words changed."""
        return sum(one <= distance for one in self.copies[share]) / len(self.pages)

    def near(self, distance: int) -> Iterator[bool]:
        """Of each pair that is near, whether its pages are the same."""
        for share, copies in self._copies.items():
            for page, copy, one in zip(self.pages, copies, self.copies[share], strict=True):
                if one <= distance:
                    yield are_same(page, copy)
        for one, other in combinations(range(len(self.pages)), 2):
            if self._distance(one, self._hashes[other]) <= distance:
                yield are_same(self.pages[one], self.pages[other])


def main() -> None:
    """Print a row for each site and distance, as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="*", type=Path, default=FOLDERS)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    heads = ["site", "pages", "bits", *(f"recall {share:.0%}" for share in SHARES), "precision"]
    print(f"seed {given.seed}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for folder in given.folders:
        pages = pages_of(folder) if folder.is_dir() else []
        if not pages:
            print(f"| {folder}: no pages |")
            continue
        site = Site(pages, rng)
        for distance in DISTANCES:
            recalls = [f"{site.recall(share, distance):.0%}" for share in SHARES]
            near = list(site.near(distance))
            precision = f"{sum(near)} of {len(near)}"
            name = str(folder).removeprefix("/usr/share/doc/")
            print(f"| {' | '.join([name, str(len(pages)), str(distance), *recalls, precision])} |")


if __name__ == "__main__":
    main()
