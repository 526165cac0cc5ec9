"""Honest sites that look like traps, each larger than what is taken of any: what do they lose?

Command: python -m tests.crawl.honest [--pages N] [SHAPE...]
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.integration.crawl import Crawl
from tests.politeness.hosts import Asked, Hosts, no_robots, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PAGES: Final = 5000
"""More than the 4,078 that were taken of a trap at most."""
TEMPLATE: Final = 400
"""Words that all pages of a site have in common."""
A_LIST: Final = 50
"""Pages that a list leads to."""
RELATED: Final = 5
ENDLESS: Final = 10_000
_LINK: Final = re.compile(r'href="(?://([^:/]+):PORT)?(/[^"]*)"')
_SYLLABLES: Final = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri")


def words(seed: str, count: int) -> str:
    """Made-up words, always the same for a seed."""
    draw = random.Random(seed)
    return " ".join("".join(draw.choices(_SYLLABLES, k=3)) for _ in range(count))


def links(urls: Iterable[str]) -> str:
    """Links without a text of their own."""
    return "".join(f'<a href="{url}">more</a>\n' for url in urls)


def item(text: str, found: Iterable[str]) -> str:
    """A page of a site whose pages have most of their text in common."""
    common = words("template", TEMPLATE)
    return f"<html><body><p>{common[: len(common) // 2]}<p>{text}{links(found)}<p>{common}</html>"


@dataclass(frozen=True, slots=True)
class Shape:
    """An honest site of ``size`` pages: the first, and what each host and path shows."""

    what: str
    host: str
    show: Callable[[str, str, int], str]
    depth: int = 5


def number_of(path: str) -> int:
    """The number in a path, 0 = none."""
    return int("".join(filter(str.isdigit, path)) or 0)


def _lists(size: int) -> Iterable[str]:
    return (f"/list{number}" for number in range(1, size // A_LIST + 1))


def _listed(path: str) -> Iterable[str]:
    first = (number_of(path) - 1) * A_LIST
    return (f"/p{first + number}" for number in range(1, A_LIST + 1))


def _related(path: str, size: int) -> list[str]:
    return [f"/p{n}" for n in random.Random(path).sample(range(1, size + 1), RELATED)]


def _shop(_host: str, path: str, size: int) -> str:
    if path == "/":
        return item("", _lists(size))
    if path.startswith("/list"):
        return item(words(path, 2 * A_LIST), _listed(path))
    return item(words(path, 40), _related(path, size))


def _parts(_host: str, path: str, size: int) -> str:
    if path.startswith("/p"):
        return item(f"Part {path} {words(path, 2)}", ["/"])
    return _shop("", path, size)


def _archive(_host: str, path: str, size: int) -> str:
    if path.startswith("/p"):
        return item(words(path, 200), ["/"])
    at = max(number_of(path), 1)
    further = [f"/list{at + 1}"] if at < size // A_LIST else []
    return item(words(path, 4 * A_LIST), [*_listed(f"/list{at}"), *further])


def _comic(_host: str, path: str, size: int) -> str:
    at = number_of(path) or 1
    return item(words(path, 2), [f"/p{at + 1}"] if at < size else [])


def _blogs(host: str, _path: str, size: int) -> str:
    draw = random.Random(host)
    return item(
        words(host, 40), (f"//b{draw.randint(1, size)}.blogs.localhost:PORT/" for _ in range(10))
    )


def _empty_blogs(host: str, _path: str, size: int) -> str:
    if host == "blogs.localhost":
        return item("", (f"//b{number}.blogs.localhost:PORT/" for number in range(1, size + 1)))
    return item(f"Welcome to {host}", ["//blogs.localhost:PORT/"])


SHAPES: Final = {
    "shop": Shape("products, a tenth of their words their own, and five links to others",
                  "shop.localhost", _shop),
    "parts": Shape("products on lists, of which only two words differ", "parts.localhost", _parts),
    "archive": Shape("articles behind a hundred pages of titles, each behind the one before",
                     "archive.localhost", _archive, ENDLESS),
    "blogs": Shape("a host for each blog, which lead to others; a tenth of their words their own",
                   "b1.blogs.localhost", _blogs, ENDLESS),
    "comic": Shape("pictures, each behind the one before, of whose pages two words differ",
                   "comic.localhost", _comic, ENDLESS),
    "empty blogs": Shape("a host for each blog, all of them empty", "blogs.localhost",
                         _empty_blogs),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of a crawl."""

    pages: int
    """That are there."""
    lost: int
    """Of these, pages that were not asked for."""
    code: int
    errors: str


def run(shape: Shape, directory: Path, *, pages: int, **more: str) -> Kept:
    """Crawl a site of so many pages, with more keys."""
    with Hosts(lambda asked: _answer(shape, asked, pages, hosts.port)) as hosts:
        keys = {
            "startUrl": hosts.url(shape.host), "stateDir": f'"{directory / "crawl"}"',
            "UserAgent": "larbin", "From": "me@a.test", "waitDuration": "0",
            "connectionsPerIp": "20", "pagesConnexions": "20", "depthInSite": str(shape.depth),
            "allowPrivateAddresses": "yes",
            **more,
        }  # fmt: skip
        ended = Crawl(directory, keys).run(timeout_s=1200)
        asked = {(one.host, one.path) for one in hosts.asked}
    want = _reachable(shape, pages)
    return Kept(len(want), len(want - asked), ended.code, ended.stderr)


def _answer(shape: Shape, asked: Asked, pages: int, port: int) -> bytes:
    if asked.path == "/robots.txt":
        return no_robots()
    return page(shape.show(asked.host, asked.path, pages).replace("PORT", str(port)))


def _reachable(shape: Shape, pages: int) -> set[tuple[str, str]]:
    """Hosts and paths that links lead to, within the depth."""
    found = {(shape.host, "/")}
    ends = found
    for _ in range(shape.depth):
        ends = {
            (of or host, path)
            for host, at in ends
            for of, path in _LINK.findall(shape.show(host, at, pages))
        } - found
        if not ends:
            break
        found |= ends
    return found


def main() -> int:
    """Print a row for each site; returns 1 when a page was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("shapes", nargs="*", help=", ".join(SHAPES))
    given = parser.parse_args()
    sys.stdout.write("| site | what it is | pages | lost |\n|---|---|---|---|\n")
    lost = 0
    for name, shape in SHAPES.items():
        if given.shapes and name not in given.shapes:
            continue
        with tempfile.TemporaryDirectory() as directory:
            kept = run(shape, Path(directory), pages=given.pages)
        sys.stdout.write(f"| {name} | {shape.what} | {kept.pages:,} | {kept.lost:,} |\n")
        sys.stdout.flush()
        sys.stderr.write(kept.errors)
        lost += kept.lost + kept.code
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
