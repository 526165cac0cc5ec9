"""Measure what bounds and chooses links, per link: ``python -m tests.bench.micro_linkchoice``.

Workload: the 30 links of a page, all new, with and without queries. Scopes, patterns and a function
of the operator beside the filter alone, and the options of equal URLs beside none; one call of
``re2.Set`` for each URL beside the one call for all.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import re2

from larbinpy import url as urls
from larbinpy._native.linkfilter import LinkFilter
from larbinpy.links.choice import Acceptance, by_patterns
from larbinpy.links.found import found_link
from larbinpy.patterns import Patterns
from larbinpy.url import Base, Equal
from tests.bench.measure import compare

if TYPE_CHECKING:
    from collections.abc import Callable

LINKS = 30
HOST = b"www.example.com"
PAGE = b"http://www.example.com/"
PATTERNS = [
    rb"/calendar/", rb"\.(?:css|js)$", rb"^https?://www\.other\.com/", rb"[?&]print=", rb"/tag/\d+",
]  # fmt: skip
PLAIN = b"".join(found_link(1, b"/shop/item-%d/page.html" % n) for n in range(LINKS))
QUERIES = b"".join(found_link(1, b"/shop/%d?b=%d&a=1&utm_source=x" % (n, n)) for n in range(LINKS))


def filtering(**keys: Any) -> Callable[[], object]:
    """The filter with these keys, on links that it never saw written."""
    choose = keys.pop("on_page", None)
    links = LinkFilter(key=bytes(16), shards=1, domain_of=lambda host: host, **keys)
    resolved = urls.resolve(Base(PAGE), PLAIN)
    return partial(links.run, resolved, host=HOST, depth=0, left=5, choose=choose)


def resolving(links: bytes, equal: Equal) -> Callable[[], object]:
    """The URLs of these links with these options."""
    return partial(urls.resolve, Base(PAGE, equal), links)


def main() -> None:
    """Print the comparisons."""
    include = by_patterns(Patterns([rb"^https?://[^/]+/shop/"]), None)
    accept = Acceptance(lambda link: "item" in link.url, print).on_page(PAGE, 1)
    some = re2.Set.SearchSet()
    for pattern in PATTERNS:
        some.Add(pattern)
    some.Compile()
    texts = [b"http://www.example.com/shop/item-%d/page.html" % n for n in range(LINKS)]
    compare(
        "filtering",
        {
            "alone": filtering(),
            "scope prefix": filtering(prefixes=[b"www.example.com/shop/"]),
            "scope domain": filtering(site_domains=[HOST]),
            "exclude 5 patterns": filtering(choose=by_patterns(None, Patterns(PATTERNS))),
            "include, all match": filtering(choose=include),
            "accept": filtering(on_page=accept),
            "re2.Set, one by one": lambda: [some.Match(text) for text in texts],
        },
        items=LINKS,
    )
    everything = Equal((1 << len(Equal)) - 1)
    for name, links in (("plain URLs", PLAIN), ("URLs with queries", QUERIES)):
        ways = {"as they are": Equal(0), "all options": everything}
        compare(name, {way: resolving(links, equal) for way, equal in ways.items()}, items=LINKS)


if __name__ == "__main__":
    main()
