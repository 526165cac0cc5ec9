"""How the parts of a process are made from the configuration.

Stages know nothing of the configuration: they are given numbers, here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from larbinpy import url as urls
from larbinpy.config import Config, from_json
from larbinpy.links.filters import make_filter
from larbinpy.parse.page import HTML_TYPES, PageReader
from larbinpy.state import SUFFIX_LIST, write_whole
from larbinpy.store.base import Nothing
from larbinpy.store.files import Files
from larbinpy.url import Base, LarbinBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.linkfilter import LinkFilter
    from larbinpy.store.base import Store
    from larbinpy.url import Url

SITES: Final = "sites"
"""File of the state with the hosts of all seeds, for ``lockSite``."""


@dataclass(frozen=True, slots=True)
class Start:
    """The ``start`` message of a child; see ``docs/protocol.md`` section 5."""

    config: Config
    index: int
    state: Path
    uuid: bytes
    shards: int
    parsers: int

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Start:
        """Take the fields of the message."""
        return cls(
            config=from_json(fields["config"]),
            index=fields["index"],
            state=Path(fields["state"]),
            uuid=bytes.fromhex(fields["uuid"]),
            shards=fields["shards"],
            parsers=fields["parsers"],
        )


def make_links(start: Start) -> LinkFilter:
    """The filter of found links."""
    config = start.config
    domains = urls.Domains(start.state / SUFFIX_LIST)
    return make_filter(
        key=start.uuid,
        shards=start.shards,
        domain_of=domains.of,
        cgi=config.get_cgi,
        external=not config.no_external_links,
        depth_by_site=config.depth_by_site,
        depth_in_site=config.depth_in_site,
        images=config.get_image,
        forbidden=config.forbidden_extensions,
        priority=[extension for _, extension in config.specific_set],
        domains=config.limit_to_domain,
        sites=read_sites(start.state) if config.lock_site else None,
        links_per_page=config.links_per_page,
        reverse=config.order == "dfs",
    )


def read_sites(state: Path) -> set[bytes]:
    """Hosts of all seeds so far."""
    path = state / SITES
    return set(path.read_bytes().split()) if path.exists() else set()


def write_sites(state: Path, hosts: set[bytes]) -> None:
    """Replace the hosts of all seeds."""
    write_whole(state / SITES, b"".join(host + b"\n" for host in sorted(hosts)))


def base_maker(config: Config) -> Callable[[bytes], Base | LarbinBase]:
    """What links resolve against."""
    return LarbinBase if config.url_mode == "larbin" else Base


def specific_types(config: Config) -> frozenset[bytes]:
    """larbin's ``specificSearch``: the types that go to the output; none = all."""
    wanted = config.specific_set if config.specific_search else ()
    return frozenset(mime.lower() for mime, _ in wanted)


def url_parser(config: Config) -> Callable[[bytes], Url | None]:
    """How a seed is parsed."""
    return urls.parse_larbin if config.url_mode == "larbin" else urls.parse


def accepted_types(config: Config) -> tuple[bytes, ...]:
    """Prefixes of the content types that are pages; () = every type."""
    if config.any_type:
        return ()
    images = (b"image/",) if config.get_image else ()
    return (*HTML_TYPES, *(mime.lower() for mime, _ in config.specific_set), *images)


def make_reader(start: Start, links: LinkFilter) -> PageReader:
    """The reader of pages."""
    return PageReader(
        links,
        accept=accepted_types(start.config),
        max_redirects=start.config.max_redirects,
        max_bytes=start.config.max_decoded_bytes,
        make_base=base_maker(start.config),
        has_cookies=start.config.use_cookies,
    )


def make_store(config: Config) -> Store:
    """The output of ``outputMode``; what is not built yet is warned of by the configuration."""
    return Files(config.output_dir.absolute()) if config.output_mode in (1, 2) else Nothing()
