"""Choosing from the links that no compiled rule refuses: the operator's patterns, and his function.

In: the new URLs of a page. Out: a byte for each, ``ACCEPTED`` or why it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.records import Filtered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from larbinpy.patterns import Patterns

    Choose = Callable[[list[bytes], list[int]], bytes]
    """Called with URLs and their places among all links of their page."""
    Details = Sequence[tuple[bytes, bytes | None, bytes | None, bytes | None]]
    """Of all links of a page: tag, rel, text and hreflang, as ``_native.linkscan`` gives them."""

ACCEPTED: Final = 255
REPORTED_ERRORS: Final = 3
"""Of the operator's function, in each process; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Link:
    """What the function of ``accept`` is given."""

    url: str
    """Normalised."""
    parent: str
    """The page it stands on, or that redirects to it."""
    text: str
    """Of the link, without its elements and in single spaces; the alt of an image."""
    rel: str
    """The attribute as it is written."""
    depth: int
    """Links from a first URL to what this one leads to."""


class Acceptance:
    """The operator's function, asked about each new link; what it raises refuses the link.

    Args of ``__init__``:
        function: given a ``Link``; anything true accepts it.
        notice: told of the first errors.
    """

    __slots__ = ("_errors", "_function", "_notice")

    def __init__(self, function: Callable[[Link], object], notice: Callable[[str], object]) -> None:
        self._function = function
        self._notice = notice
        self._errors = 0

    def on_page(self, parent: bytes, depth: int, details: Details = ()) -> Choose:
        """What chooses from the links of one page.

        Args:
            depth: of the links.
            details: of all links of the page, or nothing.
        """
        shown = parent.decode("ascii", "replace")

        def choose(urls: list[bytes], places: list[int]) -> bytes:
            return bytes(
                self._verdict(Link(url.decode("ascii", "replace"), shown, *said, depth))
                for url, said in zip(urls, (_said(details, at) for at in places), strict=True)
            )

        return choose

    def _verdict(self, link: Link) -> int:
        try:
            return ACCEPTED if self._function(link) else Filtered.NOT_ACCEPTED
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the operator's code does
            self._errors += 1
            if self._errors <= REPORTED_ERRORS:
                self._notice(f"accept: {error!r} for {link.url}; the link is refused")
            return Filtered.ACCEPT_ERROR


def _said(details: Details, place: int) -> tuple[str, str]:
    """Text and rel of a link."""
    if not details:
        return "", ""
    _, rel, text, _ = details[place]
    return b" ".join((text or b"").split()).decode("utf-8", "replace"), (rel or b"").decode(
        "utf-8", "replace"
    )


def by_patterns(include: Patterns | None, exclude: Patterns | None) -> Choose | None:
    """Choose what one of ``include`` matches (None = everything) and none of ``exclude`` does."""
    if include is None and exclude is None:
        return None

    def choose(urls: list[bytes], _places: Sequence[int]) -> bytes:
        verdicts = bytearray([ACCEPTED]) * len(urls)
        if include is not None:
            verdicts = bytearray([Filtered.NOT_INCLUDED]) * len(urls)
            for place in include.matched(urls):
                verdicts[place] = ACCEPTED
        if exclude is not None:
            for place in exclude.matched(urls):
                verdicts[place] = Filtered.EXCLUDED
        return bytes(verdicts)

    return choose
