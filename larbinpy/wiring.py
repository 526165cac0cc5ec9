"""How the parts of a process are made from the configuration.

Stages know nothing of the configuration: they are given numbers, here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from larbinpy import url as urls
from larbinpy._native.logline import LineMaker
from larbinpy._native.neartable import NearTable
from larbinpy._native.plainpage import PlainPages
from larbinpy.config import Config, from_json
from larbinpy.dedup import content
from larbinpy.dedup.near import NearPages
from larbinpy.links.choice import Acceptance, by_patterns
from larbinpy.links.filters import make_filter
from larbinpy.links.scope import Scope, make_scope
from larbinpy.parse import directives
from larbinpy.parse.listing import TEXT_TYPE, XML_TYPES, Lists
from larbinpy.parse.lists import ListReader
from larbinpy.parse.page import HTML_TYPES, PageReader, plain_type
from larbinpy.plugins import load_function
from larbinpy.records import Directive
from larbinpy.shared import NEAR_BYTES, PAGES_BYTES
from larbinpy.state import STORED, SUFFIX_LIST
from larbinpy.store.base import Nothing
from larbinpy.store.files import Files
from larbinpy.store.transaction import StoredPages
from larbinpy.url import Base, Equal, LarbinBase
from larbinpy.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.linkfilter import LinkFilter
    from larbinpy.links.choice import Choose
    from larbinpy.shared import CrawlMemory
    from larbinpy.store.base import Store
    from larbinpy.url import Url

CREDIT_PER_CONNECTION: Final = 2
SPARE_CREDIT: Final = 100
"""Requests and unanswered pages of a crawl: so many a connection, and these."""
NEAR_BITS: Final = 10
"""Of 64 bits of a simhash; measured in docs/traps.md."""
SITES: Final = "sites"
"""File of the state with the places of all seeds, for ``scope`` and ``lockSite``."""


@dataclass(frozen=True, slots=True)
class Start:
    """The ``start`` message of a child; see ``docs/protocol.md`` section 5."""

    config: Config
    index: int
    state: Path
    uuid: bytes
    shards: int
    parsers: int
    is_trusted: bool = True
    """False when the machine has gone down since the state was written, and not in order."""
    suspects: frozenset[int] = frozenset()
    """To a shard: URLs that were in flight when it was brought down."""
    poison: frozenset[int] = frozenset()
    """To a shard: URLs that have brought it down."""

    @property
    def directory(self) -> Path:
        """Of the shard with this index."""
        return self.state / f"shard-{self.index:02d}"

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
            is_trusted=fields["is_trusted"],
            suspects=frozenset(fields.get("suspects", ())),
            poison=frozenset(fields.get("poison", ())),
        )


def make_links(
    start: Start, domains: urls.Domains | None = None, sites: set[bytes] | None = None
) -> LinkFilter:
    """The filter of found links; ``domains`` and ``sites``: instead of those of the state."""
    config = start.config
    domains = domains or urls.Domains(start.state / SUFFIX_LIST)
    scope = _scope(start, domains.of, sites)
    return make_filter(
        key=start.uuid,
        shards=start.shards,
        domain_of=domains.of,
        cgi=config.get_cgi,
        external=not config.no_external_links,
        depth_by_site=config.depth_by_site,
        depth_in_site=config.depth_in_site,
        images=config.get_image,
        forms=config.get_forms,
        rels=not config.ignore_rel,
        forbidden=config.forbidden_extensions,
        priority=[extension for _, extension in config.specific_set],
        domains=config.limit_to_domain,
        sites=scope.sites,
        site_domains=scope.site_domains,
        prefixes=scope.prefixes,
        choose=_pattern_choice(config),
        links_per_page=config.links_per_page,
        path_segments=config.max_path_segments,
        segment_repeats=config.max_segment_repeats,
        query_parameters=config.max_query_parameters,
        query_bytes=config.max_query_size_bytes,
        reverse=config.order == "dfs",
    )


def _pattern_choice(config: Config) -> Choose | None:
    """What ``include`` and ``exclude`` choose."""
    if not (config.include or config.exclude):
        return None
    from larbinpy.patterns import Patterns  # noqa: PLC0415 - only who uses it pays for it

    include, exclude = (
        Patterns(patterns) if patterns else None for patterns in (config.include, config.exclude)
    )
    return by_patterns(include, exclude)


def _scope(start: Start, domain_of: Callable[[bytes], bytes], sites: set[bytes] | None) -> Scope:
    """Where links may lead, as seen from all seeds so far."""
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


def base_maker(config: Config) -> Callable[[bytes], Base | LarbinBase]:
    """What links resolve against."""
    if config.url_mode == "larbin":
        return LarbinBase
    return partial(Base, equal=equal_urls(config))


def equal_urls(config: Config) -> Equal:
    """Which URLs are taken for one; it is asked for links, seeds and redirections alike."""
    options = {
        Equal.SORT_QUERY: config.sort_query,
        Equal.DROP_SESSIONS: config.drop_session_ids,
        Equal.DROP_TRACKING: config.drop_tracking,
        Equal.SLASH: config.ignore_trailing_slash,
        Equal.INDEX: config.ignore_index,
    }
    return Equal(sum(option for option, is_on in options.items() if is_on))


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


def read_lists(config: Config) -> Lists:
    """The documents that are read for their links, beside pages."""
    wanted = (
        (config.use_sitemaps, Lists.SITEMAPS),
        (config.use_feeds, Lists.FEEDS),
        (config.plain_links, Lists.PLAIN),
    )
    return reduce(or_, (lists for is_wanted, lists in wanted if is_wanted), Lists(0))


def fetched_types(config: Config) -> tuple[bytes, ...]:
    """Prefixes of the content types whose bodies are fetched; () = every type."""
    pages = accepted_types(config)
    lists = read_lists(config)
    if not pages or not lists:
        return pages
    return (*pages, *XML_TYPES, *((TEXT_TYPE,) if Lists.PLAIN in lists else ()))


def obeyed(config: Config) -> Directive:
    """What is done as pages ask."""
    ignored = {
        Directive.NOFOLLOW: config.ignore_nofollow,
        Directive.NOINDEX: config.ignore_noindex,
        Directive.NOARCHIVE: config.ignore_noarchive,
    }
    return Directive(sum(directive for directive, is_off in ignored.items() if not is_off))


def make_pages(config: Config, memory: CrawlMemory) -> content.PagesSeen | None:
    """The pages seen, for ``pageNoDuplicate``."""
    if not config.page_no_duplicate:
        return None
    return content.PagesSeen(memory.pages[:PAGES_BYTES], is_larbin=config.page_digest == "larbin")


def make_near(start: Start, memory: CrawlMemory) -> NearPages | None:
    """The different pages of each host, for ``nearDuplicates``."""
    mode = start.config.near_duplicates
    if mode == "no":
        return None
    table = NearTable(memory.pages[-NEAR_BYTES:], start.uuid, NEAR_BITS)
    return NearPages(
        table, late_domains(start), compares_all=mode != "watch", leaves=mode == "leave"
    )


def late_domains(start: Start) -> Callable[[bytes], bytes]:
    """The registered domain of a host; the list is loaded when it is asked for the first time."""

    @cache
    def loaded() -> urls.Domains:
        return urls.Domains(start.state / SUFFIX_LIST)

    return lambda host: loaded().of(host)


def make_acceptance(config: Config, notice: Callable[[str], object]) -> Acceptance | None:
    """The operator's function of ``accept``.

    Raises:
        ConfigError: it cannot be loaded.
    """
    if not config.accept or config.plugin_path is None:
        return None
    return Acceptance(load_function(config.accept, config.plugin_path), notice)


def make_lines(config: Config) -> LineMaker:
    """The maker of log lines."""
    return LineMaker("larbin" if config.page_digest == "larbin" else "xxh3-128")


def make_reader(
    start: Start,
    links: LinkFilter,
    pages: content.PagesSeen | None = None,
    near: NearPages | None = None,
    acceptance: Acceptance | None = None,
) -> PageReader:
    """The reader of pages."""
    max_bytes, make_base = start.config.max_decoded_bytes, base_maker(start.config)
    lists = read_lists(start.config)
    return PageReader(
        links,
        accept=accepted_types(start.config),
        max_redirects=start.config.max_redirects,
        max_bytes=max_bytes,
        make_base=make_base,
        lists=ListReader(
            links,
            lists,
            max_bytes=max_bytes,
            make_base=make_base,
            acceptance=acceptance,
            max_sitemaps=start.config.sitemaps_per_host,
        )
        if lists
        else None,
        digest=page_digest(start.config),
        is_new=pages.is_new if pages else None,
        near=near.is_left if near else None,
        has_cookies=start.config.use_cookies,
        agent=start.config.user_agent_token,
        obeyed=obeyed(start.config),
        acceptance=acceptance,
    )


def make_plain(
    start: Start,
    links: LinkFilter,
    pages: content.PagesSeen | None = None,
    near: NearPages | None = None,
    acceptance: Acceptance | None = None,
) -> PlainPages | None:
    """The short way of most pages beside the reader; None when no page is plain to this crawl."""
    config = start.config
    if (near and near.compares_all) or acceptance or config.url_mode == "larbin":
        return None
    return PlainPages(
        links,
        type_of=partial(plain_type, accept=accepted_types(config)),
        digest=page_digest(config),
        directives_of=directives.of_meta,
        is_new=pages.is_new if pages else None,
        max_bytes=config.max_decoded_bytes,
        equal=equal_urls(config),
        agent=config.user_agent_token.lower(),
        nofollow=Directive.NOFOLLOW in obeyed(config),
    )


def page_digest(config: Config) -> Callable[[bytes], bytes]:
    """What makes two pages equal."""
    return content.larbin_digest if config.page_digest == "larbin" else content.exact_digest


def make_store(start: Start) -> Store:
    """The output of ``outputMode``; what is not built yet is warned of by the configuration.

    Raises:
        StorageError: it cannot be opened.
    """
    config = start.config
    if config.output_mode not in (1, 2):
        return Nothing()
    window = CREDIT_PER_CONNECTION * config.pages_connexions + SPARE_CREDIT
    stored = StoredPages(start.state / STORED, start.index, window)
    return Files(config.output_dir.absolute(), stored)
