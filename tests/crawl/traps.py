"""Crawl the traps of the synthetic web: after how many pages is each left, and what do others lose?

Every crawl has two honest sites beside the traps, larger than what is taken of any trap; their
pages are counted against what the model of the web expects. All traps have to end by default, also
where depth is no limit and queries are followed; and each key those that it is made for.

Command: python -m tests.crawl.traps [--pages N] [NAME...], NAME one of the crawls
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from larbinpy._native.webserver import TRAPS
from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.integration.crawl import crawl_of

ENDLESS: Final = 10_000
"""A depth that nothing honest has."""
CONNECTIONS: Final = 20
"""Few, so that few pages are on their way when a budget is used up."""
ON_THEIR_WAY: Final = 2 * CONNECTIONS + 100
ONE_HOST: Final = tuple(kind for kind in TRAPS if kind != "subdomains")
NOBODY_LOOKS: Final = {"nearDuplicates": '"no"'}
"""Quoted, for a flag of ``crawl_of`` is left out."""


@dataclass(frozen=True, slots=True)
class Case:
    """Keys, and the traps that they end."""

    name: str
    kinds: tuple[str, ...]
    keys: dict[str, str] = field(default_factory=dict)
    depth: int = ENDLESS
    cgi: bool = True

    @property
    def scope(self) -> Scope:
        """What the honest sites have to give."""
        return Scope(depth_in_site=self.depth, cgi=self.cgi)


CASES: Final = (
    Case("default", TRAPS, depth=5, cgi=False),
    Case("deep", TRAPS),
    Case("nearDuplicates leave", ONE_HOST, {"nearDuplicates": "leave"}),
    Case(
        "nearDuplicates log, sameContent 100",
        ONE_HOST,
        {"nearDuplicates": "log", "sameContent": "100"},
    ),
    Case(
        "pagesPerPath 300", ("sid-query", "path", "search"), {**NOBODY_LOOKS, "pagesPerPath": "300"}
    ),
    Case("dropSessionIds", ("sid-query", "path"), {**NOBODY_LOOKS, "dropSessionIds": ""}),
    Case("hostsPerDomain 100", ("path", "subdomains"), {**NOBODY_LOOKS, "hostsPerDomain": "100"}),
    Case(
        "nearDuplicates leave, hostsPerDomain 100",
        TRAPS,
        {"nearDuplicates": "leave", "hostsPerDomain": "100"},
    ),
)


@dataclass(slots=True)
class Found:
    """What came of a crawl."""

    pages: dict[str, int]
    """Kind of trap -> pages that were asked for."""
    honest: int
    """Pages that the honest sites have."""
    lost: int
    """Of these, pages that were not asked for."""
    code: int
    errors: str


def run(case: Case, directory: Path, *, pages: int, timeout_s: float = 1200.0) -> Found:
    """Crawl honest sites of so many pages, and the traps of a case."""
    # Chains and large pages are cut in one piece from 64 KiB of words: they are near-duplicates.
    spec = WebSpec(hosts=2, pages=pages, roots=2, chain=0, large=0.0, traps=1)
    with WebProcess(spec, directory / "web") as web:
        traps = {trap.host: trap for trap in web.web.traps() if trap.kind in case.kinds}
        seeds = directory / "seeds"
        seeds.write_bytes(b"\n".join([*web.seeds, *(trap.url for trap in traps.values())]) + b"\n")
        keys = {**case.keys, "seedFile": f'"{seeds}"', "pagesConnexions": str(CONNECTIONS)}
        crawl = crawl_of(web, directory, case.scope, **keys)
        ended = crawl.run(timeout_s=timeout_s)
        requests = [request for request in web.requests() if not request.is_robots]
        want = expected(web.spec, case.scope).requests
        names = [web.web.host(host).name for host in range(spec.hosts)]
    counts = Counter(traps[request.host].kind for request in requests if request.host in traps)
    got = {
        b"http://%b:%d%b" % (names[request.host], web.port, request.path)
        for request in requests
        if 0 <= request.host < spec.hosts
    }
    return Found(dict(counts), len(want), len(want - got), ended.code, ended.stderr)


def main() -> int:
    """Print a row for each crawl; returns 1 when an honest page was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000, help="of each honest site")
    parser.add_argument("names", nargs="*", help=", ".join(case.name for case in CASES))
    given = parser.parse_args()
    heads = ["crawl", *TRAPS, "honest pages", "lost"]
    sys.stdout.write(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n")
    lost = 0
    for case in CASES:
        if given.names and case.name not in given.names:
            continue
        with tempfile.TemporaryDirectory() as name:
            found = run(case, Path(name), pages=given.pages)
        cells = [f"{found.pages[kind]:,}" if kind in found.pages else "-" for kind in TRAPS]
        row = [case.name, *cells, f"{found.honest:,}", str(found.lost)]
        sys.stdout.write(f"| {' | '.join(row)} |\n")
        sys.stdout.flush()
        lost += found.lost + found.code
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
