"""Ask the native model of a synthetic web, in words.

The model is a pure function of the spec: asking costs a few microseconds and remembers nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from larbinpy._native import webserver
from larbinpy.testing.web.spec import WebSpec, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

TYPES: Final = (
    b"text/html; charset=utf-8",
    b"text/plain; charset=utf-8",
    b"image/png",
    b"application/pdf",
    b"application/zip",
)
BASE_FLAG: Final = 1


class Kind(IntEnum):
    """What lies at a place; the numbers of ``ext/webmodel.h``."""

    PAGE = 0
    CHAIN = 1
    NOTE = 2
    GONE = 3
    ARCHIVE = 4
    CGI = 5
    IMAGE = 6
    ROBOTS = 7
    OFF_SCOPE = 8
    NOT_HTTP = 9


class Element(IntEnum):
    """What a link stands in; the numbers of ``ext/webmodel.h``."""

    A = 0
    AREA = 1
    IFRAME = 2
    NEXT = 3
    IMG = 4
    REFRESH = 5


class RobotsFile(IntEnum):
    """What the robots.txt of a host says; the numbers of ``ext/webmodel.h``."""

    NONE = 0
    ALL = 1
    """Nobody may enter ``/private/``."""
    NAMED = 2
    """larbin may not enter ``/private/``, others may."""
    OTHER = 3
    """Only otherbot may not enter at all."""


class Place(NamedTuple):
    """Where something lies; of ``OFF_SCOPE`` and ``NOT_HTTP`` the host is the linking one."""

    host: int
    kind: int
    number: int


@dataclass(frozen=True, slots=True)
class Host:
    """One host of the web."""

    name: bytes
    """As it stands in URLs: a name or an address."""
    address: bytes
    is_named: bool
    robots: RobotsFile


@dataclass(frozen=True, slots=True)
class Trap:
    """A host that has an answer to every URL and never an end of links (``docs/traps.md``)."""

    kind: str
    """One of ``webserver.TRAPS``."""
    host: int
    """Its number in the access log."""
    url: bytes
    """Of its first page, which nobody links to."""


@dataclass(frozen=True, slots=True)
class Link:
    """One link as it stands in a page."""

    to: Place
    url: bytes
    """Normalised."""
    text: bytes
    """As written, character references decoded."""
    element: Element


@dataclass(frozen=True, slots=True)
class Page:
    """All that the server answers for one place."""

    place: Place
    url: bytes
    status: int
    content_type: bytes
    body: bytes
    links: tuple[Link, ...]
    """In the order of the page; none unless it is an HTML page of status 200."""
    location: bytes | None
    target: Place | None
    is_private: bool
    """Under ``/private/``, which a robots.txt may forbid."""
    has_base: bool

    @property
    def is_html(self) -> bool:
        """A page that a crawler reads for links."""
        return self.status == 200 and self.content_type.startswith(b"text/html")


class SyntheticWeb:
    """The model of the web that a spec describes.

    *Thread*: one at a time.
    """

    __slots__ = ("_native", "spec")

    def __init__(self, spec: WebSpec) -> None:
        """Make the model.

        Raises:
            ValueError: a number of the spec is out of its range.
        """
        self.spec = spec
        self._native = webserver.Web(**numbers(spec))

    @property
    def native(self) -> webserver.Web:
        """The native model, for the server and for ``expected``."""
        return self._native

    def host(self, number: int) -> Host:
        """The host with this number, from 0 to ``hosts`` - 1."""
        name, address, is_named, robots = self._native.host(number)
        return Host(name, address, is_named, RobotsFile(robots))

    def url(self, place: Place) -> bytes:
        """The normalised URL of a place."""
        return self._native.url(*place)

    def find(self, url: bytes) -> Place | None:
        """The place with this normalised URL, or None."""
        scheme, _, rest = url.partition(b"://")
        authority, slash, path = rest.partition(b"/")
        name, _, port = authority.partition(b":")
        if scheme != b"http" or int(port or 80) != self.spec.port:
            return None
        found = self._native.find(name, slash + path)
        return Place(*found) if found else None

    def page(self, host: int, index: int, kind: int = Kind.PAGE) -> Page:
        """What the server answers for a place."""
        place = Place(host, kind, index)
        status, content, flags, is_private, moved = self._native.facts(*place)
        target, location = moved or (None, None)
        return Page(
            place=place,
            url=self.url(place),
            status=status,
            content_type=TYPES[content],
            body=self._native.body(*place),
            links=self._links(place),
            location=location,
            target=Place(*target) if target else None,
            is_private=is_private,
            has_base=bool(flags & BASE_FLAG),
        )

    def _links(self, place: Place) -> tuple[Link, ...]:
        edges = self._native.edges(*place)
        texts = self._native.texts(*place)
        return tuple(
            Link(Place(*edge[:3]), self._native.url(*edge[:3]), text, Element(edge[3]))
            for edge, text in zip(edges, texts, strict=True)
        )

    def seeds(self) -> list[bytes]:
        """The URLs that a crawl starts from."""
        return [self.url(Place(host, Kind.PAGE, 0)) for host in range(self.spec.roots)]

    def traps(self) -> list[Trap]:
        """The traps, in the order of their hosts."""
        first, each = self.spec.hosts, self.spec.traps
        return [
            Trap(kind, host, b"http://%b:%d/" % (self._native.trap(host), self.spec.port))
            for number, kind in enumerate(webserver.TRAPS)
            for host in range(first + number * each, first + (number + 1) * each)
        ]

    def hosts_file(self) -> Iterator[bytes]:
        """Lines of a hosts file: one for each host that has a name."""
        for number in range(self.spec.hosts):
            name, address, is_named, _ = self._native.host(number)
            if is_named:
                yield b"%b\t%b\n" % (address, name)
