"""Where links may lead, as seen from all seeds so far; their places stand in the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.links.scope import Scope, make_scope
from larbinpy.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from larbinpy.wiring.start import Start

SITES: Final = "sites"
"""File of the state with the places of all seeds, for ``scope`` and ``lockSite``."""


def scope_of(start: Start, domain_of: Callable[[bytes], bytes], sites: set[bytes] | None) -> Scope:
    """Where links may lead; ``sites``: instead of those of the state."""
    config = start.config
    if not config.is_bound_to_seeds:
        return Scope()
    places = read_sites(start.state) if sites is None else sites
    return make_scope(config.scope, places, lock_site=config.lock_site, domain_of=domain_of)


def read_sites(state: Path) -> set[bytes]:
    """Places of all seeds so far, as ``links.scope.place_of`` gives them."""
    path = state / SITES
    lines = path.read_bytes().split() if path.exists() else []
    return {line if b"/" in line else line + b"/" for line in lines}  # once it held hosts alone


def write_sites(state: Path, places: set[bytes]) -> None:
    """Replace the places of all seeds."""
    write_whole(state / SITES, b"".join(place + b"\n" for place in sorted(places)))
