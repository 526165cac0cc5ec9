"""A page that asks too much of a parser: it is given up, and its batch mates are untouched.

The parsers are real processes; what makes them slow or greedy is put into them by the hook that
Python runs at each start (``sitecustomize``).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.crawl.crawls import ROOT
from tests.integration.sites import ENVIRONMENT, Crawls, Site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGES = 40
BAD = 17
HOOK = """
import sys

if "larbinpy.parser" in sys.orig_argv:
    import time

    from larbinpy.parse.page import PageReader

    read = PageReader.read

    def hurt(self, page, *more):
        if page.url.endswith(b"/{bad}") and not page.outcome:
            {harm}
        return read(self, page, *more)

    PageReader.read = hurt
"""
HARMS = {
    "slow": "time.sleep(60)",
    "busy": "while True: pass",
    "greedy": "hoard = bytearray(1 << 30)",
    "growing": "hoard = []\n            while True: hoard.append(bytearray(1 << 16))",
    "dead": "import os; os.kill(os.getpid(), 11)",
}


@pytest.mark.parametrize("harm", sorted(HARMS))
def test_a_page_that_asks_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    """Three parsers, then it is poison; every other page is read, logged and stored once."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(HOOK.format(bad=BAD, harm=HARMS[harm]))
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", f"{hooks}{os.pathsep}{ROOT}")
    links = b"".join(b'<a href="/%d">x</a>' % n for n in range(1, PAGES))
    pages = {f"/{n}": b"<p>page %d" % n for n in range(1, PAGES)}
    keys = {"parserMemory": "256Mi", "parserDeadline": "2s", "outputMode": "1"}
    crawls = Crawls(tmp_path / "state", tmp_path / "save", keys)
    with Site({"/0": links, **pages}) as site:
        report = crawls.run(site.url("/0"))
        outcomes = {line["url"]: line["outcome"] for line in crawls.log()}
        assert outcomes.pop(site.url(f"/{BAD}")) == "poison"
        assert outcomes == {site.url(f"/{n}"): "success" for n in range(PAGES) if n != BAD}
        assert sorted(site.asked) == sorted(site.pages)
    assert len(crawls.log()) == PAGES
    assert report["identity"]["done"] == PAGES
    stored = b"".join(index.read_bytes() for index in crawls.output.glob("d*/index"))
    assert stored.count(b"\n") == PAGES - 1
