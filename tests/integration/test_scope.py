"""How far a whole crawl goes from its first URLs, over restarts and processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.sites import Crawls, Site

if TYPE_CHECKING:
    from pathlib import Path


def site() -> Site:
    """Two directories, each with pages that link into both."""
    links = b"".join(
        b"<a href=%b>x</a>" % path
        for path in (b"/docs/1.html", b"/docs/calendar/1", b"/docs/x/2.html", b"/blog/1.html", b"/")
    )
    return Site({"/docs/": links, "/docs/x/2.html": b"<a href=/docs/x/3.html>", "/blog/": links})


def test_only_below_the_directories_of_the_first_urls(tmp_path: Path) -> None:
    """Those of all runs count; what a pattern excludes is left out; the report says how much."""
    keys = {
        "scope": "prefix", "exclude": "calendar end", "fetchProcesses": "2", "parseProcesses": "2",
        "waitDuration": "0",
    }  # fmt: skip
    crawls = Crawls(tmp_path / "state", tmp_path / "save", keys)
    with site() as served:
        report = crawls.run(served.url("/docs/"))
        first = sorted(served.asked)
        assert report["filtered"] == {"outSite": 2, "excluded": 1} | {
            name: 0 for name in report["filtered"] if name not in ("outSite", "excluded")
        }
        crawls.run(served.url("/blog/"))
    assert first == ["/docs/", "/docs/1.html", "/docs/x/2.html", "/docs/x/3.html"]
    assert sorted(served.asked) == sorted([*first, "/blog/", "/blog/1.html"])


def test_a_function_of_the_operator_judges_links(tmp_path: Path) -> None:
    """It sees what the filters leave, with its text; its errors end nothing."""
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "mine.py").write_text(
        "def accept(link):\n"
        "    assert link.parent.endswith('/') and link.depth == 1\n"
        "    return {'yes': True, 'no': False}[link.text] or link.rel == 'next'\n"
    )
    keys = {"accept": "mine:accept", "pluginPath": str(plugins), "exclude": "excluded end"}
    crawls = Crawls(tmp_path / "state", tmp_path / "save", keys)
    page = b"<a href=1>yes</a><a href=2>no</a><a href=3>?</a><a href=4 rel=next>no</a>"
    with Site({"/": page + b"<a href=excluded>?</a>"}) as served:
        report = crawls.run(served.url("/"))
    assert sorted(served.asked) == ["/", "/1", "/4"]
    filtered = {name: count for name, count in report["filtered"].items() if count}
    assert filtered == {"notAccepted": 1, "acceptError": 1, "excluded": 1}
