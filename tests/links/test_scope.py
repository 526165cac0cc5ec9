"""Which places first URLs stand for."""

from __future__ import annotations

import pytest

from larbinpy import url as urls
from larbinpy.links.scope import Scope, make_scope, place_of

PLACES = [b"www.a.test/", b"www.a.test/d/", b"[::1]:8080/e/"]


@pytest.mark.parametrize(
    ("url", "place"),
    [
        (b"http://A.test", b"a.test/"),
        (b"https://a.test/x?/y/", b"a.test/"),
        (b"http://a.test/d/e/x", b"a.test/d/e/"),
        (b"http://a.test:8080/d/", b"a.test:8080/d/"),
        (b"https://a.test:443/d/", b"a.test/d/"),
        (b"http://[::1]/x", b"[::1]/"),
    ],
)
def test_a_place_is_a_host_and_a_directory(url: bytes, place: bytes) -> None:
    """The scheme and the usual ports make no difference, nor does what follows the directory."""
    parsed = urls.parse(url)
    assert parsed is not None
    assert place_of(parsed) == place


def test_each_scope() -> None:
    """What a link must lead to; lockSite is a condition of its own."""

    def made(scope: str, *, lock_site: bool = False) -> Scope:
        domains = {b"www.a.test": b"a.test"}
        return make_scope(
            scope, PLACES, lock_site=lock_site, domain_of=lambda host: domains.get(host, host)
        )

    hosts = frozenset([b"www.a.test", b"[::1]"])
    assert made("any") == Scope()
    assert made("any", lock_site=True) == made("host") == Scope(sites=hosts)
    assert made("domain") == Scope(site_domains=frozenset([b"a.test", b"[::1]"]))
    assert made("prefix", lock_site=True) == Scope(sites=hosts, prefixes=frozenset(PLACES))
