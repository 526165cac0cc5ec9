"""Where links may lead, seen from the first URLs: the places that these stand for.

A link is in scope when it is in that of any first URL of the crawl: so nothing of a first URL has
to travel with the links that descend from it. A state keeps the places of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from larbinpy.url import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from larbinpy.url import Url


@dataclass(frozen=True, slots=True)
class Scope:
    """What a link must lead to; None = that does not matter."""

    sites: frozenset[bytes] | None = None
    """Hosts."""
    site_domains: frozenset[bytes] | None = None
    """Registered domains."""
    prefixes: frozenset[bytes] | None = None
    """Places, as ``place_of`` gives them."""


def place_of(url: Url) -> bytes:
    """The place of a first URL: its host, its port if it names one, and its directory.

    ``http://a.test:8080/docs/x?y`` is at ``a.test:8080/docs/``.
    """
    path = url.url[url.host_start :].partition(b"?")[0]
    return path[: path.rindex(b"/") + 1]


def make_scope(
    scope: str,
    places: Iterable[bytes],
    *,
    lock_site: bool,
    domain_of: Callable[[bytes], bytes],
) -> Scope:
    """What the keys ``scope`` and ``lockSite`` mean for first URLs at these places."""
    places = frozenset(places)
    hosts = frozenset(host_of(b"http://" + place) for place in places)
    return Scope(
        sites=hosts if lock_site or scope == "host" else None,
        site_domains=frozenset(map(domain_of, hosts)) if scope == "domain" else None,
        prefixes=places if scope == "prefix" else None,
    )
