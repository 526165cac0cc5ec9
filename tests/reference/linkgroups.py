"""Specification of ``larbinpy._native.linkgroups``: groups of links, page by page."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from larbinpy.frames import MAX_PAYLOAD
from larbinpy.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.records import Reading

_GROUP: Final = struct.Struct("<HHII")
_LINK_BYTES: Final = 32
_URL_LENGTH: Final = struct.Struct("<8xH")


def link_groups(via: bytes, tag: bytes, links: bytes, count: int) -> Iterator[bytes]:
    """The links of one page for one shard."""
    if len(links) <= MAX_PAYLOAD // 2:
        yield _GROUP.pack(len(via), len(tag), count, len(links)) + via + tag + links
        return
    start = at = number = 0
    while at < len(links):
        at += _LINK_BYTES + _URL_LENGTH.unpack_from(links, at)[0]
        number += 1
        if at - start > MAX_PAYLOAD // 2 or at == len(links):
            part = links[start:at]
            yield _GROUP.pack(len(via), len(tag), number, len(part)) + via + tag + part
            start, number = at, 0


def groups_of(readings: list[Reading], shards: int) -> tuple[list[list[bytes]], bytes]:
    """The links of pages for each shard, and their fingerprints."""
    groups: list[list[bytes]] = [[] for _ in range(shards)]
    fingerprints = b""
    for reading in readings:
        if reading.links is None:
            continue
        via = reading.via or reading.page.url
        tag = b"" if reading.page.kind == Kind.ROBOTS else reading.page.tag
        for shard, links in enumerate(reading.links.entries):
            if links:
                count = reading.links.counts[shard]
                groups[shard] += link_groups(via, tag, links, count)
                fingerprints += reading.links.fingerprints[shard]
    return groups, fingerprints
