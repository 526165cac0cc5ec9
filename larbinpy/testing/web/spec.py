"""The parameters of a synthetic web and of a crawl of it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final, Self

from larbinpy._native.webserver import SHARES


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSpec:
    """All that determines a synthetic web; shares are numbers from 0 to 1.

    The defaults are a small web with some of everything.
    ``plain`` makes one for measuring: good pages only.
    """

    seed: int = 1
    hosts: int = 200
    pages: int = 100
    """Pages of each host in its tree; up to 2**48, nothing is stored."""
    roots: int = 4
    """Hosts 0 .. roots - 1, whose first pages are the seeds."""
    notes: int = 20
    """Pages of each host without links; redirections to other hosts end there."""
    chain: int = 12
    """Pages of each host that form one chain from its first page: depth for depth limits."""
    links: int = 30
    """Links of a page, more where the tree needs more."""
    branch: int = 3
    """Children of a page in the tree of its host."""
    port: int = 0
    """Port in all URLs; known once the server listens."""
    layered: bool = True
    """Every path from the seeds to a page is equally long (see ``expected``); off: any to any."""
    keep_alive: bool = True
    names_per_address: int = 2
    """Neighbouring hosts with names share an address in groups of so many."""
    page_bytes: int = 7600
    page_spread: int = 3000
    """Sizes are even between ``page_bytes`` less and plus this."""
    large_bytes: int = 300_000
    latency_ms: int = 0
    latency_spread_ms: int = 0
    """Each place answers after ``latency_ms`` plus its own part of this."""

    traps: int = 0
    """Hosts of each kind of trap, beside all others; see ``docs/traps.md``."""

    # Shares of links.
    dead: float = 0.03
    """To pages that do not exist."""
    archive: float = 0.02
    """To files with extensions that crawlers are told to leave alone."""
    cgi: float = 0.02
    image: float = 0.02
    off_scope: float = 0.01
    """To hosts under ``elsewhere.invalid``, which have no address."""
    not_http: float = 0.02
    """``mailto:``, ``javascript:`` and the like."""
    duplicate: float = 0.1
    """To what the page links to already."""
    cross: float = 0.1
    """To other hosts."""
    fragment: float = 0.1
    messy: float = 0.1
    """Capitals in scheme and host, dot segments, blanks, no slash behind the host."""

    # Shares of pages.
    error: float = 0.03
    """404, 500, 403 or 410."""
    redirect: float = 0.05
    typed: float = 0.03
    """text/plain, image/png or application/pdf."""
    private: float = 0.1
    """Under ``/private/``."""
    large: float = 0.01
    base: float = 0.05
    """With a ``base`` element."""
    refresh: float = 0.05
    """Whose first link is a ``meta`` refresh."""
    decoy: float = 0.1
    """With links in a comment and in a script, which are none."""

    # Shares of hosts.
    named: float = 0.5
    """Called ``hNNNN.web.test`` by the hosts file; the others by their address."""
    robots: float = 0.5
    """With a robots.txt; most of these forbid ``/private/``."""

    @classmethod
    def plain(cls, **changes: Any) -> Self:  # Any: values of the fields, checked by the class
        """A web of good pages, all of whose hosts are seeds and where any page links to any."""
        return replace(cls(layered=False, notes=0, chain=0, **_NO_SHARES), **changes)


# What speed is measured with keeps links across hosts, hosts by name and robots.txt.
_KEPT: Final = ("cross", "named", "robots")
_NO_SHARES: Final[dict[str, Any]] = {name: 0.0 for name in SHARES if name not in _KEPT}


def numbers(spec: WebSpec) -> dict[str, Any]:
    """The arguments of the native model: plain fields by name, shares as one tuple in its order."""
    plain = {f.name: getattr(spec, f.name) for f in fields(spec) if f.name not in SHARES}
    return {**plain, "shares": tuple(getattr(spec, name) for name in SHARES)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a crawl may ask for: the keys of its configuration that decide it."""

    seeds: tuple[bytes, ...] | None = None
    """None: the seeds of the web."""
    depth_in_site: int = 5
    depth_by_site: bool = False
    no_external: bool = False
    lock_site: bool = False
    cgi: bool = False
    images: bool = False
    robots: bool = True
    agent: bytes = b"larbin"
    forbidden_extensions: tuple[bytes, ...] = ()
    limit_to_domain: tuple[bytes, ...] = ()
