"""Real pages beside an independent parser: a part, drawn by a seed that is printed."""

from __future__ import annotations

import random

import pytest

from tests.conformance import realpages

DRAWN = 300
FEWEST = 200


@pytest.mark.slow
def test_links_of_real_pages_equal_those_of_an_independent_parser() -> None:
    """URL by URL, in whatever encoding."""
    for module in ("ada_url", "html5lib", "selectolax"):
        pytest.importorskip(module)
    paths = realpages.pages()
    if len(paths) < FEWEST:
        pytest.skip(f"{len(paths)} HTML pages below {realpages.ROOT}, not {FEWEST}")
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    tally = realpages.compare(random.Random(seed).sample(paths, min(DRAWN, len(paths))))
    assert tally.wrong == []
    assert tally.equal >= FEWEST
