"""Builds the link filter from plain settings; the rules themselves are compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy._native.linkfilter import LinkFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def make_filter(
    *,
    key: bytes,
    shards: int,
    domain_of: Callable[[bytes], bytes],
    cgi: bool = False,
    external: bool = True,
    depth_by_site: bool = False,
    depth_in_site: int = 5,
    images: bool = False,
    forms: bool = False,
    rels: bool = True,
    forbidden: Iterable[str | bytes] = (),
    priority: Iterable[str | bytes] = (),
    domains: Iterable[str | bytes] = (),
    sites: Iterable[str | bytes] | None = None,
    site_domains: Iterable[bytes] | None = None,
    prefixes: Iterable[bytes] | None = None,
    choose: Callable[[list[bytes], list[int]], bytes] | None = None,
    links_per_page: int = 50_000,
    path_segments: int = 0,
    segment_repeats: int = 0,
    query_parameters: int = 0,
    query_bytes: int = 0,
    reverse: bool = False,
) -> LinkFilter:
    """Make the filter of one parser; the defaults are larbin's.

    Args: those of ``LinkFilter``; suffixes and hosts may be text, as configurations hold them.

    Raises:
        ValueError: a setting is out of range, a suffix is empty or not ASCII.
    """
    return LinkFilter(
        key=key,
        shards=shards,
        domain_of=domain_of,
        cgi=cgi,
        external=external,
        depth_by_site=depth_by_site,
        depth_in_site=depth_in_site,
        images=images,
        forms=forms,
        rels=rels,
        forbidden=_as_bytes(forbidden),
        priority=_as_bytes(priority),
        domains=_as_bytes(domains),
        sites=None if sites is None else _as_bytes(sites),
        site_domains=site_domains,
        prefixes=None if prefixes is None else tuple(prefixes),
        choose=choose,
        links_per_page=links_per_page,
        path_segments=path_segments,
        segment_repeats=segment_repeats,
        query_parameters=query_parameters,
        query_bytes=query_bytes,
        reverse=reverse,
    )


def _as_bytes(texts: Iterable[str | bytes]) -> list[bytes]:
    """Configurations hold text, URLs are ASCII bytes."""
    return [text.encode("ascii") if isinstance(text, str) else text for text in texts]
