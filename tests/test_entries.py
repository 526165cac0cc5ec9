"""Entries of frames that Python reads and writes."""

from __future__ import annotations

from larbinpy import entries
from larbinpy import url as urls
from larbinpy.links.filters import make_filter
from larbinpy.links.found import ELEMENT_SEED, LINK_SEED, found_link


def test_hosts_of_links_are_those_of_the_urls() -> None:
    """Over several groups; equal neighbours once."""
    names = [b"a.test", b"a.test", b"b.test:8080", b"[::1]", b"a.test"]
    found = b"".join(
        found_link(ELEMENT_SEED, b"http://%b/%d" % (name, n)) for n, name in enumerate(names)
    )
    base = urls.Base(b"http://x/")
    links = make_filter(key=bytes(16), shards=1, domain_of=lambda host: host)
    batch = links.run(urls.resolve(base, found), host=b"", depth=0, left=0, flags=LINK_SEED)
    groups = [
        group
        for via in (b"", b"http://via/")
        for group in entries.link_groups(via, b"tag", batch.entries[0], batch.counts[0])
    ]
    once = [b"a.test", b"b.test", b"[::1]", b"a.test"]
    assert entries.hosts_of_links(b"".join(groups)) == once + once[1:]
    assert entries.hosts_of_links(b"") == []
