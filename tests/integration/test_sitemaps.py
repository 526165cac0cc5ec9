"""Sitemaps and feeds in a whole crawl: found from robots.txt, asked for politely, no pages."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from tests.integration.sites import Crawls, Site

if TYPE_CHECKING:
    from pathlib import Path

ROBOTS = b"User-agent: *\nDisallow: /private\nSitemap: /index.xml\nSitemap: /private/map.xml\n"


def site_with_sitemaps() -> Site:
    """Five pages that nothing links to, in an index, a packed sitemap, a text and a feed."""
    site = Site(
        {
            "/robots.txt": ROBOTS,
            "/": b"<a href=/feed>news</a>",
            "/feed": b"<rss><item><link>/from-feed</link></item></rss>",
            **{f"/{name}": name.encode() for name in ("from-feed", "one", "two", "three")},
        }
    )
    site.types["/feed"] = "application/rss+xml"
    return site


def add_sitemaps(site: Site) -> None:
    """Their URLs are absolute, so the site must be up."""
    index = "".join(f"<loc>{site.url(path)}</loc>" for path in ("/map.xml.gz", "/map.txt"))
    urls = "".join(f"<loc>{site.url(path)}</loc>" for path in ("/one", "/two", "/private/x"))
    site.pages["/index.xml"] = f"<sitemapindex>{index}</sitemapindex>".encode()
    site.pages["/map.xml.gz"] = gzip.compress(f"<urlset>{urls}</urlset>".encode())
    site.pages["/map.txt"] = f"{site.url('/three')}\n{site.url('/index.xml')}\n".encode()


def test_pages_of_sitemaps_and_feeds_are_crawled(tmp_path: Path) -> None:
    """Every form leads to its pages; robots.txt holds for sitemaps too; pages alone are stored."""
    keys = {"useSitemaps": "yes", "outputMode": "1", "pagesPerHost": "5"}
    crawls = Crawls(tmp_path / "state", tmp_path / "save", keys)
    with site_with_sitemaps() as site:
        add_sitemaps(site)
        report = crawls.run(site.url("/"))
    assert sorted(site.asked) == [
        "/", "/feed", "/from-feed", "/index.xml", "/map.txt", "/map.xml.gz", "/one", "/three",
        "/two",
    ]  # fmt: skip
    # The feed and three sitemaps; a sitemap and a page that robots.txt forbids.
    assert report["outcomes"] == {"success": 5, "linkList": 4, "forbiddenRobots": 2}
    assert len(list(tmp_path.glob("save/d*/f*"))) == 5
    lines = map(json.loads, (tmp_path / "state" / "crawl.log").read_bytes().splitlines())
    kinds = {line["url"].rpartition("/")[2]: line["kind"] for line in lines}
    assert (kinds["map.xml.gz"], kinds["index.xml"], kinds["one"]) == ("sitemap", "sitemap", "page")


def test_without_the_key_sitemaps_are_left_alone(tmp_path: Path) -> None:
    """The default asks for none; a feed is followed unless useFeeds is off."""
    crawls = Crawls(tmp_path / "state", tmp_path / "save", {"useFeeds": "no"})
    with site_with_sitemaps() as site:
        add_sitemaps(site)
        report = crawls.run(site.url("/"))
    assert site.asked == ["/", "/feed"]
    assert report["outcomes"] == {"success": 1, "badType": 1}


class Tree(Site):
    """A host whose sitemaps are indexes of ever more indexes."""

    def answer(self, path: str) -> bytes | None:
        """An index of nine more for each path; a page at the root."""
        if not path.startswith("/map"):
            return super().answer(path)
        self.asked.append(path)
        names = "".join(f"<loc>{self.url(path)}-{n}</loc>" for n in range(9))
        return f"<sitemapindex>{names}</sitemapindex>".encode()


def test_a_tree_of_indexes_is_left(tmp_path: Path) -> None:
    """After so many requests, also by way of a restart, and none names more than that."""
    keys = {"useSitemaps": "yes", "sitemapsPerHost": "7"}
    crawls = Crawls(tmp_path / "state", tmp_path / "save", keys)
    with Tree({"/robots.txt": b"Sitemap: /map\n", "/": b"x", "/again": b"x"}) as site:
        report = crawls.run(site.url("/"))
        maps = [path for path in site.asked if path != "/"]
        assert (len(maps), report["outcomes"]["linkList"]) == (7, 7)
        assert max(int(path[-1]) for path in maps if "-" in path) <= 6
        assert report["outcomes"]["earlyStop"] == 7 * 7 + 1 - 7
        lines = map(json.loads, (tmp_path / "state" / "crawl.log").read_bytes().splitlines())
        reasons = [line["reason"] for line in lines if line["outcome"] == "earlyStop"]
        assert set(reasons) == {"sitemapsPerHost"}
        crawls.run(site.url("/again"))
        assert len(site.asked) == 7 + 2
