"""Each trap is left, by the key that is made for it, and honest sites lose nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.crawl import honest
from tests.crawl.traps import CASES, ON_THEIR_WAY, ONE_HOST, Case, run

if TYPE_CHECKING:
    from pathlib import Path

PAGES: Final = 300
"""Of each honest site."""
LEFT: Final = 1005 + ON_THEIR_WAY
WATCHED: Final = 64 + 2 * 32 * 16 + LEFT
"""Where a page of sixteen is looked at first, and one of the first may be new."""
ALL_SESSIONS: Final = 300
"""Pages until each of the 32 pages that sessions show has been seen, drawn by chance."""
MOST: Final = {
    "default": {
        "calendar": 6, "sid-path": 6000, "sid-query": 1, "path": 5, "search": 1, "soft": LEFT,
        "soft-echo": WATCHED, "subdomains": 512 + LEFT,
    },
    "deep": {
        "calendar": WATCHED, "sid-path": 6000, "sid-query": 6000, "path": 5, "search": 6000,
        "soft": LEFT, "soft-echo": WATCHED, "subdomains": 512 + LEFT,
    },
    "nearDuplicates leave": {
        "calendar": 2, "sid-path": 400, "sid-query": 400, "path": 5, "search": 60, "soft": 20,
        "soft-echo": 60,
    },
    "nearDuplicates log, sameContent 100": dict.fromkeys(
        ONE_HOST, 100 + ALL_SESSIONS + ON_THEIR_WAY
    ),
    "pagesPerPath 300": {"sid-query": 9601, "path": 5, "search": 301},
    "dropSessionIds": {"sid-query": 33, "path": 5},
    "hostsPerDomain 100": {"path": 5, "subdomains": 100},
    "nearDuplicates leave, hostsPerDomain 100": {"sid-path": 400, "subdomains": 100},
}  # fmt: skip
"""Pages after which a trap has been left; where contents are judged, what is on its way then comes
on top of the limit."""


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_traps_are_left(case: Case, tmp_path: Path) -> None:
    """After a number of pages, which is printed; honest sites are fetched to their last page."""
    found = run(case, tmp_path, pages=PAGES)
    pages = {kind: found.pages.get(kind, 0) for kind in case.kinds}
    sys.stdout.write(f"{case.name}: {pages}, lost {found.lost} of {found.honest} honest pages\n")
    assert found.code == 0, found.errors
    assert found.lost == 0
    assert all(pages.values())
    assert {kind: most for kind, most in MOST[case.name].items() if pages[kind] > most} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*honest.SHAPES} - {"comic"}))
def test_honest_sites_that_look_like_traps_lose_nothing(name: str, tmp_path: Path) -> None:
    """Each is larger than what is taken of any trap."""
    kept = honest.run(honest.SHAPES[name], tmp_path, pages=honest.PAGES)
    assert kept.code == 0, kept.errors
    assert (kept.lost, kept.pages >= honest.PAGES) == (0, True)


@pytest.mark.slow
def test_a_chain_of_equal_pages_is_kept_on_demand(tmp_path: Path) -> None:
    """Nothing tells it from a calendar."""
    kept = honest.run(honest.SHAPES["comic"], tmp_path, pages=honest.PAGES, nearDuplicates="no")
    assert (kept.code, kept.lost) == (0, 0), kept.errors
