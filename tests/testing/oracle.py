"""A tiny crawler of the standard library, written without a look at the model: the oracle.

It knows HTTP by http.client, HTML by html.parser, URLs by urllib.parse, robots.txt by
urllib.robotparser, and the scope rules as the documentation tells them.
"""

from __future__ import annotations

import http.client
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from larbinpy.testing.web import Scope

LINK_ATTRIBUTES = {"a": "href", "area": "href", "iframe": "src", "link": "href", "img": "src"}


class LinkParser(HTMLParser):
    """Collects (tag, URL text) in document order, and the base."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "base" and not self.base:
            self.base = values["href"] or ""
        if tag == "meta" and values.get("http-equiv") == "refresh":
            self.links.append((tag, (values["content"] or "").partition("url=")[2]))
        if tag in LINK_ATTRIBUTES:
            self.links.append((tag, values.get(LINK_ATTRIBUTES[tag]) or ""))


def links_of(body: bytes, url: str) -> list[tuple[str, str]]:
    """(tag, absolute URL without fragment) of all links of a page."""
    parser = LinkParser()
    parser.feed(body.decode())
    base = urljoin(url, parser.base)
    return [(tag, normal(urljoin(base, text.strip()))) for tag, text in parser.links]


def normal(url: str) -> str:
    """Lower-case host, a path without dot segments, no fragment."""
    parts = urlsplit(urldefrag(url)[0])
    if parts.scheme != "http":
        return url
    query = f"?{parts.query}" if parts.query else ""
    path = urlsplit(urljoin("http://any.test/", parts.path or "/")).path
    return f"http://{parts.netloc.lower()}{path}{query}"


@dataclass
class Crawl:
    """One crawl; the next URL is picked by ``random``, so that no order is special."""

    scope: Scope
    hosts_file: Path
    random: random.Random
    fetched: dict[str, int] = field(default_factory=dict)
    success: set[str] = field(default_factory=set)
    forbidden: set[str] = field(default_factory=set)
    rules: dict[str, RobotFileParser] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines = (line.split() for line in self.hosts_file.read_text().splitlines())
        self.addresses = {name: address for address, name in lines}
        self.connections: dict[str, http.client.HTTPConnection] = {}

    def get(self, url: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        """One request on the kept connection of its host."""
        parts = urlsplit(url)
        connection = self.connections.get(parts.netloc)
        if connection is None:
            address = self.addresses.get(parts.hostname or "", parts.hostname or "")
            connection = http.client.HTTPConnection(address, parts.port, timeout=PATIENCE_S)
            self.connections[parts.netloc] = connection
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", target, headers={"Host": parts.netloc})
        response = connection.getresponse()
        return response.status, response.headers, response.read()

    def is_allowed(self, url: str) -> bool:
        """Whether robots.txt lets this agent ask for the URL."""
        if not self.scope.robots:
            return True
        netloc = urlsplit(url).netloc
        if netloc not in self.rules:
            status, _, body = self.get(f"http://{netloc}/robots.txt")
            self.rules[netloc] = rules = RobotFileParser()
            rules.parse(body.decode().splitlines() if status == 200 else [])
        return self.rules[netloc].can_fetch(self.scope.agent.decode(), url)

    def is_in_scope(self, url: str) -> bool:
        """The rules about one URL."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        endings = tuple(e.decode() for e in self.scope.forbidden_extensions)
        domains = tuple(d.decode() for d in self.scope.limit_to_domain)
        return (
            parts.scheme == "http"
            and not host.endswith(".elsewhere.invalid")
            and (self.scope.cgi or not parts.query)
            and not (endings and parts.path.endswith(endings))
            and (not domains or host.endswith(domains))
        )

    def run(self, seeds: list[bytes]) -> None:
        """Crawl until nothing is left."""
        depth = self.scope.depth_in_site
        queue = [(seed.decode(), depth) for seed in seeds]
        seen = {url for url, _ in queue}
        while queue:
            url, left = queue.pop(self.random.randrange(len(queue)))
            for found, after in self.visit(url, left):
                if after >= 0 and found not in seen and self.is_in_scope(found):
                    seen.add(found)
                    queue.append((found, after))

    def close(self) -> None:
        """Close all kept connections."""
        for connection in self.connections.values():
            connection.close()

    def visit(self, url: str, left: int) -> list[tuple[str, int]]:
        """Fetch a URL; (URL, links left) of what it leads to."""
        if not self.is_allowed(url):
            self.forbidden.add(url)
            return []
        status, headers, body = self.get(url)
        assert url not in self.fetched
        self.fetched[url] = status
        if "location" in headers:
            return [(normal(urljoin(url, headers["location"])), left)]
        if status != 200 or headers.get_content_type() != "text/html":
            return []
        self.success.add(url)
        return self.followed(url, body, left)

    def followed(self, url: str, body: bytes, left: int) -> list[tuple[str, int]]:
        """(URL, links left) of the links of a page that may be followed."""
        result = []
        for tag, found in links_of(body, url):
            is_outside = urlsplit(found).netloc != urlsplit(url).netloc
            if (tag == "img" and not self.scope.images) or (is_outside and self.scope.no_external):
                continue
            restarts = is_outside and self.scope.depth_by_site
            result.append((found, self.scope.depth_in_site if restarts else left - 1))
        return result
