"""What chooses among links: rules of the configuration, patterns, the operator's function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy import url as urls
from larbinpy._native.linkfilter import LinkFilter
from larbinpy.links.choice import Acceptance, by_patterns
from larbinpy.plugins import load_function
from larbinpy.stateparts import SUFFIX_LIST
from larbinpy.wiring.scope import scope_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.config import Config
    from larbinpy.links.choice import Choose
    from larbinpy.wiring.start import Start


def make_links(
    start: Start, domains: urls.Domains | None = None, sites: set[bytes] | None = None
) -> LinkFilter:
    """The filter of found links; ``domains`` and ``sites``: instead of those of the state."""
    config = start.config
    domains = domains or urls.Domains(start.state / SUFFIX_LIST)
    scope = scope_of(start, domains.of, sites)
    return LinkFilter(
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


def make_acceptance(config: Config, notice: Callable[[str], object]) -> Acceptance | None:
    """The operator's function of ``accept``.

    Raises:
        ConfigError: it cannot be loaded.
    """
    if not config.accept or config.plugin_path is None:
        return None
    return Acceptance(load_function(config.accept, config.plugin_path), notice)
