"""Tell exactly what a crawl of the synthetic web must ask for, from the model alone.

A crawl's set of pages can depend on the order of its fetches: the first discovery of a URL decides
how deep one may go below it. So the answer is only given where no order matters:

1. Let left(v) be the greatest number of links that any path leaves to follow below place v.
2. If every link u -> v that a crawl may follow leaves exactly left(v), then every order gives
   every place this same number, by induction over the order: the first discovery of v comes from
   a place that has its number already.
3. Exempt are links that cannot discover: those to v itself, and those to the first page of the own
   host where every way into that host leads through its first page (it is discovered before).
4. Exempt are places below which nothing is followed: errors, files, notes, forbidden pages.
5. A depth limit that exceeds the number of places reached never binds, whatever the order.

Where none of this holds ``AmbiguousError`` is raised. Layered webs satisfy 2 by construction
(``ext/webmodel.h``); others need a depth limit by rule 5.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.testing.web.model import Element, Kind, Place, RobotsFile, SyntheticWeb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.testing.web.spec import Scope, WebSpec

MOST_PLACES: Final = 2_000_000
MOST_REDIRECTS: Final = 8
"""In a row; crawlers give up at ten, and where they begin to count depends on the order."""

_NEVER_FORBIDDEN: Final = (b".html", b".htm", b"/")


class AmbiguousError(ValueError):
    """What a crawl reaches would depend on the order of its fetches, or has no bound."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a crawl asks for, as normalised URLs; each of ``requests`` and ``robots`` once."""

    requests: frozenset[bytes]
    """Pages, redirections, errors and files, whatever their status and type."""
    success: frozenset[bytes]
    """Those that are HTML pages of status 200."""
    forbidden: frozenset[bytes]
    """Found and in scope, but forbidden by a robots.txt: not to be asked for."""
    robots: frozenset[bytes]
    """The robots.txt of each host that a URL was found on."""
    unresolvable: frozenset[bytes]
    """Found and in scope, but on hosts that have no address: not on the server."""
    statuses: dict[bytes, int]
    """Status of each of ``requests``."""

    def to_json(self) -> dict[str, object]:
        """The same for a JSON file: sorted lists of text."""
        names = ("requests", "success", "forbidden", "robots", "unresolvable")
        sets = {name: sorted(url.decode() for url in getattr(self, name)) for name in names}
        return {**sets, "statuses": {k.decode(): v for k, v in sorted(self.statuses.items())}}


def expected(spec: WebSpec, scope: Scope) -> Expected:
    """The requests that a crawl of the web under this scope makes.

    Raises:
        AmbiguousError: the order of fetches would matter; see the module's text.
        ValueError: a seed is not on this web.

    Cost: about a millisecond for each ten pages reached.
    """
    return _Walk(SyntheticWeb(spec), scope).run()


