"""A page from its head to the entries of its links: the plain way beside the long one.

Workload: the page of 7.6 kB with 30 links, UTF-8 by its header.

Command: python -m tests.bench.micro_plainpage
"""

from __future__ import annotations

from functools import partial

from larbinpy._native.linkfilter import LinkFilter
from larbinpy._native.plainpage import PlainPages
from larbinpy.dedup.content import exact_digest
from larbinpy.parse import directives
from larbinpy.parse.page import PageReader
from larbinpy.parse.pagetypes import HTML_TYPES, plain_type
from larbinpy.url import Domains
from tests.bench.measure import compare
from tests.bench.micro_linkscan import small_page
from tests.records import page


def main() -> None:
    """Print a table."""
    links = LinkFilter(key=bytes(16), shards=1, domain_of=Domains().of)
    plain = PlainPages(
        links, type_of=partial(plain_type, accept=HTML_TYPES), digest=exact_digest,
        directives_of=directives.of_meta, is_new=None, max_bytes=1 << 20, equal=0,
        agent=b"larbin", nofollow=True,
    )  # fmt: skip
    reader = PageReader(links, accept=HTML_TYPES, max_redirects=5, digest=exact_digest)
    got = page(body=small_page(), headers=b"Content-Type: text/html; charset=utf-8\r\n")
    compare(
        f"a page of {len(got.body)} bytes",
        {"plain way": lambda: plain.read(got), "long way": lambda: reader.read(got)},
        items=1,
    )


if __name__ == "__main__":
    main()
