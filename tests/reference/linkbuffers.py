"""The link buffers of ``docs/protocol.md`` as Python records, for references and tests."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

LINK_HEAD = struct.Struct("<QHHHHBBBBBBHff")
RESOLVED_HEAD = struct.Struct("<BBBBBBHI")
FOUND_HEAD = struct.Struct("<BBBBI")
GROUP_HEAD = struct.Struct("<HHII")
FORCE = 8
"""A link's flag: queue it even if seen."""


class _WithHost:
    """What a record knows of its URL because it knows where the host stands."""

    __slots__ = ()
    url: bytes
    host_start: int
    host_len: int

    @property
    def host(self) -> bytes:
        return self.url[self.host_start : self.host_start + self.host_len]

    @property
    def file(self) -> bytes:
        """Path and query."""
        return re.sub(rb"^:\d*", b"", self.url[self.host_start + self.host_len :])


@dataclass(frozen=True, slots=True)
class Link(_WithHost):
    """A ``link_entry`` with its URL."""

    url: bytes
    fingerprint: int = 0
    depth: int = 0
    left: int = 0
    port: int = 80
    host_start: int = 0
    host_len: int = 0
    level: int = 0
    kind: int = 0
    hops: int = 0
    flags: int = 0

    def pack(self) -> bytes:
        head = LINK_HEAD.pack(
            self.fingerprint, len(self.url), self.depth, self.left, self.port,
            self.host_start, self.host_len, self.level, self.kind, self.hops, self.flags,
            0, 0.0, 0.0,
        )  # fmt: skip
        return head + self.url


def group_of(*links: Link, via: bytes = b"", tag: bytes = b"") -> bytes:
    """A ``link_group`` with its links."""
    bare = b"".join(link.pack() for link in links)
    return GROUP_HEAD.pack(len(via), len(tag), len(links), len(bare)) + via + tag + bare


def read_links(buffer: bytes) -> list[Link]:
    """Take link entries apart."""
    links, at = [], 0
    while at < len(buffer):
        fingerprint, url_len, *fields, _, _, _ = LINK_HEAD.unpack_from(buffer, at)
        at += LINK_HEAD.size
        links.append(Link(buffer[at : at + url_len], fingerprint, *fields))
        at += url_len
    return links


@dataclass(frozen=True, slots=True)
class Resolved(_WithHost):
    """A ``resolved_link`` with its URL."""

    url: bytes
    status: int = 0
    https: int = 0
    element: int = 1
    rel: int = 0
    host_start: int = 0
    host_len: int = 0
    port: int = 80

    def pack(self) -> bytes:
        head = RESOLVED_HEAD.pack(
            self.status, self.https, self.element, self.rel,
            self.host_start, self.host_len, self.port, len(self.url),
        )  # fmt: skip
        return head + self.url


def resolved(url: bytes, *, element: int = 1) -> Resolved:
    """The record of a good URL."""
    match = re.match(rb"http(s?)://([^/:?]*)(?::(\d+))?", url)
    assert match is not None
    https = int(match[1] != b"")
    port = int(match[3] or (443 if https else 80))
    start, end = match.span(2)
    return Resolved(url, 0, https, element, 0, start, end - start, port)


def read_resolved(buffer: bytes) -> list[Resolved]:
    """Take resolved links apart."""
    links, at = [], 0
    while at < len(buffer):
        *fields, url_len = RESOLVED_HEAD.unpack_from(buffer, at)
        at += RESOLVED_HEAD.size
        links.append(Resolved(buffer[at : at + url_len], *fields))
        at += url_len
    return links


def read_found(buffer: bytes) -> list[tuple[int, int, int, bytes]]:
    """Take found links apart: element, attribute, rel, value."""
    links, at = [], 0
    while at < len(buffer):
        element, attribute, rel, _, size = FOUND_HEAD.unpack_from(buffer, at)
        at += FOUND_HEAD.size
        links.append((element, attribute, rel, buffer[at : at + size]))
        at += size
    return links