class _Walk:
    """The greatest depth left at each place, and what follows from it."""

    __slots__ = (
        "_domains",
        "_extensions",
        "_left",
        "_queue",
        "_scope",
        "_seed_hosts",
        "_seeds",
        "_unresolvable",
        "_web",
    )

    def __init__(self, web: SyntheticWeb, scope: Scope) -> None:
        self._web = web
        self._scope = scope
        self._seeds = [self._seed(url) for url in (scope.seeds or web.seeds())]
        self._seed_hosts = {place.host for place in self._seeds}
        self._extensions = tuple(ext.lower() for ext in scope.forbidden_extensions)
        self._domains = tuple(suffix.lower() for suffix in scope.limit_to_domain)
        self._left: dict[Place, int] = {}
        self._queue: deque[Place] = deque()
        self._unresolvable: set[bytes] = set()

    def _seed(self, url: bytes) -> Place:
        place = self._web.find(url)
        if place is None:
            raise ValueError(f"seed {url!r} is not on this web")
        return place

    def run(self) -> Expected:
        for seed in self._seeds:
            if not self._is_in_domain(seed.host):
                raise AmbiguousError(f"seed {self._web.url(seed)!r} is outside limit_to_domain")
            self._discover(seed, self._scope.depth_in_site)
        while self._queue:
            place = self._queue.popleft()
            for target, left, _ in self._followed(place):
                self._discover(target, left)
        if self._scope.depth_in_site < len(self._left):
            self._check_order()
        self._check_redirects()
        return self._answer()

    def _discover(self, place: Place, left: int) -> None:
        if left > self._left.get(place, -1):
            self._left[place] = left
            self._queue.append(place)
            if len(self._left) > MOST_PLACES:
                raise AmbiguousError(f"more than {MOST_PLACES} places are reached")

    # --- what is followed -------------------------------------------------------------------

    def _followed(self, place: Place) -> Iterator[tuple[Place, int, bool]]:
        """(place, links left, is a redirection) of all that a fetch of ``place`` leads to."""
        if self._is_forbidden(place):
            return
        left = self._left[place]
        native = self._web.native
        moved = native.facts(*place)[4]
        if moved:
            target = Place(*moved[0])
            if self._is_in_scope(target):
                yield target, left, True
            return
        for host, kind, index, element in native.edges(*place):
            is_outside = host != place.host or kind == Kind.OFF_SCOPE
            after = (
                self._scope.depth_in_site if is_outside and self._scope.depth_by_site else left - 1
            )
            target = Place(host, kind, index)
            if after >= 0 and self._is_link(target, element, is_outside=is_outside):
                yield target, after, False

    def _is_link(self, target: Place, element: int, *, is_outside: bool) -> bool:
        """Whether a link is followed; notes the ones that lead to no address."""
        scope = self._scope
        if target.kind == Kind.NOT_HTTP or (element == Element.IMG and not scope.images):
            return False
        if target.kind == Kind.OFF_SCOPE:
            if not (scope.no_external or scope.lock_site or self._domains):
                self._unresolvable.add(self._web.url(target))
            return False
        if is_outside and scope.no_external:
            return False
        return target in self._left or self._is_in_scope(target)

    def _is_in_scope(self, target: Place) -> bool:
        """The rules that look at the URL alone."""
        if target.kind == Kind.CGI and not self._scope.cgi:
            return False
        if self._scope.lock_site and target.host not in self._seed_hosts:
            return False
        return self._is_in_domain(target.host) and not self._has_forbidden_extension(target)

    def _is_in_domain(self, host: int) -> bool:
        return not self._domains or self._web.host(host).name.endswith(self._domains)

    def _has_forbidden_extension(self, target: Place) -> bool:
        if not self._extensions:
            return False
        path = self._web.url(target).partition(b"?")[0]
        return path.endswith(self._extensions) and not path.endswith(_NEVER_FORBIDDEN)

    def _is_forbidden(self, place: Place) -> bool:
        """Whether the robots.txt of the host keeps this agent from the place."""
        if not self._scope.robots:
            return False
        robots = self._web.native.host(place.host)[3]
        agent = self._scope.agent.lower()
        if robots == RobotsFile.OTHER:
            return agent == b"otherbot"
        is_private = place.kind == Kind.PAGE and self._web.native.facts(*place)[3]
        return is_private and (
            robots == RobotsFile.ALL or (robots == RobotsFile.NAMED and agent == b"larbin")
        )

    # --- order ------------------------------------------------------------------------------

    def _check_order(self) -> None:
        side_doors = {seed.host for seed in self._seeds if not _is_home(seed)}
        for place in self._left:
            for target, _, _ in self._followed(place):
                if target.host != place.host and not _is_home(target) and self._leads_on(target):
                    side_doors.add(target.host)
        for place in self._left:
            for target, left, _ in self._followed(place):
                is_back = target == place or (
                    _is_home(target) and target.host == place.host not in side_doors
                )
                if left < self._left[target] and not is_back and self._leads_on(target):
                    raise AmbiguousError(
                        f"{self._web.url(place)!r} leaves {left} links below "
                        f"{self._web.url(target)!r}, another page leaves {self._left[target]}"
                    )

    def _leads_on(self, place: Place) -> bool:
        if place.kind not in (Kind.PAGE, Kind.CHAIN) or self._is_forbidden(place):
            return False
        status, content, _, _, moved = self._web.native.facts(*place)
        return moved is not None or (status == 200 and content == 0)

    def _check_redirects(self) -> None:
        for place in self._left:
            moved = self._web.native.facts(*place)[4]
            for _ in range(MOST_REDIRECTS):
                if not moved:
                    break
                moved = self._web.native.facts(*moved[0])[4]
            if moved:
                raise AmbiguousError(f"{self._web.url(place)!r} begins too many redirections")

    # --- the answer -------------------------------------------------------------------------

    def _answer(self) -> Expected:
        native = self._web.native
        forbidden = {place for place in self._left if self._is_forbidden(place)}
        statuses: dict[bytes, int] = {}
        success: set[bytes] = set()
        for place in self._left.keys() - forbidden:
            status, content, *_ = native.facts(*place)
            url = native.url(*place)
            statuses[url] = status
            if status == 200 and content == 0:
                success.add(url)
        hosts = {place.host for place in self._left} if self._scope.robots else set()
        return Expected(
            requests=frozenset(statuses),
            success=frozenset(success),
            forbidden=frozenset(native.url(*place) for place in forbidden),
            robots=frozenset(native.url(host, Kind.ROBOTS, 0) for host in hosts),
            unresolvable=frozenset(self._unresolvable),
            statuses=statuses,
        )


def _is_home(place: Place) -> bool:
    return place.kind == Kind.PAGE and place.number == 0
